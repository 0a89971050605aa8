//! Loads in the background: which an owner has, how they stand, and what ends them.

use std::sync::Arc;
use std::time::Duration;

use bathy_browser::{Deadline, FreshTab, Navigation, Tab, WaitUntil};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::answer::{self, Text};
use crate::{Code, Failure, escape};

/// Loads that an owner may have at once.
const RUNNING: usize = 10;
/// Finished loads that are remembered, the latest.
const FINISHED: usize = 20;
/// What kind of job a load is, as hosts with jobs of other kinds call it.
const KIND: &str = "browser";

/// Where tasks of a session run that outlive the call that began them.
#[derive(Clone)]
pub(crate) struct Beside {
    /// While one runs, the session counts as used.
    pub(crate) tasks: TaskTracker,
    /// The session is stopped.
    pub(crate) stop: CancellationToken,
}

/// The loads of one owner. A cheap handle.
#[derive(Clone, Default)]
pub(crate) struct Jobs {
    table: Arc<watch::Sender<Table>>,
}

#[derive(Default)]
struct Table {
    started: u64,
    /// The oldest first.
    jobs: Vec<Job>,
}

struct Job {
    id: String,
    session: String,
    /// What is loaded, later where that led to.
    url: String,
    state: State,
    /// Its tab, as long as the load has one.
    tab: Option<Tab>,
    cancel: CancellationToken,
}

#[derive(Debug)]
enum State {
    Running,
    Done { status_code: Option<u16>, download: bool },
    Failed(Failure),
    Cancelled,
}

/// A load as it is listed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobView {
    pub(crate) job_id: String,
    kind: &'static str,
    pub(crate) state: &'static str,
    url: String,
    session: String,
    /// Where its tab stands now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_code: Option<u16>,
    #[serde(skip_serializing_if = "answer::is_false")]
    download: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What is told where the operator has switched jobs off.
pub(crate) fn unavailable() -> Failure {
    Failure::new(Code::JobsUnavailable, "loads in the background are switched off")
}

impl Jobs {
    /// Loads a URL in a tab that was opened for it.
    ///
    /// # Errors
    /// [`Code::Busy`]: too many run already.
    pub(crate) fn start(
        &self,
        session: &str,
        fresh: FreshTab,
        url: String,
        beside: &Beside,
        deadline: Deadline,
    ) -> Result<JobView, Failure> {
        let cancel = beside.stop.child_token();
        let mut begun = None;
        self.table.send_modify(|table| {
            let running = table.jobs.iter().filter(|job| job.is_running()).count();
            if running < RUNNING {
                table.started += 1;
                let job = Job {
                    id: format!("job-{}", table.started),
                    session: session.to_owned(),
                    url: url.clone(),
                    state: State::Running,
                    tab: Some(fresh.tab().clone()),
                    cancel: cancel.clone(),
                };
                begun = Some(job.view());
                table.jobs.push(job);
            }
        });
        let view = begun.ok_or_else(|| {
            Failure::new(Code::Busy, format_args!("{RUNNING} loads in the background run already"))
                .with_hint("Wait for one or cancel it with browser_jobs.")
        })?;
        let (jobs, id) = (self.clone(), view.job_id.clone());
        beside.tasks.spawn(async move {
            let loading = fresh.tab().navigate(&url, WaitUntil::Load, deadline);
            let outcome = tokio::select! {
                biased;
                // Its future is dropped, which stops the load.
                () = cancel.cancelled() => None,
                outcome = loading => Some(outcome),
            };
            let is_kept = matches!(outcome, Some(Ok(_))) || fresh.tab().is_active();
            if is_kept {
                fresh.keep();
            } else if let Err(error) = fresh.discard().await {
                tracing::debug!(%error, "the tab of a load did not close");
            }
            jobs.finish(&id, outcome, is_kept);
        });
        Ok(view)
    }

    /// All loads, or those of one session.
    pub(crate) fn list(&self, session: Option<&str>) -> Vec<JobView> {
        let table = self.table.borrow();
        let wanted = |job: &&Job| session.is_none_or(|session| session == job.session);
        table.jobs.iter().filter(wanted).map(Job::view).collect()
    }

    /// One load.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`]: the owner has none of this id.
    pub(crate) fn get(&self, id: &str) -> Result<JobView, Failure> {
        let table = self.table.borrow();
        table.jobs.iter().find(|job| job.id == id).map(Job::view).ok_or_else(|| {
            let failure = Failure::invalid(format_args!("there is no job {}", escape::quoted(id, 40)));
            match table.jobs.as_slice() {
                [] => failure.with_hint("Nothing was loaded in the background; browser_navigate_background does that."),
                jobs => {
                    let known: Vec<_> = jobs.iter().map(|job| job.id.as_str()).collect();
                    failure.with_hint(format_args!("Known jobs are {}.", known.join(", ")))
                }
            }
        })
    }

    /// Waits until these loads are finished.
    ///
    /// # Errors
    /// [`Code::Timeout`]: some still run. They go on.
    pub(crate) async fn wait(&self, ids: &[String], budget: Duration) -> Result<(), Failure> {
        let mut table = self.table.subscribe();
        let still = |table: &Table| -> Vec<String> {
            let running = table.jobs.iter().filter(|job| job.is_running() && ids.contains(&job.id));
            running.map(|job| job.id.clone()).collect()
        };
        let finished = table.wait_for(|table| still(table).is_empty());
        // The table lives as long as this handle to it.
        if tokio::time::timeout(budget, finished).await.is_ok() {
            return Ok(());
        }
        let running = still(&self.table.borrow()).join(", ");
        let message = format_args!("{running} still loads after {} ms", budget.as_millis());
        Err(Failure::new(Code::Timeout, message).with_hint("It goes on: wait again, or cancel it with browser_jobs."))
    }

    /// Stops a load and waits until it has stopped. One that is finished stays as it is.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`]: the owner has none of this id.
    pub(crate) async fn cancel(&self, id: &str, budget: Duration) -> Result<JobView, Failure> {
        self.get(id)?;
        let cancel = self.table.borrow().jobs.iter().find(|job| job.id == id).map(|job| job.cancel.clone());
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
        self.wait(&[id.to_owned()], budget).await?;
        self.get(id)
    }

    /// Takes down how a load ended; none where it was cancelled.
    fn finish(&self, id: &str, outcome: Option<Result<Navigation, bathy_browser::Error>>, has_tab: bool) {
        self.table.send_modify(|table| {
            let Some(job) = table.jobs.iter_mut().find(|job| job.id == id) else {
                return;
            };
            job.state = match outcome {
                Some(Ok(landed)) => {
                    job.url = landed.url;
                    State::Done { status_code: landed.status_code, download: landed.download.is_some() }
                }
                Some(Err(error)) => State::Failed(error.into()),
                None => State::Cancelled,
            };
            if !has_tab {
                job.tab = None;
            }
            let finished = table.jobs.iter().filter(|job| !job.is_running()).count();
            let mut surplus = finished.saturating_sub(FINISHED);
            table.jobs.retain(|job| {
                let goes = surplus > 0 && !job.is_running();
                surplus -= usize::from(goes);
                !goes
            });
        });
    }
}

impl Job {
    fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }

    fn view(&self) -> JobView {
        let (state, status_code, download, error) = match &self.state {
            State::Running => ("running", None, false, None),
            State::Done { status_code, download } => ("done", *status_code, *download, None),
            State::Failed(failure) => {
                ("failed", None, false, Some(format!("{}: {}", failure.code(), failure.message())))
            }
            State::Cancelled => ("cancelled", None, false, None),
        };
        JobView {
            job_id: self.id.clone(),
            kind: KIND,
            state,
            url: self.url.clone(),
            session: self.session.clone(),
            index: self.tab.as_ref().and_then(Tab::index),
            status_code,
            download,
            error,
        }
    }
}

impl JobView {
    /// Facts of ours, and the URL in the page's part.
    pub(crate) fn write(&self, text: &mut Text) {
        let tab = self.index.map(|index| format!(", tab {index}")).unwrap_or_default();
        let status = self.status_code.map(|status| format!(", status {status}")).unwrap_or_default();
        let download = if self.download { ", it gave a download" } else { "" };
        let error = self.error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
        text.remark(format_args!(
            "{}: {} in session {}{tab}{status}{download}{error}",
            self.job_id, self.state, self.session
        ));
        text.page_url(&self.job_id, &self.url);
    }
}
