//! A running browser: its process, its connection, its gate, and the contexts in it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bathy_cdp::protocol::BrowserContextId;
use bathy_cdp::protocol::emulation::{SetUserAgentOverride, UserAgentMetadata};
use bathy_cdp::protocol::runtime::RunIfWaitingForDebugger;
use bathy_cdp::protocol::target::{
    AttachedToTarget, CloseTarget, DetachedFromTarget, SetAutoAttach, TargetFilterEntry, TargetInfo,
};
use bathy_cdp::protocol::{SessionId, TargetId};
use bathy_cdp::{Connection, Lane, Progress};
use bathy_chromium::{Directories, FindError, LaunchOptions, Launched, Level, Process};
use bathy_egress::Gate;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::artifact::Artifacts;
use crate::context::Context;
use crate::deadline::COMMAND_TIMEOUT;
use crate::download::Staging;
use crate::engine::EngineOptions;
use crate::tab::Charter;
use crate::tabs::Roll;
use crate::upload::Uploads;
use crate::{Error, engine};

/// Where so many sessions are open, memory is worth more than a quick start of one more: no spare is made.
const CROWD: usize = 10;
/// How long a browser whose connection broke may take to say why it ended.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Bytes of disk cache for all sessions together; contexts keep their caches in memory.
const DISK_CACHE: u64 = 64 * 1024 * 1024;

/// What the browser tells a context about its pages.
pub(crate) enum PageEvent {
    Attached {
        target: Box<TargetInfo>,
        session: bathy_cdp::Session,
        lane: Lane,
    },
    Detached {
        session: SessionId,
    },
    /// All events before this one are to be taken in; then somebody waits for a word.
    Mark(oneshot::Sender<()>),
}

type Listeners = Arc<StdMutex<HashMap<BrowserContextId, mpsc::UnboundedSender<PageEvent>>>>;

/// A running browser.
pub(crate) struct Instance {
    connection: Connection,
    /// How far its own events are taken in.
    events: Progress,
    gate: Gate,
    level: Level,
    artifacts: Artifacts,
    directories: Directories,
    /// The user that the browser runs as, where it is not ours.
    user: Option<u32>,
    uploads_directory: Option<PathBuf>,
    max_download_bytes: u64,
    hold_documents: bool,
    user_agent: Option<Arc<str>>,
    listeners: Listeners,
    spares: Mutex<Vec<Context>>,
    spare_count: usize,
    /// Sessions of the engine that are open or about to be.
    sessions: Arc<AtomicUsize>,
    /// No spare is made any more.
    retired: AtomicBool,
    process: Mutex<Option<Process>>,
    /// Why it ended, where it was not we who ended it.
    ended: OnceLock<String>,
}

impl Instance {
    pub(crate) async fn launch(
        options: &EngineOptions,
        artifacts: Artifacts,
        sessions: &Arc<AtomicUsize>,
    ) -> Result<Arc<Self>, Error> {
        let executable = bathy_chromium::find(&options.lookup).map_err(|error| missing(&error))?;
        let gate = Gate::new(options.gate.clone());
        let refusing_proxy = if options.containment == bathy_chromium::Containment::Kernel {
            None
        } else {
            let address = gate.refusing_address().await;
            Some(address.map_err(|error| Error::LaunchFailed(format!("the gate cannot listen: {error}")))?)
        };
        let launched = bathy_chromium::launch(LaunchOptions {
            executable,
            containment: options.containment,
            headless: options.lookup.headless,
            window: options.viewport,
            user_agent: options.user_agent.clone(),
            refusing_proxy,
            deadline: options.launch_timeout,
            disk_cache_bytes: DISK_CACHE,
            parent_directory: None,
        })
        .await
        .map_err(|error| Error::LaunchFailed(engine::describe(&error)))?;
        Self::begin(launched, gate, options, artifacts, Arc::clone(sessions)).await
    }

    async fn begin(
        launched: Launched,
        gate: Gate,
        options: &EngineOptions,
        artifacts: Artifacts,
        sessions: Arc<AtomicUsize>,
    ) -> Result<Arc<Self>, Error> {
        let Launched { process, reader, writer, level, gate_listener, directories, .. } = launched;
        if let Some(listener) = gate_listener {
            TcpListener::from_std(listener)
                .and_then(|listener| gate.attach_shared(listener))
                .map_err(|error| Error::LaunchFailed(format!("the gate cannot listen: {error}")))?;
        }
        let (connection, lane) = Connection::open(reader, writer);
        let events = lane.progress();
        let listeners = Listeners::default();
        let user_agent = options.user_agent.as_deref().map(Arc::from);
        tokio::spawn(route(connection.clone(), lane, Arc::clone(&listeners), user_agent.clone()));
        // Workers that belong to no page alone have to be told what to call themselves.
        let workers = if user_agent.is_some() { &["shared_worker", "service_worker"][..] } else { &[] };
        let wanted = ["page"].iter().chain(workers);
        let filter = wanted
            .map(|name| TargetFilterEntry { r#type: Some((*name).to_owned()), exclude: Some(false) })
            .chain([TargetFilterEntry { r#type: None, exclude: Some(true) }])
            .collect();
        let attach = SetAutoAttach {
            auto_attach: true,
            wait_for_debugger_on_start: true,
            flatten: Some(true),
            filter: Some(filter),
        };
        connection.browser().call(attach, COMMAND_TIMEOUT).await?;
        let instance = Arc::new(Self {
            connection,
            events,
            gate,
            level,
            artifacts,
            directories,
            user: process.user_id(),
            uploads_directory: options.uploads_directory.clone(),
            max_download_bytes: options.max_download_bytes,
            user_agent,
            // A session may narrow its documents; what pages load besides stays as the operator lists it.
            hold_documents: options.policy.config().allowed_resource_hosts.is_some(),
            listeners,
            spares: Mutex::default(),
            spare_count: options.spare_sessions,
            sessions,
            retired: AtomicBool::new(false),
            process: Mutex::new(Some(process)),
            ended: OnceLock::new(),
        });
        instance.refill();
        Ok(instance)
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    pub(crate) fn artifacts(&self) -> &Artifacts {
        &self.artifacts
    }

    /// Where the browser writes downloads.
    pub(crate) fn staging(&self) -> Staging {
        Staging::new(self.directories.downloads(), self.user)
    }

    /// What a context may upload.
    pub(crate) fn uploads(&self, context: &BrowserContextId) -> Arc<Uploads> {
        let source = self.uploads_directory.clone();
        Arc::new(Uploads::new(source, &self.directories.uploads(), &context.0, self.user))
    }

    /// The most bytes of a downloaded file.
    pub(crate) fn max_download_bytes(&self) -> u64 {
        self.max_download_bytes
    }

    pub(crate) fn hold_documents(&self) -> bool {
        self.hold_documents
    }

    /// What pages are to call themselves, where it is not the browser's own word.
    pub(crate) fn user_agent(&self) -> Option<&Arc<str>> {
        self.user_agent.as_ref()
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.connection.is_closed()
    }

    /// Asks for the page events of a context, from now until the receiver is dropped.
    pub(crate) fn listen(&self, context: &BrowserContextId) -> (mpsc::UnboundedReceiver<PageEvent>, Roll) {
        // Without a bound since losing a page would lose it for good; a context's pages are few and the
        // reader does nothing but take note of them.
        let (sender, receiver) = mpsc::unbounded_channel();
        let roll = Roll { connection: self.events.clone(), events: sender.downgrade() };
        lock(&self.listeners).insert(context.clone(), sender);
        (receiver, roll)
    }

    pub(crate) fn forget(&self, context: &BrowserContextId) {
        lock(&self.listeners).remove(context);
    }

    /// A context for a session: a warm one where there is one.
    pub(crate) async fn context(self: &Arc<Self>, charter: Charter) -> Result<Context, Error> {
        let spare = self.spares.lock().await.pop();
        let context = match spare {
            Some(spare) if !spare.is_gone() => spare,
            _ => Context::create(self).await?,
        };
        context.assign(charter);
        self.refill();
        Ok(context)
    }

    /// Makes up for the spare contexts that were taken, out of the caller's way.
    pub(crate) fn refill(self: &Arc<Self>) {
        if self.spare_count == 0 || self.is_crowded() {
            return;
        }
        let instance = Arc::downgrade(self);
        tokio::spawn(async move {
            let Some(instance) = instance.upgrade() else {
                return;
            };
            let mut spares = instance.spares.lock().await;
            let wanted = |instance: &Self| !instance.is_gone() && !instance.is_retired() && !instance.is_crowded();
            while spares.len() < instance.spare_count && wanted(&instance) {
                match Context::create(&instance).await {
                    Ok(context) if instance.is_retired() => drop(context),
                    Ok(context) => spares.push(context),
                    Err(error) => {
                        tracing::debug!(%error, "no spare session could be made");
                        return;
                    }
                }
            }
        });
    }

    fn is_crowded(&self) -> bool {
        self.sessions.load(Ordering::Acquire) >= CROWD
    }

    fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    /// Lets go of the spares, which would keep the browser alive: the engine is dropped.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
        // Whoever holds the lock makes spares, and lets go of them itself.
        if let Ok(mut spares) = self.spares.try_lock() {
            spares.clear();
        }
    }

    /// Why the browser ended.
    pub(crate) async fn reason(&self) -> String {
        if let Some(reason) = self.ended.get() {
            return reason.clone();
        }
        match self.process.lock().await.as_ref() {
            Some(process) => tokio::time::timeout(LAST_WORDS, process.exited())
                .await
                .map_or_else(|_| "its connection broke".to_owned(), |exit| exit.to_string()),
            None => "it was closed".to_owned(),
        }
    }

    pub(crate) async fn close(&self) {
        self.retire();
        if self.is_gone() {
            let reason = self.reason().await;
            self.ended.get_or_init(|| reason);
        }
        self.spares.lock().await.clear();
        let process = self.process.lock().await.take();
        if let Some(process) = process {
            // It is not asked: whatever it would still write goes with its private folder.
            process.close(Duration::ZERO).await;
        }
    }
}

/// Hands page events to the contexts that the pages are in. A page of no session is closed.
async fn route(connection: Connection, mut lane: Lane, listeners: Listeners, user_agent: Option<Arc<str>>) {
    let mut contexts: HashMap<SessionId, BrowserContextId> = HashMap::new();
    let mut targets: HashMap<TargetId, SessionId> = HashMap::new();
    while let Some(message) = lane.next().await {
        if let Some(event) = message.decode::<AttachedToTarget>() {
            if event.target_info.r#type == "browser" {
                // Another session of ours with the browser itself.
                continue;
            }
            if event.target_info.r#type != "page" {
                let worker = connection.session(event.session_id);
                if let Some(agent) = &user_agent {
                    worker.send(&worker_user_agent_override(agent));
                }
                worker.send(&RunIfWaitingForDebugger {});
                continue;
            }
            // A further session with a page that is known belongs to whoever asked for it.
            if targets.contains_key(&event.target_info.target_id) {
                continue;
            }
            targets.insert(event.target_info.target_id.clone(), event.session_id.clone());
            let lane = connection.claim(&event.session_id);
            let session = connection.session(event.session_id.clone());
            let context = event.target_info.browser_context_id.clone().unwrap_or_default();
            let listener = lock(&listeners).get(&context).cloned();
            let target = event.target_info.target_id.clone();
            contexts.insert(event.session_id, context);
            let sent = listener.is_some_and(|listener| {
                listener.send(PageEvent::Attached { target: Box::new(event.target_info), session, lane }).is_ok()
            });
            if !sent {
                connection.browser().send(&CloseTarget { target_id: target });
            }
        } else if let Some(event) = message.decode::<DetachedFromTarget>() {
            targets.retain(|_, session| *session != event.session_id);
            if let Some(context) = contexts.remove(&event.session_id)
                && let Some(listener) = lock(&listeners).get(&context)
            {
                // A listener that is gone has no use for it.
                let _ = listener.send(PageEvent::Detached { session: event.session_id });
            }
        }
    }
}

/// What pages are told to call themselves. Without metadata no client hint contradicts it: none is sent, and
/// `navigator.userAgentData` knows no brand (User-Agent Client Hints §3).
pub(crate) fn user_agent_override(agent: &str) -> SetUserAgentOverride {
    SetUserAgentOverride { user_agent: agent.to_owned(), ..SetUserAgentOverride::default() }
}

/// The same for workers, where absent metadata leaves the browser's own in place.
fn worker_user_agent_override(agent: &str) -> SetUserAgentOverride {
    let metadata = UserAgentMetadata { brands: Some(Vec::new()), ..UserAgentMetadata::default() };
    SetUserAgentOverride { user_agent_metadata: Some(metadata), ..user_agent_override(agent) }
}

fn lock(listeners: &Listeners) -> MutexGuard<'_, HashMap<BrowserContextId, mpsc::UnboundedSender<PageEvent>>> {
    listeners.lock().unwrap_or_else(PoisonError::into_inner)
}

fn missing(error: &FindError) -> Error {
    Error::MissingBinary { reason: error.to_string(), advice: error.advice() }
}
