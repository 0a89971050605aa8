//! The parts of the protocol that the engine uses, by domain.
//!
//! Names are the protocol's own. A test holds them against the browser's `/json/protocol`.

use serde::Serialize;
use serde::de::DeserializeOwned;

mod macros;

pub mod accessibility;
pub mod browser;
pub mod dom;
pub mod dom_debugger;
pub mod emulation;
pub mod fetch;
pub mod input;
pub mod inspector;
pub mod io;
pub mod network;
pub mod page;
pub mod runtime;
pub mod storage;
pub mod target;

pub use ids::*;

/// A command: its parameters, its name and the type of its result.
pub trait Command: Serialize + Send + Sync {
    /// The protocol's name, such as `Page.navigate`.
    const METHOD: &'static str;
    /// The protocol's names of the parameters.
    const PARAMETERS: &'static [&'static str];
    /// What the browser answers.
    type Output: DeserializeOwned + Send;
}

/// An event: its parameters and its name.
pub trait Event: DeserializeOwned {
    /// The protocol's name, such as `Page.loadEventFired`.
    const METHOD: &'static str;
    /// The names of the parameters that are read.
    const PARAMETERS: &'static [&'static str];
}

/// The result of a command that answers nothing of use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
pub struct Nothing {}

/// Every command and event known here, with the names of its parameters, for the drift test.
pub fn known() -> Vec<(&'static str, &'static [&'static str])> {
    [
        accessibility::KNOWN,
        browser::KNOWN,
        dom::KNOWN,
        dom_debugger::KNOWN,
        emulation::KNOWN,
        fetch::KNOWN,
        input::KNOWN,
        inspector::KNOWN,
        io::KNOWN,
        network::KNOWN,
        page::KNOWN,
        runtime::KNOWN,
        storage::KNOWN,
        target::KNOWN,
    ]
    .concat()
}

mod ids {
    use super::macros::ids;

    ids! {
        /// A flat protocol session.
        SessionId,
        /// A page, frame or worker that can be attached to.
        TargetId,
        /// A frame; for a main frame it equals its page's target id.
        FrameId,
        /// One loading of a document.
        LoaderId,
        /// A network request.
        RequestId,
        /// A request paused by the `Fetch` domain.
        FetchRequestId,
        /// An isolated browser context.
        BrowserContextId,
        /// A script evaluated in each new document.
        ScriptIdentifier,
        /// A handle on a JavaScript object.
        RemoteObjectId,
        /// A readable stream of bytes.
        StreamHandle,
    }
}
