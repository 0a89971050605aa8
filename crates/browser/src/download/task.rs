//! The task that owns the downloads of a context: it decides on each one as it begins, watches over it, and takes over
//! the file.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bathy_cdp::protocol::browser::{CancelDownload, DownloadProgress, SetDownloadBehavior};
use bathy_cdp::protocol::page::DownloadWillBegin;
use bathy_cdp::protocol::target::{AttachToBrowserTarget, DetachFromTarget};
use bathy_cdp::protocol::{BrowserContextId, TargetId};
use bathy_cdp::{Connection, Lane, Session};
use bathy_egress::{Code, Ledger, LedgerEntry, Timestamp, Verdict};
use bathy_policy::{Host, Policy, Purpose, Refusal};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;
use url::Url;

use super::staging::DownloadId;
use super::{Download, DownloadState, Downloads, List, News, Refused, Staging};
use crate::artifact::{ArtifactName, Artifacts};
use crate::deadline::COMMAND_TIMEOUT;
use crate::tab::{Charter, bounded};
use crate::{Deadline, Error};

/// How many may be under way at once; a page can begin as many as it likes.
const RUNNING_LIMIT: usize = 16;
/// How many of other contexts, or of a tab that is about to tell of them, are kept in mind.
const EARLY_LIMIT: usize = 256;
/// How many are listed; further ones are ended as they begin.
const LIST_LIMIT: usize = 500;
/// How often the size of what is under way is looked at: the browser itself tells it twice a second.
const LOOK: Duration = Duration::from_millis(100);
/// What is to stay free on the disk that the browser writes to.
const RESERVE: u64 = 16 << 20;
/// The longest URL that is kept, in characters. One of the scheme `data` is the whole file.
const URL_LIMIT: usize = 2_000;
const DATA_URL_LIMIT: usize = 100;
/// The longest name that is kept, in characters.
const NAME_LIMIT: usize = 500;
/// How long a context that closes may take to let go of its downloads.
const CLOSING: Duration = Duration::from_secs(2);
/// What the ledger calls a download.
const KIND: &str = "download";

/// What the task needs to know.
pub(crate) struct Surroundings {
    pub(crate) charter: watch::Receiver<Arc<Charter>>,
    pub(crate) ledger: Ledger,
    pub(crate) artifacts: Artifacts,
    pub(crate) staging: Staging,
    /// The most bytes of a file.
    pub(crate) limit: u64,
}

/// Keeps the task going. Dropped, it ends what is under way.
pub(crate) struct Keeper {
    closing: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Keeper {
    /// Begins to look after the downloads of a context. What becomes of them the browser tells to a session of their
    /// own, since pages may be gone by then.
    pub(crate) async fn start(
        connection: &Connection,
        context: &BrowserContextId,
        surroundings: Surroundings,
    ) -> Result<(Self, Downloads), Error> {
        let attached = connection.browser().call(AttachToBrowserTarget {}, COMMAND_TIMEOUT).await?;
        let lane = connection.claim(&attached.session_id);
        let session = connection.session(attached.session_id);
        let behavior = SetDownloadBehavior {
            behavior: "allowAndName".to_owned(),
            browser_context_id: Some(context.clone()),
            download_path: Some(surroundings.staging.folder().display().to_string()),
            events_enabled: Some(true),
        };
        session.call(behavior, COMMAND_TIMEOUT).await?;
        let (publish, list) = watch::channel(List::default());
        // Without a bound since a download that is not known of would not be held to anything.
        let (tell, news) = mpsc::unbounded_channel();
        let downloads = Downloads { list, news: tell };
        let (closing, closes) = oneshot::channel();
        let task = Task {
            session,
            context: context.clone(),
            surroundings,
            list: publish,
            running: HashMap::new(),
            early: VecDeque::new(),
            moves: JoinSet::new(),
        };
        Ok((Self { closing, task: tokio::spawn(task.run(lane, news, closes)) }, downloads))
    }

    /// Ends what is under way and waits until nothing is left of it.
    pub(crate) async fn close(self) {
        drop(self.closing);
        if Deadline::after(CLOSING).bound("the downloads", self.task).await.is_err() {
            tracing::debug!("downloads took long to end");
        }
    }
}

struct Task {
    session: Session,
    context: BrowserContextId,
    surroundings: Surroundings,
    list: watch::Sender<List>,
    running: HashMap<DownloadId, Running>,
    /// What was heard of downloads that no tab has told of: those of other contexts, and those that a tab is about to.
    early: VecDeque<DownloadProgress>,
    /// Files on their way to their place.
    moves: JoinSet<(DownloadId, DownloadState)>,
}

/// A download that is under way.
struct Running {
    index: usize,
    url: String,
    since: Instant,
    /// How it ends once the browser has let go of it, where that is decided already.
    verdict: Option<DownloadState>,
    /// The browser has written it all, and it is on its way to its place.
    whole: bool,
}

impl Task {
    async fn run(mut self, mut lane: Lane, mut news: mpsc::UnboundedReceiver<News>, mut closes: oneshot::Receiver<()>) {
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = loop {
            tokio::select! {
                message = lane.next() => match message {
                    Some(message) => {
                        if let Some(event) = message.decode::<DownloadProgress>() {
                            self.progress(event);
                        }
                    }
                    None => break "the browser ended",
                },
                Some(moved) = self.moves.join_next() => {
                    if let Ok((id, state)) = moved {
                        self.finish(&id, &state);
                    }
                }
                _ = looks.tick(), if !self.running.is_empty() => self.look(),
                Some(news) = news.recv() => self.take_in(news),
                _ = &mut closes => break "the session was closed",
            }
        };
        self.end(end).await;
    }

    fn take_in(&mut self, news: News) {
        match news {
            News::Begins(event, tab) => self.begin(event, tab),
            News::Refused(refused) => self.refuse(refused),
            // Whoever asked may have stopped to wait.
            News::Wait(done) => drop(done.send(())),
        }
    }

    fn begin(&mut self, event: DownloadWillBegin, tab: TargetId) {
        let Some(id) = DownloadId::parse(&event.guid) else {
            tracing::warn!("the browser named a download in a way that is not known");
            return;
        };
        let index = self.list.borrow().downloads.len();
        if index >= LIST_LIMIT {
            self.list.send_modify(|list| list.begun += 1);
            self.cancel(&id);
            return;
        }
        let verdict = match check(&event.url, &self.surroundings.charter.borrow().policy) {
            Err(refusal) => Some(DownloadState::Refused(refusal.to_string())),
            Ok(()) if self.running.len() >= RUNNING_LIMIT => {
                Some(DownloadState::Canceled(format!("{RUNNING_LIMIT} downloads were under way already")))
            }
            Ok(()) => None,
        };
        let limit = if event.url.starts_with("data:") { DATA_URL_LIMIT } else { URL_LIMIT };
        let download = Download {
            index,
            url: bounded(&event.url, limit),
            suggested_filename: bounded(&event.suggested_filename, NAME_LIMIT),
            bytes: 0,
            total_bytes: None,
            state: verdict.clone().unwrap_or(DownloadState::InProgress),
            tab: Some(tab),
        };
        if verdict.is_some() {
            self.cancel(&id);
        }
        let running = Running { index, url: event.url, since: Instant::now(), verdict, whole: false };
        self.running.insert(id, running);
        self.list.send_modify(|list| {
            list.begun += 1;
            list.downloads.push(download);
        });
        if let Some(position) = self.early.iter().position(|early| early.guid == event.guid)
            && let Some(early) = self.early.remove(position)
        {
            self.progress(early);
        }
    }

    /// Lists what the browser does not know to be a download.
    fn refuse(&self, Refused { url, name, reason, tab }: Refused) {
        let index = self.list.borrow().downloads.len();
        let state = DownloadState::Refused(reason);
        self.record(&url, Instant::now(), &state, 0);
        self.list.send_modify(|list| {
            list.begun += 1;
            if index < LIST_LIMIT {
                list.downloads.push(Download {
                    index,
                    url: bounded(&url, URL_LIMIT),
                    suggested_filename: bounded(&name, NAME_LIMIT),
                    bytes: 0,
                    total_bytes: None,
                    state,
                    tab: Some(tab),
                });
            }
        });
    }

    fn progress(&mut self, event: DownloadProgress) {
        let Some(id) = &DownloadId::parse(&event.guid) else {
            return;
        };
        let Some(running) = self.running.get(id) else {
            self.early.retain(|early| early.guid != event.guid);
            self.early.push_back(event);
            if self.early.len() > EARLY_LIMIT {
                self.early.pop_front();
            }
            return;
        };
        if running.whole {
            return;
        }
        let (index, decided) = (running.index, running.verdict.clone());
        let (received, total) = (whole(event.received_bytes), whole(event.total_bytes));
        if decided.is_none() {
            self.received(index, received);
            self.list.send_if_modified(|list| {
                let told = (total > 0).then_some(total);
                std::mem::replace(&mut list.downloads[index].total_bytes, told) != told
            });
        }
        match event.state.as_str() {
            "inProgress" => self.hold(id, received.max(total)),
            "completed" if decided.is_none() => self.take(id.clone(), index),
            _ => {
                let state = decided.unwrap_or_else(|| self.why_broken(id));
                self.finish(id, &state);
            }
        }
    }

    /// So much has come, as far as the browser told or what is on the disk shows.
    fn received(&self, index: usize, bytes: u64) {
        self.list.send_if_modified(|list| {
            let known = &mut list.downloads[index].bytes;
            let is_more = bytes > *known;
            *known = bytes.max(*known);
            is_more
        });
    }

    /// Ends a download that is larger than files may be.
    fn hold(&mut self, id: &DownloadId, size: u64) {
        if size > self.surroundings.limit {
            self.give_up(id, DownloadState::Canceled(too_large(self.surroundings.limit)));
        }
    }

    /// Looks at what is on the disk.
    fn look(&mut self) {
        let full = self.surroundings.staging.free() < RESERVE;
        let ids: Vec<DownloadId> = self
            .running
            .iter()
            .filter(|(_, one)| one.verdict.is_none() && !one.whole)
            .map(|(id, _)| id.clone())
            .collect();
        for id in ids {
            if full {
                self.give_up(&id, DownloadState::Failed(disk_full()));
                continue;
            }
            let written = self.surroundings.staging.written(&id);
            if let Some(running) = self.running.get(&id) {
                self.received(running.index, written);
            }
            self.hold(&id, written);
        }
    }

    /// Ends a download with this outcome.
    fn give_up(&mut self, id: &DownloadId, outcome: DownloadState) {
        if let Some(running) = self.running.get_mut(id)
            && running.verdict.is_none()
        {
            running.verdict = Some(outcome);
            self.cancel(id);
        }
    }

    fn cancel(&self, id: &DownloadId) {
        self.session
            .send(&CancelDownload { guid: id.as_str().to_owned(), browser_context_id: Some(self.context.clone()) });
    }

    /// Why the browser gave up a download by itself; it does not say.
    fn why_broken(&self, id: &DownloadId) -> DownloadState {
        if self.surroundings.staging.free() < RESERVE {
            return DownloadState::Failed(disk_full());
        }
        if let Some(refusal) = self.running.get(id).and_then(|running| self.refused_by_gate(&running.url)) {
            return DownloadState::Refused(refusal);
        }
        DownloadState::Failed("the site answered with an error, or the connection broke".to_owned())
    }

    fn refused_by_gate(&self, url: &str) -> Option<String> {
        let (host, port) = host_of(url)?;
        let session = self.surroundings.charter.borrow().session.clone();
        let entry = self.surroundings.ledger.last_refusal(&session, &host, port)?;
        let code = entry.code.filter(|code| code.is_refusal())?;
        Some(entry.reason.clone().unwrap_or_else(|| code.to_string()))
    }

    /// Takes over the whole file.
    fn take(&mut self, id: DownloadId, index: usize) {
        if let Some(running) = self.running.get_mut(&id) {
            running.whole = true;
        }
        let name = ArtifactName::near(&self.list.borrow().downloads[index].suggested_filename);
        let Surroundings { staging, artifacts, limit, .. } = &self.surroundings;
        let (staging, artifacts, limit) = (staging.clone(), artifacts.clone(), *limit);
        self.moves.spawn(async move {
            let opened = staging.open(&id).map_err(|error| error.to_string());
            let state = match opened {
                Ok(file) => match artifacts.keep(name, file, limit).await {
                    Ok(path) => DownloadState::Completed(path),
                    Err(Error::Artifact { reason, .. }) if reason == std::io::ErrorKind::FileTooLarge.to_string() => {
                        DownloadState::Canceled(too_large(limit))
                    }
                    // The name is the site's, and stands with the rest of what is the site's.
                    Err(Error::Artifact { reason, .. }) => {
                        DownloadState::Failed(format!("it could not be written to artifactsDir: {reason}"))
                    }
                    Err(error) => DownloadState::Failed(error.to_string()),
                },
                Err(reason) => DownloadState::Failed(format!("what the browser wrote cannot be used: {reason}")),
            };
            (id, state)
        });
    }

    /// A download is over.
    fn finish(&mut self, id: &DownloadId, state: &DownloadState) {
        self.surroundings.staging.remove(id);
        let Some(Running { index, url, since, .. }) = self.running.remove(id) else {
            return;
        };
        let mut bytes = 0;
        self.list.send_modify(|list| {
            let download = &mut list.downloads[index];
            bytes = download.bytes;
            download.state = state.clone();
        });
        self.record(&url, since, state, bytes);
    }

    fn record(&self, url: &str, since: Instant, state: &DownloadState, bytes: u64) {
        let (host, port) = host_of(url).unwrap_or_default();
        let charter = self.surroundings.charter.borrow().clone();
        let refusal = check(url, &charter.policy).err();
        self.surroundings.ledger.record(LedgerEntry {
            time: Timestamp::now(),
            session: charter.session.clone(),
            kind: Cow::Borrowed(KIND),
            method: None,
            host,
            port,
            address: None,
            verdict: match state {
                DownloadState::Completed(_) | DownloadState::InProgress => Verdict::Allowed,
                DownloadState::Refused(_) => Verdict::Refused,
                DownloadState::Canceled(_) | DownloadState::Failed(_) => Verdict::Failed,
            },
            code: refusal.as_ref().map(Code::from),
            reason: state.error().map(str::to_owned),
            bytes_up: 0,
            bytes_down: bytes,
            duration_ms: since.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
        });
    }

    /// Lets go of everything. Whole files that are on their way to their place still get there.
    async fn end(mut self, why: &str) {
        while let Some(moved) = self.moves.join_next().await {
            if let Ok((id, state)) = moved {
                self.finish(&id, &state);
            }
        }
        let left: Vec<DownloadId> = self.running.keys().cloned().collect();
        for id in left {
            self.cancel(&id);
            let state = self.running.get(&id).and_then(|running| running.verdict.clone());
            self.finish(&id, &state.unwrap_or_else(|| DownloadState::Failed(why.to_owned())));
        }
        let session_id = self.session.id().cloned();
        self.session.connection().browser().send(&DetachFromTarget { session_id });
    }
}

/// Whether the policy lets a page have this file. Files that a page makes itself are its maker's.
fn check(url: &str, policy: &Policy) -> Result<(), Refusal> {
    let maker = match url.strip_prefix("blob:") {
        Some("null") => return Ok(()),
        Some(rest) if rest.starts_with("null/") => return Ok(()),
        Some(rest) => rest,
        None if url.starts_with("data:") => return Ok(()),
        None => url,
    };
    policy.check_url(maker, Purpose::Document).map(drop)
}

fn host_of(url: &str) -> Option<(String, u16)> {
    let url = Url::parse(url.strip_prefix("blob:").unwrap_or(url)).ok()?;
    let host = Host::of_url(&url).ok()?;
    Some((host.to_string(), url.port_or_known_default()?))
}

fn too_large(limit: u64) -> String {
    format!("it is larger than maxDownloadBytes allows ({limit} bytes)")
}

fn disk_full() -> String {
    "the disk is full".to_owned()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a conversion with `as` keeps within bounds"
)]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}

#[cfg(test)]
mod tests {
    use bathy_policy::PolicyConfig;

    use super::*;

    #[test]
    fn a_file_is_held_to_the_policy_of_the_place_that_made_it() {
        let policy = Policy::new(PolicyConfig {
            allowed_hosts: vec!["good.example".parse().unwrap()],
            ..PolicyConfig::default()
        });
        for allowed in
            ["https://good.example/x", "blob:https://good.example/1b4e28ba", "blob:null/1b4e28ba", "data:text/plain,x"]
        {
            assert!(check(allowed, &policy).is_ok(), "{allowed}");
        }
        for refused in [
            "https://evil.example/x",
            "https://evil-good.example/x",
            "blob:https://evil.example/1b4e28ba",
            "filesystem:https://good.example/temporary/x",
            "file:///etc/passwd",
            "blob:file:///etc/passwd",
            "ftp://good.example/x",
            "",
        ] {
            assert!(check(refused, &policy).is_err(), "{refused}");
        }
    }
}
