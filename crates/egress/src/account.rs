//! One entry of the ledger in the making. Whatever happens to an exchange, its account is settled: at the latest when it
//! is dropped.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::time::Instant;

use crate::failure::{Code, Failure};
use crate::ledger::{Ledger, LedgerEntry, Timestamp, Verdict};
use crate::stream::Meter;

pub(crate) struct Account {
    ledger: Ledger,
    entry: Option<LedgerEntry>,
    started: Instant,
    traffic: Option<Traffic>,
}

/// A site's stream, and what it had carried before this exchange.
struct Traffic {
    meter: Arc<Meter>,
    written: u64,
    read: u64,
}

impl Account {
    pub(crate) fn open(ledger: &Ledger, session: &str, kind: &'static str) -> Self {
        let entry = LedgerEntry {
            time: Timestamp::now(),
            session: session.to_owned(),
            kind: kind.into(),
            method: None,
            host: String::new(),
            port: 0,
            address: None,
            verdict: Verdict::Allowed,
            code: None,
            reason: None,
            bytes_up: 0,
            bytes_down: 0,
            duration_ms: 0,
        };
        Self { ledger: ledger.clone(), entry: Some(entry), started: Instant::now(), traffic: None }
    }

    pub(crate) fn host(mut self, host: &(impl ToString + ?Sized), port: u16) -> Self {
        if let Some(entry) = &mut self.entry {
            entry.host = host.to_string();
            entry.port = port;
        }
        self
    }

    pub(crate) fn method(mut self, method: &hyper::Method) -> Self {
        if let Some(entry) = &mut self.entry {
            entry.method = Some(method.as_str().chars().take(32).collect());
        }
        self
    }

    /// Says where the exchange goes, and counts its bytes from now on. What it sent elsewhere before stays counted.
    pub(crate) fn connected(&mut self, address: SocketAddr, meter: &Arc<Meter>) {
        self.reached(address);
        self.count_traffic();
        self.traffic = Some(Traffic { meter: Arc::clone(meter), written: meter.written(), read: meter.read() });
    }

    fn count_traffic(&mut self) {
        if let (Some(entry), Some(traffic)) = (&mut self.entry, self.traffic.take()) {
            entry.bytes_up += traffic.meter.written() - traffic.written;
            entry.bytes_down += traffic.meter.read() - traffic.read;
        }
    }

    /// Says where the exchange goes.
    pub(crate) fn reached(&mut self, address: SocketAddr) {
        if let Some(entry) = &mut self.entry {
            entry.address = Some(address);
        }
    }

    pub(crate) fn settle(&mut self, outcome: Result<(), &Failure>) {
        self.count_traffic();
        let Some(mut entry) = self.entry.take() else {
            return;
        };
        entry.time = Timestamp::now();
        entry.duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Err(failure) = outcome {
            entry.verdict = if failure.code.is_refusal() { Verdict::Refused } else { Verdict::Failed };
            entry.code = Some(failure.code);
            entry.reason = Some(failure.reason.clone());
            entry.address = failure.address.or(entry.address);
        }
        self.ledger.record(entry);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        if self.entry.is_some() {
            self.settle(Err(&Failure::new(Code::Closed, "the browser gave up, or its session ended")));
        }
    }
}
