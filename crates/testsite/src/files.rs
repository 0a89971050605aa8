//! Paths under `/files/` that give files: at once, slowly, in part, and what a form posts.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Query;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use futures::{StreamExt, stream};
use serde::Deserialize;

use crate::site::Shared;

const BINARY: &str = "application/octet-stream";

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/files/plain.bin", any(async || ([(header::CONTENT_TYPE, BINARY)], vec![b'p'; 1000])))
        .route("/files/slow.bin", any(slow))
        .route("/files/cut.bin", any(cut))
        .route("/files/posted", any(posted))
}

#[derive(Deserialize)]
struct Slow {
    pieces: u64,
    size: usize,
    ms: u64,
    /// Whether the size is told beforehand.
    told: Option<bool>,
}

/// `/files/slow.bin?pieces=10&size=1000&ms=100`: a file in pieces; with `told=true` its size stands in the head.
async fn slow(Query(Slow { pieces, size, ms, told }): Query<Slow>) -> Response {
    let piece = Bytes::from(vec![b's'; size]);
    let stream = stream::unfold(0, move |number| {
        let piece = piece.clone();
        async move {
            if number == pieces {
                return None;
            }
            if number > 0 {
                tokio::time::sleep(Duration::from_millis(ms)).await;
            }
            Some((Ok::<_, Infallible>(piece), number + 1))
        }
    });
    let mut response = ([(header::CONTENT_TYPE, BINARY)], Body::from_stream(stream)).into_response();
    if told == Some(true) {
        let total = pieces.saturating_mul(size.try_into().unwrap_or(u64::MAX));
        response.headers_mut().insert(header::CONTENT_LENGTH, total.into());
    }
    response
}

/// A tenth of a file, then the connection breaks.
async fn cut() -> Response {
    let first = stream::iter([Ok(Bytes::from(vec![b'c'; 100]))]);
    let broken = stream::once(async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        Err(io::Error::from(io::ErrorKind::ConnectionReset))
    });
    let headers = [(header::CONTENT_TYPE, BINARY), (header::CONTENT_LENGTH, "1000")];
    (headers, Body::from_stream(first.chain(broken))).into_response()
}

/// What was sent, as an attachment.
async fn posted(body: Bytes) -> Response {
    let headers =
        [(header::CONTENT_TYPE, BINARY), (header::CONTENT_DISPOSITION, "attachment; filename=\"posted.txt\"")];
    (headers, body).into_response()
}
