//! Event lanes: where the events of one or more sessions arrive, in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};

use crate::protocol::{Event, SessionId};

/// How many unread chatty events a lane holds before further ones are dropped and counted.
const CHATTER_LIMIT: usize = 16 * 1024;

/// An event as it came from the browser.
#[derive(Debug)]
pub struct Message {
    /// The session that it belongs to; none for the browser itself.
    pub session: Option<SessionId>,
    /// The protocol's name of the event, such as `Page.loadEventFired`.
    pub method: String,
    params: Box<RawValue>,
}

impl Message {
    pub(crate) fn new(session: Option<SessionId>, method: String, params: Box<RawValue>) -> Self {
        Self { session, method, params }
    }

    /// The event's parameters when this is an `E`; an `E` that cannot be decoded is logged and
    /// treated as absent, since a browser of another version must not stop the lane.
    pub fn decode<E: Event>(&self) -> Option<E> {
        if self.method != E::METHOD {
            return None;
        }
        serde_json::from_str(self.params.get())
            .inspect_err(|error| tracing::warn!(method = E::METHOD, %error, "event not understood"))
            .ok()
    }
}

/// The receiving end of a lane: the events of the sessions that it was claimed for, and of the
/// sessions attached below them, in the order in which the browser sent them.
///
/// Events that carry state (targets, frames, dialogs, paused requests) are never lost, so this queue
/// has no bound: its reader must keep reading. Chatty ones (network, console) are bounded and what
/// is over the bound is counted by [`Lane::dropped`].
#[derive(Debug)]
pub struct Lane {
    receiver: mpsc::UnboundedReceiver<Message>,
    meter: Arc<Meter>,
    /// How many messages were given out so far, and how many of them are handled.
    given: u64,
    handled: watch::Sender<u64>,
}

impl Lane {
    /// The next event; none once the connection or every session of this lane is gone.
    ///
    /// Cancel safe.
    pub async fn next(&mut self) -> Option<Message> {
        // Whoever asks for the next message is done with the one before.
        self.handled.send_if_modified(|handled| std::mem::replace(handled, self.given) != self.given);
        let message = self.receiver.recv().await?;
        self.given += 1;
        if is_chatter(&message.method) {
            self.meter.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        Some(message)
    }

    /// A way to wait for whoever reads this lane.
    pub fn progress(&self) -> Progress {
        Progress { meter: Arc::clone(&self.meter), handled: self.handled.subscribe() }
    }

    /// How many chatty events were dropped so far since this lane was not read fast enough.
    pub fn dropped(&self) -> u64 {
        self.meter.dropped.load(Ordering::Relaxed)
    }
}

/// How far the reader of a lane has come.
///
/// A reply goes straight to its caller, while the events that the browser sent before it wait in the lane. A caller that
/// looks at what the lane's reader made of them must let it catch up first.
#[derive(Debug, Clone)]
pub struct Progress {
    meter: Arc<Meter>,
    handled: watch::Receiver<u64>,
}

impl Progress {
    /// Waits until every event that had come when this was called is handled, or the lane is gone.
    pub async fn caught_up(&self) {
        let sent = self.meter.sent.load(Ordering::Acquire);
        // An error means that nobody reads the lane any more.
        let _ = self.handled.clone().wait_for(|handled| *handled >= sent).await;
    }
}

#[derive(Debug, Default)]
struct Meter {
    sent: AtomicU64,
    waiting: AtomicUsize,
    dropped: AtomicU64,
}

#[derive(Debug, Clone)]
pub(crate) struct LaneSender {
    sender: mpsc::UnboundedSender<Message>,
    meter: Arc<Meter>,
}

impl LaneSender {
    pub(crate) fn send(&self, message: Message) {
        if is_chatter(&message.method) {
            if self.meter.waiting.load(Ordering::Relaxed) >= CHATTER_LIMIT {
                self.meter.dropped.fetch_add(1, Ordering::Relaxed);
                return;
            }
            self.meter.waiting.fetch_add(1, Ordering::Relaxed);
        }
        // A lane that nobody reads any more is on its way out with its sessions.
        if self.sender.send(message).is_ok() {
            self.meter.sent.fetch_add(1, Ordering::Release);
        }
    }
}

pub(crate) fn lane() -> (LaneSender, Lane) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let meter = Arc::new(Meter::default());
    let handled = watch::Sender::new(0);
    (LaneSender { sender, meter: Arc::clone(&meter) }, Lane { receiver, meter, given: 0, handled })
}

fn is_chatter(method: &str) -> bool {
    let domain = method.split('.').next().unwrap_or_default();
    matches!(domain, "Network" | "Log" | "Console")
        || matches!(method, "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Page.screencastFrame")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(method: &str) -> Message {
        Message::new(None, method.to_owned(), RawValue::from_string("{}".to_owned()).unwrap())
    }

    #[tokio::test]
    async fn whoever_waits_for_the_reader_sees_what_it_made_of_all_that_came_before() {
        let (sender, mut lane) = lane();
        let progress = lane.progress();
        progress.caught_up().await;
        sender.send(message("Page.frameNavigated"));
        sender.send(message("Page.loadEventFired"));
        let (report, mut handled) = watch::channel(0);
        tokio::spawn(async move {
            while lane.next().await.is_some() {
                tokio::task::yield_now().await;
                report.send_modify(|handled| *handled += 1);
            }
        });
        progress.caught_up().await;
        assert_eq!(*handled.borrow_and_update(), 2);
        drop(sender);
        progress.caught_up().await;
    }

    #[tokio::test]
    async fn a_flood_of_chatter_is_bounded_and_counted_and_no_state_is_lost() {
        let (sender, mut lane) = lane();
        for _ in 0..CHATTER_LIMIT + 10 {
            sender.send(message("Network.dataReceived"));
        }
        sender.send(message("Page.frameNavigated"));
        drop(sender);
        assert_eq!(lane.dropped(), 10);
        let mut received = Vec::new();
        while let Some(message) = lane.next().await {
            received.push(message.method);
        }
        assert_eq!(received.len(), CHATTER_LIMIT + 1);
        assert_eq!(received.last().unwrap(), "Page.frameNavigated");
    }
}
