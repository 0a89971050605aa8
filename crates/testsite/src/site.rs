//! The site itself: three listeners, one memory.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router, middleware};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::pages::{self, Page, Variables};
use crate::record::{Gauge, Record, RecordedRequest, Report};
use crate::{behaviours, files};

/// The most that a request body may hold.
const BODY_LIMIT: usize = 64 << 20;

/// The host that the shop's "analytics" script sends the order to unless a test defines `analytics` anew. The
/// top-level domain `test` is reserved and never resolves (RFC 6761 §6.2).
const ANALYTICS: &str = "metrics.shop-analytics.test";

/// Where the three origins listen; 0 means any free port.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ports {
    /// The port of the site proper, on 127.0.0.1.
    pub main: u16,
    /// The port of the second origin, on 127.0.0.2.
    pub other: u16,
    /// The port of the third origin, on 127.0.0.3.
    pub third: u16,
}

/// A running site; it stops when dropped.
#[derive(Debug)]
pub struct TestSite {
    shared: Arc<Shared>,
    addresses: [SocketAddr; 3],
    _serving: JoinSet<()>,
}

/// What all origins of one site have in common.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pages: RwLock<HashMap<String, Page>>,
    variables: RwLock<Variables>,
    next_page: AtomicUsize,
    connections: AtomicUsize,
    pub(crate) requests: Record<RecordedRequest>,
    pub(crate) reports: Record<Report>,
    pub(crate) trickles: Gauge,
}

impl TestSite {
    /// Starts a site on free ports.
    ///
    /// # Panics
    /// When the loopback addresses 127.0.0.1, 127.0.0.2 and 127.0.0.3 cannot be bound; on macOS the last two need
    /// `ifconfig lo0 alias` first.
    pub async fn start() -> Self {
        Self::bind(Ports::default()).await.expect("loopback addresses 127.0.0.1 to 127.0.0.3 to listen on")
    }

    /// Starts a site on the given ports.
    ///
    /// # Errors
    /// When an address cannot be bound.
    pub async fn bind(ports: Ports) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let router = router(Arc::clone(&shared));
        let mut serving = JoinSet::new();
        let mut addresses = [SocketAddr::from(([0, 0, 0, 0], 0)); 3];
        let wanted = [(1, ports.main), (2, ports.other), (3, ports.third)];
        for (address, (last, port)) in addresses.iter_mut().zip(wanted) {
            let listener = TcpListener::bind((IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), port)).await?;
            *address = listener.local_addr()?;
            serving.spawn(accept(listener, router.clone(), Arc::clone(&shared)));
        }
        let site = Self { shared, addresses, _serving: serving };
        site.define("self", site.origin());
        site.define("other", site.other_origin());
        site.define("third", site.third_origin());
        site.define("analytics", ANALYTICS);
        Ok(site)
    }

    /// The site's origin, such as `http://127.0.0.1:40123`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.addresses[0])
    }

    /// The same site on 127.0.0.2: another origin and another site to the browser.
    pub fn other_origin(&self) -> String {
        format!("http://{}", self.addresses[1])
    }

    /// The same site on 127.0.0.3.
    pub fn third_origin(&self) -> String {
        format!("http://{}", self.addresses[2])
    }

    /// The addresses of the three origins.
    pub fn addresses(&self) -> [SocketAddr; 3] {
        self.addresses
    }

    /// The URL of a path, query and fragment on the site's origin.
    pub fn url(&self, path: &str) -> String {
        format!("{}/{}", self.origin(), path.trim_start_matches('/'))
    }

    /// The URL of a path on the second origin.
    pub fn other_url(&self, path: &str) -> String {
        format!("{}/{}", self.other_origin(), path.trim_start_matches('/'))
    }

    /// Serves an HTML page, at a path of its own on all three origins, and gives its URL.
    pub fn page(&self, html: impl Into<String>) -> String {
        self.add(Page::html(html))
    }

    /// Serves a page on all three origins and gives its URL on the first.
    pub fn add(&self, page: Page) -> String {
        let path = page
            .path
            .clone()
            .unwrap_or_else(|| format!("page/{}", self.shared.next_page.fetch_add(1, Ordering::Relaxed)));
        let url = self.url(&path);
        self.shared.pages.write().unwrap_or_else(PoisonError::into_inner).insert(path, page);
        url
    }

    /// Sets the value of `{{name}}` in every page.
    pub fn define(&self, name: &str, value: impl Into<String>) {
        self.shared.variables.write().unwrap_or_else(PoisonError::into_inner).define(name, value);
    }

    /// All requests until now, in order of arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.requests.all()
    }

    /// The number of connections until now, to all three origins.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// The first request that `wanted` accepts, past or future, or nothing when none came within `deadline`.
    pub async fn wait_request(
        &self,
        wanted: impl Fn(&RecordedRequest) -> bool,
        deadline: Duration,
    ) -> Option<RecordedRequest> {
        self.shared.requests.wait(deadline, wanted).await
    }

    /// What pages reported until now, in order of arrival.
    pub fn reports(&self) -> Vec<Report> {
        self.shared.reports.all()
    }

    /// The first report that `wanted` accepts, past or future, or nothing when none came within `deadline`.
    pub async fn wait_report(&self, wanted: impl Fn(&Report) -> bool, deadline: Duration) -> Option<Report> {
        self.shared.reports.wait(deadline, wanted).await
    }

    /// Waits until so many answers of `/trickle` are open; whether that came to be within `deadline`.
    pub async fn wait_trickles(&self, count: usize, deadline: Duration) -> bool {
        self.shared.trickles.wait(count, deadline).await
    }

    /// Forgets all requests and reports.
    pub fn forget(&self) {
        self.shared.requests.clear();
        self.shared.reports.clear();
    }
}

impl Shared {
    /// The answer for a path that is no behaviour: a page of the test, an embedded one, or 404.
    pub(crate) async fn page(&self, path: &str) -> Response {
        let path = path.trim_start_matches('/');
        let added = self.pages.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        let page = added
            .or_else(|| pages::embedded(path))
            .or_else(|| path.is_empty().then(pages::index))
            .unwrap_or_else(|| Page::html("<!doctype html><title>Not found</title><h1>Not found</h1>").status(404));
        if !page.delay.is_zero() {
            tokio::time::sleep(page.delay).await;
        }
        let variables = self.variables.read().unwrap_or_else(PoisonError::into_inner);
        page.respond(&variables)
    }
}

fn router(shared: Arc<Shared>) -> Router {
    behaviours::routes()
        .merge(files::routes())
        .fallback(async |State(shared): State<Arc<Shared>>, request: Request| shared.page(request.uri().path()).await)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), remember))
        .with_state(shared)
}

async fn remember(
    State(shared): State<Arc<Shared>>,
    Extension(ends): Extension<Ends>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    shared.requests.push(RecordedRequest {
        method: parts.method.to_string(),
        path: parts.uri.path_and_query().map_or_else(|| parts.uri.to_string(), ToString::to_string),
        headers: parts.headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect(),
        body: body.clone(),
        peer: ends.peer,
        local: ends.local,
    });
    next.run(Request::from_parts(parts, Body::from(body))).await
}

/// The two ends of a connection.
#[derive(Clone, Copy)]
struct Ends {
    peer: SocketAddr,
    local: SocketAddr,
}

async fn accept(listener: TcpListener, router: Router, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, say: give the others time to close some.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        shared.connections.fetch_add(1, Ordering::Relaxed);
        connections.spawn(serve(stream, router.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, router: Router) {
    let (Ok(peer), Ok(local)) = (stream.peer_addr(), stream.local_addr()) else {
        return;
    };
    // Without it a small answer may wait 40 ms for a delayed acknowledgement; a failure only costs time.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router.layer(Extension(Ends { peer, local })));
    // A client that goes away in the middle is its own business.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
}
