//! Sessions: isolated contexts with a policy and a door of their own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bathy_chromium::Level;
use bathy_policy::{HostPattern, Policy};
use futures::future::join_all;
use tokio::sync::{Mutex, watch};

use crate::context::{Context, FreshTab};
use crate::engine::Lease;
use crate::navigation::allowed;
use crate::storage::Keeper;
use crate::tab::{Charter, is_blank};
use crate::tabs::{TabNews, Tabs};
use crate::watched::Watched;
use crate::{Conceal, Deadline, Download, Engine, Error, Tab};

/// What a session may be given.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// The session's name in the ledger.
    pub id: String,
    /// Viewport in CSS pixels; the engine's when absent.
    pub viewport: Option<(u32, u32)>,
    /// A narrower allowlist.
    pub allowed_hosts: Option<Vec<HostPattern>>,
    /// Finds what no picture and no PDF of its pages may show; without it nothing is looked for.
    pub conceal: Option<Conceal>,
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
    /// Its cookies, and its storage where the operator has a file for it.
    keeper: Keeper,
    /// Downloads of contexts that ended with their browser.
    past: Mutex<Vec<Download>>,
    /// Held while a context is opened, so that two callers do not open two.
    life: Mutex<Life>,
    /// The tabs of the latest context.
    tabs: watch::Sender<Option<Watched<Tabs>>>,
}

/// A session that is closed has neither; one whose browser ended, and whose caller was told, has no context.
struct Life {
    context: Option<Arc<Context>>,
    lease: Option<Lease>,
}

impl Life {
    /// The context, where the browser has not ended.
    fn context(&self) -> Result<Option<&Arc<Context>>, Error> {
        if self.lease.is_some() { Ok(self.context.as_ref()) } else { Err(Error::SessionClosed) }
    }
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
            Some(file) => Keeper::load(file.clone(), policy.clone()).await?,
            None => Keeper::in_memory(policy.clone()),
        };
        let lease = engine.lease();
        let context = context(&engine, &options, &policy, &keeper).await?;
        let level = context.instance().level();
        let tabs = watch::Sender::new(Some(context.tabs()));
        let life = Mutex::new(Life { context: Some(context), lease: Some(lease) });
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
        let context = self.context().await?;
        let tabs = self.known_tabs();
        let tab = match index {
            Some(index) => tabs.at(index)?,
            None => tabs.active().ok_or(Error::NoPage)?,
        };
        Ok(tab.lent(Arc::clone(context.met_end())))
    }

    /// The tabs in order. Titles are read within the deadline, and left out where a page does not answer.
    ///
    /// # Errors
    /// [`Error::BrowserGone`], [`Error::SessionClosed`], and those of starting a browser.
    pub async fn tabs(&self, deadline: Deadline) -> Result<Vec<TabSummary>, Error> {
        self.context().await?;
        let tabs = self.known_tabs();
        let summaries = tabs.list.iter().enumerate();
        Ok(join_all(summaries.map(|(index, tab)| summary(tab, index, tabs.is_active(tab), deadline))).await)
    }

    /// Holds a URL to the policy, as its load would, and gives it in its canonical form. Nothing is asked of anybody.
    ///
    /// # Errors
    /// [`Error::Refused`], [`Error::InvalidUrl`], [`Error::UnsupportedScheme`].
    pub fn check_url(&self, url: &str) -> Result<String, Error> {
        allowed(self.policy(), url).map(|checked| checked.url().to_string())
    }

    /// Opens a blank tab at the end of the list. It is not active yet; one in the background is not brought to the
    /// front of the browser either.
    ///
    /// # Errors
    /// [`Error::TabLimit`], [`Error::BrowserGone`], [`Error::SessionClosed`], and those of starting a browser.
    pub async fn open_tab(&self, background: bool) -> Result<FreshTab, Error> {
        self.context().await?.open_tab(background).await
    }

    /// Makes a tab the active one. One that is off policy cannot be.
    ///
    /// # Errors
    /// [`Error::OffPolicy`], [`Error::RefusedByGate`], [`Error::PageGone`], [`Error::BrowserGone`],
    /// [`Error::SessionClosed`].
    pub async fn activate(&self, tab: &Tab) -> Result<(), Error> {
        tab.standing()?;
        self.context().await?.activate(tab).await
    }

    /// Closes the tab with this index, or the active one, without asking its page. Gives how many are left.
    ///
    /// # Errors
    /// [`Error::NoPage`], [`Error::NoSuchTab`], [`Error::BrowserGone`], [`Error::SessionClosed`],
    /// [`Error::TimedOut`].
    pub async fn close_tab(&self, index: Option<usize>) -> Result<usize, Error> {
        self.tab(index).await?.close_whole().await?;
        Ok(self.tab_count())
    }

    /// What became of the tabs by itself since this was asked last, and was not told by an action either.
    pub fn tab_news(&self) -> TabNews {
        self.known_tabs().news()
    }

    /// All downloads, in the order in which they began.
    ///
    /// # Errors
    /// [`Error::SessionClosed`].
    pub async fn downloads(&self) -> Result<Vec<Download>, Error> {
        let life = self.shared.life.lock().await;
        let mut downloads = self.shared.past.lock().await.clone();
        if let Some(context) = life.context()? {
            context.downloads().caught_up().await;
            downloads.extend(context.downloads().list());
        }
        for (index, download) in downloads.iter_mut().enumerate() {
            download.index = index;
        }
        Ok(downloads)
    }

    /// Waits until no download is under way, and shows those of the browser that runs now to `look`, at first and
    /// whenever they have changed.
    ///
    /// # Errors
    /// [`Error::TimedOut`], [`Error::SessionClosed`].
    pub async fn wait_for_downloads(
        &self,
        deadline: Deadline,
        look: impl FnMut(&[Download]) + Send,
    ) -> Result<(), Error> {
        let open = self.shared.life.lock().await.context()?.map(|context| context.downloads().clone());
        let Some(downloads) = open else {
            return Ok(());
        };
        downloads.caught_up().await;
        downloads.done(deadline, look).await
    }

    /// The URL of the active tab, as far as it is known without asking the page.
    pub fn url(&self) -> Option<String> {
        self.known_tabs().active().map(Tab::url)
    }

    /// How many tabs there are.
    pub fn tab_count(&self) -> usize {
        self.known_tabs().list.len()
    }

    /// Ends the session and all in it, and writes its storage state where there is a file for it. Idempotent.
    pub async fn close(&self) {
        let mut life = self.shared.life.lock().await;
        // First of all: whether a spare is made up for depends on how many sessions are left.
        let was_open = life.lease.take().is_some();
        self.shared.tabs.send_replace(None);
        let context = life.context.take();
        if was_open {
            self.shared.keeper.save(context.as_deref()).await;
        }
        if let Some(context) = context {
            context.close().await;
        }
    }

    /// What the session is made of now, in a fresh browser where the former one ended.
    async fn context(&self) -> Result<Arc<Context>, Error> {
        let mut life = self.shared.life.lock().await;
        if life.lease.is_none() {
            return Err(Error::SessionClosed);
        }
        if let Some(context) = &life.context {
            if !context.is_gone() {
                return Ok(Arc::clone(context));
            }
            let told = context.met_end().load(Ordering::Acquire);
            let reason = context.instance().reason().await;
            // What was under way is known to have ended by now, as the connection is.
            self.shared.past.lock().await.extend(context.downloads().list());
            life.context = None;
            self.shared.tabs.send_replace(None);
            if !told {
                return Err(Error::BrowserGone(reason));
            }
        }
        let Shared { engine, options, policy, keeper, .. } = &*self.shared;
        let context = context(engine, options, policy, keeper).await?;
        self.shared.tabs.send_replace(Some(context.tabs()));
        life.context = Some(Arc::clone(&context));
        Ok(context)
    }

    fn known_tabs(&self) -> Tabs {
        self.shared.tabs.borrow().as_ref().map(|tabs| tabs.borrow().clone()).unwrap_or_default()
    }
}

/// How long a tab that has just opened may take until it is known what it is.
const OPENING: Duration = Duration::from_millis(500);

/// How a tab is listed. A tab off policy is not asked for its title.
pub(crate) async fn summary(tab: &Tab, index: usize, active: bool, deadline: Deadline) -> TabSummary {
    // What is not known by then shows nothing yet.
    let _ = tab.until("a new tab", deadline.at_most(OPENING), |state| state.ready).await;
    let title = match tab.standing() {
        Ok(()) => tab.entry(deadline).await.ok().map(|(_, title)| title),
        Err(_) => None,
    };
    // While the title was on its way the page may have become another one.
    tab.caught_up().await;
    let address = tab.address();
    let url = if is_blank(&address) { "about:blank".to_owned() } else { address };
    let allowed = tab.standing().is_ok();
    TabSummary { index, active, url, allowed, title: title.filter(|_| allowed) }
}

async fn context(
    engine: &Engine,
    options: &SessionOptions,
    policy: &Policy,
    keeper: &Keeper,
) -> Result<Arc<Context>, Error> {
    let viewport = options.viewport.filter(|viewport| *viewport != engine.options().viewport);
    let (session, policy, conceal) = (options.id.clone(), policy.clone(), options.conceal.clone());
    let context = engine.instance().await?.context(Charter { session, policy, viewport, conceal }).await?;
    keeper.restore(&context).await?;
    if let Some(viewport) = viewport {
        context.resize(viewport).await?;
    }
    Ok(Arc::new(context))
}
