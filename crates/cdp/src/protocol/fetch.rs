//! Domain `Fetch`: requests held until they are decided.

use super::macros::{commands, events, known, objects};
use super::network::Request;
use super::{FetchRequestId, FrameId, Nothing, RequestId};

objects! {
    /// Which requests are held.
    RequestPattern {
        ;
        /// `*` matches all.
        url_pattern: String,
        /// `Document` and the like.
        resource_type: String,
        /// `Request` or `Response`.
        request_stage: String,
    }
    /// A header.
    HeaderEntry {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    }
}

commands! {
    /// Begins to hold requests.
    "Fetch.enable" Enable {
        ;
        /// Which; all when absent.
        patterns: Vec<RequestPattern>,
    } -> Nothing;
    /// Lets a request go on.
    "Fetch.continueRequest" ContinueRequest {
        /// The request.
        request_id: FetchRequestId,
    } -> Nothing;
    /// Answers a request in place of the network.
    "Fetch.fulfillRequest" FulfillRequest {
        /// The request.
        request_id: FetchRequestId,
        /// HTTP status.
        response_code: u16,
        ;
        /// Headers.
        response_headers: Vec<HeaderEntry>,
        /// The body in base64.
        body: String,
    } -> Nothing;
    /// Ends a request with an error.
    "Fetch.failRequest" FailRequest {
        /// The request.
        request_id: FetchRequestId,
        /// `BlockedByClient` and the like.
        error_reason: String,
    } -> Nothing;
}

events! {
    /// A request is held.
    "Fetch.requestPaused" RequestPaused {
        /// Its handle here.
        request_id: FetchRequestId,
        /// What is asked for.
        request: Request,
        /// The frame that asks.
        frame_id: FrameId,
        /// `Document`, `XHR`, …
        resource_type: String,
        ;
        /// Its handle in the domain `Network`.
        network_id: RequestId,
    }
}

known!();
