//! The reading end of the gate without a socket, for fuzzers and tests.

use std::cell::RefCell;
use std::convert::Infallible;

use bathy_policy::{Host, Policy};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio_util::sync::CancellationToken;

use crate::assignment::Assignment;
use crate::body::GateBody;
use crate::exchange::server;
use crate::head;
use crate::limits::Limits;

/// A request that was understood, and what the gate would do with it before it resolves anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The host it asks for.
    pub host: Host,
    /// The port it asks for.
    pub port: u16,
    /// Whether the policy lets it pass so far; for a literal address that is its last word.
    pub allowed: bool,
}

/// Reads `bytes` as a browser's connection to the gate, and judges each request in it as the gate does. Opens nothing.
/// Needs a Tokio runtime with time enabled.
pub async fn examine(bytes: &[u8], policy: &Policy) -> Vec<Examined> {
    let limits = Limits::default();
    let assignment = Assignment::new("".into(), Some(policy.clone()), &limits, &CancellationToken::new());
    let examined = RefCell::new(Vec::new());
    let service = service_fn(|request: Request<Incoming>| {
        if let Ok(target) = head::target(request.method(), request.uri(), request.headers()) {
            let allowed = assignment.check_authority(&target.host, target.port).is_ok();
            examined.borrow_mut().push(Examined { host: target.host, port: target.port, allowed });
        }
        let mut response = Response::new(GateBody::empty());
        *response.status_mut() = StatusCode::FORBIDDEN;
        std::future::ready(Ok::<_, Infallible>(response))
    });
    let stream = TokioIo::new(tokio::io::join(bytes, tokio::io::sink()));
    // How the connection ends is of no interest: what matters was seen on the way.
    let _ = server(&limits).serve_connection(stream, service).await;
    examined.into_inner()
}
