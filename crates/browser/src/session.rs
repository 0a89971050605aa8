//! Sessions: isolated contexts with a policy and a door of their own.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bathy_chromium::Level;
use bathy_policy::{HostPattern, Policy};
use futures::future::join_all;
use tokio::sync::{Mutex, watch};

use crate::context::{Context, Tabs};
use crate::storage::Keeper;
use crate::{Deadline, Download, Engine, Error, Tab};

/// What a session may be given.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// The session's name in the ledger.
    pub id: String,
    /// Viewport in CSS pixels; the engine's when absent.
    pub viewport: Option<(u32, u32)>,
    /// A narrower allowlist.
    pub allowed_hosts: Option<Vec<HostPattern>>,
}

/// A tab as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabSummary {
    /// Position in the session, from 0.
    pub index: usize,
    /// Whether calls without a tab go to it.
    pub active: bool,
    /// Its URL.
    pub url: String,
    /// Whether the policy allows it.
    pub allowed: bool,
    /// Its title, raw text of the page; never of a tab that is off policy.
    pub title: Option<String>,
}

/// A session. A cheap handle; it survives a crash of the browser.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    options: SessionOptions,
    policy: Policy,
    level: Level,
    /// Its cookies and storage, where the operator has a file for them.
    keeper: Option<Keeper>,
    /// Downloads of contexts that ended with their browser.
    past: Mutex<Vec<Download>>,
    /// Held while a context is opened, so that two callers do not open two.
    life: Mutex<Life>,
    /// The tabs of the latest context.
    tabs: watch::Sender<Option<watch::Receiver<Tabs>>>,
}

enum Life {
    Open(Context),
    /// The browser ended; whoever called first was told.
    Lost,
    Closed,
}

impl Session {
    pub(crate) async fn open(engine: Engine, options: SessionOptions) -> Result<Self, Error> {
        let policy = match &options.allowed_hosts {
            Some(hosts) => {
                engine.options().policy.narrowed(hosts).map_err(|error| Error::InvalidArgument(error.to_string()))?
            }
            None => engine.options().policy.clone(),
        };
        let keeper = match &engine.options().storage_state {
            Some(file) => Some(Keeper::load(file.clone(), policy.clone()).await?),
            None => None,
        };
        let context = context(&engine, &options, &policy, keeper.as_ref()).await?;
        let level = context.instance().level();
        let tabs = watch::Sender::new(Some(context.tabs()));
        let life = Mutex::new(Life::Open(context));
        Ok(Self {
            shared: Arc::new(Shared { engine, options, policy, level, keeper, past: Mutex::default(), life, tabs }),
        })
    }

    /// Its name in the ledger.
    pub fn id(&self) -> &str {
        &self.shared.options.id
    }

    /// What holds its traffic: the kernel or the browser.
    pub fn containment(&self) -> Level {
        self.shared.level
    }

    /// Its policy.
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// The tab with this index, or the active one. After a crash of the browser the first call says so, where no
    /// call was underway to say it, and the next one gets a fresh blank tab. A call lets go of its tab when it ends.
    ///
    /// # Errors
    /// [`Error::NoPage`], [`Error::NoSuchTab`], [`Error::BrowserGone`], [`Error::SessionClosed`], and those
    /// of starting a browser.
    pub async fn tab(&self, index: Option<usize>) -> Result<Tab, Error> {
        let mut life = self.shared.life.lock().await;
        if let Life::Open(context) = &*life
            && context.is_gone()
        {
            let told = context.met_end().load(Ordering::Acquire);
            let reason = context.instance().reason().await;
            // What was under way is known to have ended by now, as the connection is.
            self.shared.past.lock().await.extend(context.downloads().list());
            *life = Life::Lost;
            self.shared.tabs.send_replace(None);
            if !told {
                return Err(Error::BrowserGone(reason));
            }
        }
        if matches!(*life, Life::Lost) {
            let Shared { engine, options, policy, keeper, .. } = &*self.shared;
            let context = context(engine, options, policy, keeper.as_ref()).await?;
            self.shared.tabs.send_replace(Some(context.tabs()));
            *life = Life::Open(context);
        }
        let Life::Open(context) = &*life else {
            return Err(Error::SessionClosed);
        };
        let tabs = self.known_tabs();
        let tab = match index {
            Some(index) => {
                let count = tabs.list.len();
                let tab = tabs.list.into_iter().nth(index);
                tab.ok_or(Error::NoSuchTab { index, count })?
            }
            None => {
                tabs.list.into_iter().find(|tab| Some(tab.target()) == tabs.active.as_ref()).ok_or(Error::NoPage)?
            }
        };
        Ok(tab.lent(Arc::clone(context.met_end())))
    }

    /// The tabs in order. Titles are read within the deadline, and left out where a page does not answer.
    ///
    /// # Errors
    /// [`Error::SessionClosed`].
    pub async fn tabs(&self, deadline: Deadline) -> Result<Vec<TabSummary>, Error> {
        if matches!(*self.shared.life.lock().await, Life::Closed) {
            return Err(Error::SessionClosed);
        }
        let tabs = self.known_tabs();
        let summaries = tabs.list.iter().enumerate().map(|(index, tab)| {
            let active = Some(tab.target()) == tabs.active.as_ref();
            summary(tab, index, active, deadline)
        });
        Ok(join_all(summaries).await)
    }

    /// All downloads, in the order in which they began.
    ///
    /// # Errors
    /// [`Error::SessionClosed`].
    pub async fn downloads(&self) -> Result<Vec<Download>, Error> {
        let life = self.shared.life.lock().await;
        let mut downloads = self.shared.past.lock().await.clone();
        match &*life {
            Life::Open(context) => {
                context.downloads().caught_up().await;
                downloads.extend(context.downloads().list());
            }
            Life::Lost => {}
            Life::Closed => return Err(Error::SessionClosed),
        }
        for (index, download) in downloads.iter_mut().enumerate() {
            download.index = index;
        }
        Ok(downloads)
    }

    /// Waits until no download is under way.
    ///
    /// # Errors
    /// [`Error::TimedOut`], [`Error::SessionClosed`].
    pub async fn wait_for_downloads(&self, deadline: Deadline) -> Result<(), Error> {
        let downloads = match &*self.shared.life.lock().await {
            Life::Open(context) => context.downloads().clone(),
            Life::Lost => return Ok(()),
            Life::Closed => return Err(Error::SessionClosed),
        };
        downloads.caught_up().await;
        downloads.done(deadline).await
    }

    /// The URL of the active tab, as far as it is known without asking the page.
    pub fn url(&self) -> Option<String> {
        let tabs = self.known_tabs();
        tabs.list.iter().find(|tab| Some(tab.target()) == tabs.active.as_ref()).map(Tab::url)
    }

    /// How many tabs there are.
    pub fn tab_count(&self) -> usize {
        self.known_tabs().list.len()
    }

    /// Ends the session and all in it, and writes its storage state where there is a file for it. Idempotent.
    pub async fn close(&self) {
        let life = std::mem::replace(&mut *self.shared.life.lock().await, Life::Closed);
        self.shared.tabs.send_replace(None);
        if let Some(keeper) = &self.shared.keeper {
            match &life {
                Life::Open(context) => keeper.save(Some(context)).await,
                Life::Lost => keeper.save(None).await,
                Life::Closed => {}
            }
        }
        if let Life::Open(context) = life {
            context.close().await;
        }
    }

    fn known_tabs(&self) -> Tabs {
        self.shared.tabs.borrow().as_ref().map(|tabs| tabs.borrow().clone()).unwrap_or_default()
    }
}

/// How a tab is listed. A tab off policy is not asked for its title.
pub(crate) async fn summary(tab: &Tab, index: usize, active: bool, deadline: Deadline) -> TabSummary {
    let url = tab.url();
    let allowed = tab.check(&url).is_ok();
    let title = if allowed { tab.entry(deadline).await.ok().map(|(_, title)| title) } else { None };
    TabSummary { index, active, url, allowed, title }
}

async fn context(
    engine: &Engine,
    options: &SessionOptions,
    policy: &Policy,
    keeper: Option<&Keeper>,
) -> Result<Context, Error> {
    let context = engine.instance().await?.context(&options.id, policy.clone()).await?;
    if let Some(keeper) = keeper {
        keeper.restore(&context).await?;
    }
    if let Some(viewport) = options.viewport.filter(|viewport| *viewport != engine.options().viewport) {
        context.resize(viewport).await?;
    }
    Ok(context)
}
