//! The task that owns what is known of a page: it reads the page's events and answers those that
//! nobody may be kept waiting for.

use std::sync::Arc;

use bathy_cdp::protocol::emulation::SetDeviceMetricsOverride;
use bathy_cdp::protocol::fetch::{self, RequestPattern, RequestPaused};
use bathy_cdp::protocol::input::DragIntercepted;
use bathy_cdp::protocol::inspector::{self, TargetCrashed};
use bathy_cdp::protocol::network::{self, LoadingFailed, LoadingFinished, RequestWillBeSent, ResponseReceived};
use bathy_cdp::protocol::page::{
    self, AddScriptToEvaluateOnNewDocument, DialogType, DownloadWillBegin, FileChooserOpened, FrameAttached,
    FrameDetached, FrameNavigated, FrameRequestedNavigation, FrameStartedNavigating, FrameStoppedLoading, FrameTree,
    GetFrameTree, HandleJavaScriptDialog, JavascriptDialogClosed, JavascriptDialogOpening, LifecycleEvent,
    NavigatedWithinDocument, SetInterceptFileChooserDialog, SetLifecycleEventsEnabled,
};
use bathy_cdp::protocol::runtime::{RunIfWaitingForDebugger, TerminateExecution};
use bathy_cdp::protocol::target::{AttachedToTarget, DetachedFromTarget, SetAutoAttach};
use bathy_cdp::protocol::{FrameId, RequestId, TargetId};
use bathy_cdp::{CallError, Lane, Message, Session};
use bathy_egress::Ledger;
use bathy_policy::Policy;
use tokio::sync::watch;

use super::documents;
use super::state::{Chooser, DocumentResponse, FrameState, PageState, Pending};
use crate::artifact::Artifacts;
use crate::deadline::COMMAND_TIMEOUT;
use crate::download::Downloads;
use crate::instance::user_agent_override;
use crate::storage::{Visited, note_visit};
use crate::tabs::{Roll, Tabs};
use crate::upload::Uploads;
use crate::watched::Watched;
use crate::world::World;
use crate::{Conceal, Deadline, Dialog, DialogKind};

/// The gate's mark on its own answers; a site cannot set it.
const GATE_HEADER: &str = bathy_egress::REFUSAL_HEADER;
/// The browser's word for a load that shows nothing: a download, an empty answer, a stop.
const ABORTED: &str = "net::ERR_ABORTED";
/// A script that has shown so many alerts in one document shows them for ever, and is ended.
const ALERT_LIMIT: u32 = 50;
/// Dialog texts are cut to this many characters before they are kept.
const DIALOG_TEXT_LIMIT: usize = 2_000;

/// Whose a tab is and what it may load.
pub(crate) struct Charter {
    pub(crate) session: String,
    pub(crate) policy: Policy,
    /// The size of its view in CSS pixels, where it is not the engine's.
    pub(crate) viewport: Option<(u32, u32)>,
    /// What none of its pictures may show.
    pub(crate) conceal: Option<Conceal>,
}

/// What the task needs to know of its surroundings.
#[derive(Clone)]
pub(crate) struct Rules {
    /// Of the session that the tab belongs to now; a warm tab gets its session's later.
    pub(crate) charter: watch::Receiver<Arc<Charter>>,
    /// Where the gate records what it refuses.
    pub(crate) ledger: Ledger,
    /// Where files go that the page has a part in.
    pub(crate) artifacts: Artifacts,
    /// Documents must be told from resources here, since the gate cannot.
    pub(crate) hold_documents: bool,
    /// The tabs of the same context.
    pub(crate) tabs: Watched<Tabs>,
    /// Origins whose pages the context has shown.
    pub(crate) visited: Visited,
    /// What pages call themselves, where it is not the browser's own word.
    pub(crate) user_agent: Option<Arc<str>>,
    /// The downloads of the same context.
    pub(crate) downloads: Downloads,
    /// What the context may upload.
    pub(crate) uploads: Arc<Uploads>,
    /// Whether that list is up to date.
    pub(crate) roll: Roll,
    /// Script for each new document, before the page's own.
    pub(crate) early_script: Option<&'static str>,
}

/// Runs until the page is closed.
pub(crate) async fn run(session: Session, mut lane: Lane, state: watch::Sender<PageState>, rules: Rules) {
    let setup = prepare(&session, &rules, true);
    tokio::pin!(setup);
    let mut ready = false;
    let mut task = Task { page: session.clone(), state, rules: rules.clone() };
    loop {
        tokio::select! {
            tree = &mut setup, if !ready => {
                ready = true;
                match tree {
                    Ok(tree) => task.begin(&tree),
                    Err(error) => {
                        tracing::debug!(%error, "page could not be set up");
                        task.state.send_modify(|state| state.closed = true);
                    }
                }
            }
            message = lane.next() => match message {
                Some(message) => task.handle(&message),
                None => break,
            },
        }
    }
    task.state.send_modify(|state| state.closed = true);
}

/// Asks for events and lets the target run. The commands are sent together; the browser keeps their order.
async fn prepare(session: &Session, rules: &Rules, page: bool) -> Result<FrameTree, CallError> {
    let hold = async {
        if rules.hold_documents {
            let patterns = vec![RequestPattern {
                url_pattern: Some("*".to_owned()),
                resource_type: Some("Document".to_owned()),
                ..RequestPattern::default()
            }];
            session.call(fetch::Enable { patterns: Some(patterns) }, COMMAND_TIMEOUT).await?;
        }
        Ok(())
    };
    let early = async {
        if let Some(source) = rules.early_script {
            let script = AddScriptToEvaluateOnNewDocument {
                source: source.to_owned(),
                run_immediately: Some(true),
                ..AddScriptToEvaluateOnNewDocument::default()
            };
            session.call(script, COMMAND_TIMEOUT).await?;
        }
        Ok(())
    };
    let agent = async {
        if let Some(agent) = &rules.user_agent {
            session.call(user_agent_override(agent), COMMAND_TIMEOUT).await?;
        }
        Ok(())
    };
    let viewport = rules.charter.borrow().viewport;
    let view = async {
        if let Some((width, height)) = viewport.filter(|_| page) {
            let metrics = SetDeviceMetricsOverride { width, height, ..SetDeviceMetricsOverride::default() };
            session.call(metrics, COMMAND_TIMEOUT).await?;
        }
        Ok(())
    };
    let chooser = async {
        session.call(SetInterceptFileChooserDialog { enabled: true }, COMMAND_TIMEOUT).await?;
        if page {
            session.call(inspector::Enable {}, COMMAND_TIMEOUT).await?;
        }
        Ok(())
    };
    let attach = SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: Some(true),
        ..SetAutoAttach::default()
    };
    let network = network::Enable { max_total_buffer_size: Some(0), max_resource_buffer_size: Some(0) };
    let (tree, ..) = tokio::try_join!(
        biased;
        async {
            session.call(page::Enable {}, COMMAND_TIMEOUT).await?;
            Ok(session.call(GetFrameTree {}, COMMAND_TIMEOUT).await?.frame_tree)
        },
        session.call(SetLifecycleEventsEnabled { enabled: true }, COMMAND_TIMEOUT),
        session.call(network, COMMAND_TIMEOUT),
        hold,
        early,
        agent,
        session.call(attach, COMMAND_TIMEOUT),
        chooser,
        view,
        session.call(RunIfWaitingForDebugger {}, COMMAND_TIMEOUT),
    )?;
    Ok(tree)
}

struct Task {
    page: Session,
    state: watch::Sender<PageState>,
    rules: Rules,
}

impl Task {
    fn begin(&self, tree: &FrameTree) {
        self.state.send_modify(|state| {
            seed(state, tree, &self.page);
            state.ready = true;
        });
    }

    fn handle(&mut self, message: &Message) {
        let session = match &message.session {
            Some(id) => self.page.connection().session(id.clone()),
            None => return,
        };
        let (domain, _) = message.method.split_once('.').unwrap_or_default();
        match domain {
            "Page" => self.page_event(message, &session),
            "Network" => self.network_event(message),
            "Target" => self.target_event(message, &session),
            "Fetch" => {
                if let Some(paused) = message.decode::<RequestPaused>() {
                    documents::decide(&paused, &session, &self.rules);
                }
            }
            "Input" => {
                if let Some(drag) = message.decode::<DragIntercepted>() {
                    self.state.send_modify(|state| state.drags.push(drag.data));
                }
            }
            "Inspector" if message.decode::<TargetCrashed>().is_some() && session.id() == self.page.id() => {
                self.state.send_modify(|state| state.crashed = true);
            }
            _ => {}
        }
    }

    fn page_event(&self, message: &Message, session: &Session) {
        if let Some(event) = message.decode::<LifecycleEvent>() {
            self.state.send_modify(|state| state.reach(&event.frame_id, &event.loader_id, &event.name));
        } else if let Some(event) = message.decode::<FrameNavigated>() {
            if event.frame.parent_id.is_none() && event.frame.unreachable_url.is_none() {
                note_visit(&self.rules.visited, &event.frame.security_origin);
            }
            self.state.send_modify(|state| state.commit(&event.frame, session));
            if session.id() != self.page.id() {
                self.set_foot(&event.frame.id, session);
            }
        } else if let Some(event) = message.decode::<NavigatedWithinDocument>() {
            self.state.send_modify(|state| state.move_within(&event.frame_id, event.url));
        } else if let Some(event) = message.decode::<FrameStartedNavigating>() {
            self.started(&event);
        } else if let Some(event) = message.decode::<FrameRequestedNavigation>() {
            if event.disposition == "currentTab" {
                self.on_main(&event.frame_id, |state| state.departures += 1);
            }
        } else if let Some(event) = message.decode::<FrameStoppedLoading>() {
            self.state.send_modify(|state| state.load(&event.frame_id, false));
            self.on_main(&event.frame_id, |state| state.give_up(None));
        } else if let Some(event) = message.decode::<FrameAttached>() {
            self.state.send_modify(|state| {
                state.attach(event.frame_id, event.parent_frame_id, session.clone());
            });
        } else if let Some(event) = message.decode::<FrameDetached>() {
            self.state.send_modify(|state| match event.reason.as_str() {
                "swap" => state.remove_below(&event.frame_id),
                _ => state.detach(&event.frame_id),
            });
        } else if let Some(event) = message.decode::<JavascriptDialogOpening>() {
            self.dialog_opened(event, session);
        } else if message.decode::<JavascriptDialogClosed>().is_some() {
            self.state.send_modify(|state| state.dialog = None);
        } else if let Some(event) = message.decode::<DownloadWillBegin>() {
            let tab = TargetId(self.state.borrow().main.0.clone());
            self.rules.downloads.begin(event, tab);
        } else if let Some(event) = message.decode::<FileChooserOpened>() {
            let chooser = Chooser { frame: event.frame_id, session: session.clone(), node: event.backend_node_id };
            self.state.send_modify(|state| {
                state.file_choosers += 1;
                state.chooser = Some(chooser);
            });
        }
    }

    /// Gets ready to read the document of a frame that has a process of its own, while it loads.
    fn set_foot(&self, frame: &FrameId, session: &Session) {
        let frame = {
            let state = self.state.borrow();
            let of_session = |frame: &&FrameState| frame.session.id() == session.id();
            let Some(frame) = state.frame(frame).filter(of_session) else { return };
            // What is in such a frame and its process needs no more than others do.
            let parent = frame.parent.as_ref().and_then(|id| state.frame(id));
            if parent.is_some_and(|parent| of_session(&parent)) {
                return;
            }
            frame.clone()
        };
        tokio::spawn(async move {
            let deadline = Deadline::after(COMMAND_TIMEOUT);
            let world = World::of(&frame, deadline);
            let document = frame.foothold.document(&frame.session, deadline);
            // Whoever reads the frame asks again.
            let _ = tokio::join!(world, document);
        });
    }

    fn started(&self, event: &FrameStartedNavigating) {
        if event.navigation_type == "sameDocument" || event.navigation_type == "historySameDocument" {
            return;
        }
        self.state.send_modify(|state| state.load(&event.frame_id, true));
        self.on_main(&event.frame_id, |state| {
            state.pending = Some(Pending { url: event.url.clone(), loader: event.loader_id.clone() });
        });
    }

    fn on_main(&self, frame: &FrameId, change: impl FnOnce(&mut PageState)) {
        self.state.send_if_modified(|state| {
            let is_main = *frame == state.main;
            if is_main {
                change(state);
            }
            is_main
        });
    }

    /// An alert is closed at once, since it can only be agreed to; others wait for an answer.
    fn dialog_opened(&self, event: JavascriptDialogOpening, session: &Session) {
        let closed = event.r#type == DialogType::Alert;
        let dialog = Dialog {
            kind: DialogKind::from(event.r#type),
            message: event.message.chars().take(DIALOG_TEXT_LIMIT).collect(),
            default_text: event.default_prompt.map(|text| text.chars().take(DIALOG_TEXT_LIMIT).collect()),
            closed,
        };
        if closed {
            if self.state.borrow().alerts >= ALERT_LIMIT {
                session.send(&TerminateExecution {});
            }
            session.send(&HandleJavaScriptDialog { accept: true, prompt_text: None });
        }
        self.state.send_modify(|state| {
            state.dialogs.push(dialog.clone());
            state.alerts += u32::from(closed);
            if !closed {
                state.dialog = Some(dialog);
            }
        });
    }

    fn network_event(&self, message: &Message) {
        if let Some(event) = message.decode::<RequestWillBeSent>() {
            let kind = event.r#type.unwrap_or_default();
            let is_document = kind == "Document" && loader_of(&event.request_id) == event.loader_id;
            if let Some(frame) = event.frame_id.as_ref().filter(|_| is_document) {
                self.on_main(frame, |state| {
                    state.asked = Some((event.loader_id.clone(), event.request.url.clone()));
                });
            }
            if event.redirect_response.is_none() {
                self.state.send_modify(|state| state.requests.start(event.request_id, &kind, &event.request.url));
            }
        } else if let Some(event) = message.decode::<LoadingFinished>() {
            self.state.send_modify(|state| state.requests.end(&event.request_id));
        } else if let Some(event) = message.decode::<LoadingFailed>() {
            self.state.send_modify(|state| {
                state.requests.end(&event.request_id);
                if event.error_text == ABORTED && event.r#type == "Document" {
                    state.abandoned += 1;
                }
                // After any other failure the browser shows a page of its own, which ends the wait.
                if event.error_text == ABORTED || event.canceled == Some(true) {
                    state.give_up(Some(&loader_of(&event.request_id)));
                }
            });
        } else if message.method == "Network.responseReceived"
            && let Some(event) = message.decode::<ResponseReceived>()
        {
            self.response(&event);
        }
    }

    fn response(&self, event: &ResponseReceived) {
        let is_document = event.r#type == "Document" && loader_of(&event.request_id) == event.loader_id;
        let Some(frame) = event.frame_id.as_ref().filter(|_| is_document) else {
            return;
        };
        // In a tunnel the gate adds and removes nothing, so there the header would be the site's.
        let plain = event.response.url.starts_with("http://");
        let mut headers = event.response.headers.iter().filter(|_| plain);
        let from_gate = headers.find(|(name, _)| name.eq_ignore_ascii_case(GATE_HEADER)).map(|(_, code)| code.clone());
        let response = DocumentResponse {
            loader: event.loader_id.clone(),
            status: u16::try_from(event.response.status).unwrap_or_default(),
            from_gate,
        };
        self.on_main(frame, |state| state.responses.push(response));
    }

    fn target_event(&self, message: &Message, session: &Session) {
        if let Some(event) = message.decode::<AttachedToTarget>() {
            let child = session.connection().session(event.session_id);
            if event.target_info.r#type == "iframe" {
                let frame = FrameId(event.target_info.target_id.0);
                self.state.send_modify(|state| state.swap(&frame, &child));
                let (rules, state) = (self.rules.clone(), self.state.clone());
                tokio::spawn(async move {
                    match prepare(&child, &rules, false).await {
                        Ok(tree) => state.send_modify(|state| seed(state, &tree, &child)),
                        Err(error) => tracing::debug!(%error, "frame could not be set up"),
                    }
                });
            } else {
                child.send(&RunIfWaitingForDebugger {});
            }
        } else if let Some(event) = message.decode::<DetachedFromTarget>() {
            self.state.send_modify(|state| {
                let back: Vec<FrameId> = state
                    .frames()
                    .into_iter()
                    .filter(|frame| frame.session.id() == Some(&event.session_id))
                    .map(|frame| frame.id.clone())
                    .collect();
                for frame in back {
                    state.swap(&frame, session);
                }
            });
        }
    }
}

/// Takes over a frame tree that was asked for; what events said meanwhile is newer and stays.
fn seed(state: &mut PageState, tree: &FrameTree, session: &Session) {
    let mut open = vec![tree];
    while let Some(tree) = open.pop() {
        let known = state.frame(&tree.frame.id).is_some_and(|frame| !frame.document.0.is_empty());
        if !known || tree.frame.parent_id.is_some() {
            state.commit(&tree.frame, session);
        }
        open.extend(tree.child_frames.iter().flatten());
    }
}

/// A document's request has the id of its load.
fn loader_of(request: &RequestId) -> bathy_cdp::protocol::LoaderId {
    bathy_cdp::protocol::LoaderId(request.0.clone())
}
