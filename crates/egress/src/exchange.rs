//! One connection of a browser, and the requests on it: read the head, ask the policy, reach the site, pass things on.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http_body_util::{Either, Empty};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::Builder as Client;
use hyper::http::request::Parts;
use hyper::server::conn::http1::Builder as Server;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use crate::account::Account;
use crate::assignment::Assignment;
use crate::body::{GateBody, Outgoing, SiteBody};
use crate::dial::{Dialer, Reached};
use crate::failure::{Code, Failure};
use crate::head::{self, Form, Target};
use crate::ledger::{Ledger, kind};
use crate::limits::Limits;
use crate::page;
use crate::pool::Lease;
use crate::stream::{Counters, Meter, Metered};
use crate::tunnel;

/// What all connections of a gate share.
pub(crate) struct Services {
    pub(crate) dialer: Dialer,
    pub(crate) ledger: Ledger,
    pub(crate) peer_uid: Option<u32>,
}

impl Services {
    pub(crate) fn limits(&self) -> &Limits {
        &self.dialer.limits
    }
}

/// One connection of a browser.
pub(crate) struct Exchange {
    services: Arc<Services>,
    pub(crate) assignment: Arc<Assignment>,
    counters: Arc<Counters>,
    client: Arc<Meter>,
    /// What the client had sent when the last request was read: more than that is the beginning of a head.
    sent_before: AtomicU64,
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.counters.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Serves one connection, for which the caller has raised `counters.open`, until it ends or its assignment does.
pub(crate) async fn serve(
    services: Arc<Services>,
    assignment: Arc<Assignment>,
    counters: Arc<Counters>,
    stream: TcpStream,
) {
    let stream = Metered::of_client(stream);
    let client = stream.meter();
    let exchange = Arc::new(Exchange { services, assignment, counters, client, sent_before: AtomicU64::new(0) });
    let limits = exchange.services.limits();
    let service = service_fn(|request| {
        let exchange = Arc::clone(&exchange);
        async move { Ok::<_, Infallible>(exchange.answer(request).await) }
    });
    let connection = server(limits).serve_connection(TokioIo::new(stream), service).with_upgrades();
    tokio::select! {
        biased;
        () = exchange.assignment.ended.cancelled() => {}
        outcome = connection => if let Err(error) = outcome { exchange.broken(&error) },
        () = Arc::clone(&exchange.client).silent_for(limits.idle_timeout) => {
            let silence = limits.idle_timeout;
            exchange.never_a_request(&Failure::new(
                Code::LimitReached,
                format_args!("the connection was silent for {silence:?}"),
            ));
        }
    }
}

/// The reader of request heads, with all its limits.
pub(crate) fn server(limits: &Limits) -> Server {
    let mut server = Server::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_headers(limits.headers)
        .max_header_size(limits.head_bytes())
        .max_buf_size(limits.head_bytes())
        .preserve_header_case(true)
        .auto_date_header(false);
    server
}

impl Exchange {
    /// The client may send the next head from now on.
    pub(crate) fn head_begins(&self) {
        self.sent_before.store(self.client.read(), Ordering::Relaxed);
    }

    pub(crate) fn give_back(&self, lease: Lease) {
        self.assignment.pool.put(lease);
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<GateBody> {
        self.head_begins();
        let target = match head::target(request.method(), request.uri(), request.headers()) {
            Ok(target) => target,
            Err(error) => {
                let failure = Failure::new(Code::MalformedRequest, error);
                let host = request.uri().host().unwrap_or_default().chars().take(255).collect::<String>();
                let port = request.uri().port_u16().unwrap_or_default();
                self.account(kind::REQUEST).host(&host, port).method(request.method()).settle(Err(&failure));
                return page::explained(&failure);
            }
        };
        match target.form {
            Form::Tunnel => self.tunnel(request, &target).await,
            Form::Forward | Form::WebSocket => self.forward(request, &target).await,
        }
    }

    async fn tunnel(self: Arc<Self>, request: Request<Incoming>, target: &Target) -> Response<GateBody> {
        let mut account = self.account(kind::CONNECT).host(&target.host, target.port);
        let site = match self.reach(target).await {
            Ok(site) => site,
            Err(failure) => {
                account.settle(Err(&failure));
                return page::bodiless(&failure);
            }
        };
        account.reached(site.address);
        account.settle(Ok(()));
        let end = self.closing(target, site.address, &site.stream.meter());
        tokio::spawn(tunnel::join(self, hyper::upgrade::on(request), tunnel::Site::Stream(site.stream), end));
        Response::new(GateBody::empty())
    }

    async fn forward(self: Arc<Self>, request: Request<Incoming>, target: &Target) -> Response<GateBody> {
        let kind = if target.form == Form::WebSocket { kind::UPGRADE } else { kind::REQUEST };
        let mut account = self.account(kind).host(&target.host, target.port).method(request.method());
        let (mut parts, body) = request.into_parts();
        let client = parts.extensions.remove::<hyper::upgrade::OnUpgrade>();
        head::prepare_request(target, &mut parts.uri, &mut parts.headers);
        parts.version = Version::HTTP_11;
        let sent = match self.send(parts, body, target, &mut account).await {
            Ok(sent) => check_status(sent, target),
            Err(failure) => Err(failure),
        };
        let (mut response, lease) = match sent {
            Ok(sent) => sent,
            Err(failure) => {
                account.settle(Err(&failure));
                return page::explained(&failure);
            }
        };
        head::prepare_response(response.headers_mut());
        *response.version_mut() = Version::HTTP_11;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return response.map(|body| GateBody::Site(Box::new(SiteBody::new(body, account, lease, self))));
        }
        head::switch_to_web_socket(response.headers_mut());
        account.settle(Ok(()));
        if let Some(client) = client {
            let end = self.closing(target, lease.address, &lease.meter);
            let site = tunnel::Site::Upgrade(hyper::upgrade::on(&mut response));
            tokio::spawn(tunnel::join(self, client, site, end));
        }
        response.map(|_| GateBody::empty())
    }

    /// Sends a request on a connection that is there or on a new one, and waits for the response head.
    async fn send(
        &self,
        parts: Parts,
        body: Incoming,
        target: &Target,
        account: &mut Account,
    ) -> Result<(Response<Incoming>, Lease), Failure> {
        self.assignment.check_authority(&target.host, target.port)?;
        let (body, empty) =
            if body.is_end_stream() { (Either::Right(Empty::new()), true) } else { (Either::Left(body), false) };
        if target.form == Form::Forward
            && let Some(mut lease) = self.assignment.pool.take(&target.host, target.port)
        {
            self.assignment.check_addresses(&target.host, target.port, &[lease.address.ip()])?;
            account.connected(lease.address, &lease.meter);
            // The site may close a connection just as it is used again (RFC 9112 §9.3.1).
            let repeatable = empty && matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
            let spare = repeatable.then(|| parts.clone());
            return match self.ask(&mut lease, Request::from_parts(parts, body)).await {
                Ok(response) => Ok((response, lease)),
                Err(Unanswered { failure, unsent }) => {
                    let again = match (unsent, spare) {
                        (Some(request), _) => *request,
                        (None, Some(parts)) if failure.code == Code::BrokenResponse => {
                            Request::from_parts(parts, Either::Right(Empty::new()))
                        }
                        _ => return Err(failure),
                    };
                    self.send_anew(again, target, account).await
                }
            };
        }
        self.send_anew(Request::from_parts(parts, body), target, account).await
    }

    async fn send_anew(
        &self,
        request: Request<Outgoing>,
        target: &Target,
        account: &mut Account,
    ) -> Result<(Response<Incoming>, Lease), Failure> {
        let mut lease = self.open(target).await?;
        account.connected(lease.address, &lease.meter);
        match self.ask(&mut lease, request).await {
            Ok(response) => Ok((response, lease)),
            Err(unanswered) => Err(unanswered.failure),
        }
    }

    async fn ask(&self, lease: &mut Lease, request: Request<Outgoing>) -> Result<Response<Incoming>, Unanswered> {
        let patience = self.services.limits().response_timeout;
        lease.meter.touch();
        let meter = Arc::clone(&lease.meter);
        tokio::select! {
            answer = lease.sender.try_send_request(request) => answer.map_err(|mut error| Unanswered {
                unsent: error.take_message().map(Box::new),
                failure: Failure::new(Code::BrokenResponse, format_args!("no usable answer: {}", error.error()))
                    .at(lease.address),
            }),
            () = meter.silent_for(patience) => Err(Unanswered {
                unsent: None,
                failure: Failure::new(Code::TimedOut, format_args!("no answer within {patience:?}")).at(lease.address),
            }),
        }
    }

    async fn open(&self, target: &Target) -> Result<Lease, Failure> {
        let Reached { stream, address } = self.reach(target).await?;
        let meter = stream.meter();
        let limits = self.services.limits();
        let (sender, connection) = Client::new()
            .max_headers(limits.headers)
            .max_buf_size(limits.head_bytes())
            .preserve_header_case(true)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| Failure::new(Code::BrokenResponse, error).at(address))?;
        let ended = self.assignment.ended.clone();
        let silence = Arc::clone(&meter).silent_for(limits.idle_timeout);
        tokio::spawn(async move {
            // How the connection ends is told to whoever waits for an answer on it.
            tokio::select! {
                () = ended.cancelled() => {}
                () = silence => {}
                _ = connection.with_upgrades() => {}
            }
        });
        Ok(Lease { sender, host: target.host.clone(), port: target.port, address, meter })
    }

    /// Policy, resolver, policy again, and then the network.
    async fn reach(&self, target: &Target) -> Result<Reached, Failure> {
        let Target { host, port, .. } = target;
        self.assignment.check_authority(host, *port)?;
        let addresses = self.services.dialer.resolve(host).await?;
        let checked = self.assignment.check_addresses(host, *port, &addresses)?;
        self.services.dialer.connect(host, *port, &checked, Arc::clone(&self.counters)).await
    }

    fn account(&self, kind: &'static str) -> Account {
        Account::open(&self.services.ledger, &self.assignment.label, kind)
    }

    fn closing(&self, target: &Target, address: SocketAddr, meter: &Arc<Meter>) -> Account {
        let mut account = self.account(kind::CLOSE).host(&target.host, target.port);
        account.connected(address, meter);
        account
    }

    pub(crate) fn limits(&self) -> &Limits {
        self.services.limits()
    }

    fn never_a_request(&self, failure: &Failure) {
        self.account(kind::CONNECTION).settle(Err(failure));
    }

    /// A connection that hyper gave up. Ends that belong to a request are in that request's account.
    fn broken(&self, error: &hyper::Error) {
        let pending = self.client.read() > self.sent_before.load(Ordering::Relaxed);
        if error.is_parse_too_large() {
            self.never_a_request(&Failure::new(Code::LimitReached, "the request head is too large"));
        } else if error.is_parse() {
            self.never_a_request(&Failure::new(Code::MalformedRequest, format_args!("not an HTTP request: {error}")));
        } else if error.is_timeout() && pending {
            self.never_a_request(&Failure::new(Code::LimitReached, "the request head took too long"));
        }
    }
}

/// A request without a response.
struct Unanswered {
    failure: Failure,
    /// The request, where not a byte of it has left.
    unsent: Option<Box<Request<Outgoing>>>,
}

/// Answers that a site may not give.
fn check_status(
    (response, lease): (Response<Incoming>, Lease),
    target: &Target,
) -> Result<(Response<Incoming>, Lease), Failure> {
    let wrong = |reason: &str| Err(Failure::new(Code::BrokenResponse, reason).at(lease.address));
    match response.status() {
        // The browser would ask its user for a password to the gate.
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => wrong("the site answered 407, as only a proxy may"),
        StatusCode::SWITCHING_PROTOCOLS
            if target.form != Form::WebSocket || !head::is_web_socket(response.headers()) =>
        {
            wrong("the site switched to a protocol that was not asked for")
        }
        _ => Ok((response, lease)),
    }
}
