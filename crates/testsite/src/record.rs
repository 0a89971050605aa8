//! What the site remembers of its visitors.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::watch;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// The method, upper case.
    pub method: String,
    /// Path and query, as sent.
    pub path: String,
    /// Header names (lower case) and values, in order; bytes that are not UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
    /// The address that asked.
    pub peer: SocketAddr,
    /// The address of the site that was asked.
    pub local: SocketAddr,
}

impl RecordedRequest {
    /// The first value of a header, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(each, _)| each == name).map(|(_, value)| value.as_str())
    }

    /// The body as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// What a page says really happened, as sent by `report(kind, …)` of `/report.js`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Report {
    /// The path of the page that reports.
    pub page: String,
    /// What happened: mostly the type of a DOM event, such as `click`.
    pub kind: String,
    /// The `id` of the element that it happened to; empty where there is none.
    #[serde(default)]
    pub target: String,
    /// `isTrusted` of the event: whether it came from the browser's own input.
    #[serde(default)]
    pub trusted: bool,
    /// What the element holds now, or what the page's own state holds.
    #[serde(default)]
    pub value: String,
    /// Counts the reports of one document from 0; requests may arrive in another order.
    pub order: u64,
    /// Everything else that the page told.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl Report {
    /// Whether this is a report of `kind` about the element with the id `target`.
    pub fn is(&self, kind: &str, target: &str) -> bool {
        self.kind == kind && self.target == target
    }
}

/// A growing list that can be read and waited on.
#[derive(Debug)]
pub(crate) struct Record<T>(watch::Sender<Vec<T>>);

impl<T> Default for Record<T> {
    fn default() -> Self {
        Self(watch::Sender::new(Vec::new()))
    }
}

impl<T: Clone> Record<T> {
    /// Adds an item and gives its index.
    pub(crate) fn push(&self, item: T) -> usize {
        let mut index = 0;
        self.0.send_modify(|items| {
            index = items.len();
            items.push(item);
        });
        index
    }

    /// Changes the item at an index that [`Self::push`] gave; does nothing once the list was cleared.
    pub(crate) fn update(&self, index: usize, change: impl FnOnce(&mut T)) {
        self.0.send_modify(|items| {
            if let Some(item) = items.get_mut(index) {
                change(item);
            }
        });
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.0.borrow().clone()
    }

    pub(crate) fn clear(&self) {
        self.0.send_modify(Vec::clear);
    }

    /// The first item that `wanted` accepts, present or future, or nothing after `deadline`.
    pub(crate) async fn wait(&self, deadline: Duration, wanted: impl Fn(&T) -> bool) -> Option<T> {
        let mut changes = self.0.subscribe();
        let found = changes.wait_for(|items| items.iter().any(&wanted));
        let items = tokio::time::timeout(deadline, found).await.ok()?.ok()?;
        items.iter().find(|item| wanted(item)).cloned()
    }
}

/// How many of something are open now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(watch::Sender<usize>);

/// Counts in its [`Gauge`] until it is dropped.
pub(crate) struct Open(Gauge);

impl Gauge {
    pub(crate) fn open(&self) -> Open {
        self.0.send_modify(|count| *count += 1);
        Open(self.clone())
    }

    /// Waits until the count is this one; whether it came to be so within `deadline`.
    pub(crate) async fn wait(&self, count: usize, deadline: Duration) -> bool {
        let mut changes = self.0.subscribe();
        let reached = changes.wait_for(|now| *now == count);
        matches!(tokio::time::timeout(deadline, reached).await, Ok(Ok(_)))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
