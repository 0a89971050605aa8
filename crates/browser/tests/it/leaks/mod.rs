//! Nothing that a page does reaches a host that its policy refuses: no packet, not merely no page.

mod names;
mod vectors;

use std::net::Ipv4Addr;
use std::time::Duration;

use bathy_browser::{Containment, Deadline, Engine, SessionOptions, WaitUntil};
use bathy_egress::{
    GateOptions, HostOverrides, Ledger, LedgerEvent, LedgerEvents, OverrideResolver, SystemResolver, Verdict,
};
use bathy_policy::{Policy, PolicyConfig};
use bathy_testsite::{Canary, TestSite};
use futures::stream::{self, StreamExt};

use crate::support::{open_policy, options};
use vectors::Vector;

/// Where the forbidden host is.
const FORBIDDEN: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);
/// Sessions side by side.
const SIDE_BY_SIDE: usize = 8;
/// What a vector that was refused may still try after that.
const AFTERMATH: Duration = Duration::from_millis(60);
/// How long the positive control waits for a vector that is said to reach its canary.
const CONTROL_PATIENCE: Duration = Duration::from_secs(10);

#[tokio::test]
async fn no_page_reaches_a_forbidden_host_past_the_kernel() {
    let report = Report::of(Containment::Kernel, allowlist(), Mode::Sealed).await;
    report.assert_silence();
}

#[tokio::test]
async fn no_page_reaches_a_forbidden_host_past_the_browser() {
    let report = Report::of(Containment::Browser, allowlist(), Mode::Sealed).await;
    report.assert_silence();
}

#[tokio::test]
async fn where_everything_is_allowed_the_same_pages_reach_it() {
    let report = Report::of(Containment::Kernel, open_policy(), Mode::Open).await;
    report.assert_voices();
}

/// The allowed site, a name, and no address but that of the site.
fn allowlist() -> Policy {
    Policy::new(PolicyConfig {
        allowed_hosts: ["127.0.0.1", "allowed.test"].map(|host| host.parse().unwrap()).into(),
        allowed_networks: vec!["127.0.0.1/32".parse().unwrap()],
        ..PolicyConfig::default()
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// The canary is forbidden: a vector ends when it was refused.
    Sealed,
    /// Everything is allowed: a vector ends when it reached its canary.
    Open,
}

/// What became of each vector.
struct Report {
    outcomes: Vec<Outcome>,
    _site: TestSite,
}

struct Outcome {
    vector: Vector,
    canary: Canary,
}

impl Report {
    async fn of(containment: Containment, policy: Policy, mode: Mode) -> Self {
        let site = TestSite::start().await;
        let forbidden = [("allowed.test", vec![FORBIDDEN.into()])];
        let resolver =
            OverrideResolver::new(HostOverrides::new(forbidden).unwrap(), std::sync::Arc::new(SystemResolver));
        let engine = Engine::new(bathy_browser::EngineOptions {
            containment,
            gate: GateOptions {
                resolver: std::sync::Arc::new(resolver),
                ledger: Ledger::new(16_384),
                ..GateOptions::default()
            },
            ..options(policy)
        });
        let vectors = vectors::all().into_iter().filter(|vector| mode == Mode::Sealed || vector.never.is_none());
        let outcomes = stream::iter(vectors.enumerate())
            .map(|(number, vector)| attempt(&engine, &site, number, vector, mode))
            .buffered(SIDE_BY_SIDE)
            .collect()
            .await;
        engine.close().await;
        Self { outcomes, _site: site }
    }

    fn assert_silence(&self) {
        let leaks: Vec<String> = self
            .outcomes
            .iter()
            .filter(|outcome| !outcome.canary.hits().is_empty())
            .map(|outcome| {
                let hits = outcome.canary.hits();
                let first = hits[0].text();
                let first = first.lines().next().unwrap_or_default();
                format!("{}: {:?} {first}", outcome.vector.name, hits[0].protocol)
            })
            .collect();
        assert!(self.outcomes.len() >= 120, "{}", self.outcomes.len());
        assert!(leaks.is_empty(), "{} leak:\n{}", leaks.len(), leaks.join("\n"));
    }

    fn assert_voices(&self) {
        let silent: Vec<String> = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.canary.hits().len() < outcome.vector.tries)
            .map(|outcome| {
                format!("{}: {} of {}", outcome.vector.name, outcome.canary.hits().len(), outcome.vector.tries)
            })
            .collect();
        assert!(silent.is_empty(), "{} of {} do not try:\n{}", silent.len(), self.outcomes.len(), silent.join("\n"));
    }
}

/// Loads a vector in a session of its own, and waits until it has tried.
async fn attempt(engine: &Engine, site: &TestSite, number: usize, vector: Vector, mode: Mode) -> Outcome {
    let canary = Canary::start(FORBIDDEN).await;
    let url = vector.serve(site, number, canary.address());
    let session =
        engine.open_session(SessionOptions { id: vector.name.clone(), ..SessionOptions::default() }).await.unwrap();
    let tab = session.tab(None).await.unwrap();
    let refusals = engine.ledger().subscribe();
    // Many vectors lead the tab away from its page, and are refused for it.
    let load = async {
        let deadline = Deadline::after(Duration::from_secs(5));
        let _ = tab.navigate(&url, WaitUntil::Commit, deadline).await;
    };
    let tried = async {
        match mode {
            Mode::Sealed => {
                refused(refusals, &vector, canary.address().port()).await;
                tokio::time::sleep(AFTERMATH).await;
            }
            Mode::Open => reached(&canary, vector.tries).await,
        }
    };
    let patient = async {
        load.await;
        tokio::time::sleep(match mode {
            Mode::Sealed => vector.patience,
            Mode::Open => CONTROL_PATIENCE,
        })
        .await;
    };
    tokio::select! {
        () = patient => {}
        () = tried => {}
    }
    session.close().await;
    Outcome { vector, canary }
}

/// Waits for the ledger to say that all that the vector tries was refused.
async fn refused(mut events: LedgerEvents, vector: &Vector, port: u16) {
    let mut left = vector.tries;
    while left > 0 {
        match events.next().await {
            Some(LedgerEvent::Entry(entry)) => {
                if entry.session == vector.name && entry.port == port && entry.verdict == Verdict::Refused {
                    left -= 1;
                }
            }
            Some(LedgerEvent::Missed(_)) => {}
            None => return,
        }
    }
}

/// Waits for the canary to hear all that the vector tries.
async fn reached(canary: &Canary, tries: usize) {
    while canary.hits().len() < tries {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
