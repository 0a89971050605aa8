//! One call in its session: its budget, its progress and its line in the ledger.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bathy_browser::{Deadline, Error, Session, Tab, TabNews};
use bathy_egress::{Ledger, LedgerEntry, Timestamp, Verdict};
use tokio::sync::mpsc;
use url::Url;

use crate::jobs::{Beside, Jobs};
use crate::progress::{self, Meter};
use crate::queue::Outcome;
use crate::tool::PageRun;
use crate::{Code, Failure, Progress, Settings};

/// What a call gets beyond its budget to come to an end by itself, before it is cut off.
const GRACE: Duration = Duration::from_secs(3);

/// What a tool that works in a session is given.
pub(crate) struct Call {
    session: Session,
    tab: Option<usize>,
    deadline: Deadline,
    settings: Arc<Settings>,
    jobs: Jobs,
    around: Around,
    meter: Meter,
}

/// What the session of a call offers besides its pages.
#[derive(Clone)]
pub(crate) struct Around {
    /// Where tasks run that outlive the call.
    pub(crate) beside: Beside,
    /// The session was opened for this call.
    pub(crate) opened_for_it: bool,
}

impl Call {
    /// The session.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// The session's name, as its owner knows it.
    pub(crate) fn session_name(&self) -> &str {
        self.session.id()
    }

    /// The tab that is meant.
    pub(crate) async fn tab(&self) -> Result<Tab, Failure> {
        match self.session.tab(self.tab).await {
            Err(Error::NoPage) if self.session.tab_count() > 0 => Err(Failure::new(Code::NoPage, "no tab is active")
                .with_hint("Choose one with browser_tab_select; browser_tab_list shows them.")),
            tab => Ok(tab?),
        }
    }

    /// The tab that is meant, or a new one where none is and none is active.
    pub(crate) async fn tab_to_load(&self) -> Result<Tab, Failure> {
        match self.session.tab(self.tab).await {
            Err(Error::NoPage) => {
                let tab = self.session.open_tab(false).await?.keep();
                self.session.activate(&tab).await?;
                Ok(self.session.tab(None).await?)
            }
            tab => Ok(tab?),
        }
    }

    /// Whether the session was opened for this call, and shows a blank page therefore.
    pub(crate) fn opened_session(&self) -> bool {
        self.around.opened_for_it
    }

    /// The owner's loads in the background.
    pub(crate) fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Where tasks of the session run that outlive the call.
    pub(crate) fn beside(&self) -> &Beside {
        &self.around.beside
    }

    /// When the call gives up.
    pub(crate) fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Where the call says how far it is.
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Bounds of all calls.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// A call that is ready to run once its session has time for it.
pub(crate) struct Action {
    pub(crate) tool: &'static str,
    pub(crate) run: PageRun,
    pub(crate) tab: Option<usize>,
    pub(crate) budget: Duration,
    pub(crate) settings: Arc<Settings>,
    pub(crate) jobs: Jobs,
    pub(crate) listener: Option<mpsc::Sender<Progress>>,
    pub(crate) record: Record,
}

impl Action {
    /// Runs the call. Its budget begins now, not when it was submitted.
    pub(crate) async fn perform(self, session: Session, around: Around) -> Outcome {
        let Self { tool, run, tab, budget, settings, jobs, listener, mut record } = self;
        record.host = host_of(session.url());
        let meter = Meter::of(tool, budget);
        let deadline = Deadline::after(budget);
        let call = Call { session: session.clone(), tab, deadline, settings, jobs, around, meter: meter.clone() };
        let working = progress::tell(run(call), listener, meter);
        let outcome = match tokio::time::timeout(budget + GRACE, working).await {
            Ok(outcome) => outcome,
            Err(_) => {
                Err(Failure::new(Code::Timeout, format_args!("{tool} took longer than {} ms", budget.as_millis())))
            }
        };
        if let Some(host) = host_of(session.url()) {
            record.host = Some(host);
        }
        let notices = notices(&session.tab_news());
        let outcome = match outcome {
            Ok(answer) => Ok(answer.with_notices(&notices)),
            Err(failure) => Err(failure.on_page(session.url()).with_notices(&notices)),
        };
        record.finish(&outcome);
        outcome
    }
}

/// What became of the tabs by itself, in sentences.
fn notices(news: &TabNews) -> Vec<String> {
    let mut notices = Vec::new();
    for (index, allowed) in &news.opened {
        let off_policy = if *allowed { "" } else { ", which is off policy" };
        notices.push(format!("a page opened tab {index}{off_policy}"));
    }
    if news.refused > 0 {
        notices.push(format!("pages wanted {} more tabs than there may be", news.refused));
    }
    if news.lost {
        notices.push(match news.active {
            Some(index) => format!("the active tab closed by itself; tab {index} is active now"),
            None => "the active tab closed by itself; no tab is active now".to_owned(),
        });
    }
    notices
}

fn host_of(url: Option<String>) -> Option<(String, u16)> {
    let url = Url::parse(&url?).ok()?;
    Some((url.host_str()?.to_owned(), url.port_or_known_default().unwrap_or_default()))
}

/// The line of a call in the ledger. It is written when the call ends, also when that is because nobody waits for it
/// any more. Arguments are never part of it: they may be secrets.
pub(crate) struct Record {
    ledger: Ledger,
    tool: &'static str,
    session: String,
    started: Instant,
    host: Option<(String, u16)>,
    written: bool,
}

/// The kind of a line that is about a call of a tool.
const KIND: &str = "action";

impl Record {
    pub(crate) fn new(ledger: Ledger, tool: &'static str, session: &str) -> Self {
        Self { ledger, tool, session: session.to_owned(), started: Instant::now(), host: None, written: false }
    }

    /// Names the session once it is known.
    pub(crate) fn in_session(&mut self, session: &str) {
        session.clone_into(&mut self.session);
    }

    /// Writes how the call ended.
    pub(crate) fn finish(mut self, outcome: &Outcome) {
        match outcome {
            Ok(_) => self.write(Verdict::Allowed, None),
            Err(failure) => self.fail(failure),
        }
    }

    /// Writes why the call failed.
    pub(crate) fn refuse(mut self, failure: &Failure) {
        self.fail(failure);
    }

    fn fail(&mut self, failure: &Failure) {
        let verdict = match failure.code() {
            Code::HostNotAllowed
            | Code::PrivateNetwork
            | Code::UnsupportedScheme
            | Code::UploadNotAllowed
            | Code::NotEnabled => Verdict::Refused,
            _ => Verdict::Failed,
        };
        // A refusal's words are the policy's: a host, never a path or an argument.
        let reason = match verdict {
            Verdict::Refused => format!("{}: {}", failure.code(), failure.message()),
            _ => failure.code().name().to_owned(),
        };
        self.write(verdict, Some(reason));
    }

    fn write(&mut self, verdict: Verdict, reason: Option<String>) {
        self.written = true;
        let (host, port) = self.host.take().unwrap_or_default();
        self.ledger.record(LedgerEntry {
            time: Timestamp::now(),
            session: std::mem::take(&mut self.session),
            kind: Cow::Borrowed(KIND),
            method: Some(self.tool.to_owned()),
            host,
            port,
            address: None,
            verdict,
            code: None,
            reason,
            bytes_up: 0,
            bytes_down: 0,
            duration_ms: self.started.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
        });
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if !self.written {
            self.write(Verdict::Failed, Some(Code::Aborted.name().to_owned()));
        }
    }
}
