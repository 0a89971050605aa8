//! The page script's world in a document: script that shares nothing but the document with the page.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use bathy_cdp::protocol::page::CreateIsolatedWorld;
use bathy_cdp::protocol::runtime::{
    CallArgument, CallFunctionOn, Evaluate, Evaluated, ExecutionContextId, RemoteObject, SerializationOptions,
};
use bathy_cdp::protocol::{FrameId, RemoteObjectId};
use bathy_cdp::{CallError, Session};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::page::{SCRIPT, ScriptError};
use crate::tab::FrameState;
use crate::{Deadline, Error};

/// The name of the world. Pages cannot see it.
const NAME: &str = "bathysphere";

/// What we have in a document, made when it is needed first. It ends with the document.
#[derive(Debug, Default)]
pub(crate) struct Foothold {
    context: OnceCell<ExecutionContextId>,
    /// The page script is there.
    installed: AtomicBool,
    /// The document in the page's own world, for questions that only that world may be asked.
    document: OnceCell<RemoteObjectId>,
    /// The frame did not answer a reading, and has answered none since.
    silent: AtomicBool,
    /// Held for a look only, never across an await.
    numbers: Mutex<Numbers>,
}

/// The browser's numbers for the nodes of a document.
#[derive(Debug, Default)]
struct Numbers {
    /// Those of elements that the page script handed out, by batch, which it has yet to be told; 0 for what has none.
    untold: Vec<(u32, Vec<i64>)>,
    /// Those that it need not be asked about any more.
    known: HashSet<i64>,
}

impl Foothold {
    pub(crate) fn is_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    pub(crate) fn set_silent(&self, silent: bool) {
        self.silent.store(silent, Ordering::Relaxed);
    }

    /// Those numbers that are new here.
    pub(crate) fn unknown(&self, numbers: &[i64]) -> Vec<i64> {
        let known = self.numbers();
        numbers.iter().filter(|number| !known.known.contains(number)).copied().collect()
    }

    pub(crate) fn learn(&self, numbers: &[i64]) {
        self.numbers().known.extend(numbers);
    }

    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The document of a frame in the page's own world.
    pub(crate) async fn document(&self, session: &Session, deadline: Deadline) -> Result<RemoteObjectId, WorldError> {
        let handle = self.document.get_or_try_init(|| async {
            // `document` of a window cannot be redefined, so no script of the page runs for this. The handle has no
            // group, or each listener would come with a handle on its function; it ends with the document.
            let document = Evaluate { expression: "document".to_owned(), silent: Some(true), ..Evaluate::default() };
            let document = session.call(document, deadline.remaining()).await?.result.object_id;
            document.ok_or_else(|| WorldError::Broken("a document has no handle".to_owned()))
        });
        handle.await.cloned()
    }
}

/// The page script in one document of one frame. It ends with the document.
#[derive(Debug, Clone)]
pub(crate) struct World {
    session: Session,
    context: ExecutionContextId,
    foothold: Arc<Foothold>,
}

/// What the page script is told with a reading, of what only the protocol knows.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The browser's numbers of the nodes that listen for a pointer; none where it was not asked.
    pub(crate) listening: Option<Vec<i64>>,
    /// Handles on nodes with these numbers.
    pub(crate) nodes: Vec<(i64, CallArgument)>,
    /// Handles on closed shadow roots.
    pub(crate) roots: Vec<CallArgument>,
}

/// An answer to a reading.
#[derive(Debug)]
pub(crate) struct Reply<R> {
    pub(crate) answer: R,
    /// The frames that its frame owners hold, in the answer's order.
    pub(crate) frames: Vec<Option<FrameId>>,
    /// The elements that it handed out.
    pub(crate) nodes: Vec<Node>,
}

/// An element that was handed out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) number: i64,
    pub(crate) closed_root: Option<i64>,
}

#[derive(Deserialize)]
struct Answer {
    ok: Option<Value>,
    error: Option<ScriptError>,
    #[serde(default)]
    batch: u32,
}

impl Answer {
    fn result<R: DeserializeOwned>(self) -> Result<R, WorldError> {
        match self.error {
            Some(error) => Err(WorldError::Script(error)),
            None => serde_json::from_value(self.ok.unwrap_or_default()).map_err(broken),
        }
    }
}

impl World {
    /// The world of a frame's document, made now if this is the first use of it.
    pub(crate) async fn of(frame: &FrameState, deadline: Deadline) -> Result<Self, WorldError> {
        let foothold = Arc::clone(&frame.foothold);
        let context = foothold.context.get_or_try_init(|| async {
            let create = CreateIsolatedWorld {
                frame_id: frame.id.clone(),
                world_name: Some(NAME.to_owned()),
                grant_univeral_access: None,
            };
            let created = frame.session.call(create, deadline.remaining()).await?;
            Ok::<_, WorldError>(created.execution_context_id)
        });
        let context = *context.await?;
        Ok(Self { session: frame.session.clone(), context, foothold })
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn context(&self) -> ExecutionContextId {
        self.context
    }

    /// Calls a function of the page script with one argument and decodes its answer.
    pub(crate) async fn call<A, R>(&self, function: &str, argument: &A, deadline: Deadline) -> Result<R, WorldError>
    where
        A: Serialize + Sync,
        R: DeserializeOwned,
    {
        let argument = serde_json::to_value(argument).map_err(broken)?;
        let command = CallFunctionOn {
            function_declaration: self.declare("name, argument", "bathy.call(name, argument)"),
            arguments: Some(vec![by_value(Value::String(function.to_owned())), by_value(argument)]),
            return_by_value: Some(true),
            await_promise: Some(true),
            ..self.command()
        };
        let answer = self.run(command, deadline).await?.value.unwrap_or_default();
        serde_json::from_value::<Answer>(answer).map_err(broken)?.result()
    }

    /// Calls a function of the page script that reads, tells it what the protocol knows, and takes what it hands out.
    pub(crate) async fn read<A, R>(
        &self,
        function: &str,
        argument: &A,
        told: Told,
        frames: usize,
        deadline: Deadline,
    ) -> Result<Reply<R>, WorldError>
    where
        A: Serialize + Sync,
        R: DeserializeOwned,
    {
        let argument = serde_json::to_value(argument).map_err(broken)?;
        let batches = std::mem::take(&mut self.foothold.numbers().untold);
        let nodes: Vec<i64> = told.nodes.iter().map(|(number, _)| *number).collect();
        let facts = json!({ "listening": told.listening, "batches": batches, "nodes": nodes, "frames": frames });
        let mut arguments = vec![by_value(Value::String(function.to_owned())), by_value(argument), by_value(facts)];
        arguments.extend(told.nodes.into_iter().map(|(_, handle)| handle));
        arguments.extend(told.roots);
        let command = CallFunctionOn {
            function_declaration: self.declare("...all", "bathy.read(...all)"),
            arguments: Some(arguments),
            serialization_options: Some(SerializationOptions {
                serialization: "deep".to_owned(),
                additional_parameters: Some(json!({ "maxNodeDepth": 0, "includeShadowTree": "all" })),
            }),
            ..self.command()
        };
        let mut given = deep(self.run(command, deadline).await?).into_iter();
        let text = given.next().and_then(|text| text.value).unwrap_or_default();
        let answer: Answer = serde_json::from_str(text.as_str().unwrap_or_default()).map_err(broken)?;
        let mut reply = Reply { answer: (), frames: Vec::new(), nodes: Vec::new() };
        for one in given {
            if one.kind == "node" {
                reply.nodes.push(one.node());
            } else {
                reply.frames.push(one.frame());
            }
        }
        if answer.batch > 0 {
            let numbers: Vec<i64> = reply.nodes.iter().map(|node| node.number).collect();
            self.foothold.learn(&numbers);
            self.foothold.numbers().untold.push((answer.batch, numbers));
        }
        Ok(Reply { answer: answer.result()?, frames: reply.frames, nodes: reply.nodes })
    }

    /// Evaluates an expression of the page script and keeps its result in the browser, where `group` is to be released.
    pub(crate) async fn handle(
        &self,
        (parameters, expression): (&str, &str),
        arguments: Vec<CallArgument>,
        group: &str,
        deadline: Deadline,
    ) -> Result<RemoteObject, WorldError> {
        let command = CallFunctionOn {
            function_declaration: self.declare(parameters, expression),
            arguments: Some(arguments),
            object_group: Some(group.to_owned()),
            ..self.command()
        };
        self.run(command, deadline).await
    }

    /// The frame that an element holds, where it holds one.
    pub(crate) async fn frame_in(&self, id: u32, deadline: Deadline) -> Result<Option<FrameId>, WorldError> {
        let command = CallFunctionOn {
            function_declaration: self.declare("ids", "bathy.windows(ids)"),
            arguments: Some(vec![by_value(json!([id]))]),
            serialization_options: Some(SerializationOptions {
                serialization: "deep".to_owned(),
                additional_parameters: None,
            }),
            ..self.command()
        };
        Ok(deep(self.run(command, deadline).await?).first().and_then(Given::frame))
    }

    fn command(&self) -> CallFunctionOn {
        CallFunctionOn { execution_context_id: Some(self.context), silent: Some(true), ..CallFunctionOn::default() }
    }

    /// A function in whose body the page script is there: the first call in a document brings it along.
    pub(crate) fn declare(&self, parameters: &str, body: &str) -> String {
        let script = if self.foothold.installed.load(Ordering::Acquire) { "" } else { &*COMPACT };
        format!("function({parameters}) {{ {script}\nreturn {body}; }}")
    }

    async fn run(&self, command: CallFunctionOn, deadline: Deadline) -> Result<RemoteObject, WorldError> {
        let result = value(self.session.call(command, deadline.remaining()).await?)?;
        self.foothold.installed.store(true, Ordering::Release);
        Ok(result)
    }
}

/// The page script without its indentation and the lines that are comments, which every document would be sent.
static COMPACT: LazyLock<String> = LazyLock::new(|| {
    let lines = SCRIPT.lines().map(str::trim).filter(|line| {
        let comment = ["//", "/**", "* ", "*/"].iter().any(|mark| line.starts_with(mark));
        !line.is_empty() && !comment
    });
    lines.collect::<Vec<_>>().join("\n")
});

/// A part of what the page script gave.
#[derive(Deserialize)]
struct Given {
    #[serde(rename = "type")]
    kind: String,
    value: Option<Value>,
}

impl Given {
    fn frame(&self) -> Option<FrameId> {
        let context = self.value.as_ref()?.get("context")?.as_str()?;
        (self.kind == "window").then(|| FrameId(context.to_owned()))
    }

    fn node(&self) -> Node {
        let number = |node: &Value| node.get("backendNodeId").and_then(Value::as_i64);
        let value = self.value.as_ref();
        let root = value.and_then(|node| node.get("shadowRoot")?.get("value"));
        let closed = root.filter(|root| root.get("mode").and_then(Value::as_str) == Some("closed"));
        Node { number: value.and_then(number).unwrap_or_default(), closed_root: closed.and_then(number) }
    }
}

/// A text alone, or a list.
fn deep(result: RemoteObject) -> Vec<Given> {
    let Some(given) = result.deep_serialized_value else {
        return Vec::new();
    };
    match given.value {
        Some(Value::Array(list)) => list.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect(),
        value => vec![Given { kind: given.r#type, value }],
    }
}

/// Why a call into a document came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorldError {
    /// The page script says why it cannot.
    #[error("{}", .0.message)]
    Script(ScriptError),
    /// The document is gone, and the world with it.
    #[error("the document is gone")]
    DocumentGone,
    /// The page does not answer in time.
    #[error("the page does not answer")]
    Silent,
    /// The browser or the tab is gone.
    #[error("{0}")]
    Gone(CallError),
    /// The page script or the protocol did what it should not.
    #[error("page script failed: {0}")]
    Broken(String),
}

impl From<CallError> for WorldError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::TimedOut { .. } => Self::Silent,
            CallError::Closed { .. } => Self::Gone(error),
            CallError::Detached { .. } => Self::DocumentGone,
            CallError::Refused { ref message, .. } => {
                let gone = [
                    "Cannot find context",
                    "context was destroyed",
                    "No frame",
                    "Frame with the given id",
                    "Target closed",
                    "Inspected target navigated",
                ];
                if gone.iter().any(|words| message.contains(words)) {
                    Self::DocumentGone
                } else {
                    Self::Broken(error.to_string())
                }
            }
            CallError::Malformed { .. } => Self::Broken(error.to_string()),
        }
    }
}

impl WorldError {
    /// The error of a call that was about the page as a whole.
    pub(crate) fn about_page(self, deadline: Deadline) -> Error {
        match self {
            Self::Script(error) => Error::ActionFailed(error.message),
            Self::DocumentGone => Error::PageGone("it went to another document meanwhile; try again".to_owned()),
            Self::Silent => deadline.error("the page's answer"),
            Self::Gone(error) => Error::from(error),
            Self::Broken(detail) => Error::ActionFailed(detail),
        }
    }
}

pub(crate) fn by_value(value: Value) -> CallArgument {
    CallArgument { value: Some(value), object_id: None }
}

#[expect(clippy::needless_pass_by_value, reason = "an error to map")]
fn broken(error: serde_json::Error) -> WorldError {
    WorldError::Broken(error.to_string())
}

fn value(evaluated: Evaluated) -> Result<RemoteObject, WorldError> {
    match evaluated.exception_details {
        None => Ok(evaluated.result),
        Some(details) => {
            let thrown = details.exception.and_then(|exception| exception.description);
            Err(WorldError::Broken(thrown.unwrap_or(details.text)))
        }
    }
}
