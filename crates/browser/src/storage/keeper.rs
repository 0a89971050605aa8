//! What a session takes in from the file, keeps an eye on, and brings back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bathy_cdp::Connection;
use bathy_cdp::protocol::BrowserContextId;
use bathy_policy::{Policy, Purpose};
use futures::future::join_all;
use tokio::sync::{Mutex, watch};
use tokio_util::task::AbortOnDropHandle;

use super::changes::Changes;
use super::contents::Contents;
use super::errand::{self, Errand};
use super::state::StorageState;
use super::{StorageFile, jar};
use crate::context::Context;
use crate::tabs::Tabs;
use crate::watched::Watched;
use crate::{Deadline, Error, Tab};

/// How long a session may take to take its state in.
const RESTORE: Duration = Duration::from_secs(10);
/// How long a session may take to find out what it keeps when it closes.
const COLLECT: Duration = Duration::from_millis(1_200);
/// How long a page may take to say what it keeps.
const PAGE: Duration = Duration::from_millis(500);
/// How often it is noted what a session keeps, where its pages do anything: what is left after a crash of the browser.
const WATCH: Duration = Duration::from_secs(1);
/// Origins beyond this are not kept: nobody visits so many in a session.
const ORIGIN_LIMIT: usize = 200;

/// The storage state of one session: in the operator's file, or its cookies in memory, for the case that its browser
/// crashes.
pub(crate) struct Keeper {
    file: Option<StorageFile>,
    policy: Policy,
    /// What the file held when the session began.
    loaded: StorageState,
    known: Arc<watch::Sender<Known>>,
    watching: Mutex<Option<AbortOnDropHandle<()>>>,
}

#[derive(Default)]
struct Known {
    /// What there was when the session began.
    before: Contents,
    /// What there was when it was last looked at.
    latest: Contents,
}

/// Origins whose pages a context has shown.
pub(crate) type Visited = watch::Sender<BTreeSet<String>>;

/// Notes that a context showed a page of this origin.
pub(crate) fn note_visit(visited: &Visited, origin: &str) {
    visited.send_if_modified(|origins| {
        let is_web = origin.starts_with("http://") || origin.starts_with("https://");
        is_web && origins.len() < ORIGIN_LIMIT && origins.insert(origin.to_owned())
    });
}

impl Keeper {
    /// Reads the file for a session under this policy.
    ///
    /// # Errors
    /// [`Error::StorageState`], and the file stays as it is.
    pub(crate) async fn load(file: StorageFile, policy: Policy) -> Result<Self, Error> {
        let reading = file.clone();
        let loaded = tokio::task::spawn_blocking(move || reading.read()).await;
        let loaded = loaded.map_err(|error| Error::StorageState(error.to_string()))?;
        let loaded = loaded.map_err(|error| Error::StorageState(error.to_string()))?.unwrap_or_default();
        Ok(Self { file: Some(file), policy, loaded, known: Arc::default(), watching: Mutex::default() })
    }

    /// Without a file there is nothing to begin with and nothing to write.
    pub(crate) fn in_memory(policy: Policy) -> Self {
        let known = Known { before: Contents::blank(), latest: Contents::blank() };
        Self {
            file: None,
            policy,
            loaded: StorageState::default(),
            known: Arc::new(watch::Sender::new(known)),
            watching: Mutex::default(),
        }
    }

    /// Puts the state into a fresh context: the file's, and after a crash of the browser what the session made of it.
    /// What belongs to hosts that the policy closes stays out.
    pub(crate) async fn restore(&self, context: &Context) -> Result<(), Error> {
        let deadline = Deadline::after(RESTORE);
        let mut state = self.loaded.clone();
        let again = {
            let known = self.known.borrow();
            Changes::between(&known.before, &known.latest).apply(&mut state);
            known.before.cookies.is_some()
        };
        let browser = context.instance().connection().browser();
        let cookies = state.cookies.iter().filter(|cookie| jar::is_of_use(cookie, &self.policy));
        jar::write(&browser, context.id(), cookies, deadline).await?;
        let mut there = Contents::default();
        let allowed =
            state.origins.iter().filter(|origin| self.policy.check_url(&origin.origin, Purpose::Document).is_ok());
        let allowed: Vec<_> = allowed.filter(|origin| !origin.is_empty()).collect();
        if !allowed.is_empty() {
            let tab = context.first_tab().ok_or(Error::NoPage)?;
            let errand = Errand::begin(&tab).await?;
            for origin in allowed {
                match errand.restore(origin, deadline).await {
                    Ok(items) => drop(there.origins.insert(origin.origin.clone(), items)),
                    Err(error @ Error::BrowserGone(_)) => return Err(error),
                    Err(error) => {
                        tracing::warn!(origin = origin.origin, %error, "what an origin keeps could not be restored");
                    }
                }
            }
            errand.leave_blank(deadline.with_grace()).await?;
        }
        // A fresh context has no cookies but these.
        if self.file.is_some() || !state.is_empty() {
            there.cookies = Some(jar::read(&browser, context.id(), deadline.with_grace()).await?);
        }
        self.known.send_modify(|known| {
            if again {
                known.before.keep_what_is_in(&there);
            } else {
                known.before = there.clone();
            }
            known.latest.overlay(there);
        });
        let sight = Sight::of(context, self.file.is_some());
        let watching = tokio::spawn(watch_over(sight, Arc::clone(&self.known)));
        *self.watching.lock().await = Some(AbortOnDropHandle::new(watching));
        Ok(())
    }

    /// Writes what the session changed into the file. Whatever cannot be found out or written stays as it is there.
    pub(crate) async fn save(&self, context: Option<&Context>) {
        drop(self.watching.lock().await.take());
        let Some(file) = self.file.clone() else {
            return;
        };
        if let Some(context) = context.filter(|context| !context.is_gone()) {
            let found = collect(context, Deadline::after(COLLECT)).await;
            self.known.send_modify(|known| known.latest.overlay(found));
        }
        let changes = {
            let known = self.known.borrow();
            for (origin, items) in &known.latest.origins {
                let count = items.lost + u64::try_from(items.unfit.len()).unwrap_or(u64::MAX);
                if count > 0 {
                    tracing::warn!(
                        origin,
                        count,
                        "some of what an origin keeps has no form in a file and is not saved"
                    );
                }
            }
            Changes::between(&known.before, &known.latest)
        };
        if changes.is_empty() {
            return;
        }
        let saved = tokio::task::spawn_blocking(move || file.update(|state| changes.apply(state))).await;
        match saved {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the storage state of a session is lost"),
            Err(error) => tracing::error!(%error, "the storage state of a session is lost"),
        }
    }
}

/// What of a context can be seen without disturbing it.
struct Sight {
    connection: Connection,
    context: BrowserContextId,
    tabs: Watched<Tabs>,
    /// Whether pages are looked into, or the cookies alone are read.
    pages: bool,
}

impl Sight {
    fn of(context: &Context, pages: bool) -> Self {
        Self {
            connection: context.instance().connection().clone(),
            context: context.id().clone(),
            tabs: context.tabs(),
            pages,
        }
    }

    /// The cookies, and what open pages keep.
    async fn look(&self, deadline: Deadline) -> Contents {
        let browser = self.connection.browser();
        let tabs = if self.pages { self.tabs.borrow().list.clone() } else { Vec::new() };
        let pages = tabs.iter().filter_map(|tab| Some((tab, web_origin(tab)?)));
        let reading = pages.map(|(tab, origin)| async move {
            let items = errand::of_open_page(tab, &origin, deadline.at_most(PAGE)).await;
            items.map(|items| (origin, items))
        });
        let (cookies, read) = tokio::join!(jar::read(&browser, &self.context, deadline), join_all(reading));
        let mut contents = Contents { cookies: cookies.ok(), ..Contents::default() };
        // A page may be sandboxed, closing, or stuck in a script: then there is nothing to take from it.
        for (origin, items) in read.into_iter().flatten() {
            contents.origins.insert(origin, items);
        }
        contents
    }
}

/// The origin of a tab's document, where what it keeps outlives the document.
fn web_origin(tab: &Tab) -> Option<String> {
    let state = tab.state();
    let state = state.borrow();
    let frame = state.main_frame();
    let is_web = frame.origin.starts_with("http://") || frame.origin.starts_with("https://");
    (is_web && !frame.failed && !state.crashed && state.dialog.is_none()).then(|| frame.origin.clone())
}

/// Everything that a context keeps: what open pages have, and for origins that are not open any more what an empty
/// document of theirs finds.
async fn collect(context: &Context, deadline: Deadline) -> Contents {
    let mut contents = Sight::of(context, true).look(deadline).await;
    let visited = context.visited().borrow().clone();
    let closed: Vec<_> = visited.into_iter().filter(|origin| !contents.origins.contains_key(origin)).collect();
    if closed.is_empty() {
        return contents;
    }
    let reading = async {
        let fresh = context.add_tab(true).await?;
        let errand = Errand::begin(fresh.tab()).await?;
        for origin in closed {
            if deadline.has_passed() {
                return Err(deadline.error("what origins keep"));
            }
            match errand.read(&origin, deadline.at_most(PAGE)).await {
                Ok(items) => drop(contents.origins.insert(origin, items)),
                Err(error) => tracing::debug!(origin, %error, "what an origin keeps could not be read"),
            }
        }
        Ok::<_, Error>(())
    };
    match tokio::time::timeout(deadline.remaining(), reading).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "not all that a session keeps could be read"),
        Err(_) => tracing::warn!("there was no time to read all that a session keeps"),
    }
    contents
}

/// Notes now and then what a context keeps, until it is gone.
async fn watch_over(sight: Sight, known: Arc<watch::Sender<Known>>) {
    let mut states = Vec::new();
    let mut pause = WATCH;
    let mut tabs = sight.tabs.clone();
    loop {
        tokio::time::sleep(pause).await;
        if tabs.is_over() {
            return;
        }
        if !tabs.has_changed() && !states.iter().any(Watched::has_changed) {
            continue;
        }
        tabs.mark_seen();
        states = tabs.borrow().list.iter().map(Tab::state).collect();
        for state in &mut states {
            state.mark_seen();
        }
        let begun = Instant::now();
        let found = sight.look(Deadline::after(PAGE * 2)).await;
        known.send_modify(|known| known.latest.overlay(found));
        // A page that keeps a lot is not asked all the time.
        pause = WATCH.max(begun.elapsed() * 10);
    }
}
