//! The operator's own proxy behind the gate.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use bathy_egress::{Bypass, GateOptions, ProxyTrust, Upstream, UpstreamError};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::support::{Browser, Echo, Names, Site, gate, header, listed, open};

/// A proxy in this process, and what it was asked for.
struct Proxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// An HTTP proxy that takes `CONNECT` from who shows `credentials`.
    async fn http(credentials: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let log = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let log = Arc::clone(&log);
                tokio::spawn(async move {
                    let mut browser = Browser { stream: BufReader::new(stream) };
                    let head = browser.head().await;
                    log.lock().unwrap().push(head.lines().next().unwrap().to_owned());
                    let expected = credentials
                        .map(|given| format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(given)));
                    if header(&head, "proxy-authorization") != expected.as_deref() {
                        browser.send("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n").await;
                        browser.rest().await;
                        return;
                    }
                    let site = TcpStream::connect(head.split(' ').nth(1).unwrap()).await.unwrap();
                    browser.send("HTTP/1.1 200 Connection established\r\n\r\n").await;
                    join(browser.stream.into_inner(), site).await;
                });
            }
        });
        Self { address, asked }
    }

    /// A SOCKS5 proxy that wants a user name and password.
    async fn socks5(user: &'static str, password: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let log = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let log = Arc::clone(&log);
                tokio::spawn(async move {
                    let methods = read_counted(&mut stream, 1).await;
                    assert!(methods.contains(&2));
                    stream.write_all(&[5, 2]).await.unwrap();
                    let name = read_counted(&mut stream, 1).await;
                    let secret = read_counted(&mut stream, 0).await;
                    let known = name == user.as_bytes() && secret == password.as_bytes();
                    stream.write_all(&[1, u8::from(!known)]).await.unwrap();
                    if !known {
                        return;
                    }
                    let mut request = [0; 10];
                    stream.read_exact(&mut request).await.unwrap();
                    assert_eq!(request[..4], [5, 1, 0, 1], "an IPv4 address, never a name");
                    let ip: [u8; 4] = request[4..8].try_into().unwrap();
                    let target = SocketAddr::from((ip, u16::from_be_bytes([request[8], request[9]])));
                    log.lock().unwrap().push(target.to_string());
                    let site = TcpStream::connect(target).await.unwrap();
                    stream.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 0]).await.unwrap();
                    join(stream, site).await;
                });
            }
        });
        Self { address, asked }
    }
}

/// TLS in front of a proxy, with a certificate for `name` that vouches for itself.
async fn behind_tls(proxy: &Proxy, name: &str) -> (SocketAddr, ProxyTrust) {
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, behind) = (listener.local_addr().unwrap(), proxy.address);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut proxy = TcpStream::connect(behind).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut proxy).await;
            });
        }
    });
    (address, ProxyTrust::Authorities(vec![cert.der().to_vec()]))
}

async fn join(mut one: TcpStream, mut other: TcpStream) {
    let _ = tokio::io::copy_bidirectional(&mut one, &mut other).await;
}

/// Skips `skipped` bytes, then reads a length and so many bytes.
async fn read_counted(stream: &mut TcpStream, skipped: usize) -> Vec<u8> {
    let mut head = vec![0; skipped + 1];
    stream.read_exact(&mut head).await.unwrap();
    let mut bytes = vec![0; head[skipped].into()];
    stream.read_exact(&mut bytes).await.unwrap();
    bytes
}

#[tokio::test]
async fn an_http_proxy_is_asked_for_checked_addresses_with_our_credentials() {
    let proxy = Proxy::http(Some("ann:s3:cret")).await;
    let (site, echo) = (Site::saying("site").await, Echo::start().await);
    let gate = gate(GateOptions {
        resolver: Names::new(&[("site.test", &[&["127.0.0.1"]])]),
        upstream: Some(format!("http://ann:s3%3Acret@{}", proxy.address).parse().unwrap()),
        ..GateOptions::default()
    });
    let door = gate.open_door("s1", listed(&["site.test"], true)).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.get(&format!("http://site.test:{}/", site.address.port())).await.body, "site");
    assert_eq!(browser.get("http://refused.test/").await.status, 403);
    let expected = format!("site.test:{}", site.address.port());
    assert_eq!(site.received()[0].header("host"), Some(expected.as_str()));
    assert_eq!(site.received()[0].header("proxy-authorization"), None);
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.tunnel(&format!("site.test:{}", echo.address.port())).await.status, 200);
    assert_eq!(browser.echo(b"through").await, b"through");
    let asked = [site.address, echo.address].map(|address| format!("CONNECT {address} HTTP/1.1"));
    assert_eq!(proxy.asked(), asked);
}

#[tokio::test]
async fn an_https_proxy_is_asked_over_tls_and_must_show_a_certificate_that_is_trusted() {
    let proxy = Proxy::http(Some("ann:s3cret")).await;
    let (address, trust) = behind_tls(&proxy, "proxy.test").await;
    let (site, echo) = (Site::saying("site").await, Echo::start().await);
    let options = |host: &str, trust: &ProxyTrust| GateOptions {
        resolver: Names::new(&[
            ("site.test", &[&["127.0.0.1"]]),
            ("proxy.test", &[&["127.0.0.1"]]),
            ("other.test", &[&["127.0.0.1"]]),
        ]),
        upstream: Some(format!("https://ann:s3cret@{host}:{}", address.port()).parse().unwrap()),
        proxy_trust: trust.clone(),
        ..GateOptions::default()
    };
    let known = gate(options("proxy.test", &trust));
    let door = known.open_door("s1", listed(&["site.test"], true)).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.get(&format!("http://site.test:{}/", site.address.port())).await.body, "site");
    assert_eq!(browser.get("http://refused.test/").await.status, 403);
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.tunnel(&format!("site.test:{}", echo.address.port())).await.status, 200);
    assert_eq!(browser.echo(b"through").await, b"through");
    let asked = [site.address, echo.address].map(|address| format!("CONNECT {address} HTTP/1.1"));
    assert_eq!(proxy.asked(), asked);

    // A certificate for another name, and one that nobody vouches for: the credentials stay here.
    let stranger = rcgen::generate_simple_self_signed(["proxy.test".to_owned()]).unwrap();
    let strangers = ProxyTrust::Authorities(vec![stranger.cert.der().to_vec()]);
    for (host, trust) in [("other.test", &trust), ("proxy.test", &strangers)] {
        let gate = gate(options(host, trust));
        let door = gate.open_door("s1", open()).await.unwrap();
        let reply = Browser::connect(door.address()).await.get("http://127.0.0.1:9/").await;
        assert_eq!((reply.status, reply.refusal()), (502, Some("upstream-proxy-failed")), "{host}");
        assert!(reply.body.contains("no secure connection") && !reply.body.contains("s3cret"), "{}", reply.body);
    }
    assert_eq!(proxy.asked().len(), 2);
}

#[tokio::test]
async fn a_socks5_proxy_is_asked_for_checked_addresses_with_our_credentials() {
    let proxy = Proxy::socks5("ann", "secret").await;
    let echo = Echo::start().await;
    let options = |password: &str| GateOptions {
        resolver: Names::new(&[("site.test", &[&["127.0.0.1"]])]),
        upstream: Some(format!("socks5://ann:{password}@{}", proxy.address).parse().unwrap()),
        ..GateOptions::default()
    };
    let known = gate(options("secret"));
    let door = known.open_door("s1", open()).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    assert_eq!(browser.tunnel(&format!("site.test:{}", echo.address.port())).await.status, 200);
    assert_eq!(browser.echo(b"through").await, b"through");
    assert_eq!(proxy.asked(), [echo.address.to_string()]);

    let stranger = gate(options("wrong"));
    let door = stranger.open_door("s1", open()).await.unwrap();
    let reply = Browser::connect(door.address()).await.tunnel(&echo.address.to_string()).await;
    assert_eq!((reply.status, reply.refusal()), (502, Some("upstream-proxy-failed")));
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named_without_its_password() {
    let proxy = Proxy::http(Some("ann:right")).await;
    let gate = gate(GateOptions {
        upstream: Some(format!("http://ann:wr0ng@{}", proxy.address).parse().unwrap()),
        ..GateOptions::default()
    });
    let door = gate.open_door("s1", open()).await.unwrap();
    let reply = Browser::connect(door.address()).await.get("http://127.0.0.1:9/").await;
    assert_eq!((reply.status, reply.refusal()), (502, Some("upstream-proxy-failed")));
    assert!(reply.body.contains("407") && !reply.body.contains("wr0ng"), "{}", reply.body);
}

#[tokio::test]
async fn the_bypass_list_goes_past_the_proxy_but_not_past_the_policy() {
    let proxy = Proxy::http(None).await;
    let site = Site::saying("site").await;
    let port = site.address.port();
    let gate = gate(GateOptions {
        resolver: Names::new(&[
            ("direct.test", &[&["127.0.0.1"]]),
            ("a.sub.test", &[&["127.0.0.1"]]),
            ("intranet", &[&["127.0.0.1"]]),
            ("proxied.test", &[&["127.0.0.1"]]),
            ("net.test", &[&["127.0.0.77"]]),
        ]),
        upstream: Some(proxy.address.to_string().parse().unwrap()),
        bypass: "direct.test, *.sub.test,<local>,127.0.0.64/26".parse().unwrap(),
        ..GateOptions::default()
    });
    let policy = listed(&["direct.test", "sub.test", "intranet", "proxied.test", "net.test"], true);
    let door = gate.open_door("s1", policy).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    for host in ["direct.test", "a.sub.test", "intranet"] {
        assert_eq!(browser.get(&format!("http://{host}:{port}/")).await.body, "site", "{host}");
    }
    // Nothing listens there, which shows that the gate went itself.
    assert_eq!(browser.get(&format!("http://net.test:{port}/")).await.refusal(), Some("connection-failed"));
    assert!(proxy.asked().is_empty(), "{:?}", proxy.asked());
    assert_eq!(browser.get(&format!("http://proxied.test:{port}/")).await.body, "site");
    assert_eq!(proxy.asked().len(), 1);
    assert_eq!(browser.get(&format!("http://localhost:{port}/")).await.status, 403);
}

#[test]
fn proxies_are_parsed_and_never_show_their_credentials() {
    for (text, shown) in [
        ("http://proxy.test:3128", "http://proxy.test:3128"),
        ("proxy.test:3128", "http://proxy.test:3128"),
        ("http://ann:s3cret@proxy.test", "http://proxy.test:80"),
        ("https://ann:s3cret@proxy.test", "https://proxy.test:443"),
        ("socks5://ann:s3cret@10.0.0.1", "socks5://10.0.0.1:1080"),
        ("socks5h://[2001:db8::1]:9050/", "socks5://[2001:db8::1]:9050"),
    ] {
        let upstream: Upstream = text.parse().unwrap();
        assert_eq!(upstream.to_string(), shown);
        let debugged = format!("{upstream:?}");
        assert!(!debugged.contains("s3cret") && !debugged.contains("ann"), "{debugged}");
    }
    assert_eq!("quic://proxy.test".parse::<Upstream>(), Err(UpstreamError::Scheme("quic".into())));
    assert_eq!("http://proxy.test/path".parse::<Upstream>(), Err(UpstreamError::Path));
    assert_eq!("socks5://ann@proxy.test".parse::<Upstream>(), Err(UpstreamError::Credentials));
    assert!(matches!("http://".parse::<Upstream>(), Err(UpstreamError::Url(_))));
    for wrong in ["exa mple", "10.0.0.0/99", "http://x"] {
        let error = wrong.parse::<Bypass>().unwrap_err();
        assert!(error.to_string().contains(wrong), "{error}");
    }
}
