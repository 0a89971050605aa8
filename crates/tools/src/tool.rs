//! What a tool is: one definition, from which schema, help, documentation and dispatch come.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::action::Call;
use crate::answer::{Image, Text};
use crate::arguments::{self, Arguments};
use crate::owner::{Control, Opening};
use crate::{Answer, Code, Failure, escape, schema};

/// The longest that a call may ask for, in milliseconds.
const MAXIMUM_TIMEOUT_MS: u64 = 600_000;

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It only looks.
    Read,
    /// It does on a page what a person could do.
    Act,
    /// It loads documents.
    Navigate,
    /// It starts or ends something of ours.
    Control,
}

/// What is said of a tool to hosts (`ToolAnnotations` of MCP).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the four hints of MCP, by their names")]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// What it changes may be lost.
    pub destructive: bool,
    /// The same call again changes nothing more.
    pub idempotent: bool,
    /// It deals with the web, not only with things of ours.
    pub open_world: bool,
}

/// What is told about a tool.
pub(crate) struct About {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    /// For people: a few words.
    pub(crate) title: &'static str,
    /// One sentence.
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    pub(crate) idempotent: bool,
    /// Its command, such as `open`.
    pub(crate) verb: &'static str,
    /// Arguments of a typical call, as JSON.
    pub(crate) example: &'static str,
    /// Whether it is in the default list.
    pub(crate) everyday: bool,
    /// Which of the arguments that tools have in common it takes.
    pub(crate) common: Common,
}

/// Which of the arguments that tools have in common a tool takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Common {
    /// `session`.
    Session,
    /// `timeoutMs`, of a tool that makes its own session.
    Timeout,
    /// `session`, `tab` and `timeoutMs`.
    Page,
}

/// A tool that works in a session, when its turn has come.
pub(crate) trait PageTool: 'static {
    const ABOUT: About;
    type Params: DeserializeOwned + JsonSchema + Send + 'static;
    type Output: Output;

    /// Whether it works in the session that is there or opens one.
    fn opening(_params: &Self::Params) -> Result<Opening, Failure> {
        Ok(Opening::Never)
    }

    /// What the call needs at least where it names no `timeoutMs`.
    fn least_budget(_params: &Self::Params) -> Duration {
        Duration::ZERO
    }

    fn run(call: Call, params: Self::Params) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// A tool that works on the owner's sessions from outside; it overtakes what is waiting in them.
pub(crate) trait ControlTool: 'static {
    const ABOUT: About;
    type Params: DeserializeOwned + JsonSchema + Send + 'static;
    type Output: Output;

    fn run(control: Control, params: Self::Params) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// What a tool gives: data, and its text.
pub(crate) trait Output: Serialize + JsonSchema + Send + 'static {
    fn write(&self, text: &mut Text);

    fn images(&mut self) -> Vec<Image> {
        Vec::new()
    }
}

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
pub(crate) type PageRun = Box<dyn FnOnce(Call) -> BoxFuture<Result<Answer, Failure>> + Send>;
pub(crate) type ControlRun = Box<dyn FnOnce(Control) -> BoxFuture<Result<Answer, Failure>> + Send>;

/// A call whose arguments are good.
pub(crate) enum Prepared {
    Page { opening: Opening, least_budget: Duration, run: PageRun },
    Control(ControlRun),
}

/// A tool of the catalogue.
pub struct Tool {
    about: About,
    params: fn() -> Map<String, Value>,
    output: fn() -> Map<String, Value>,
    prepare: fn(Arguments) -> Result<Prepared, Failure>,
}

inventory::collect!(Tool);

/// Every tool, by name.
pub fn all() -> Vec<&'static Tool> {
    let mut tools: Vec<&'static Tool> = inventory::iter::<Tool>().collect();
    tools.sort_by_key(|tool| tool.about.name);
    tools
}

/// The default list, by name.
pub fn everyday() -> Vec<&'static Tool> {
    all().into_iter().filter(|tool| tool.about.everyday).collect()
}

/// The tool with this name or alias.
pub fn find(name: &str) -> Option<&'static Tool> {
    inventory::iter::<Tool>().find(|tool| tool.about.name == name || tool.about.aliases.contains(&name))
}

/// The tool whose name is most similar, where one is similar at all.
pub fn nearest(name: &str) -> Option<&'static str> {
    arguments::nearest(name, inventory::iter::<Tool>().map(|tool| tool.about.name))
}

/// Which tools a face offers: `default`, `all`, or names separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Selection {
    /// The everyday ones.
    #[default]
    Default,
    /// All.
    All,
    /// Those with these names.
    Named(Vec<&'static str>),
}

/// A name that no tool has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool `{name}`{}", .near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
pub struct UnknownTool {
    /// What was asked for.
    pub name: String,
    /// The most similar name.
    pub near: Option<&'static str>,
}

impl Selection {
    /// The tools, by name.
    pub fn tools(&self) -> Vec<&'static Tool> {
        match self {
            Self::Default => everyday(),
            Self::All => all(),
            Self::Named(names) => all().into_iter().filter(|tool| names.contains(&tool.about.name)).collect(),
        }
    }
}

impl std::str::FromStr for Selection {
    type Err = UnknownTool;

    fn from_str(text: &str) -> Result<Self, UnknownTool> {
        match text.trim() {
            "default" => return Ok(Self::Default),
            "all" => return Ok(Self::All),
            _ => {}
        }
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(|name| {
            find(name)
                .map(Tool::name)
                .ok_or_else(|| UnknownTool { name: name.escape_debug().take(60).collect(), near: nearest(name) })
        });
        names.collect::<Result<_, _>>().map(Self::Named)
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::All => f.write_str("all"),
            Self::Named(names) => f.write_str(&names.join(",")),
        }
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.about.name).finish()
    }
}

impl Tool {
    pub(crate) const fn in_session<T: PageTool>() -> Self {
        Self {
            about: T::ABOUT,
            params: schema::of_arguments::<T::Params>,
            output: schema::of_answer::<T::Output>,
            prepare: |arguments| {
                let params: T::Params = arguments::read(arguments)?;
                let (opening, least_budget) = (T::opening(&params)?, T::least_budget(&params));
                let run: PageRun = Box::new(move |call| {
                    Box::pin(async move {
                        let session = call.session_name().to_owned();
                        T::run(call, params).await.map(|output| answer(&session, output))
                    })
                });
                Ok(Prepared::Page { opening, least_budget, run })
            },
        }
    }

    pub(crate) const fn beside_sessions<T: ControlTool>() -> Self {
        Self {
            about: T::ABOUT,
            params: schema::of_arguments::<T::Params>,
            output: schema::of_answer::<T::Output>,
            prepare: |arguments| {
                let params: T::Params = arguments::read(arguments)?;
                Ok(Prepared::Control(Box::new(move |control| {
                    Box::pin(async move { T::run(control, params).await.map(|output| answer("", output)) })
                })))
            },
        }
    }

    /// Its name, such as `browser_click`.
    pub fn name(&self) -> &'static str {
        self.about.name
    }

    /// Other names that it answers to.
    pub fn aliases(&self) -> &'static [&'static str] {
        self.about.aliases
    }

    /// A few words for people.
    pub fn title(&self) -> &'static str {
        self.about.title
    }

    /// One sentence.
    pub fn description(&self) -> &'static str {
        self.about.description
    }

    /// What it does to the world.
    pub fn effect(&self) -> Effect {
        self.about.effect
    }

    /// Its verb on the command line.
    pub fn verb(&self) -> &'static str {
        self.about.verb
    }

    /// Arguments of a typical call, as JSON.
    pub fn example(&self) -> &'static str {
        self.about.example
    }

    /// Whether it is in the default list.
    pub fn is_everyday(&self) -> bool {
        self.about.everyday
    }

    /// What hosts are told of it.
    pub fn hints(&self) -> Hints {
        Hints {
            read_only: self.about.effect == Effect::Read,
            destructive: match self.about.effect {
                Effect::Act => true,
                // What ends a session loses its cookies and pages.
                Effect::Control => self.about.common == Common::Session,
                Effect::Read | Effect::Navigate => false,
            },
            idempotent: self.about.idempotent,
            open_world: self.about.common != Common::Session,
        }
    }

    /// The JSON schema of its arguments: plain, no `$schema`, no type lists, `properties` always there.
    pub fn input_schema(&self) -> &'static Map<String, Value> {
        // Every call is checked against it, so it is made once.
        static SCHEMAS: LazyLock<HashMap<&'static str, Map<String, Value>>> = LazyLock::new(|| {
            inventory::iter::<Tool>().map(|tool| (tool.about.name, tool.make_input_schema())).collect()
        });
        &SCHEMAS[self.about.name]
    }

    /// The schema as it is listed for models: without bounds, which are told when they are passed. Lists are part of
    /// every conversation, so each byte counts.
    pub fn listed_schema(&self) -> Map<String, Value> {
        schema::without_bounds(self.input_schema())
    }

    fn make_input_schema(&self) -> Map<String, Value> {
        let mut schema = (self.params)();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            if self.about.common != Common::Timeout {
                properties.insert("session".to_owned(), json!({"type": "string"}));
            }
            if self.about.common == Common::Page {
                properties.insert("tab".to_owned(), json!({"type": "integer", "minimum": 0}));
            }
            if self.about.common != Common::Session {
                let timeout = json!({"type": "integer", "minimum": 1, "maximum": MAXIMUM_TIMEOUT_MS});
                properties.insert("timeoutMs".to_owned(), timeout);
            }
        }
        schema
    }

    /// The JSON schema of its answer as data.
    pub fn output_schema(&self) -> Map<String, Value> {
        let mut schema = (self.output)();
        if self.about.common != Common::Session
            && let Some(Value::Object(properties)) = schema.get_mut("properties")
        {
            properties.insert("session".to_owned(), json!({"type": "string"}));
        }
        schema
    }

    /// Checks the arguments and takes those out that all tools have in common.
    pub(crate) fn prepare(&self, mut arguments: Arguments) -> Result<(Prepared, CommonArguments), Failure> {
        arguments::check(self.input_schema(), &mut arguments)?;
        let common = CommonArguments {
            session: take(&mut arguments, "session", |value| value.as_str().map(ToOwned::to_owned)),
            tab: take(&mut arguments, "tab", |value| value.as_u64().and_then(|index| index.try_into().ok())),
            timeout_ms: take(&mut arguments, "timeoutMs", Value::as_u64),
        };
        Ok(((self.prepare)(arguments)?, common))
    }
}

/// What all tools have in common.
pub(crate) struct CommonArguments {
    pub(crate) session: Option<String>,
    pub(crate) tab: Option<usize>,
    pub(crate) timeout_ms: Option<u64>,
}

fn take<T>(arguments: &mut Arguments, name: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
    arguments.remove(name).as_ref().and_then(read)
}

/// An answer of a tool; it names the session that was acted on, where there is one.
fn answer(session: &str, mut output: impl Output) -> Answer {
    let mut text = Text::default();
    if !session.is_empty() {
        text.fact("session", session);
    }
    output.write(&mut text);
    let images = output.images();
    let mut data = serde_json::to_value(&output).unwrap_or_else(|error| {
        // The outputs are plain structures with string keys, which always can be written.
        json!({"error": {"code": Code::ActionFailed.name(), "message": error.to_string()}})
    });
    make_safe(&mut data);
    if !session.is_empty()
        && let Value::Object(fields) = &mut data
    {
        fields.insert("session".to_owned(), json!(session));
    }
    Answer { text: text.finish(), data, images }
}

/// No string of an answer carries control or invisible characters, whatever the page put into it.
fn make_safe(data: &mut Value) {
    match data {
        Value::String(text) => *text = escape::block(text),
        Value::Array(items) => items.iter_mut().for_each(make_safe),
        Value::Object(fields) => fields.values_mut().for_each(make_safe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

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
        assert!(size <= 10_240, "{size}");
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
}
