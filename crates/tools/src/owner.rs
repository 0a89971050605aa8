//! Owners: who asks, which sessions are theirs, and in which order their calls are taken.
//!
//! An owner is a task that knows its sessions and hands calls to them; faces hold handles to it. An owner sees its own
//! sessions alone, so the name of a session is no secret that would have to keep others out.

mod registry;

use std::sync::Arc;
use std::time::Duration;

use bathy_policy::HostPattern;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use self::registry::Registry;
use crate::action::{Action, Record};
use crate::jobs::Jobs;
use crate::progress::{self, Meter};
use crate::queue::{self, Outcome};
use crate::tool::{Effect, Prepared};
use crate::toolbox::Shared;
use crate::{Code, Failure, Progress, Tool, escape};

/// Calls of an owner that may wait to be handed to their sessions.
const PLACES: usize = 1024;

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
    /// The session that is current from now on.
    current: Option<String>,
    done: JoinHandle<()>,
}

/// A session that was stopped.
pub(crate) struct Stopped {
    pub(crate) session: String,
    /// The session that is current now.
    pub(crate) current: Option<String>,
}

impl Owner {
    pub(crate) fn start(shared: Arc<Shared>) -> Self {
        let (places, requests) = mpsc::channel(PLACES);
        shared.tasks.spawn(Registry::new(Arc::clone(&shared)).serve(requests));
        Self { shared, places, jobs: Jobs::default() }
    }

    /// Takes the next place in line.
    pub fn place(&self) -> Place {
        let (request, place) = oneshot::channel();
        // A full line leaves the place without a way in, which its call reports.
        Place { request: self.places.try_send(place).is_ok().then_some(request) }
    }

    /// Calls a tool. Dropping the future cancels the call: what runs stops, what waits never runs. How far it is goes
    /// to the listener, where there is one.
    ///
    /// # Errors
    /// Whatever goes wrong, bad arguments included.
    pub async fn call(
        &self,
        place: Place,
        tool: &'static Tool,
        arguments: Map<String, Value>,
        listener: Option<mpsc::Sender<Progress>>,
    ) -> Outcome {
        let outcome = self.carry_out(place, tool, arguments, listener).await;
        self.shared.settings.secrets.mask_outcome(outcome)
    }

    async fn carry_out(
        &self,
        place: Place,
        tool: &'static Tool,
        arguments: Map<String, Value>,
        listener: Option<mpsc::Sender<Progress>>,
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
                    Action { tool: tool.name(), run, tab: common.tab, budget, settings, jobs, listener, record };
                self.run(place, common.session, opening, beside, Box::new(action)).await
            }
            Prepared::Control(run) => {
                let budget = self.budget(tool, common.timeout_ms, Duration::ZERO);
                let (shared, jobs) = (Arc::clone(&self.shared), self.jobs.clone());
                let working = run(Control { place, session: common.session, budget, shared, jobs });
                let outcome = progress::tell(working, listener, Meter::of(tool.name(), budget)).await;
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

    /// Stops the named session, or the current one, and waits until it is gone.
    pub(crate) async fn stop(self) -> Result<Stopped, Failure> {
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

async fn stop(place: Place, which: Which) -> Result<Vec<Stopped>, Failure> {
    let (reply, stopping) = oneshot::channel();
    place.submit(Request::Stop { which, reply })?;
    let mut stopped = Vec::new();
    for Stopping { session, current, done } in stopping.await.unwrap_or_else(|_| Err(queue::stopped()))? {
        // A task that panicked has let go of its session, too.
        let _ = done.await;
        stopped.push(Stopped { session, current });
    }
    Ok(stopped)
}
