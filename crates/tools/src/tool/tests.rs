//! What holds for every tool of the catalogue.

use std::collections::HashSet;

use super::*;
use crate::listing::{Selection, all, everyday, find, nearest};

fn problem(tool: &Tool, arguments: Value) -> Option<Failure> {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    tool.prepare(arguments).err()
}

fn example(tool: &Tool) -> Value {
    serde_json::from_str(tool.example()).unwrap()
}

#[test]
fn the_catalogue_holds_what_is_promised() {
    let names: Vec<_> = all().into_iter().map(Tool::name).collect();
    let promised = [
        "browser_click",
        "browser_close",
        "browser_fill",
        "browser_history",
        "browser_navigate",
        "browser_press",
        "browser_read_text",
        "browser_screenshot",
        "browser_scroll",
        "browser_select",
        "browser_session_list",
        "browser_session_start",
        "browser_session_stop",
        "browser_snapshot",
        "browser_wait",
    ];
    assert!(promised.iter().all(|name| names.contains(name)), "{names:?}");
    assert!(names.is_sorted());
    assert_eq!(find("browser_read_snapshot").unwrap().name(), "browser_snapshot");
    let mut known = HashSet::new();
    for tool in all() {
        assert!(std::iter::once(&tool.name()).chain(tool.aliases()).all(|name| known.insert(*name)));
    }
    assert_eq!(nearest("browser_clik"), Some("browser_click"));
    assert_eq!(nearest("x"), None);
}

#[test]
fn every_example_is_a_good_call() {
    for tool in all() {
        assert!(problem(tool, example(tool)).is_none(), "{}", tool.name());
    }
}

#[test]
fn no_tool_takes_what_is_unknown_missing_of_another_type_or_huge() {
    for tool in all() {
        let schema = tool.input_schema();
        let properties = schema["properties"].as_object().unwrap();
        let mut table = vec![("bogus".to_owned(), json!(1))];
        for (name, property) in properties {
            let kind = property["type"].as_str().unwrap();
            let wrong = if kind == "object" { json!([]) } else { json!({"x": 1}) };
            table.push((name.clone(), wrong));
            match kind {
                "string" if property.get("enum").is_none() => {
                    table.push((name.clone(), json!("x".repeat(1_000_000))));
                    table.push((name.clone(), json!(7)));
                }
                "string" => table.push((name.clone(), json!("none of these"))),
                "integer" => {
                    table.push((name.clone(), json!(-1)));
                    table.push((name.clone(), json!(1.5)));
                    table.push((name.clone(), json!("1")));
                }
                "array" => table.push((name.clone(), json!(vec!["x"; 100_000]))),
                "boolean" => table.push((name.clone(), json!("yes"))),
                _ => {}
            }
        }
        for (name, value) in table {
            let mut arguments = example(tool);
            arguments[&name] = value.clone();
            let shown = value.to_string().chars().take(40).collect::<String>();
            let failure = problem(tool, arguments).unwrap_or_else(|| panic!("{} took {name}={shown}", tool.name()));
            assert_eq!(failure.code(), Code::InvalidArgument);
            assert!(failure.message().contains(&name), "{}: {failure}", tool.name());
            assert!(failure.to_string().len() < 1000, "{failure}");
        }
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            let mut arguments = example(tool);
            arguments.as_object_mut().unwrap().remove(name.as_str().unwrap());
            let failure = problem(tool, arguments).unwrap();
            assert!(failure.message().contains(name.as_str().unwrap()), "{failure}");
        }
    }
}

#[test]
fn a_ref_is_taken_with_and_without_its_sign_and_nothing_else_is() {
    let click = find("browser_click").unwrap();
    for good in ["@e12", "e12"] {
        assert!(problem(click, json!({"ref": good})).is_none(), "{good}");
    }
    for bad in ["12", "", "@e", "@12", "button", "@e1 @e2"] {
        let failure = problem(click, json!({"ref": bad})).unwrap();
        assert!(failure.message().contains("`ref`") && failure.message().contains("@e12"), "{failure}");
    }
}

#[test]
fn schemas_are_plain() {
    fn look(tool: &str, schema: &Value) {
        match schema {
            Value::Array(items) => items.iter().for_each(|item| look(tool, item)),
            Value::Object(object) => {
                for word in ["$schema", "$ref", "$defs", "anyOf", "oneOf", "allOf", "format"] {
                    assert!(
                        !object.contains_key(word) || object[word]["type"].is_string(),
                        "{tool}: {word} in {schema}"
                    );
                }
                assert!(!object.get("type").is_some_and(Value::is_array), "{tool}: {schema}");
                object.values().for_each(|value| look(tool, value));
            }
            _ => {}
        }
    }
    for tool in all() {
        for schema in [tool.input_schema().clone(), tool.output_schema()] {
            assert_eq!(schema["type"], "object", "{}", tool.name());
            assert!(schema["properties"].is_object(), "{}", tool.name());
            look(tool.name(), &Value::Object(schema));
        }
        assert_eq!(tool.input_schema()["additionalProperties"], false, "{}", tool.name());
    }
}

#[test]
fn the_default_list_fits_into_ten_kilobytes() {
    let list: Vec<_> = everyday()
        .into_iter()
        .map(|tool| {
            json!({
                "name": tool.name(),
                "title": tool.title(),
                "description": tool.description(),
                "inputSchema": tool.listed_schema(),
                "annotations": {
                    "readOnlyHint": tool.hints().read_only,
                    "destructiveHint": tool.hints().destructive,
                    "idempotentHint": tool.hints().idempotent,
                    "openWorldHint": tool.hints().open_world,
                },
            })
        })
        .collect();
    let size = json!({ "tools": list }).to_string().len();
    assert!(size <= 10_000, "{size}");
}

#[test]
fn a_selection_names_its_tools_and_refuses_unknown_ones() {
    let selection: Selection = "browser_click, browser_read_snapshot".parse().unwrap();
    let names: Vec<_> = selection.tools().into_iter().map(Tool::name).collect();
    assert_eq!(names, ["browser_click", "browser_snapshot"]);
    assert_eq!("browser_clik".parse::<Selection>().unwrap_err().near, Some("browser_click"));
    assert_eq!("all".parse::<Selection>().unwrap().tools().len(), all().len());
}

#[test]
fn data_carries_no_invisible_characters() {
    let mut data = json!({"title": "a\u{202e}b\u{0}", "list": ["x\u{e0041}"]});
    make_safe(&mut data);
    assert_eq!(data, json!({"title": "ab", "list": ["x"]}));
}
