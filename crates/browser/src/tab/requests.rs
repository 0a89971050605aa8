//! Requests in flight, as far as waiting for them is of use.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use bathy_cdp::protocol::RequestId;
use tokio::time::Instant;

/// More than this are not tracked.
const LIMIT: usize = 4_096;
/// A request that has said nothing for so long is not waited for: its end may have been lost.
const STALE: Duration = Duration::from_secs(30);

/// The requests of a page and its frames.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    open: HashMap<RequestId, Open>,
    order: VecDeque<RequestId>,
    started: u64,
    /// When data was first asked for at an address (without its query), by the number of the request.
    first: HashMap<u64, u64>,
    last_event: Option<Instant>,
}

#[derive(Debug)]
struct Open {
    sequence: u64,
    /// The number of the first request for data from the same address.
    first: u64,
    since: Instant,
    kind: Kind,
}

/// What a request is to somebody who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Scripts wait for its answer and change the page then.
    Data,
    /// It never ends, or nobody waits for it.
    Stream,
    /// It is part of what is shown.
    Part,
}

impl Requests {
    pub(crate) fn start(&mut self, id: RequestId, kind: &str, url: &str) {
        self.started += 1;
        self.last_event = Some(Instant::now());
        let kind = match kind {
            "XHR" | "Fetch" | "Document" | "Script" => Kind::Data,
            "EventSource" | "WebSocket" | "Ping" | "Media" | "Preflight" | "CSPViolationReport" => Kind::Stream,
            _ => Kind::Part,
        };
        if self.order.len() >= LIMIT
            && let Some(oldest) = self.order.pop_front()
        {
            self.open.remove(&oldest);
        }
        let sequence = self.started;
        let first = if kind == Kind::Data { self.first_at(url) } else { sequence };
        self.order.push_back(id.clone());
        self.open.insert(id, Open { sequence, first, since: Instant::now(), kind });
    }

    pub(crate) fn end(&mut self, id: &RequestId) {
        self.last_event = Some(Instant::now());
        self.open.remove(id);
        while self.order.front().is_some_and(|id| !self.open.contains_key(id)) {
            self.order.pop_front();
        }
    }

    /// A mark for [`Requests::data_since`].
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    /// Whether data is still on its way for a request that was started after `mark` and not after `until`.
    pub(crate) fn data_since(&self, mark: u64, until: u64) -> bool {
        self.live().any(|open| open.kind == Kind::Data && open.sequence > mark && open.sequence <= until)
    }

    /// The same for data from addresses that were not asked before `since`: not what a page polls.
    pub(crate) fn new_data_since(&self, since: u64, mark: u64, until: u64) -> bool {
        self.live()
            .any(|open| open.kind == Kind::Data && open.first > since && open.sequence > mark && open.sequence <= until)
    }

    /// The number of the first request for data from this address, which may be the one that starts now.
    fn first_at(&mut self, url: &str) -> u64 {
        let address = url.split(['?', '#']).next().unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        address.hash(&mut hasher);
        if self.first.len() >= LIMIT {
            self.first.clear();
        }
        *self.first.entry(hasher.finish()).or_insert(self.started)
    }

    /// How long nothing but streams was in flight and nothing happened; none while something is in flight.
    pub(crate) fn idle(&self) -> Option<Duration> {
        if self.live().any(|open| open.kind != Kind::Stream) {
            return None;
        }
        Some(self.last_event.map_or(Duration::MAX, |at| at.elapsed()))
    }

    /// How long ago a request started or ended last.
    pub(crate) fn since_last_event(&self) -> Duration {
        self.last_event.map_or(Duration::MAX, |at| at.elapsed())
    }

    fn live(&self) -> impl Iterator<Item = &Open> {
        self.open.values().filter(|open| open.since.elapsed() < STALE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> RequestId {
        RequestId(text.to_owned())
    }

    #[test]
    fn only_requests_of_the_action_are_waited_for_and_streams_never() {
        let mut requests = Requests::default();
        requests.start(id("before"), "Fetch", "before");
        let mark = requests.started();
        requests.start(id("stream"), "EventSource", "stream");
        assert!(!requests.data_since(mark, requests.started()));
        requests.start(id("mine"), "XHR", "mine");
        let until = requests.started();
        requests.start(id("later"), "XHR", "later");
        assert!(requests.data_since(mark, until));
        requests.end(&id("mine"));
        assert!(!requests.data_since(mark, until));
        assert_eq!(requests.idle(), None);
        requests.end(&id("before"));
        requests.end(&id("later"));
        assert!(requests.idle().is_some());
    }

    #[test]
    fn what_was_asked_for_before_is_told_from_what_is_new() {
        let mut requests = Requests::default();
        requests.start(id("first"), "Fetch", "http://a.test/poll?1");
        requests.end(&id("first"));
        let mark = requests.started();
        requests.start(id("again"), "Fetch", "http://a.test/poll?2");
        assert!(requests.data_since(mark, requests.started()));
        assert!(!requests.new_data_since(mark, mark, requests.started()));
        requests.start(id("other"), "Fetch", "http://a.test/save");
        assert!(requests.new_data_since(mark, mark, requests.started()));
    }

    #[test]
    fn a_flood_of_requests_stays_bounded() {
        let mut requests = Requests::default();
        for number in 0..LIMIT * 2 {
            requests.start(id(&number.to_string()), "Fetch", &number.to_string());
        }
        assert!(requests.open.len() <= LIMIT && requests.order.len() <= LIMIT && requests.first.len() <= LIMIT);
    }
}
