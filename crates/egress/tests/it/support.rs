//! Sites, browsers and resolvers that tests are made of.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bathy_egress::{BoxFuture, Door, Gate, GateOptions, LedgerEntry, Resolve};
use bathy_policy::{Policy, PolicyConfig};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// No test waits longer than this for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("it took too long")
}

/// A policy that opens the whole machine.
pub(crate) fn open() -> Policy {
    Policy::new(PolicyConfig { allow_private_network: true, ..PolicyConfig::default() })
}

/// A policy of hosts, with the private network open or not.
pub(crate) fn listed(hosts: &[&str], allow_private_network: bool) -> Policy {
    let allowed_hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
    Policy::new(PolicyConfig { allowed_hosts, allow_private_network, ..PolicyConfig::default() })
}

/// A policy of networks.
pub(crate) fn networks(networks: &[&str]) -> Policy {
    let allowed_networks = networks.iter().map(|network| network.parse().unwrap()).collect();
    Policy::new(PolicyConfig { allowed_networks, ..PolicyConfig::default() })
}

pub(crate) fn gate(options: GateOptions) -> Gate {
    Gate::new(options)
}

pub(crate) async fn open_door() -> (Gate, Door) {
    let gate = gate(GateOptions::default());
    let door = gate.open_door("s1", open()).await.unwrap();
    (gate, door)
}

/// Waits until the ledger holds `count` entries of the kind, and gives them all.
pub(crate) async fn entries(gate: &Gate, kind: &str, count: usize) -> Vec<Arc<LedgerEntry>> {
    let mut events = gate.ledger().subscribe();
    loop {
        let found: Vec<_> =
            gate.ledger().recent(None, usize::MAX).into_iter().filter(|entry| entry.kind == kind).collect();
        if found.len() >= count {
            return found;
        }
        soon(events.next()).await.unwrap();
    }
}

/// A request as a site got it.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }
}

pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// A site in this process that writes down what it gets.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    /// Answers each request with the raw bytes that `reply` gives; closes after `connection: close` or an empty reply.
    pub(crate) async fn start(reply: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), reply).await
    }

    pub(crate) async fn at(address: SocketAddr, reply: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let (log, count, reply) = (Arc::clone(&received), Arc::clone(&connections), Arc::new(reply));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (log, reply) = (Arc::clone(&log), Arc::clone(&reply));
                tokio::spawn(async move {
                    let mut stream = BufReader::new(stream);
                    while let Ok(Some(request)) = read_request(&mut stream).await {
                        log.lock().unwrap().push(request.clone());
                        let answer = reply(&request);
                        let head = String::from_utf8_lossy(&answer).to_ascii_lowercase();
                        if stream.write_all(&answer).await.is_err()
                            || answer.is_empty()
                            || head.contains("connection: close")
                        {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, received, connections, task }
    }

    /// A site that says the same to everybody.
    pub(crate) async fn saying(text: &'static str) -> Self {
        Self::start(move |_| ok(text)).await
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// How many connections have been made to it.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

pub(crate) fn ok(text: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

async fn read_head(stream: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut head = String::new();
    loop {
        if stream.read_line(&mut head).await? == 0 {
            return Ok(None);
        }
        if head.ends_with("\r\n\r\n") {
            return Ok(Some(head));
        }
    }
}

/// The body that a head announces; chunked ones as they stand on the wire.
async fn read_body(stream: &mut BufReader<TcpStream>, head: &str, to_the_end: bool) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if let Some(length) = header(head, "content-length") {
        body.resize(length.parse().unwrap(), 0);
        stream.read_exact(&mut body).await?;
    } else if header(head, "transfer-encoding").is_some() {
        while !body.ends_with(b"0\r\n\r\n") {
            body.push(stream.read_u8().await?);
        }
    } else if to_the_end {
        stream.read_to_end(&mut body).await?;
    }
    Ok(body)
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Received>> {
    let Some(head) = read_head(stream).await? else {
        return Ok(None);
    };
    let body = read_body(stream, &head, false).await?;
    Ok(Some(Received { head, body }))
}

/// An answer as the browser gets it.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    pub(crate) fn refusal(&self) -> Option<&str> {
        self.header(bathy_egress::REFUSAL_HEADER)
    }
}

/// A browser's connection to a door.
pub(crate) struct Browser {
    pub(crate) stream: BufReader<TcpStream>,
}

impl Browser {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self { stream: BufReader::new(TcpStream::connect(address).await.unwrap()) }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    pub(crate) async fn reply(&mut self) -> Reply {
        self.reply_to(true).await
    }

    /// The reply to a request that gets a body only where a head announces one.
    async fn reply_to(&mut self, to_the_end: bool) -> Reply {
        soon(async {
            let head = read_head(&mut self.stream).await.unwrap().expect("closed without an answer");
            let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
            let bodiless = status < 200 || status == 304;
            let body =
                if bodiless { Vec::new() } else { read_body(&mut self.stream, &head, to_the_end).await.unwrap() };
            Reply { status, head, body: String::from_utf8(body).unwrap() }
        })
        .await
    }

    pub(crate) async fn ask(&mut self, bytes: impl AsRef<[u8]>) -> Reply {
        self.send(bytes).await;
        self.reply().await
    }

    pub(crate) async fn get(&mut self, url: &str) -> Reply {
        self.ask(format!("GET {url} HTTP/1.1\r\nHost: ignored.test\r\n\r\n")).await
    }

    /// `CONNECT`; the stream is the tunnel afterwards.
    pub(crate) async fn tunnel(&mut self, authority: &str) -> Reply {
        self.send(format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n")).await;
        self.reply_to(false).await
    }

    /// The head of a reply alone.
    pub(crate) async fn head(&mut self) -> String {
        soon(read_head(&mut self.stream)).await.unwrap().expect("closed without an answer")
    }

    /// Sends bytes and reads as many back.
    pub(crate) async fn echo(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.send(bytes).await;
        let mut back = vec![0; bytes.len()];
        soon(self.stream.read_exact(&mut back)).await.unwrap();
        back
    }

    /// Everything until the other side closes; an abrupt end counts as one.
    pub(crate) async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let _ = soon(self.stream.read_to_end(&mut rest)).await;
        rest
    }
}

/// A server that sends back what it gets, and says goodbye when its client has finished.
pub(crate) struct Echo {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Echo {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.split();
                    if tokio::io::copy(&mut read, &mut write).await.is_ok() {
                        let _ = write.write_all(b"bye").await;
                    }
                });
            }
        });
        Self { address, task }
    }
}

/// A resolver with a list of answers for each name: each look-up takes the next, and the last one stays.
#[derive(Default)]
pub(crate) struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    lookups: AtomicUsize,
}

impl Names {
    pub(crate) fn new(answers: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let parse = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        let answers =
            answers.iter().map(|(name, answers)| ((*name).to_owned(), answers.iter().map(parse).collect())).collect();
        Arc::new(Self { answers: Mutex::new(answers), lookups: AtomicUsize::new(0) })
    }

    pub(crate) fn lookups(&self) -> usize {
        self.lookups.load(Ordering::SeqCst)
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let found = match answers.get_mut(host) {
            Some(list) if list.len() > 1 => Ok(list.remove(0)),
            Some(list) => Ok(list[0].clone()),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "no such name")),
        };
        Box::pin(std::future::ready(found))
    }
}
