//! The page script's world in a document: script that shares nothing but the document with the page.

use bathy_cdp::protocol::page::CreateIsolatedWorld;
use bathy_cdp::protocol::runtime::{
    CallArgument, CallFunctionOn, Evaluate, Evaluated, ExecutionContextId, RemoteObject,
};
use bathy_cdp::{CallError, Session};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::page::{SCRIPT, ScriptError};
use crate::tab::FrameState;
use crate::{Deadline, Error};

/// The name of the world. Pages cannot see it.
const NAME: &str = "bathysphere";

/// The page script in one document of one frame. It ends with the document.
#[derive(Debug, Clone)]
pub(crate) struct World {
    session: Session,
    context: ExecutionContextId,
}

impl World {
    /// The world of a frame's document, made now if this is the first use of it.
    pub(crate) async fn of(frame: &FrameState, deadline: Deadline) -> Result<Self, WorldError> {
        let context = frame
            .world
            .get_or_try_init(|| async {
                let create = CreateIsolatedWorld {
                    frame_id: frame.id.clone(),
                    world_name: Some(NAME.to_owned()),
                    grant_univeral_access: None,
                };
                let context = frame.session.call(create, deadline.remaining()).await?.execution_context_id;
                let install = Evaluate {
                    expression: SCRIPT.to_owned(),
                    context_id: Some(context),
                    silent: Some(true),
                    ..Evaluate::default()
                };
                value(frame.session.call(install, deadline.remaining()).await?)?;
                Ok::<_, WorldError>(context)
            })
            .await?;
        Ok(Self { session: frame.session.clone(), context: *context })
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
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            ok: Option<Value>,
            error: Option<ScriptError>,
        }
        let argument = serde_json::to_value(argument).map_err(|error| WorldError::Broken(error.to_string()))?;
        let command = CallFunctionOn {
            function_declaration: "function(name, argument) { return bathy.call(name, argument); }".to_owned(),
            execution_context_id: Some(self.context),
            arguments: Some(vec![by_value(Value::String(function.to_owned())), by_value(argument)]),
            return_by_value: Some(true),
            await_promise: Some(true),
            silent: Some(true),
            ..CallFunctionOn::default()
        };
        let evaluated = self.session.call(command, deadline.remaining()).await?;
        let answer = value(evaluated)?.value.unwrap_or_default();
        let answer: Answer = serde_json::from_value(answer).map_err(|error| WorldError::Broken(error.to_string()))?;
        if let Some(error) = answer.error {
            return Err(WorldError::Script(error));
        }
        serde_json::from_value(answer.ok.unwrap_or_default()).map_err(|error| WorldError::Broken(error.to_string()))
    }

    /// Runs a function in the world and keeps its result in the browser. Handles of `group` are to be released.
    pub(crate) async fn handle(
        &self,
        function_declaration: &str,
        arguments: Vec<CallArgument>,
        group: &str,
        deadline: Deadline,
    ) -> Result<RemoteObject, WorldError> {
        let command = CallFunctionOn {
            function_declaration: function_declaration.to_owned(),
            execution_context_id: Some(self.context),
            arguments: Some(arguments),
            silent: Some(true),
            object_group: Some(group.to_owned()),
            ..CallFunctionOn::default()
        };
        value(self.session.call(command, deadline.remaining()).await?)
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

fn value(evaluated: Evaluated) -> Result<RemoteObject, WorldError> {
    match evaluated.exception_details {
        None => Ok(evaluated.result),
        Some(details) => {
            let thrown = details.exception.and_then(|exception| exception.description);
            Err(WorldError::Broken(thrown.unwrap_or(details.text)))
        }
    }
}
