//! A stream that counts: bytes for the ledger, the last sign of life for the idle limit.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::transport::Transport;

/// Byte counts and last activity of one stream, readable while the stream is in use elsewhere.
#[derive(Debug)]
pub(crate) struct Meter {
    opened: Instant,
    counters: Option<Arc<Counters>>,
    read: AtomicU64,
    written: AtomicU64,
    active_millis: AtomicU64,
}

impl Meter {
    fn new(counters: Option<Arc<Counters>>) -> Arc<Self> {
        Arc::new(Self {
            opened: Instant::now(),
            counters,
            read: AtomicU64::new(0),
            written: AtomicU64::new(0),
            active_millis: AtomicU64::new(0),
        })
    }

    pub(crate) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Resolves when nothing was read or written for as long as `limit`.
    pub(crate) async fn silent_for(self: Arc<Self>, limit: Duration) {
        loop {
            let active = self.opened + Duration::from_millis(self.active_millis.load(Ordering::Relaxed));
            let deadline = active + limit;
            if deadline <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(deadline).await;
        }
    }

    /// Counts the present as activity.
    pub(crate) fn touch(&self) {
        let millis = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.active_millis.store(millis, Ordering::Relaxed);
    }

    fn count_read(&self, bytes: usize) {
        if bytes > 0 {
            self.read.fetch_add(bytes as u64, Ordering::Relaxed);
            if let Some(counters) = &self.counters {
                counters.bytes_down.fetch_add(bytes as u64, Ordering::Relaxed);
            }
            self.touch();
        }
    }

    fn count_written(&self, bytes: usize) {
        if bytes > 0 {
            self.written.fetch_add(bytes as u64, Ordering::Relaxed);
            if let Some(counters) = &self.counters {
                counters.bytes_up.fetch_add(bytes as u64, Ordering::Relaxed);
            }
            self.touch();
        }
    }
}

/// Totals of one door.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) open: AtomicUsize,
    pub(crate) bytes_up: AtomicU64,
    pub(crate) bytes_down: AtomicU64,
}

/// A [`Transport`] with a [`Meter`], and with bytes that were read too far while a proxy in between was talked to.
#[derive(Debug)]
pub(crate) struct Metered {
    stream: Transport,
    ahead: Bytes,
    meter: Arc<Meter>,
}

impl Metered {
    /// The browser's side of an exchange.
    pub(crate) fn of_client(stream: TcpStream) -> Self {
        Self { stream: Transport::Tcp(stream), ahead: Bytes::new(), meter: Meter::new(None) }
    }

    /// The site's side, whose bytes count for the door; `ahead` was read while the connection was made.
    pub(crate) fn of_site(stream: Transport, ahead: Bytes, counters: Arc<Counters>) -> Self {
        Self { stream, ahead, meter: Meter::new(Some(counters)) }
    }

    pub(crate) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Asks Linux not to hold back the acknowledgement of what the site sends next (tcp(7), `TCP_QUICKACK`, which the
    /// kernel takes back with each exchange). A site that writes head and body apart, and leaves Nagle's algorithm on,
    /// waits for it: 40 ms for each request on a connection that is kept alive.
    fn acknowledge_at_once(&self) {
        #[cfg(target_os = "linux")]
        if self.meter.counters.is_some() {
            // Without it the exchange is slower, not wrong.
            let _ = self.stream.tcp().set_quickack(true);
        }
    }
}

impl AsyncRead for Metered {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        if this.ahead.is_empty() {
            ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
            this.acknowledge_at_once();
        } else {
            let length = this.ahead.len().min(buffer.remaining());
            buffer.put_slice(&this.ahead[..length]);
            this.ahead.advance(length);
        }
        this.meter.count_read(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Metered {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write(context, bytes))?;
        this.acknowledge_at_once();
        this.meter.count_written(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write_vectored(context, slices))?;
        this.acknowledge_at_once();
        this.meter.count_written(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
