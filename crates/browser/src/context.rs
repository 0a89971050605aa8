//! A browser context: what a session is made of in one running browser.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bathy_cdp::protocol::emulation::SetDeviceMetricsOverride;
use bathy_cdp::protocol::target::{CloseTarget, CreateBrowserContext, CreateTarget, DisposeBrowserContext};
use bathy_cdp::protocol::{BrowserContextId, SessionId, TargetId};
use bathy_chromium::Level;
use bathy_egress::Door;
use bathy_policy::{Policy, PolicyConfig};
use tokio::sync::{mpsc, watch};

use crate::deadline::COMMAND_TIMEOUT;
use crate::download::{Downloads, Keeper, Surroundings};
use crate::instance::{Instance, PageEvent};
use crate::storage::Visited;
use crate::tab::{Charter, Rules};
use crate::{Deadline, Error, Tab};

/// How long a fresh blank page may take to be there.
const FIRST_PAGE: Duration = Duration::from_secs(15);
/// What the ledger calls a context that is no session's yet.
const SPARE: &str = "spare";
/// A session's pages beyond this are closed as they open.
const TAB_LIMIT: usize = 50;

/// At the browser level these ways around a proxy are taken away before any script of a page runs.
const EARLY_SCRIPT: &str = include_str!("context/early.js");

/// The tabs of a context, in order.
#[derive(Clone, Default)]
pub(crate) struct Tabs {
    pub(crate) list: Vec<Tab>,
    pub(crate) active: Option<TargetId>,
    /// How many tabs opened so far.
    pub(crate) opened: u64,
}

/// A context with its door and its tabs. Dropping it ends all of them.
pub(crate) struct Context {
    id: BrowserContextId,
    instance: Arc<Instance>,
    door: Door,
    charter: watch::Sender<Arc<Charter>>,
    tabs: watch::Receiver<Tabs>,
    active: mpsc::UnboundedSender<TargetId>,
    visited: Visited,
    downloads: Downloads,
    /// None once the context is closed.
    keeper: Option<Keeper>,
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
        let events = instance.listen(&id);
        let (charter, charters) = watch::channel(Arc::new(Charter { session: SPARE.to_owned(), policy: nothing }));
        let (sender, tabs) = watch::channel(Tabs::default());
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
            headless: instance.is_headless(),
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
            keeper: Some(keeper),
            met_end: Arc::default(),
        };
        context.open_tab().await?.ready(Deadline::after(FIRST_PAGE)).await?;
        Ok(context)
    }

    /// Gives the context to a session. Its pages have loaded nothing so far.
    pub(crate) fn assign(&self, session: &str, policy: Policy) {
        self.door.assign(session, policy.clone());
        self.charter.send_replace(Arc::new(Charter { session: session.to_owned(), policy }));
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

    pub(crate) fn tabs(&self) -> watch::Receiver<Tabs> {
        self.tabs.clone()
    }

    pub(crate) fn downloads(&self) -> &Downloads {
        &self.downloads
    }

    /// Opens a blank tab at the end and makes it the active one.
    pub(crate) async fn open_tab(&self) -> Result<Tab, Error> {
        let create = CreateTarget {
            url: "about:blank".to_owned(),
            browser_context_id: Some(self.id.clone()),
            ..CreateTarget::default()
        };
        let browser = self.instance.connection().browser();
        let target = browser.call(create, COMMAND_TIMEOUT).await?.target_id;
        let mut tabs = self.tabs();
        let find = |tabs: &Tabs| tabs.list.iter().find(|tab| *tab.target() == target).cloned();
        let found = Deadline::after(FIRST_PAGE).bound("a new tab", tabs.wait_for(|tabs| find(tabs).is_some())).await?;
        let tab = found.ok().and_then(|tabs| find(&tabs));
        let tab = tab.ok_or_else(|| Error::BrowserGone("its connection is closed".to_owned()))?;
        self.activate(&tab);
        Ok(tab)
    }

    pub(crate) fn activate(&self, tab: &Tab) {
        // Where the task is gone, so are the tabs.
        let _ = self.active.send(tab.target().clone());
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
    pub(crate) async fn close(mut self) {
        let dispose = DisposeBrowserContext { browser_context_id: self.id.clone() };
        // A browser that is gone has let go of it.
        let _ = self.instance.connection().browser().call(dispose, COMMAND_TIMEOUT).await;
        if let Some(keeper) = self.keeper.take() {
            keeper.close().await;
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.instance.forget(&self.id);
        self.instance.connection().browser().send(&DisposeBrowserContext { browser_context_id: self.id.clone() });
    }
}

/// Keeps the list of tabs as pages come and go.
async fn follow(
    mut events: mpsc::UnboundedReceiver<PageEvent>,
    mut activations: mpsc::UnboundedReceiver<TargetId>,
    tabs: watch::Sender<Tabs>,
    rules: Rules,
) {
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(PageEvent::Attached { target, session, lane }) => {
                    if tabs.borrow().list.len() >= TAB_LIMIT {
                        session.connection().browser().send(&CloseTarget { target_id: target.target_id });
                        continue;
                    }
                    let tab = Tab::attach(&target, session, lane, rules.clone());
                    tabs.send_modify(|tabs| {
                        tabs.opened += 1;
                        if tabs.active.is_none() {
                            tabs.active = Some(tab.target().clone());
                        }
                        tabs.list.push(tab);
                    });
                }
                Some(PageEvent::Detached { session }) => tabs.send_modify(|tabs| remove(tabs, &session)),
                None => break,
            },
            target = activations.recv() => match target {
                Some(target) => tabs.send_modify(|tabs| tabs.active = Some(target)),
                None => break,
            },
        }
    }
    // Each tab knows the list, so a list that is left behind would keep its tabs for ever.
    tabs.send_replace(Tabs::default());
}

/// Takes a closed page off the list; where it was active, its left neighbour is from now on.
fn remove(tabs: &mut Tabs, session: &SessionId) {
    let Some(position) = tabs.list.iter().position(|tab| tab.page().id() == Some(session)) else {
        return;
    };
    let tab = tabs.list.remove(position);
    if tabs.active.as_ref() == Some(tab.target()) {
        tabs.active = tabs.list.get(position.saturating_sub(1)).map(|tab| tab.target().clone());
    }
}
