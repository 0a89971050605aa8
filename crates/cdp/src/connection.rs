//! The connection: one reader task, one writer task, and the calls that wait for their replies.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot, watch};

use crate::frame::FrameReader;
use crate::lane::{self, Lane, LaneSender, Message};
use crate::protocol::inspector::TargetCrashed;
use crate::protocol::target::{AttachedToTarget, DetachedFromTarget};
use crate::protocol::{Command, SessionId};

/// Commands that may wait for the writer before a caller has to wait.
const WRITE_QUEUE: usize = 256;
/// The browser's error code for a session that is not, or no longer, attached.
const SESSION_NOT_FOUND: i64 = -32001;

/// Why a command had no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The pipe is closed: the browser is gone.
    #[error("{method}: the browser's connection is closed")]
    Closed {
        /// The command.
        method: &'static str,
    },
    /// The session was detached, or its target's process crashed, before the reply came: its page, frame or worker is
    /// gone.
    #[error("{method}: the target is gone")]
    Detached {
        /// The command.
        method: &'static str,
    },
    /// No reply came in time. The browser may still carry the command out.
    #[error("{method}: no answer within {} ms", .after.as_millis())]
    TimedOut {
        /// The command.
        method: &'static str,
        /// The deadline it was given.
        after: Duration,
    },
    /// The browser answered with an error.
    #[error("{method}: {message} ({code})")]
    Refused {
        /// The command.
        method: &'static str,
        /// JSON-RPC error code.
        code: i64,
        /// The browser's own words.
        message: String,
    },
    /// The reply or the command is not of the shape this client knows.
    #[error("{method}: reply not understood: {detail}")]
    Malformed {
        /// The command.
        method: &'static str,
        /// What the decoder said.
        detail: String,
    },
}

/// The connection to one browser. A cheap handle; the pipe closes when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct Connection {
    shared: Arc<Shared>,
    outgoing: mpsc::Sender<Vec<u8>>,
    closed: watch::Receiver<bool>,
}

impl Connection {
    /// Starts to speak over a pair of pipe ends. The lane yields the events of the browser itself and
    /// of every session that nobody has [claimed](Connection::claim).
    pub fn open<R, W>(reader: R, writer: W) -> (Self, Lane)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (root, lane) = lane::lane();
        let shared = Arc::new(Shared { next: AtomicU64::new(1), routing: Mutex::new(Some(Routing::new(root))) });
        let (outgoing, queue) = mpsc::channel(WRITE_QUEUE);
        let (announce, closed) = watch::channel(false);
        let mut done = closed.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = write(writer, queue) => {}
                _ = done.wait_for(|closed| *closed) => {}
            }
        });
        let reading = Arc::clone(&shared);
        tokio::spawn(async move {
            read(reader, &reading).await;
            drop(reading.routing().take());
            announce.send_replace(true);
        });
        (Self { shared, outgoing, closed }, lane)
    }

    /// The browser's own session, for commands of the domains `Browser` and `Target`.
    pub fn browser(&self) -> Session {
        Session { connection: self.clone(), id: None }
    }

    /// A handle on a session that the browser has attached.
    pub fn session(&self, id: SessionId) -> Session {
        Session { connection: self.clone(), id: Some(id) }
    }

    /// Gives a session, and all sessions attached below it from now on, a lane of its own.
    ///
    /// To be called on `Target.attachedToTarget`, before any domain of the new session is enabled:
    /// it sends no events until then, so none can go astray.
    pub fn claim(&self, id: &SessionId) -> Lane {
        let (sender, lane) = lane::lane();
        if let Some(routing) = self.shared.routing().as_mut() {
            routing.lanes.insert(id.clone(), sender);
        }
        lane
    }

    /// Waits until the pipe is closed by either side.
    pub async fn closed(&self) {
        // An error means that the reader is gone, which is the same thing.
        let _ = self.closed.clone().wait_for(|closed| *closed).await;
    }

    /// Whether the pipe is closed.
    pub fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// How many commands were sent so far, for tests and figures.
    pub fn commands_sent(&self) -> u64 {
        self.shared.next.load(Ordering::Relaxed) - 1
    }
}

/// A handle on one flat session.
#[derive(Debug, Clone)]
pub struct Session {
    connection: Connection,
    id: Option<SessionId>,
}

impl Session {
    /// The session's id; none for the browser's own.
    pub fn id(&self) -> Option<&SessionId> {
        self.id.as_ref()
    }

    /// The connection that this session lives on.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Sends a command and waits for its result, at most for `deadline`.
    ///
    /// Dropping the future forgets the call; the browser may still carry it out.
    ///
    /// # Errors
    /// Every [`CallError`].
    pub async fn call<C: Command>(&self, command: C, deadline: Duration) -> Result<C::Output, CallError> {
        let method = C::METHOD;
        let began = Instant::now();
        let reply = async {
            let (id, receiver) = self.register(method)?;
            let _forget = Forget { shared: &self.connection.shared, id };
            let bytes = self.encode(id, &command)?;
            self.connection.outgoing.send(bytes).await.map_err(|_| CallError::Closed { method })?;
            receiver.await.map_err(|_| CallError::Closed { method })
        };
        let reply = tokio::time::timeout(deadline, reply)
            .await
            .map_err(|_| CallError::TimedOut { method, after: deadline })??;
        tracing::trace!(method, microseconds = began.elapsed().as_micros(), "answered");
        match reply {
            Reply::Result(raw) => serde_json::from_str(raw.get())
                .map_err(|error| CallError::Malformed { method, detail: error.to_string() }),
            Reply::Error { code, message } => Err(CallError::Refused { method, code, message }),
            Reply::Detached => Err(CallError::Detached { method }),
        }
    }

    /// Sends a command whose result nobody waits for, such as the release of a mouse button by a
    /// dropped caller. Nothing is sent when the connection is closed or its queue is full.
    pub fn send<C: Command>(&self, command: &C) {
        let id = self.connection.shared.next.fetch_add(1, Ordering::Relaxed);
        if let Ok(bytes) = self.encode(id, command) {
            let _ = self.connection.outgoing.try_send(bytes);
        }
    }

    fn register(&self, method: &'static str) -> Result<(u64, oneshot::Receiver<Reply>), CallError> {
        let id = self.connection.shared.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        let mut routing = self.connection.shared.routing();
        let routing = routing.as_mut().ok_or(CallError::Closed { method })?;
        routing.calls.insert(id, Call { session: self.id.clone(), sender });
        Ok((id, receiver))
    }

    fn encode<C: Command>(&self, id: u64, command: &C) -> Result<Vec<u8>, CallError> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Outgoing<'a, P> {
            id: u64,
            method: &'static str,
            params: &'a P,
            #[serde(skip_serializing_if = "Option::is_none")]
            session_id: Option<&'a SessionId>,
        }
        let message = Outgoing { id, method: C::METHOD, params: command, session_id: self.id.as_ref() };
        let mut bytes = serde_json::to_vec(&message)
            .map_err(|error| CallError::Malformed { method: C::METHOD, detail: error.to_string() })?;
        bytes.push(0);
        Ok(bytes)
    }
}

#[derive(Debug)]
struct Shared {
    next: AtomicU64,
    /// Held for look-ups only, never across an await; none once the pipe is closed.
    routing: Mutex<Option<Routing>>,
}

impl Shared {
    fn routing(&self) -> MutexGuard<'_, Option<Routing>> {
        self.routing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where replies and events go.
#[derive(Debug)]
struct Routing {
    root: LaneSender,
    lanes: HashMap<SessionId, LaneSender>,
    calls: HashMap<u64, Call>,
}

#[derive(Debug)]
struct Call {
    session: Option<SessionId>,
    sender: oneshot::Sender<Reply>,
}

#[derive(Debug)]
enum Reply {
    Result(Box<RawValue>),
    Error { code: i64, message: String },
    Detached,
}

impl Routing {
    fn new(root: LaneSender) -> Self {
        Self { root, lanes: HashMap::new(), calls: HashMap::new() }
    }

    fn reply(&mut self, id: u64, reply: Reply) {
        // A call that was dropped or timed out is no longer listed.
        if let Some(call) = self.calls.remove(&id) {
            let _ = call.sender.send(reply);
        }
    }

    fn event(&mut self, message: Message) {
        let lane = message.session.as_ref().and_then(|id| self.lanes.get(id)).unwrap_or(&self.root).clone();
        if let Some(attached) = message.decode::<AttachedToTarget>() {
            if message.session.is_some() {
                self.lanes.insert(attached.session_id, lane.clone());
            }
        } else if let Some(detached) = message.decode::<DetachedFromTarget>() {
            self.lanes.remove(&detached.session_id);
            self.abandon(&detached.session_id);
        } else if let Some(session) = &message.session
            && message.decode::<TargetCrashed>().is_some()
        {
            // Nobody is left who could answer; the session itself goes on with the target's next process.
            self.abandon(session);
        }
        lane.send(message);
    }

    /// Ends all calls of a session that wait for an answer.
    fn abandon(&mut self, session: &SessionId) {
        let gone: Vec<u64> =
            self.calls.iter().filter(|(_, call)| call.session.as_ref() == Some(session)).map(|(id, _)| *id).collect();
        for id in gone {
            self.reply(id, Reply::Detached);
        }
    }
}

/// Takes a call off the list when its caller stops to wait.
struct Forget<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        if let Some(routing) = self.shared.routing().as_mut() {
            routing.calls.remove(&self.id);
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(mut writer: W, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if let Err(error) = writer.write_all(&bytes).await {
            tracing::debug!(%error, "the browser's pipe is closed");
            return;
        }
    }
}

async fn read<R: AsyncRead + Unpin>(reader: R, shared: &Shared) {
    let mut frames = FrameReader::new(reader);
    loop {
        match frames.next().await {
            Ok(Some(message)) => dispatch(&message, shared),
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "the browser's pipe failed");
                return;
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Incoming<'a> {
    id: Option<u64>,
    method: Option<String>,
    session_id: Option<SessionId>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<IncomingError>,
}

#[derive(Deserialize)]
struct IncomingError {
    code: i64,
    message: String,
}

fn dispatch(message: &[u8], shared: &Shared) {
    let incoming: Incoming = match serde_json::from_slice(message) {
        Ok(incoming) => incoming,
        Err(error) => {
            tracing::warn!(%error, "message not understood");
            return;
        }
    };
    let mut routing = shared.routing();
    let Some(routing) = routing.as_mut() else {
        return;
    };
    match (incoming.id, incoming.method) {
        (Some(id), _) => {
            let reply = match (incoming.error, incoming.result) {
                (Some(error), _) if error.code == SESSION_NOT_FOUND => Reply::Detached,
                (Some(error), _) => Reply::Error { code: error.code, message: error.message },
                (None, result) => Reply::Result(result.map_or_else(empty, ToOwned::to_owned)),
            };
            routing.reply(id, reply);
        }
        (None, Some(method)) => {
            let params = incoming.params.map_or_else(empty, ToOwned::to_owned);
            routing.event(Message::new(incoming.session_id, method, params));
        }
        (None, None) => {}
    }
}

fn empty() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("an empty object is JSON")
}
