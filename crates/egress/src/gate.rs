//! The gate itself: options in, doors out.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bathy_policy::Policy;
use tokio::net::TcpListener;
use tokio::sync::{OnceCell, mpsc, oneshot, watch};

use crate::dial::Dialer;
use crate::door::{Door, DoorState};
use crate::exchange::Services;
use crate::ledger::Ledger;
use crate::limits::Limits;
use crate::listen::{self, OpenDoor};
use crate::resolve::{Resolve, SystemResolver};
use crate::transport::ProxyTrust;
use crate::upstream::{Bypass, Upstream};

/// What a gate is made of.
#[derive(Clone)]
pub struct GateOptions {
    /// Looks names up. Default: [`SystemResolver`].
    pub resolver: Arc<dyn Resolve>,
    /// A proxy behind the gate. Default: none.
    pub upstream: Option<Upstream>,
    /// Whose certificates that proxy may show, where it speaks TLS. Default: the system's.
    pub proxy_trust: ProxyTrust,
    /// What is reached without that proxy. Default: nothing.
    pub bypass: Bypass,
    /// What one door may take. Default: [`Limits::default`].
    pub limits: Limits,
    /// Where everything is recorded. Default: a ledger in memory.
    pub ledger: Ledger,
    /// The user whose processes alone may use doors that listen on the machine's own loopback (Linux). Others are
    /// refused. A shared listener lives where only the browser is, and is not checked. Default: anybody.
    pub peer_uid: Option<u32>,
}

impl Default for GateOptions {
    fn default() -> Self {
        Self {
            resolver: Arc::new(SystemResolver),
            upstream: None,
            proxy_trust: ProxyTrust::default(),
            bypass: Bypass::default(),
            limits: Limits::default(),
            ledger: Ledger::default(),
            peer_uid: None,
        }
    }
}

/// A handle to the gate; clones are the same gate. It lives as long as a handle or a [`Door`] of it.
#[derive(Clone)]
pub struct Gate {
    inner: Arc<Inner>,
}

struct Inner {
    services: Arc<Services>,
    /// Refuses everything: for the browser's default context, and for addresses that are no door's.
    refusing: Arc<DoorState>,
    shared: watch::Sender<Option<Shared>>,
    own_refusing: OnceCell<SocketAddr>,
    next_own: AtomicU32,
}

/// The way to the task of a shared listener. The task ends when the last of these is gone.
#[derive(Clone)]
struct Shared {
    orders: mpsc::Sender<OpenDoor>,
    port: u16,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.refusing.closed.cancel();
    }
}

impl Gate {
    /// A gate without a door.
    pub fn new(options: GateOptions) -> Self {
        let GateOptions { resolver, upstream, proxy_trust, bypass, limits, ledger, peer_uid } = options;
        let dialer = Dialer { resolver, upstream, proxy_trust, bypass, limits };
        let services = Arc::new(Services { dialer, ledger, peer_uid });
        let refusing = DoorState::new(Arc::clone(&services), "".into(), None);
        let (shared, _) = watch::channel(None);
        let inner =
            Inner { services, refusing, shared, own_refusing: OnceCell::new(), next_own: listen::first_own().into() };
        Self { inner: Arc::new(inner) }
    }

    /// Serves one listener for all doors that are opened from now on, told apart by the loopback address that is
    /// connected to. It is to be bound to `0.0.0.0` inside the browser's network namespace, where every 127.x.y.z is
    /// local and nothing else can connect. A later call replaces the listener, as a new browser has a new namespace.
    ///
    /// # Errors
    /// When the listener has no address. Must be called within a Tokio runtime.
    pub fn attach_shared(&self, listener: TcpListener) -> io::Result<()> {
        let port = listener.local_addr()?.port();
        let (orders, received) = mpsc::channel(16);
        tokio::spawn(listen::share(listener, port, Arc::clone(&self.inner.refusing), received));
        self.inner.shared.send_replace(Some(Shared { orders, port }));
        Ok(())
    }

    /// Opens a door for a session: at the next free address of the shared listener, or with a loopback listener of its
    /// own where there is none. `label` names the session in the ledger.
    ///
    /// # Errors
    /// When no listener can be had.
    pub async fn open_door(&self, label: impl Into<Arc<str>>, policy: Policy) -> io::Result<Door> {
        let state = DoorState::new(Arc::clone(&self.inner.services), label.into(), Some(policy));
        let shared = self.inner.shared.borrow().clone();
        let address = match shared {
            Some(shared) => shared.open(Arc::clone(&state)).await?,
            None => self.listen_for(&state).await?,
        };
        Ok(Door { state, address, _gate: self.clone() })
    }

    /// An address that refuses everything and says so in the ledger, for what belongs to no session: the browser's
    /// default context.
    ///
    /// # Errors
    /// When no listener can be had.
    pub async fn refusing_address(&self) -> io::Result<SocketAddr> {
        if let Some(shared) = &*self.inner.shared.borrow() {
            return Ok((listen::REFUSING, shared.port).into());
        }
        self.inner.own_refusing.get_or_try_init(|| self.listen_for(&self.inner.refusing)).await.copied()
    }

    /// The ledger that the gate writes to.
    pub fn ledger(&self) -> &Ledger {
        &self.inner.services.ledger
    }

    async fn listen_for(&self, state: &Arc<DoorState>) -> io::Result<SocketAddr> {
        let step = |address| Some(listen::following(address));
        let address = self.inner.next_own.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
        let listener = listen::bind_own(Ipv4Addr::from(address.unwrap_or_else(|address| address))).await?;
        let address = listener.local_addr()?;
        tokio::spawn(listen::own(listener, Arc::clone(state)));
        Ok(address)
    }
}

impl Shared {
    async fn open(&self, state: Arc<DoorState>) -> io::Result<SocketAddr> {
        let ended = || io::Error::new(io::ErrorKind::NotConnected, "the gate's shared listener has ended");
        let (reply, address) = oneshot::channel();
        self.orders.send(OpenDoor { state, reply }).await.map_err(|_| ended())?;
        address.await.map_err(|_| ended())
    }
}
