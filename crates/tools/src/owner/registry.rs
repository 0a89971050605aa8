//! The task of an owner: which sessions there are, which one is current, and into whose line a call goes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bathy_browser::{Conceal, Engine, Session, SessionOptions};
use rand::Rng;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Listed, Opening, Request, Stopping, Which, Wish};
use crate::action::{Action, Around};
use crate::jobs::Beside;
use crate::queue::{self, Line, Outcome, Status, Turn};
use crate::toolbox::Shared;
use crate::{Code, Failure, escape};

/// Letters of a session's name: no two that look alike.
const NAME_LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const NAME_LENGTH: usize = 10;

/// The owner's sessions, oldest first, and which of them is the current one.
pub(super) struct Registry {
    shared: Arc<Shared>,
    entries: Vec<Entry>,
    /// The session that a call without a name goes to. One that ends by itself has no heir: whoever used it does not
    /// know that it is gone.
    current: Option<String>,
    /// How many calls there were; says which session was used last.
    calls: u64,
}

struct Entry {
    name: String,
    label: Option<String>,
    /// The number of the latest call in it.
    used: u64,
    turns: mpsc::Sender<Turn<Session>>,
    status: watch::Receiver<Status<Session>>,
    beside: Beside,
    stop: CancellationToken,
    done: JoinHandle<()>,
}

impl Registry {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, entries: Vec::new(), current: None, calls: 0 }
    }

    /// Hands calls to their sessions until nobody is left who could make one.
    pub(super) async fn serve(mut self, mut places: mpsc::Receiver<oneshot::Receiver<Request>>) {
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
        self.calls += 1;
        self.entries[index].used = self.calls;
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
        let conceal = self.shared.settings.secrets.conceal();
        let opening = open_session(self.shared.engine.clone(), name.clone(), wish, conceal);
        let done = self.shared.tasks.spawn(queue::serve(line, opening, |session: Session| async move {
            session.close().await;
        }));
        self.entries.push(Entry { name: name.clone(), label, used: 0, turns, status: watched, beside, stop, done });
        Ok(name)
    }

    fn stop(&mut self, which: Which) -> Result<Vec<Stopping>, Failure> {
        let stopped = match which {
            Which::All => std::mem::take(&mut self.entries),
            Which::Named(name) => vec![self.entries.remove(self.position(&name)?)],
            Which::Current => {
                let current = self.current.clone().ok_or_else(|| self.no_current())?;
                vec![self.entries.remove(self.position(&current)?)]
            }
        };
        if stopped.iter().any(|entry| self.current.as_ref() == Some(&entry.name)) {
            self.current = self.used_last();
        }
        let stopping = stopped.into_iter().map(|entry| {
            entry.stop.cancel();
            Stopping { session: entry.name, current: self.current.clone(), done: entry.done }
        });
        Ok(stopping.collect())
    }

    /// The session that was used most recently of those that are there.
    fn used_last(&self) -> Option<String> {
        self.entries.iter().max_by_key(|entry| entry.used).map(|entry| entry.name.clone())
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
        let is_over = |entry: &mut Entry| entry.done.is_finished() || entry.turns.is_closed();
        let ended: Vec<Entry> = self.entries.extract_if(.., is_over).collect();
        let Some(current) = ended.iter().find(|entry| self.current.as_ref() == Some(&entry.name)) else {
            return;
        };
        // Whoever asked for a session that did not open was told so, and is where it was before.
        let opened = current.status.borrow().session.is_some();
        self.current = if opened { None } else { self.used_last() };
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

async fn open_session(engine: Engine, name: String, wish: Wish, conceal: Option<Conceal>) -> Result<Session, Failure> {
    let options = SessionOptions { id: name, viewport: wish.viewport, allowed_hosts: wish.allowed_hosts, conceal };
    Ok(engine.open_session(options).await?)
}

fn fresh_name() -> String {
    let mut random = rand::rng();
    let letters = (0..NAME_LENGTH).map(|_| char::from(NAME_LETTERS[random.random_range(0..NAME_LETTERS.len())]));
    format!("s-{}", letters.collect::<String>())
}
