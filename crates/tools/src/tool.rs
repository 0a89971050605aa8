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
    /// `session` and `timeoutMs`, of a tool that is about no tab or names it in a way of its own.
    Whole,
}

/// A tool that works in a session, when its turn has come.
pub(crate) trait PageTool: 'static {
    const ABOUT: About;
    /// Whether it runs beside the calls that wait in its session, not after them.
    const BESIDE: bool = false;
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
    Page { opening: Opening, least_budget: Duration, beside: bool, run: PageRun },
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
                Ok(Prepared::Page { opening, least_budget, beside: T::BESIDE, run })
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
            properties.insert("notices".to_owned(), json!({"type": "array", "items": {"type": "string"}}));
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
mod tests;
