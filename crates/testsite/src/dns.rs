//! A name server whose answers are scripted, per name and per look-up.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::task::JoinSet;

use crate::record::Record;

mod wire;

/// The longest chain of aliases that one answer holds.
const LONGEST_CHAIN: usize = 16;

/// The kind of record that a query asks for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RecordType {
    /// An IPv4 address.
    A,
    /// An IPv6 address.
    Aaaa,
    /// Any other type, by its number.
    Other(u16),
}

/// A query as it arrived.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Query {
    /// The name, lower case, without a final dot.
    pub name: String,
    /// What was asked for.
    pub record: RecordType,
}

/// What to say to one query.
#[derive(Clone, Debug)]
pub enum Reply {
    /// These addresses; a query for A gets the IPv4 ones, a query for AAAA the IPv6 ones.
    Addresses(Vec<IpAddr>),
    /// An alias (CNAME), followed by what the script says of the other name.
    Alias(String),
    /// The name does not exist (NXDOMAIN).
    NoSuchName,
    /// The server failed (SERVFAIL).
    ServerFailure,
    /// No answer at all.
    Silence,
    /// An answer with these addresses that carries another query's id, as a forger's would.
    WrongId(Vec<IpAddr>),
    /// These bytes after the query's id, whatever they mean.
    Bytes(Vec<u8>),
}

impl Reply {
    /// The addresses in these spellings.
    ///
    /// # Panics
    /// When one of them is not an IP address.
    pub fn addresses<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Addresses(addresses.into_iter().map(|text| text.parse().expect("an IP address")).collect())
    }
}

/// A name server on a loopback address, over UDP. A name without a script does not exist. It stops when dropped.
///
/// ```
/// # async fn example() {
/// use bathy_testsite::{DnsDouble, Reply};
///
/// let dns = DnsDouble::start().await;
/// // The first look-up gets a good address, all later ones a bad one.
/// dns.script("rebind.test", [Reply::addresses(["127.0.0.2"]), Reply::addresses(["10.0.0.1"])]);
/// // One bad address among good ones.
/// dns.script("mixed.test", [Reply::addresses(["127.0.0.2", "169.254.169.254"])]);
/// # }
/// ```
#[derive(Debug)]
pub struct DnsDouble {
    address: SocketAddr,
    scripts: Arc<Mutex<Scripts>>,
    queries: Arc<Record<Query>>,
    _serving: JoinSet<()>,
}

impl DnsDouble {
    /// Starts a name server on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// When no port can be bound.
    pub async fn start() -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free UDP port");
        let address = socket.local_addr().expect("a bound socket has an address");
        let scripts = Arc::new(Mutex::new(Scripts::default()));
        let queries = Arc::new(Record::default());
        let mut serving = JoinSet::new();
        serving.spawn(serve(socket, Arc::clone(&scripts), Arc::clone(&queries)));
        Self { address, scripts, queries, _serving: serving }
    }

    /// The address of the name server, for the `resolver` setting.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets what is said of `name` (case and a final dot do not matter): the first reply to the first query, the
    /// second to the second, and the last to all that follow. A and AAAA are counted apart, since one look-up asks
    /// for both.
    ///
    /// # Panics
    /// When there is no reply.
    pub fn script(&self, name: &str, replies: impl IntoIterator<Item = Reply>) {
        let replies: Vec<Reply> = replies.into_iter().collect();
        assert!(!replies.is_empty(), "a script needs at least one reply");
        let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        scripts.replies.insert(canonical(name), replies);
        scripts.asked.retain(|(each, _), _| *each != canonical(name));
    }

    /// All queries until now.
    pub fn queries(&self) -> Vec<Query> {
        self.queries.all()
    }

    /// The first query that `wanted` accepts, past or future, or nothing when none came within `deadline`.
    pub async fn wait_query(&self, wanted: impl Fn(&Query) -> bool, deadline: Duration) -> Option<Query> {
        self.queries.wait(deadline, wanted).await
    }
}

#[derive(Debug, Default)]
struct Scripts {
    replies: HashMap<String, Vec<Reply>>,
    asked: HashMap<(String, RecordType), usize>,
}

impl Scripts {
    fn next(&mut self, name: &str, record: RecordType) -> Reply {
        let Some(replies) = self.replies.get(name) else {
            return Reply::NoSuchName;
        };
        let count = self.asked.entry((name.to_owned(), record)).or_default();
        let reply = replies[(*count).min(replies.len() - 1)].clone();
        *count += 1;
        reply
    }

    /// The packet to send, if any.
    fn answer(&mut self, question: &wire::Question<'_>, query: &Query) -> Option<Vec<u8>> {
        let mut aliases = Vec::new();
        let mut reply = self.next(&query.name, query.record);
        while let Reply::Alias(to) = reply {
            let to = canonical(&to);
            reply = if aliases.len() < LONGEST_CHAIN { self.next(&to, query.record) } else { Reply::ServerFailure };
            aliases.push(to);
        }
        match reply {
            Reply::Addresses(addresses) => Some(question.records(&aliases, query.record, &addresses)),
            Reply::WrongId(addresses) => {
                let mut packet = question.records(&aliases, query.record, &addresses);
                packet[0] ^= 0xff;
                Some(packet)
            }
            Reply::NoSuchName | Reply::Alias(_) => Some(question.failure(wire::NAME_ERROR)),
            Reply::ServerFailure => Some(question.failure(wire::SERVER_FAILURE)),
            Reply::Silence => None,
            Reply::Bytes(bytes) => Some([question.id(), &bytes].concat()),
        }
    }
}

fn canonical(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

async fn serve(socket: UdpSocket, scripts: Arc<Mutex<Scripts>>, queries: Arc<Record<Query>>) {
    let mut buffer = [0; 4096];
    loop {
        let Ok((count, peer)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        let Some(question) = wire::Question::parse(&buffer[..count]) else {
            continue;
        };
        let query = Query { name: canonical(&question.name), record: question.record };
        queries.push(query.clone());
        let packet = scripts.lock().unwrap_or_else(PoisonError::into_inner).answer(&question, &query);
        if let Some(packet) = packet {
            // A client that closed its socket does not want the answer.
            let _ = socket.send_to(&packet, peer).await;
        }
    }
}
