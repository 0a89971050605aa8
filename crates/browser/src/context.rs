//! A browser context: what a session is made of in one running browser.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bathy_cdp::protocol::emulation::SetDeviceMetricsOverride;
use bathy_cdp::protocol::page::BringToFront;
use bathy_cdp::protocol::target::{CreateBrowserContext, CreateTarget, DisposeBrowserContext};
use bathy_cdp::protocol::{BrowserContextId, TargetId};
use bathy_chromium::Level;
use bathy_egress::Door;
use bathy_policy::{Policy, PolicyConfig};
use tokio::sync::{Mutex, mpsc, oneshot, watch};

use crate::deadline::COMMAND_TIMEOUT;
use crate::download::{Downloads, Keeper, Surroundings};
use crate::instance::Instance;
use crate::storage::Visited;
use crate::tab::{Charter, Rules};
use crate::tabs::{TAB_LIMIT, Tabs, follow};
use crate::watched::Watched;
use crate::{Deadline, Error, Tab};

/// How long a fresh blank page may take to be there.
const FIRST_PAGE: Duration = Duration::from_secs(15);
/// What the ledger calls a context that is no session's yet.
const SPARE: &str = "spare";

/// At the browser level these ways around a proxy are taken away before any script of a page runs.
const EARLY_SCRIPT: &str = include_str!("context/early.js");

/// A context with its door and its tabs. Dropping it ends all of them.
pub(crate) struct Context {
    id: BrowserContextId,
    instance: Arc<Instance>,
    door: Door,
    charter: watch::Sender<Arc<Charter>>,
    tabs: Watched<Tabs>,
    active: mpsc::UnboundedSender<TargetId>,
    visited: Visited,
    downloads: Downloads,
    /// None once the context is closed.
    keeper: Mutex<Option<Keeper>>,
    /// A call was underway when the browser ended, and told its caller.
    met_end: Arc<AtomicBool>,
}

impl Context {
    /// A context with a blank tab, whose door refuses everything until the context is [assigned](Self::assign).
    pub(crate) async fn create(instance: &Arc<Instance>) -> Result<Self, Error> {
        let nothing = Policy::new(PolicyConfig::default());
        let gate = |error: std::io::Error| Error::LaunchFailed(format!("the gate has no door: {error}"));
        let door = instance.gate().open_door(SPARE, nothing.clone()).await.map_err(gate)?;
        let create = CreateBrowserContext {
            dispose_on_detach: Some(true),
            proxy_server: Some(format!("http://{}", door.address())),
            // Without this the browser would reach loopback addresses directly.
            proxy_bypass_list: Some("<-loopback>".to_owned()),
        };
        let browser = instance.connection().browser();
        let id = browser.call(create, COMMAND_TIMEOUT).await?.browser_context_id;
        let (events, roll) = instance.listen(&id);
        let spare = Charter { session: SPARE.to_owned(), policy: nothing, viewport: None, conceal: None };
        let (charter, charters) = watch::channel(Arc::new(spare));
        let (sender, tabs) = watch::channel(Tabs::default());
        let tabs = Watched::from(tabs);
        let (active, activations) = mpsc::unbounded_channel();
        let visited = Visited::default();
        let surroundings = Surroundings {
            charter: charters.clone(),
            ledger: instance.gate().ledger().clone(),
            artifacts: instance.artifacts().clone(),
            staging: instance.staging(),
            limit: instance.max_download_bytes(),
        };
        let (keeper, downloads) = Keeper::start(instance.connection(), &id, surroundings).await?;
        let rules = Rules {
            visited: visited.clone(),
            user_agent: instance.user_agent().cloned(),
            charter: charters,
            ledger: instance.gate().ledger().clone(),
            artifacts: instance.artifacts().clone(),
            hold_documents: instance.hold_documents(),
            early_script: (instance.level() == Level::Browser).then_some(EARLY_SCRIPT),
            tabs: tabs.clone(),
            downloads: downloads.clone(),
            uploads: instance.uploads(&id),
            roll,
        };
        tokio::spawn(follow(events, activations, sender, rules));
        let context = Self {
            id,
            instance: Arc::clone(instance),
            door,
            charter,
            tabs,
            active,
            visited,
            downloads,
            keeper: Mutex::new(Some(keeper)),
            met_end: Arc::default(),
        };
        let tab = context.add_tab(false).await?.keep();
        context.activate(&tab).await?;
        Ok(context)
    }

    /// Gives the context to a session. Its pages have loaded nothing so far. What it says holds for all tabs to come.
    pub(crate) fn assign(&self, charter: Charter) {
        self.door.assign(&*charter.session, charter.policy.clone());
        self.charter.send_replace(Arc::new(charter));
    }

    pub(crate) fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    pub(crate) fn id(&self) -> &BrowserContextId {
        &self.id
    }

    /// Origins whose pages it has shown.
    pub(crate) fn visited(&self) -> &Visited {
        &self.visited
    }

    /// The tab that it began with.
    pub(crate) fn first_tab(&self) -> Option<Tab> {
        self.tabs.borrow().list.first().cloned()
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.instance.is_gone()
    }

    pub(crate) fn met_end(&self) -> &Arc<AtomicBool> {
        &self.met_end
    }

    pub(crate) fn tabs(&self) -> Watched<Tabs> {
        self.tabs.clone()
    }

    pub(crate) fn downloads(&self) -> &Downloads {
        &self.downloads
    }

    /// Opens a blank tab at the end of the list. It goes on to be opened, and is closed again, when nobody waits
    /// for it any more.
    pub(crate) async fn open_tab(self: &Arc<Self>, background: bool) -> Result<FreshTab, Error> {
        if self.tabs.borrow().list.len() >= TAB_LIMIT {
            return Err(Error::TabLimit(TAB_LIMIT));
        }
        let (reply, opened) = oneshot::channel();
        let context = Arc::clone(self);
        tokio::spawn(async move {
            let opened = context.add_tab(background).await;
            // A tab that nobody takes is closed as it is dropped.
            let _ = reply.send(opened);
        });
        opened.await.unwrap_or_else(|_| Err(Error::SessionClosed))
    }

    /// The same for whoever waits for it in any case.
    pub(crate) async fn add_tab(&self, background: bool) -> Result<FreshTab, Error> {
        let mut tabs = self.tabs();
        let refused = tabs.borrow().refused;
        let create = CreateTarget {
            url: "about:blank".to_owned(),
            browser_context_id: Some(self.id.clone()),
            background: background.then_some(true),
            ..CreateTarget::default()
        };
        let browser = self.instance.connection().browser();
        let target = browser.call(create, COMMAND_TIMEOUT).await?.target_id;
        let find = |tabs: &Tabs| tabs.list.iter().find(|tab| *tab.target() == target).cloned();
        let known = tabs.wait_for(|tabs| find(tabs).is_some() || tabs.refused > refused);
        // The guard must not live on into another await.
        let found = Deadline::after(FIRST_PAGE).bound("a new tab", known).await?.ok().map(|tabs| find(&tabs));
        let tab = found.ok_or_else(|| Error::BrowserGone("its connection is closed".to_owned()))?;
        let tab = tab.ok_or(Error::TabLimit(TAB_LIMIT))?;
        tab.claim();
        let fresh = FreshTab { tab: Some(tab) };
        fresh.tab().ready(Deadline::after(FIRST_PAGE)).await?;
        Ok(fresh)
    }

    /// Makes a tab the one that calls without an index go to, and brings it to the front.
    pub(crate) async fn activate(&self, tab: &Tab) -> Result<(), Error> {
        tab.page().call(BringToFront {}, COMMAND_TIMEOUT).await?;
        // Where the task is gone, so are the tabs.
        let _ = self.active.send(tab.target().clone());
        let mut tabs = self.tabs();
        let settled = tabs.wait_for(|tabs| tabs.is_active(tab) || tabs.position(tab.target()).is_none());
        let active = settled.await.is_ok_and(|tabs| tabs.is_active(tab));
        if active { Ok(()) } else { Err(Error::PageGone("the tab was closed".to_owned())) }
    }

    /// Gives every tab a viewport of this size in CSS pixels.
    pub(crate) async fn resize(&self, (width, height): (u32, u32)) -> Result<(), Error> {
        let tabs = self.tabs.borrow().list.clone();
        for tab in tabs {
            let metrics = SetDeviceMetricsOverride { width, height, ..SetDeviceMetricsOverride::default() };
            tab.page().call(metrics, COMMAND_TIMEOUT).await?;
        }
        Ok(())
    }

    /// Ends the context and waits until the browser has let go of it.
    pub(crate) async fn close(&self) {
        self.instance.forget(&self.id);
        let dispose = DisposeBrowserContext { browser_context_id: self.id.clone() };
        // A browser that is gone has let go of it.
        let _ = self.instance.connection().browser().call(dispose, COMMAND_TIMEOUT).await;
        if let Some(keeper) = self.keeper.lock().await.take() {
            keeper.close().await;
        }
        self.instance.refill();
    }
}

/// A tab that was just opened. It is closed when it is dropped before somebody keeps it.
pub struct FreshTab {
    tab: Option<Tab>,
}

impl FreshTab {
    /// The tab.
    ///
    /// # Panics
    /// Never: only [`FreshTab::keep`] takes it, and takes this with it.
    pub fn tab(&self) -> &Tab {
        self.tab.as_ref().expect("it is taken by keeping alone")
    }

    /// Closes the tab and waits until it is off the list.
    ///
    /// # Errors
    /// [`Error::TimedOut`].
    pub async fn discard(mut self) -> Result<(), Error> {
        match self.tab.take() {
            Some(tab) => tab.close_whole().await,
            None => Ok(()),
        }
    }

    /// Lets the tab live on.
    ///
    /// # Panics
    /// Never, as [`FreshTab::tab`].
    pub fn keep(mut self) -> Tab {
        self.tab.take().expect("it is taken by keeping alone")
    }
}

impl Drop for FreshTab {
    fn drop(&mut self) {
        if let Some(tab) = &self.tab {
            tab.close();
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.instance.forget(&self.id);
        self.instance.connection().browser().send(&DisposeBrowserContext { browser_context_id: self.id.clone() });
    }
}
