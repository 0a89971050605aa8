//! Checks arguments against a tool's schema, so that what is wrong is said in the caller's words.

use std::fmt::Write;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Failure, escape, fill_value};

/// The arguments of a call.
pub(crate) type Arguments = Map<String, Value>;

/// The most characters of a text argument whose schema says nothing else.
const TEXT_LIMIT: u64 = 100_000;
/// The most items of a list argument whose schema says nothing else.
const LIST_LIMIT: u64 = 1000;

/// Checks that the arguments fit the schema and drops nulls, which stand for what was left out.
pub(crate) fn check(schema: &Map<String, Value>, arguments: &mut Arguments) -> Result<(), Failure> {
    arguments.retain(|_, value| !value.is_null());
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in &*arguments {
        let property = properties
            .and_then(|properties| properties.get(name))
            .ok_or_else(|| unknown(name, properties, arguments))?;
        check_value(name, property, value)?;
    }
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return Err(Failure::invalid(format_args!("argument `{name}` is missing"))
                .with_hint(format_args!("Add `{name}`: {}.", expected(properties.and_then(|all| all.get(name))))));
        }
    }
    Ok(())
}

/// Reads checked arguments.
pub(crate) fn read<T: DeserializeOwned>(arguments: Arguments) -> Result<T, Failure> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        Failure::invalid(match path.as_str() {
            "." => error.into_inner().to_string(),
            _ => format!("argument `{path}`: {}", error.into_inner()),
        })
    })
}

fn unknown(name: &str, properties: Option<&Map<String, Value>>, given: &Arguments) -> Failure {
    let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
    let failure = Failure::invalid(format_args!("there is no argument `{}`", escape::inline(name, 60)));
    let missing = known.clone().filter(|known| !given.contains_key(*known));
    if let Some(near) = nearest(name, missing) {
        return failure.with_hint(format_args!("Did you mean `{near}`?"));
    }
    let all: Vec<_> = known.map(|known| format!("`{known}`")).collect();
    failure.with_hint(if all.is_empty() {
        "This tool takes no arguments.".to_owned()
    } else {
        format!("Known arguments are {}.", all.join(", "))
    })
}

/// The most similar of the known words, where one is similar at all.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 100 {
        return None;
    }
    let word = word.to_ascii_lowercase();
    known
        .map(|known| (strsim::jaro_winkler(&word, &known.to_ascii_lowercase()), known))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, known)| known)
}

fn check_value(name: &str, schema: &Value, value: &Value) -> Result<(), Failure> {
    let wrong = |found: String| {
        Err(Failure::invalid(format_args!("argument `{name}` is {found}"))
            .with_hint(format_args!("Give {}.", expected(Some(schema)))))
    };
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return if choices.contains(value) { Ok(()) } else { wrong(shown(value)) };
    }
    let bound = |word: &str| schema.get(word).and_then(Value::as_f64);
    let limit = |word: &str, otherwise| schema.get(word).and_then(Value::as_u64).unwrap_or(otherwise);
    match (schema.get("type").and_then(Value::as_str), value) {
        (Some("string"), Value::String(text)) => {
            let length = text.chars().count() as u64;
            if length > limit("maxLength", TEXT_LIMIT) {
                return wrong(format!("{length} characters long"));
            }
            if length < limit("minLength", 0) {
                return wrong("empty".to_owned());
            }
        }
        (Some("integer"), Value::Number(number)) if number.is_f64() => {
            return wrong(number.to_string());
        }
        (Some("integer" | "number"), Value::Number(number)) => {
            let size = number.as_f64().unwrap_or(f64::NAN);
            if bound("minimum").is_some_and(|least| size < least) || bound("maximum").is_some_and(|most| size > most) {
                return wrong(number.to_string());
            }
        }
        (Some("array"), Value::Array(items)) => {
            let length = items.len() as u64;
            if length > limit("maxItems", LIST_LIMIT) || length < limit("minItems", 0) {
                return wrong(format!("a list of {length}"));
            }
            let item_schema = schema.get("items").unwrap_or(&Value::Null);
            for (index, item) in items.iter().enumerate() {
                check_value(&format!("{name}[{index}]"), item_schema, item)?;
            }
        }
        // A secret stands for its text. Whoever takes none says so when the arguments are read.
        (Some("string"), Value::Object(_)) if fill_value::secret_named(value).is_some() => {}
        (Some("boolean"), Value::Bool(_)) | (Some("object"), Value::Object(_)) | (None, _) => {}
        _ => return wrong(shown(value)),
    }
    Ok(())
}

/// What a schema asks for, in words.
fn expected(schema: Option<&Value>) -> String {
    let Some(schema) = schema else {
        return "a value".to_owned();
    };
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let choices: Vec<_> = choices.iter().map(ToString::to_string).collect();
        return format!("one of {}", choices.join(", "));
    }
    let mut words = match schema.get("type").and_then(Value::as_str) {
        Some("string") => "a text".to_owned(),
        Some("integer") => "a whole number".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(LIST_LIMIT);
            return format!("a list of {least} to {most} items, each {}", expected(schema.get("items")));
        }
        _ => "an object".to_owned(),
    };
    let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(TEXT_LIMIT);
    // Writing to a string does not fail.
    let _ = match (schema.get("type").and_then(Value::as_str), schema.get("minimum"), schema.get("maximum")) {
        (Some("string"), ..) => write!(words, " of at most {most} characters"),
        (_, Some(least), Some(most)) => write!(words, " from {least} to {most}"),
        (_, Some(least), None) => write!(words, " of at least {least}"),
        (_, None, Some(most)) => write!(words, " of at most {most}"),
        (_, None, None) => Ok(()),
    };
    words
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text {}", escape::quoted(text, 60)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(arguments: Value) -> String {
        let schema = json!({
            "properties": {
                "url": {"type": "string", "maxLength": 10},
                "count": {"type": "integer", "minimum": 1, "maximum": 3},
                "until": {"type": "string", "enum": ["load", "commit"]},
                "values": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            },
            "required": ["url"],
        });
        let Value::Object(mut arguments) = arguments else { panic!("an object") };
        match check(schema.as_object().unwrap(), &mut arguments) {
            Ok(()) => String::new(),
            Err(failure) => format!("{}. {}", failure.message(), failure.hint()),
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_what_would_be_right() {
        let table = [
            (json!({"url": "x", "count": null}), ""),
            (json!({}), "argument `url` is missing. Add `url`: a text of at most 10 characters."),
            (json!({"url": 3}), "argument `url` is 3. Give a text of at most 10 characters."),
            (
                json!({"url": "12345678901"}),
                "argument `url` is 11 characters long. Give a text of at most 10 characters.",
            ),
            (json!({"url": "x", "count": 4}), "argument `count` is 4. Give a whole number from 1 to 3."),
            (json!({"url": "x", "count": 1.5}), "argument `count` is 1.5. Give a whole number from 1 to 3."),
            (json!({"url": "x", "count": "2"}), "argument `count` is the text \"2\". Give a whole number from 1 to 3."),
            (
                json!({"url": "x", "until": "loaded"}),
                "argument `until` is the text \"loaded\". Give one of \"load\", \"commit\".",
            ),
            (
                json!({"url": "x", "values": ["a", 1]}),
                "argument `values[1]` is 1. Give a text of at most 100000 characters.",
            ),
            (
                json!({"url": "x", "values": []}),
                "argument `values` is a list of 0. Give a list of 1 to 1000 items, each a text of at most 100000 characters.",
            ),
            (json!({"uri": "x"}), "there is no argument `uri`. Did you mean `url`?"),
            (
                json!({"url": "x", "\n": 1}),
                "there is no argument `\\n`. Known arguments are `count`, `until`, `url`, `values`.",
            ),
        ];
        for (arguments, expected) in table {
            assert_eq!(problem(arguments.clone()), expected, "{arguments}");
        }
    }
}
