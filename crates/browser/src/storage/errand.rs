//! Reaching what an origin keeps, without the site: an empty document that we answer in its place.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bathy_cdp::protocol::fetch::{self, FailRequest, FulfillRequest, HeaderEntry, RequestPattern, RequestPaused};
use bathy_cdp::protocol::network::{self, SetBypassServiceWorker};
use bathy_cdp::protocol::page::{CreateIsolatedWorld, Navigate, ResetNavigationHistory};
use bathy_cdp::protocol::runtime::{Evaluate, ExecutionContextId};
use bathy_cdp::protocol::target::{AttachToTarget, DetachFromTarget};
use bathy_cdp::{CallError, Lane, Session};
use serde::{Deserialize, Serialize};
use tokio_util::task::AbortOnDropHandle;

use super::contents::{Found, Items};
use super::state::{Item, OriginState};
use crate::deadline::COMMAND_TIMEOUT;
use crate::{Deadline, Error, Tab};

/// Puts things into an origin's storage and tells what is in it.
const SCRIPT: &str = include_str!("script.js");
/// What the browser asks for when it is to show an origin: nothing that could run or load.
const DOCUMENT: &[u8] = b"<!doctype html><link rel=icon href=data:,>";
/// The name of the script's world in documents of pages.
const WORLD: &str = "bathysphere-storage";
/// How often the history is asked to be forgotten: the browser refuses while it changes processes.
const RESET_ATTEMPTS: u32 = 50;

/// A tab that is sent from origin to origin, each answered by us. Nothing that it asks for leaves the browser.
pub(super) struct Errand<'a> {
    tab: &'a Tab,
    /// A session of our own with the tab, so that its task knows nothing of the requests.
    session: Session,
    _answering: AbortOnDropHandle<()>,
}

/// What is put into the storage of an origin.
#[derive(Serialize)]
struct Put<'a> {
    local: &'a [Item],
    session: &'a [Item],
    databases: &'a [serde_json::Value],
}

#[derive(Serialize)]
struct Argument<'a> {
    origin: &'a str,
    put: Option<Put<'a>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    /// The document is another one by now.
    Elsewhere {
        #[serde(rename = "elsewhere")]
        _elsewhere: bool,
    },
    Found(Found),
}

impl<'a> Errand<'a> {
    pub(super) async fn begin(tab: &'a Tab) -> Result<Self, Error> {
        let connection = tab.page().connection();
        let attach = AttachToTarget { target_id: tab.target().clone(), flatten: Some(true) };
        let id = connection.browser().call(attach, COMMAND_TIMEOUT).await?.session_id;
        let lane = connection.claim(&id);
        let session = connection.session(id);
        let answering = AbortOnDropHandle::new(tokio::spawn(answer(lane, session.clone())));
        let everything = RequestPattern { url_pattern: Some("*".to_owned()), ..RequestPattern::default() };
        let network = network::Enable { max_total_buffer_size: Some(0), max_resource_buffer_size: Some(0) };
        tokio::try_join!(
            session.call(fetch::Enable { patterns: Some(vec![everything]) }, COMMAND_TIMEOUT),
            session.call(network, COMMAND_TIMEOUT),
            // A worker of the site would see the request, and answer it.
            session.call(SetBypassServiceWorker { bypass: true }, COMMAND_TIMEOUT),
        )?;
        Ok(Self { tab, session, _answering: answering })
    }

    /// What an origin keeps.
    pub(super) async fn read(&self, origin: &str, deadline: Deadline) -> Result<Items, Error> {
        self.visit(&Argument { origin, put: None }, deadline).await
    }

    /// Puts the state into an origin's storage and gives what is in it then.
    pub(super) async fn restore(&self, state: &OriginState, deadline: Deadline) -> Result<Items, Error> {
        let put = Put { local: &state.local_storage, session: &state.session_storage, databases: &state.databases };
        let mut items = self.visit(&Argument { origin: &state.origin, put: Some(put) }, deadline).await?;
        items.session =
            Some(state.session_storage.iter().map(|item| (item.name.clone(), item.value.clone())).collect());
        Ok(items)
    }

    async fn visit(&self, argument: &Argument<'_>, deadline: Deadline) -> Result<Items, Error> {
        self.go(&format!("{}/", argument.origin), deadline).await?;
        evaluate(&self.session, None, argument, deadline).await.map(|found| Items::of(found, false))
    }

    async fn go(&self, url: &str, deadline: Deadline) -> Result<(), Error> {
        let navigate = Navigate { url: url.to_owned(), frame_id: None };
        let navigated = self.session.call(navigate, deadline.remaining()).await?;
        if let Some(reason) = navigated.error_text {
            return Err(Error::ActionFailed(reason));
        }
        let loader = navigated.loader_id.unwrap_or_default();
        self.tab.until("a document of ours", deadline, |state| state.main_frame().document == loader).await
    }

    /// Leaves the tab as a fresh one, but for its `sessionStorage`.
    pub(super) async fn leave_blank(&self, deadline: Deadline) -> Result<(), Error> {
        self.go("about:blank", deadline).await?;
        let mut attempts = RESET_ATTEMPTS;
        loop {
            match self.tab.page().call(ResetNavigationHistory {}, deadline.remaining()).await {
                Err(CallError::Refused { .. }) if attempts > 0 && !deadline.has_passed() => {
                    attempts -= 1;
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
                reset => return reset.map(drop).map_err(Error::from),
            }
        }
    }
}

impl Drop for Errand<'_> {
    fn drop(&mut self) {
        let detach = DetachFromTarget { session_id: self.session.id().cloned() };
        self.session.connection().browser().send(&detach);
    }
}

/// What the page in a tab keeps; nothing where it keeps nothing that outlives it, or does not answer.
pub(super) async fn of_open_page(tab: &Tab, origin: &str, deadline: Deadline) -> Result<Items, Error> {
    let frame_id = tab.state().borrow().main.clone();
    let world = CreateIsolatedWorld { frame_id, world_name: Some(WORLD.to_owned()), grant_univeral_access: None };
    let context = tab.page().call(world, deadline.remaining()).await?.execution_context_id;
    let found = evaluate(tab.page(), Some(context), &Argument { origin, put: None }, deadline).await?;
    Ok(Items::of(found, true))
}

async fn evaluate(
    session: &Session,
    context: Option<ExecutionContextId>,
    argument: &Argument<'_>,
    deadline: Deadline,
) -> Result<Found, Error> {
    let broken = |error: serde_json::Error| Error::ActionFailed(error.to_string());
    // Text in JSON is text in JavaScript, too (ECMAScript 2019, "JSON superset").
    let argument = serde_json::to_string(argument).map_err(broken)?;
    let command = Evaluate {
        expression: format!("({SCRIPT})({argument})"),
        context_id: context,
        return_by_value: Some(true),
        await_promise: Some(true),
        silent: Some(true),
        ..Evaluate::default()
    };
    let evaluated = session.call(command, deadline.remaining()).await?;
    if let Some(details) = evaluated.exception_details {
        let said = details.exception.and_then(|exception| exception.description).unwrap_or(details.text);
        return Err(Error::ActionFailed(said));
    }
    match serde_json::from_value(evaluated.result.value.unwrap_or_default()).map_err(broken)? {
        Answer::Found(found) => Ok(found),
        Answer::Elsewhere { .. } => Err(Error::PageGone("it shows another document".to_owned())),
    }
}

/// Answers documents with ours, and nothing else at all.
async fn answer(mut lane: Lane, session: Session) {
    while let Some(message) = lane.next().await {
        let Some(paused) = message.decode::<RequestPaused>() else { continue };
        if paused.resource_type != "Document" {
            session.send(&FailRequest { request_id: paused.request_id, error_reason: "BlockedByClient".to_owned() });
            continue;
        }
        let header = |name: &str, value: &str| HeaderEntry { name: name.to_owned(), value: value.to_owned() };
        session.send(&FulfillRequest {
            request_id: paused.request_id,
            response_code: 200,
            response_headers: Some(vec![
                header("content-type", "text/html"),
                header("cache-control", "no-store"),
                header("content-security-policy", "default-src 'none'; img-src data:"),
            ]),
            body: Some(STANDARD.encode(DOCUMENT)),
        });
    }
}
