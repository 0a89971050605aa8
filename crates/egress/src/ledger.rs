//! The record of everything that asked to go out, allowed or not.

mod file;
mod timestamp;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use self::file::LineFile;
pub use self::timestamp::{Timestamp, TimestampError};
use crate::failure::Code;

/// What an entry is about. Others than the gate may record kinds of their own.
pub mod kind {
    /// A tunnel was asked for (`CONNECT`); written when the decision falls, so that its byte counts are zero.
    pub const CONNECT: &str = "connect";
    /// A plain-HTTP request; written when its response has ended.
    pub const REQUEST: &str = "request";
    /// A plain-HTTP request that asked to become a WebSocket; written when the site has answered.
    pub const UPGRADE: &str = "upgrade";
    /// A tunnel or WebSocket has ended; carries the byte counts and the duration.
    pub const CLOSE: &str = "close";
    /// A connection to the gate that never became a request: a limit, a stranger, a malformed head.
    pub const CONNECTION: &str = "connection";
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It went out.
    Allowed,
    /// The gate said no; nothing went out for it.
    Refused,
    /// It was allowed, and the network or one of the ends broke it.
    Failed,
}

/// One line of the ledger. Paths, queries, headers and bodies are never part of it: they may hold secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerEntry {
    /// When the entry was written.
    pub time: Timestamp,
    /// Label of the session whose door was used; empty where the address belongs to no session.
    pub session: String,
    /// What the entry is about; the gate's own are in [`kind`].
    pub kind: Cow<'static, str>,
    /// The request's method, for plain HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The host that was asked for, in canonical spelling; empty where none could be understood.
    pub host: String,
    /// The port that was asked for; zero where none could be understood.
    pub port: u16,
    /// The address that was connected to, or that the refusal is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
    /// What became of it.
    pub verdict: Verdict,
    /// Machine-readable reason where it was refused or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The reason in words where it was refused or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Bytes that went to the site: for a tunnel its payload, for plain HTTP everything written, heads included.
    pub bytes_up: u64,
    /// Bytes that came from the site, counted likewise.
    pub bytes_down: u64,
    /// Milliseconds from the arrival of the request until the entry was written.
    pub duration_ms: u64,
}

/// A handle to the ledger: a bounded ring of the latest entries, live subscriptions, and optionally a file of JSON lines.
#[derive(Clone)]
pub struct Ledger {
    inner: Arc<Inner>,
}

struct Inner {
    // Entries are recorded from destructors, which cannot wait for an owning task; the lock is held for a push.
    ring: Mutex<VecDeque<Arc<LedgerEntry>>>,
    capacity: usize,
    events: broadcast::Sender<Arc<LedgerEntry>>,
    file: Option<LineFile>,
    mask: OnceLock<Mask>,
}

/// Takes out of an entry what nobody may read.
type Mask = Box<dyn Fn(&mut LedgerEntry) + Send + Sync>;

impl Ledger {
    /// A ledger in memory that remembers the latest `capacity` entries.
    pub fn new(capacity: usize) -> Self {
        Self::build(capacity, None)
    }

    /// A ledger that also appends each entry to `path` as one line of JSON. The file is made readable by its owner alone.
    ///
    /// # Errors
    /// When the file cannot be opened for appending, or its writer cannot be started.
    pub fn with_file(capacity: usize, path: &Path) -> io::Result<Self> {
        Ok(Self::build(capacity, Some(LineFile::open(path)?)))
    }

    fn build(capacity: usize, file: Option<LineFile>) -> Self {
        let capacity = capacity.max(1);
        let (events, _) = broadcast::channel(capacity.clamp(16, 1024));
        Self {
            inner: Arc::new(Inner { ring: Mutex::new(VecDeque::new()), capacity, events, file, mask: OnceLock::new() }),
        }
    }

    /// Has every entry from now on pass `mask` before it is remembered, written or told. The first mask stays.
    pub fn mask_with(&self, mask: impl Fn(&mut LedgerEntry) + Send + Sync + 'static) {
        // A second one is a mistake of the program, which the first one outlives.
        let _ = self.inner.mask.set(Box::new(mask));
    }

    /// Writes an entry. Never waits for a subscriber or for the disk.
    pub fn record(&self, mut entry: LedgerEntry) {
        if let Some(mask) = self.inner.mask.get() {
            mask(&mut entry);
        }
        let entry = Arc::new(entry);
        {
            let mut ring = self.inner.ring.lock().unwrap_or_else(PoisonError::into_inner);
            if ring.len() == self.inner.capacity {
                ring.pop_front();
            }
            ring.push_back(Arc::clone(&entry));
            // Inside the lock, so that file and subscribers see the order of the ring.
            if let Some(file) = &self.inner.file {
                file.append(Arc::clone(&entry));
            }
            // An error only says that nobody listens.
            let _ = self.inner.events.send(entry);
        }
    }

    /// The latest `limit` entries, oldest first; of one session where `session` is given.
    pub fn recent(&self, session: Option<&str>, limit: usize) -> Vec<Arc<LedgerEntry>> {
        let ring = self.inner.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<_> = ring
            .iter()
            .rev()
            .filter(|entry| session.is_none_or(|session| entry.session == session))
            .take(limit)
            .cloned()
            .collect();
        found.reverse();
        found
    }

    /// The latest entry that was refused or failed for this session, host (canonical spelling) and port. Chromium says
    /// only `ERR_TUNNEL_CONNECTION_FAILED` when a `CONNECT` is turned away; this says why.
    pub fn last_refusal(&self, session: &str, host: &str, port: u16) -> Option<Arc<LedgerEntry>> {
        let ring = self.inner.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.iter()
            .rev()
            .find(|entry| {
                entry.port == port
                    && entry.verdict != Verdict::Allowed
                    && entry.session == session
                    && entry.host == host
            })
            .cloned()
    }

    /// Entries from now on.
    pub fn subscribe(&self) -> LedgerEvents {
        LedgerEvents { receiver: self.inner.events.subscribe() }
    }

    /// Entries that could not be written to the file, because the disk failed or was too slow. Zero without a file.
    pub fn lost(&self) -> u64 {
        self.inner.file.as_ref().map_or(0, LineFile::lost)
    }

    /// Returns once everything recorded so far is in the file. Without a file, at once.
    pub async fn flush(&self) {
        if let Some(file) = &self.inner.file {
            file.flush().await;
        }
    }
}

impl Default for Ledger {
    /// A ledger in memory of 4096 entries.
    fn default() -> Self {
        Self::new(4096)
    }
}

/// What a subscriber gets.
#[derive(Clone, Debug)]
pub enum LedgerEvent {
    /// The next entry.
    Entry(Arc<LedgerEntry>),
    /// The subscriber was too slow; so many entries were passed over.
    Missed(u64),
}

/// A live, bounded view of the ledger.
pub struct LedgerEvents {
    receiver: broadcast::Receiver<Arc<LedgerEntry>>,
}

impl LedgerEvents {
    /// The next event; `None` when the ledger is gone. Cancel-safe.
    pub async fn next(&mut self) -> Option<LedgerEvent> {
        match self.receiver.recv().await {
            Ok(entry) => Some(LedgerEvent::Entry(entry)),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(LedgerEvent::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
