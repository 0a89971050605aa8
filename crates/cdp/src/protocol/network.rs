//! Domain `Network`: what a page loads.

use std::collections::BTreeMap;

use super::macros::{commands, events, known, objects};
use super::{FrameId, LoaderId, Nothing, RequestId};

objects! {
    /// A request.
    Request {
        /// Its URL without the fragment.
        url: String,
        /// Its method.
        method: String,
    }
    /// A response.
    Response {
        /// Its URL.
        url: String,
        /// HTTP status.
        status: i64,
        /// The words after it.
        status_text: String,
        /// The document's type.
        mime_type: String,
        /// Headers.
        headers: BTreeMap<String, String>,
    }
}

commands! {
    /// Asks for this domain's events.
    "Network.enable" Enable {
        ;
        /// Bytes kept of all bodies.
        max_total_buffer_size: i64,
        /// Bytes kept of one body.
        max_resource_buffer_size: i64,
    } -> Nothing;
    /// Sends requests past service workers.
    "Network.setBypassServiceWorker" SetBypassServiceWorker {
        /// On or off.
        bypass: bool,
    } -> Nothing;
    /// Ends this domain's events.
    "Network.disable" Disable {} -> Nothing;
}

events! {
    /// A request is about to be sent.
    "Network.requestWillBeSent" RequestWillBeSent {
        /// The request.
        request_id: RequestId,
        /// The load that it belongs to; equals the request's id for the document itself.
        loader_id: LoaderId,
        /// What is asked for.
        request: Request,
        ;
        /// `Document`, `XHR`, …
        r#type: String,
        /// The frame that asks.
        frame_id: FrameId,
        /// The response that redirected here.
        redirect_response: Response,
    }
    /// Headers have come.
    "Network.responseReceived" ResponseReceived {
        /// The request.
        request_id: RequestId,
        /// The load that it belongs to.
        loader_id: LoaderId,
        /// `Document`, `XHR`, …
        r#type: String,
        /// The response.
        response: Response,
        ;
        /// The frame that asked.
        frame_id: FrameId,
    }
    /// All has come.
    "Network.loadingFinished" LoadingFinished {
        /// The request.
        request_id: RequestId,
    }
    /// It failed.
    "Network.loadingFailed" LoadingFailed {
        /// The request.
        request_id: RequestId,
        /// `Document`, `Image`, `Fetch`, …
        r#type: String,
        /// The browser's name of the failure, such as `net::ERR_CONNECTION_REFUSED`.
        error_text: String,
        ;
        /// Whether the page gave it up.
        canceled: bool,
        /// Why the browser itself refused it.
        blocked_reason: String,
    }
}

known!();
