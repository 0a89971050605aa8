//! Plain JSON schemas: what every host takes, and nothing that some reject.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The schema of arguments: one object without references, `$schema`, nulls and number formats.
pub(crate) fn of_arguments<T: JsonSchema>() -> Map<String, Value> {
    plain::<T>(SchemaSettings::draft2020_12().for_deserialize(), true)
}

/// The schema of an answer, likewise.
pub(crate) fn of_answer<T: JsonSchema>() -> Map<String, Value> {
    plain::<T>(SchemaSettings::draft2020_12().for_serialize(), false)
}

/// The same schema without bounds of lengths and numbers, and without word that there are no other properties.
pub(crate) fn without_bounds(schema: &Map<String, Value>) -> Map<String, Value> {
    const BOUNDS: [&str; 7] =
        ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "additionalProperties"];
    schema
        .iter()
        // A property may have the name of a bound: then it is a schema itself.
        .filter(|(name, value)| !BOUNDS.contains(&name.as_str()) || value.is_object())
        .map(|(name, value)| {
            let value = match value {
                Value::Object(inner) => Value::Object(without_bounds(inner)),
                other => other.clone(),
            };
            (name.clone(), value)
        })
        .collect()
}

fn plain<T: JsonSchema>(settings: SchemaSettings, with_descriptions: bool) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema, with_descriptions);
    let mut object = match schema {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    // The description of the whole is the tool's own.
    object.remove("description");
    object.entry("type").or_insert_with(|| json!("object"));
    object.entry("properties").or_insert_with(|| json!({}));
    object
}

fn simplify(schema: &mut Value, with_descriptions: bool) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| simplify(item, with_descriptions)),
        Value::Object(object) => {
            for word in ["title", "$schema", "format", "default"] {
                // A property may have one of these names: then it is a schema itself.
                if object.get(word).is_some_and(|value| !value.is_object()) {
                    object.remove(word);
                }
            }
            if !with_descriptions && object.get("description").is_some_and(Value::is_string) {
                object.remove("description");
            }
            without_null(object);
            whole_numbers(object);
            object.values_mut().for_each(|value| simplify(value, with_descriptions));
        }
        _ => {}
    }
}

/// `Option<T>` is `T`: that it may be left out is said by `required`.
fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(choices)) = object.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}

/// Bounds that came out as `1.0` are written `1`.
fn whole_numbers(object: &mut Map<String, Value>) {
    for word in ["minimum", "maximum"] {
        if let Some(bound) = object.get_mut(word)
            && let Some(number) = bound.as_f64()
            && !bound.is_i64()
            && !bound.is_u64()
            && number.fract() == 0.0
            && let Ok(whole) = format!("{number:.0}").parse::<i64>()
        {
            *bound = json!(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::{Value, json};

    use super::of_arguments;

    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase", deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Example {
        /// What it is.
        #[schemars(range(min = 1, max = 3))]
        click_count: Option<u32>,
        choice: Option<Choice>,
        needed: String,
        #[serde(default)]
        list: Vec<String>,
    }

    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Choice {
        One,
        Two,
    }

    #[test]
    fn an_option_is_its_value_that_need_not_be_there() {
        let schema = Value::Object(of_arguments::<Example>());
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "clickCount": {"type": "integer", "minimum": 1, "maximum": 3, "description": "What it is."},
                    "choice": {"type": "string", "enum": ["one", "two"]},
                    "needed": {"type": "string"},
                    "list": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["needed"],
                "additionalProperties": false,
            })
        );
    }
}
