//! Domain `Runtime`: script.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::macros::{commands, events, known, objects};
use super::{FrameId, Nothing, RemoteObjectId};

/// A global scope that script runs in. It ends with its document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExecutionContextId(pub i64);

objects! {
    /// A JavaScript value, by value or by handle.
    RemoteObject {
        /// `object`, `string`, …
        r#type: String,
        ;
        /// `node`, `null`, `array`, …
        subtype: String,
        /// The value, where it was asked for.
        value: Value,
        /// A value that JSON cannot hold, such as `NaN`.
        unserializable_value: String,
        /// How it would be shown.
        description: String,
        /// The handle.
        object_id: RemoteObjectId,
        /// What it holds, where deep serialization was asked for.
        deep_serialized_value: DeepSerializedValue,
    }
    /// A value with all that it holds, as `WebDriver BiDi` writes it.
    DeepSerializedValue {
        /// `string`, `array`, `node`, `window`, …
        r#type: String,
        ;
        /// What it holds; its shape goes by the type.
        value: Value,
    }
    /// How a result is written.
    SerializationOptions {
        /// `deep`, `json` or `idOnly`.
        serialization: String,
        ;
        /// For nodes: `maxNodeDepth`, and `includeShadowTree` with `none`, `open` or `all`.
        additional_parameters: Value,
    }
    /// An argument of a call, by value or by handle.
    CallArgument {
        ;
        /// The value.
        value: Value,
        /// The handle.
        object_id: RemoteObjectId,
    }
    /// What a script threw.
    ExceptionDetails {
        /// `Uncaught` and the like.
        text: String,
        /// Line, from 0.
        line_number: i64,
        /// Column, from 0.
        column_number: i64,
        ;
        /// What was thrown.
        exception: RemoteObject,
    }
    /// The answer to [`Evaluate`] and [`CallFunctionOn`].
    Evaluated {
        /// The value.
        result: RemoteObject,
        ;
        /// What it threw instead.
        exception_details: ExceptionDetails,
    }
    /// A property of an object.
    PropertyDescriptor {
        /// Its name.
        name: String,
        ;
        /// Its value.
        value: RemoteObject,
    }
    /// The answer to [`GetProperties`].
    Properties {
        /// The object's own properties.
        result: Vec<PropertyDescriptor>,
    }
    /// What a context belongs to.
    ExecutionContextAuxData {
        ;
        /// The frame.
        frame_id: FrameId,
        /// `default` or `isolated`.
        r#type: String,
    }
    /// An execution context.
    ExecutionContextDescription {
        /// Its id.
        id: ExecutionContextId,
        /// The name of its world.
        name: String,
        /// An id that is never used again, also across processes.
        unique_id: String,
        ;
        /// What it belongs to.
        aux_data: ExecutionContextAuxData,
    }
}

commands! {
    /// Asks for this domain's events.
    "Runtime.enable" Enable {} -> Nothing;
    /// Ends this domain's events.
    "Runtime.disable" Disable {} -> Nothing;
    /// Lets a new target run.
    "Runtime.runIfWaitingForDebugger" RunIfWaitingForDebugger {} -> Nothing;
    /// Evaluates an expression.
    "Runtime.evaluate" Evaluate {
        /// The expression.
        expression: String,
        ;
        /// The context; the page's own when absent.
        context_id: ExecutionContextId,
        /// Whether the functions of the console are there, such as `getEventListeners`.
        #[serde(rename = "includeCommandLineAPI")]
        include_command_line_a_p_i: bool,
        /// Whether the value itself is answered.
        return_by_value: bool,
        /// Whether a promise is awaited.
        await_promise: bool,
        /// Whether no exception is reported to the console.
        silent: bool,
        /// Whether this counts as an action of a person.
        user_gesture: bool,
        /// Milliseconds after which the script is ended.
        timeout: f64,
        /// A name under which handles can be released together.
        object_group: String,
    } -> Evaluated;
    /// Calls a function.
    "Runtime.callFunctionOn" CallFunctionOn {
        /// The function.
        function_declaration: String,
        ;
        /// `this`, and by it the context.
        object_id: RemoteObjectId,
        /// The arguments.
        arguments: Vec<CallArgument>,
        /// Whether no exception is reported to the console.
        silent: bool,
        /// Whether the value itself is answered.
        return_by_value: bool,
        /// Whether this counts as an action of a person.
        user_gesture: bool,
        /// Whether a promise is awaited.
        await_promise: bool,
        /// The context, where there is no `this`.
        execution_context_id: ExecutionContextId,
        /// A name under which handles can be released together.
        object_group: String,
        /// How the result is written.
        serialization_options: SerializationOptions,
    } -> Evaluated;
    /// The properties of an object.
    "Runtime.getProperties" GetProperties {
        /// The object.
        object_id: RemoteObjectId,
        ;
        /// Whether inherited ones are left out.
        own_properties: bool,
    } -> Properties;
    /// Lets go of a handle.
    "Runtime.releaseObject" ReleaseObject {
        /// The handle.
        object_id: RemoteObjectId,
    } -> Nothing;
    /// Lets go of handles.
    "Runtime.releaseObjectGroup" ReleaseObjectGroup {
        /// Their group.
        object_group: String,
    } -> Nothing;
    /// Ends the script that runs now.
    "Runtime.terminateExecution" TerminateExecution {} -> Nothing;
}

events! {
    /// A context came to be.
    "Runtime.executionContextCreated" ExecutionContextCreated {
        /// The context.
        context: ExecutionContextDescription,
    }
    /// All contexts of this session are gone.
    "Runtime.executionContextsCleared" ExecutionContextsCleared {}
    /// A page wrote to the console.
    "Runtime.consoleAPICalled" ConsoleApiCalled {
        /// `log`, `error`, …
        r#type: String,
        /// What it wrote.
        args: Vec<RemoteObject>,
        /// Milliseconds since 1970.
        timestamp: f64,
    }
    /// A script threw and nobody caught it.
    "Runtime.exceptionThrown" ExceptionThrown {
        /// Milliseconds since 1970.
        timestamp: f64,
        /// What it threw.
        exception_details: ExceptionDetails,
    }
}

known!();
