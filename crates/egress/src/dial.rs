//! The only code that opens a connection to the outside. It takes [`CheckedAddress`]es and nothing else, except for the
//! operator's own upstream proxy.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bathy_policy::{CheckedAddress, Host};
use bytes::Bytes;
use http_body_util::Empty;
use hyper::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use hyper::{Method, Request, client};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_socks::tcp::Socks5Stream;

use crate::failure::{Code, Failure};
use crate::limits::Limits;
use crate::resolve::Resolve;
use crate::stream::{Counters, Metered};
use crate::transport::{self, ProxyTrust, Transport};
use crate::upstream::{Bypass, Upstream, UpstreamServer};

/// RFC 8305 §5: how long one attempt has for itself before the next address is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);

/// Addresses of one host that are tried, of which all were checked.
const ATTEMPTS: usize = 8;

pub(crate) struct Dialer {
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) upstream: Option<Upstream>,
    pub(crate) proxy_trust: ProxyTrust,
    pub(crate) bypass: Bypass,
    pub(crate) limits: Limits,
}

/// A connection to a site.
pub(crate) struct Reached {
    pub(crate) stream: Metered,
    pub(crate) address: SocketAddr,
}

impl Dialer {
    /// All addresses of a host; a literal address is its own answer.
    pub(crate) async fn resolve(&self, host: &Host) -> Result<Vec<IpAddr>, Failure> {
        let Some(name) = host.name() else {
            return Ok(host.address().into_iter().collect());
        };
        match timeout(self.limits.resolve_timeout, self.resolver.resolve(name)).await {
            Ok(Ok(addresses)) if addresses.is_empty() => {
                Err(Failure::new(Code::NameNotResolved, format_args!("{host} has no address")))
            }
            Ok(Ok(addresses)) => Ok(addresses),
            Ok(Err(error)) => {
                Err(Failure::new(Code::NameNotResolved, format_args!("{host} could not be resolved: {error}")))
            }
            Err(_) => Err(Failure::new(Code::TimedOut, format_args!("resolving {host} took too long"))),
        }
    }

    /// Connects to one of the addresses, directly or through the operator's proxy.
    pub(crate) async fn connect(
        &self,
        host: &Host,
        port: u16,
        checked: &[CheckedAddress],
        counters: Arc<Counters>,
    ) -> Result<Reached, Failure> {
        let addresses: Vec<SocketAddr> = checked.iter().map(CheckedAddress::socket_address).collect();
        let Some(upstream) = &self.upstream else {
            return self.connect_directly(addresses, counters).await;
        };
        let direct: Vec<SocketAddr> =
            addresses.iter().copied().filter(|address| self.bypass.covers(host, port, address.ip())).collect();
        if direct.is_empty() {
            self.connect_through(upstream, &addresses, counters).await
        } else {
            self.connect_directly(direct, counters).await
        }
    }

    async fn connect_directly(&self, addresses: Vec<SocketAddr>, counters: Arc<Counters>) -> Result<Reached, Failure> {
        let (stream, address) = race(addresses, self.limits.connect_timeout).await?;
        Ok(Reached { stream: Metered::of_site(Transport::Tcp(stream), Bytes::new(), counters), address })
    }

    async fn connect_through(
        &self,
        upstream: &Upstream,
        addresses: &[SocketAddr],
        counters: Arc<Counters>,
    ) -> Result<Reached, Failure> {
        let failed = |reason: String| Failure::new(Code::UpstreamProxyFailed, format_args!("{upstream}: {reason}"));
        let server = upstream.server();
        let proxies = self.resolve(&server.host).await.map_err(|failure| failed(failure.reason))?;
        let proxies: Vec<_> = proxies.into_iter().map(|ip| SocketAddr::new(ip, server.port)).collect();
        let mut last = failed("no address to connect to".to_owned());
        for &address in addresses.iter().take(ATTEMPTS) {
            let attempt = async {
                let (stream, _) =
                    race(proxies.clone(), self.limits.connect_timeout).await.map_err(|failure| failure.reason)?;
                match upstream {
                    Upstream::Http(server) => self.ask_http(Transport::Tcp(stream), server, address).await,
                    Upstream::Https(server) => {
                        let stream = transport::secure(stream, &server.name(), &self.proxy_trust).await?;
                        self.ask_http(stream, server, address).await
                    }
                    Upstream::Socks5(server) => {
                        let stream = ask_socks5(stream, server, address).await?;
                        Ok((Transport::Tcp(stream), Bytes::new()))
                    }
                }
            };
            match timeout(self.limits.connect_timeout, attempt).await {
                Ok(Ok((stream, ahead))) => {
                    return Ok(Reached { stream: Metered::of_site(stream, ahead, counters), address });
                }
                Ok(Err(reason)) => last = failed(reason).at(address),
                Err(_) => {
                    last =
                        Failure::new(Code::TimedOut, format_args!("{upstream} took too long to connect")).at(address);
                }
            }
        }
        Err(last)
    }

    /// `CONNECT address` (RFC 9110 §9.3.6). Gives the stream, and what the proxy sent on it already.
    async fn ask_http(
        &self,
        stream: Transport,
        server: &UpstreamServer,
        address: SocketAddr,
    ) -> Result<(Transport, Bytes), String> {
        let (sender, connection) = client::conn::http1::Builder::new()
            .max_headers(self.limits.headers)
            .max_buf_size(self.limits.head_bytes())
            .handshake::<_, Empty<Bytes>>(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        let mut request = Request::new(Empty::new());
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = address.to_string().parse().map_err(|_| "unusable address".to_owned())?;
        let authority = HeaderValue::try_from(address.to_string()).map_err(|error| error.to_string())?;
        request.headers_mut().insert(HOST, authority);
        if let Some(given) = &server.credentials {
            let token = STANDARD.encode(format!("{}:{}", given.user, given.password));
            let mut value = HeaderValue::try_from(format!("Basic {token}")).map_err(|error| error.to_string())?;
            value.set_sensitive(true);
            request.headers_mut().insert(PROXY_AUTHORIZATION, value);
        }
        // The sender goes with the exchange: a refusing proxy would keep the connection open for another request.
        let exchange = async move {
            let mut sender = sender;
            let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
            if !response.status().is_success() {
                return Err(format!("CONNECT was answered with {}", response.status()));
            }
            hyper::upgrade::on(response).await.map_err(|error| error.to_string())
        };
        let connection = connection.with_upgrades();
        let (upgraded, _) = tokio::join!(exchange, connection);
        let parts = upgraded?.downcast::<TokioIo<Transport>>().map_err(|_| "the tunnel is lost".to_owned())?;
        Ok((parts.io.into_inner(), parts.read_buf))
    }
}

async fn ask_socks5(stream: TcpStream, server: &UpstreamServer, address: SocketAddr) -> Result<TcpStream, String> {
    let connected = match &server.credentials {
        Some(given) => {
            Socks5Stream::connect_with_password_and_socket(stream, address, &given.user, &given.password).await
        }
        None => Socks5Stream::connect_with_socket(stream, address).await,
    };
    connected.map(Socks5Stream::into_inner).map_err(|error| error.to_string())
}

/// Tries the addresses in turn, each with a head start on the next, and keeps the first that answers.
async fn race(addresses: Vec<SocketAddr>, deadline: Duration) -> Result<(TcpStream, SocketAddr), Failure> {
    let mut waiting = interleave(addresses).into_iter().take(ATTEMPTS);
    let mut last = Failure::new(Code::ConnectionFailed, "there is no address to connect to");
    if waiting.len() == 1
        && let Some(only) = waiting.next()
    {
        return attempt(only, deadline).await;
    }
    let mut attempts = JoinSet::new();
    loop {
        if let Some(next) = waiting.next() {
            attempts.spawn(attempt(next, deadline));
        } else if attempts.is_empty() {
            return Err(last);
        }
        tokio::select! {
            Some(done) = attempts.join_next() => match done {
                Ok(Ok(connected)) => return Ok(connected),
                Ok(Err(failure)) => last = failure,
                Err(error) => last = Failure::new(Code::ConnectionFailed, error),
            },
            () = tokio::time::sleep(STAGGER), if waiting.len() > 0 => {}
        }
    }
}

async fn attempt(address: SocketAddr, deadline: Duration) -> Result<(TcpStream, SocketAddr), Failure> {
    let failed = |code, error: &dyn std::fmt::Display| {
        Failure::new(code, format_args!("connecting to {address} failed: {error}")).at(address)
    };
    let stream = match timeout(deadline, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => {
            return Err(failed(Code::TimedOut, &error));
        }
        Ok(Err(error)) => return Err(failed(Code::ConnectionFailed, &error)),
        Err(_) => return Err(failed(Code::TimedOut, &"no answer in time")),
    };
    stream.set_nodelay(true).map_err(|error| failed(Code::ConnectionFailed, &error))?;
    Ok((stream, address))
}

/// RFC 8305 §4: families take turns, in the resolver's order.
fn interleave(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v4 = addresses.first().is_some_and(SocketAddr::is_ipv4);
    let (first, second): (Vec<_>, Vec<_>) = addresses.into_iter().partition(|address| address.is_ipv4() == first_is_v4);
    let mut mixed = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    loop {
        match (first.next(), second.next()) {
            (None, None) => return mixed,
            (one, other) => mixed.extend(one.into_iter().chain(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns_in_the_order_of_the_answer() {
        let parse = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect::<Vec<SocketAddr>>();
        let mixed = interleave(parse(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1", "1.1.1.2:1"]));
        assert_eq!(mixed, parse(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "1.1.1.2:1", "[::3]:1"]));
    }
}
