//! Owners: who asks, which sessions are theirs, and in which order their calls are taken.
//!
//! An owner is a task that knows its sessions and hands calls to them; faces hold handles to it. An owner sees its own
//! sessions alone, so the name of a session is no secret that would have to keep others out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bathy_browser::{Engine, Session, SessionOptions};
use bathy_policy::HostPattern;
use rand::Rng;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::action::{Action, Around, Record};
use crate::jobs::{Beside, Jobs};
use crate::queue::{self, Line, Outcome, Status, Turn};
use crate::tool::{Effect, Prepared};
use crate::toolbox::Shared;
use crate::{Code, Failure, Progress, Tool, escape};

/// Calls of an owner that may wait to be handed to their sessions.
const PLACES: usize = 1024;

/// Letters of a session's name: no two that look alike.
const NAME_LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const NAME_LENGTH: usize = 10;

/// Whether a tool works in a session that is there or opens one.
pub(crate) enum Opening {
    /// In one that is there.
    Never,
    /// In one that is there, or a new one where the owner has no current one.
    WhenNone,
    /// In a new one.
    Always(Wish),
}

/// What a new session is to be like.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wish {
    pub(crate) viewport: Option<(u32, u32)>,
    pub(crate) allowed_hosts: Option<Vec<HostPattern>>,
    pub(crate) label: Option<String>,
}

/// A session as it is listed.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) session: String,
    pub(crate) current: bool,
    pub(crate) label: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) tabs: usize,
    pub(crate) idle: Duration,
}

/// Who asks. A cheap handle; the owner's sessions end with the last one.
#[derive(Clone)]
pub struct Owner {
    shared: Arc<Shared>,
    places: mpsc::Sender<oneshot::Receiver<Request>>,
    jobs: Jobs,
}

/// A place in an owner's line: calls are handed to their sessions in the order in which places were taken, whenever
/// they are made. A place that is dropped unused holds nobody up.
pub struct Place {
    request: Option<oneshot::Sender<Request>>,
}

/// A request of a call, once its place is reached.
enum Request {
    Run {
        session: Option<String>,
        opening: Opening,
        beside: bool,
        action: Box<Action>,
        reply: oneshot::Sender<Outcome>,
    },
    Stop {
        which: Which,
        reply: oneshot::Sender<Result<Vec<Stopping>, Failure>>,
    },
    List {
        session: Option<String>,
        reply: oneshot::Sender<Result<Vec<Listed>, Failure>>,
    },
}

/// Which sessions to stop.
enum Which {
    Current,
    Named(String),
    All,
}

/// A session that is being stopped.
struct Stopping {
    session: String,
    done: JoinHandle<()>,
}

impl Owner {
    pub(crate) fn start(shared: Arc<Shared>) -> Self {
        let (places, requests) = mpsc::channel(PLACES);
        let registry = Registry { shared: Arc::clone(&shared), entries: Vec::new(), current: None };
        shared.tasks.spawn(registry.serve(requests));
        Self { shared, places, jobs: Jobs::default() }
    }

    /// Takes the next place in line.
    pub fn place(&self) -> Place {
        let (request, place) = oneshot::channel();
        // A full line leaves the place without a way in, which its call reports.
        Place { request: self.places.try_send(place).is_ok().then_some(request) }
    }

    /// Calls a tool. Dropping the future cancels the call: what runs stops, what waits never runs.
    ///
    /// # Errors
    /// Whatever goes wrong, bad arguments included.
    pub async fn call(
        &self,
        place: Place,
        tool: &'static Tool,
        arguments: Map<String, Value>,
        progress: Option<mpsc::Sender<Progress>>,
    ) -> Outcome {
        let outcome = self.carry_out(place, tool, arguments, progress).await;
        self.shared.settings.secrets.mask_outcome(outcome)
    }

    async fn carry_out(
        &self,
        place: Place,
        tool: &'static Tool,
        arguments: Map<String, Value>,
        progress: Option<mpsc::Sender<Progress>>,
    ) -> Outcome {
        let mut record = Record::new(self.shared.engine.ledger().clone(), tool.name(), "");
        let (prepared, common) = match tool.prepare(arguments) {
            Ok(prepared) => prepared,
            Err(failure) => {
                record.refuse(&failure);
                return Err(failure);
            }
        };
        if let Some(session) = &common.session {
            record.in_session(&escape::inline(session, 40));
        }
        match prepared {
            Prepared::Page { opening, least_budget, beside, run } => {
                let budget = self.budget(tool, common.timeout_ms, least_budget);
                let settings = Arc::clone(&self.shared.settings);
                let jobs = self.jobs.clone();
                let action =
                    Action { tool: tool.name(), run, tab: common.tab, budget, settings, jobs, progress, record };
                self.run(place, common.session, opening, beside, Box::new(action)).await
            }
            Prepared::Control(run) => {
                let budget = self.budget(tool, common.timeout_ms, Duration::ZERO);
                let (shared, jobs) = (Arc::clone(&self.shared), self.jobs.clone());
                let outcome = run(Control { place, session: common.session, budget, shared, jobs }).await;
                record.finish(&outcome);
                outcome
            }
        }
    }

    async fn run(
        &self,
        place: Place,
        session: Option<String>,
        opening: Opening,
        beside: bool,
        action: Box<Action>,
    ) -> Outcome {
        let (reply, outcome) = oneshot::channel();
        place.submit(Request::Run { session, opening, beside, action, reply })?;
        // The session's task ends without an answer only when it is ended itself.
        outcome.await.unwrap_or_else(|_| Err(queue::stopped()))
    }

    fn budget(&self, tool: &Tool, timeout_ms: Option<u64>, least: Duration) -> Duration {
        let settings = &self.shared.settings;
        match (timeout_ms, tool.effect()) {
            (Some(milliseconds), _) => Duration::from_millis(milliseconds),
            (None, Effect::Navigate | Effect::Control) => settings.navigation_timeout.max(least),
            (None, Effect::Read | Effect::Act) => settings.action_timeout.max(least),
        }
    }
}

impl Place {
    fn submit(self, request: Request) -> Result<(), Failure> {
        let way_in = self.request.ok_or_else(|| Failure::new(Code::Busy, "too many calls are waiting"))?;
        way_in.send(request).map_err(|_| queue::stopped())
    }
}

/// What a tool that works on sessions from outside is given.
pub(crate) struct Control {
    place: Place,
    session: Option<String>,
    budget: Duration,
    shared: Arc<Shared>,
    jobs: Jobs,
}

impl Control {
    /// The session that the call names.
    pub(crate) fn named(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Stops the named session, or the current one, and waits until it is gone. Gives its name.
    pub(crate) async fn stop(self) -> Result<String, Failure> {
        let which = self.session.map_or(Which::Current, Which::Named);
        let stopped = stop(self.place, which).await?;
        stopped.into_iter().next().ok_or_else(queue::stopped)
    }

    /// Stops all sessions of the owner and waits until they are gone, and the browser too where nobody else uses it.
    pub(crate) async fn stop_all(self) -> Result<(), Failure> {
        stop(self.place, Which::All).await?;
        self.shared.engine.close_unless_used().await;
        Ok(())
    }

    /// The owner's loads in the background, how long the call may take, and whether there may be such loads at all.
    pub(crate) fn jobs(&self) -> (&Jobs, Duration, bool) {
        (&self.jobs, self.budget, self.shared.settings.jobs)
    }

    /// Gives up the place in line, for a call that may take long and needs none.
    pub(crate) fn leave_line(&mut self) {
        self.place.request = None;
    }

    /// The owner's sessions, oldest first; the named one alone where one is named.
    pub(crate) async fn list(self) -> Result<Vec<Listed>, Failure> {
        let (reply, listed) = oneshot::channel();
        self.place.submit(Request::List { session: self.session, reply })?;
        listed.await.unwrap_or_else(|_| Err(queue::stopped()))
    }
}

async fn stop(place: Place, which: Which) -> Result<Vec<String>, Failure> {
    let (reply, stopping) = oneshot::channel();
    place.submit(Request::Stop { which, reply })?;
    let mut names = Vec::new();
    for Stopping { session, done } in stopping.await.unwrap_or_else(|_| Err(queue::stopped()))? {
        // A task that panicked has let go of its session, too.
        let _ = done.await;
        names.push(session);
    }
    Ok(names)
}

/// The owner's task.
struct Registry {
    shared: Arc<Shared>,
    entries: Vec<Entry>,
    current: Option<String>,
}

struct Entry {
    name: String,
    label: Option<String>,
    turns: mpsc::Sender<Turn<Session>>,
    status: watch::Receiver<Status<Session>>,
    beside: Beside,
    stop: CancellationToken,
    done: JoinHandle<()>,
}

impl Registry {
    async fn serve(mut self, mut places: mpsc::Receiver<oneshot::Receiver<Request>>) {
        let stop = self.shared.stop.clone();
        loop {
            let place = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                place = places.recv() => place,
            };
            let Some(place) = place else { break };
            // A call that was given up before it was made leaves its place empty.
            let request = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                request = place => request,
            };
            if let Ok(request) = request {
                self.handle(request);
            }
        }
        for entry in &self.entries {
            entry.stop.cancel();
        }
    }

    fn handle(&mut self, request: Request) {
        self.forget_ended();
        // Whoever asked may have gone; then the answer is nobody's loss.
        match request {
            Request::Run { session, opening, beside, action, reply } => {
                self.run(session, opening, beside, action, reply);
            }
            Request::Stop { which, reply } => {
                let _ = reply.send(self.stop(which));
            }
            Request::List { session, reply } => {
                let _ = reply.send(self.list(session.as_deref()));
            }
        }
    }

    fn run(
        &mut self,
        session: Option<String>,
        opening: Opening,
        beside: bool,
        mut action: Box<Action>,
        reply: oneshot::Sender<Outcome>,
    ) {
        if reply.is_closed() {
            return;
        }
        let (entry, opened) = match self.entry(session, opening) {
            Ok(found) => found,
            Err(failure) => {
                action.record.refuse(&failure);
                let _ = reply.send(Err(failure));
                return;
            }
        };
        action.record.in_session(&entry.name);
        let around = Around { beside: entry.beside.clone(), opened_for_it: opened };
        // The call that a session is opened for is the first in its line in any case.
        if beside && !opened {
            let status = entry.status.clone();
            entry.beside.tasks.spawn(run_beside(action, around, status, reply));
            return;
        }
        let turn = Turn { run: Box::new(move |session| Box::pin(action.perform(session, around))), reply };
        match entry.turns.try_send(turn) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(turn)) => {
                let message = format!("{} calls wait in session {} already", queue::CAPACITY, entry.name);
                let _ = turn.reply.send(Err(Failure::new(Code::Busy, message)));
            }
            Err(mpsc::error::TrySendError::Closed(turn)) => {
                let _ = turn.reply.send(Err(queue::stopped()));
            }
        }
    }

    /// The session that a call means, which becomes the current one, and whether it was opened for this call.
    fn entry(&mut self, session: Option<String>, opening: Opening) -> Result<(&Entry, bool), Failure> {
        let known = self.entries.len();
        let name = match (session, opening) {
            (Some(name), Opening::Never | Opening::WhenNone) => name,
            (_, Opening::Always(wish)) => self.open(wish, true)?,
            (None, opening) => match (&self.current, opening) {
                (Some(current), _) => current.clone(),
                (None, Opening::WhenNone) => self.open(Wish::default(), false)?,
                (None, _) => return Err(self.no_current()),
            },
        };
        let index = self.position(&name)?;
        self.current = Some(name);
        Ok((&self.entries[index], self.entries.len() > known))
    }

    fn open(&mut self, wish: Wish, opened_for_first: bool) -> Result<String, Failure> {
        let limit = self.shared.settings.max_sessions;
        if self.entries.len() >= limit {
            let open = self.names();
            return Err(Failure::new(Code::SessionLimit, format_args!("{limit} sessions are open already ({open})")));
        }
        let name = fresh_name();
        let (turns, receiver) = mpsc::channel(queue::CAPACITY);
        let (status, watched) = watch::channel(Status { session: None, idle_since: None });
        let stop = self.shared.stop.child_token();
        let idle = self.shared.settings.session_idle;
        let beside = Beside { tasks: TaskTracker::new(), stop: stop.clone() };
        let is_used = {
            let tasks = beside.tasks.clone();
            Box::new(move || !tasks.is_empty())
        };
        let line = Line { turns: receiver, status, stop: stop.clone(), idle, is_used, opened_for_first };
        let label = wish.label.clone();
        let opening = open_session(self.shared.engine.clone(), name.clone(), wish);
        let done = self.shared.tasks.spawn(queue::serve(line, opening, |session: Session| async move {
            session.close().await;
        }));
        self.entries.push(Entry { name: name.clone(), label, turns, status: watched, beside, stop, done });
        Ok(name)
    }

    fn stop(&mut self, which: Which) -> Result<Vec<Stopping>, Failure> {
        let stopping = match which {
            Which::All => std::mem::take(&mut self.entries),
            Which::Named(name) => vec![self.entries.remove(self.position(&name)?)],
            Which::Current => {
                let current = self.current.clone().ok_or_else(|| self.no_current())?;
                vec![self.entries.remove(self.position(&current)?)]
            }
        };
        let stopping: Vec<_> = stopping
            .into_iter()
            .map(|entry| {
                entry.stop.cancel();
                Stopping { session: entry.name, done: entry.done }
            })
            .collect();
        self.forget_ended();
        Ok(stopping)
    }

    fn list(&self, session: Option<&str>) -> Result<Vec<Listed>, Failure> {
        if let Some(name) = session {
            self.position(name)?;
        }
        let wanted = |entry: &&Entry| session.is_none_or(|name| name == entry.name);
        Ok(self.entries.iter().filter(wanted).map(|entry| entry.listed(self.current.as_deref())).collect())
    }

    /// Lets go of sessions that ended by themselves: unused for too long, or never opened.
    fn forget_ended(&mut self) {
        self.entries.retain(|entry| !entry.done.is_finished() && !entry.turns.is_closed());
        if self.current.as_deref().is_some_and(|name| self.entries.iter().all(|entry| entry.name != name)) {
            self.current = None;
        }
    }

    fn position(&self, name: &str) -> Result<usize, Failure> {
        self.entries.iter().position(|entry| entry.name == name).ok_or_else(|| {
            let failure =
                Failure::new(Code::NoSuchSession, format_args!("there is no session {}", escape::quoted(name, 40)));
            if self.entries.is_empty() {
                failure.with_hint("No session is open; start one with browser_navigate or browser_session_start.")
            } else {
                failure.with_hint(format_args!("Open sessions are {}.", self.names()))
            }
        })
    }

    /// What a call without a session is told when none is current.
    fn no_current(&self) -> Failure {
        if self.entries.is_empty() {
            Failure::new(Code::NoPage, "no page is open")
        } else {
            Failure::new(Code::NoSuchSession, "no session is the current one")
                .with_hint(format_args!("Name one: {}.", self.names()))
        }
    }

    fn names(&self) -> String {
        let names: Vec<_> = self.entries.iter().map(|entry| entry.name.as_str()).collect();
        names.join(", ")
    }
}

impl Entry {
    fn listed(&self, current: Option<&str>) -> Listed {
        let status = self.status.borrow();
        let session = status.session.as_ref();
        Listed {
            session: self.name.clone(),
            current: current == Some(self.name.as_str()),
            label: self.label.clone(),
            url: session.and_then(Session::url),
            tabs: session.map_or(0, Session::tab_count),
            idle: status.idle_since.map_or(Duration::ZERO, |since| Instant::now().saturating_duration_since(since)),
        }
    }
}

/// Runs a call that does not wait for the ones before it, once its session is open.
async fn run_beside(
    action: Box<Action>,
    around: Around,
    mut status: watch::Receiver<Status<Session>>,
    mut reply: oneshot::Sender<Outcome>,
) {
    let stop = around.beside.stop.clone();
    let running = async {
        let opened = status.wait_for(|status| status.session.is_some()).await;
        let session = opened.ok().and_then(|status| status.session.clone());
        match session {
            Some(session) => action.perform(session, around).await,
            None => Err(queue::stopped()),
        }
    };
    let outcome = tokio::select! {
        biased;
        () = stop.cancelled() => Err(queue::stopped()),
        () = reply.closed() => return,
        outcome = running => outcome,
    };
    // Whoever asked may have gone.
    let _ = reply.send(outcome);
}

async fn open_session(engine: Engine, name: String, wish: Wish) -> Result<Session, Failure> {
    let options = SessionOptions { id: name, viewport: wish.viewport, allowed_hosts: wish.allowed_hosts };
    Ok(engine.open_session(options).await?)
}

fn fresh_name() -> String {
    let mut random = rand::rng();
    let letters = (0..NAME_LENGTH).map(|_| char::from(NAME_LETTERS[random.random_range(0..NAME_LETTERS.len())]));
    format!("s-{}", letters.collect::<String>())
}
