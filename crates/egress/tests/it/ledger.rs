//! The record is exact, bounded, live, and on disk where it is asked for.

use bathy_egress::{Code, GateOptions, Ledger, LedgerEntry, LedgerEvent, Timestamp, Verdict, kind};

use crate::support::{Browser, Site, entries, gate, listed, ok, open, soon};

fn entry(session: &str, host: &str, verdict: Verdict) -> LedgerEntry {
    LedgerEntry {
        time: Timestamp::now(),
        session: session.to_owned(),
        kind: kind::CONNECT.into(),
        method: None,
        host: host.to_owned(),
        port: 443,
        address: None,
        verdict,
        code: (verdict == Verdict::Refused).then_some(Code::HostNotAllowed),
        reason: None,
        bytes_up: 0,
        bytes_down: 0,
        duration_ms: 0,
    }
}

#[tokio::test]
async fn a_request_is_accounted_for_to_the_byte() {
    let site = Site::saying("12345").await;
    let gate = gate(GateOptions::default());
    let door = gate.open_door("s1", open()).await.unwrap();
    let mut browser = Browser::connect(door.address()).await;
    let url = format!("http://{}/path?secret=1", site.address);
    for _ in 0..2 {
        browser.get(&url).await;
    }
    let log = entries(&gate, kind::REQUEST, 2).await;
    for (entry, request) in log.iter().zip(site.received()) {
        assert_eq!(entry.bytes_up, request.head.len() as u64);
        assert_eq!(entry.bytes_down, ok("12345").len() as u64);
        assert_eq!((entry.host.as_str(), entry.port), ("127.0.0.1", site.address.port()));
        assert_eq!((entry.method.as_deref(), entry.address), (Some("GET"), Some(site.address)));
        assert_eq!((entry.verdict, entry.session.as_str()), (Verdict::Allowed, "s1"));
        assert!(!serde_json::to_string(entry.as_ref()).unwrap().contains("secret"), "paths stay out");
    }
    assert_eq!(door.counters().bytes_down, 2 * ok("12345").len() as u64);
}

#[tokio::test]
async fn the_file_holds_every_entry_as_a_line_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let ledger = Ledger::with_file(2, &path).unwrap();
    let gate = gate(GateOptions { ledger: ledger.clone(), ..GateOptions::default() });
    let door = gate.open_door("s1", listed(&["good.test"], false)).await.unwrap();
    for _ in 0..5 {
        Browser::connect(door.address()).await.tunnel("bad.test:443").await;
    }
    ledger.flush().await;
    let lines = std::fs::read_to_string(&path).unwrap();
    let parsed: Vec<LedgerEntry> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(parsed.len(), 5);
    assert_eq!(ledger.recent(None, 10).len(), 2, "memory holds the latest alone");
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["code"], "host-not-allowed");
    assert_eq!(first["verdict"], "refused");
    assert_eq!(first["bytesUp"], 0);
    assert!(first["time"].as_str().unwrap().ends_with('Z'));
    assert!(first["reason"].as_str().unwrap().contains("bad.test"), "{first}");
    assert_eq!(ledger.lost(), 0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(Ledger::with_file(1, folder.path()).is_err(), "a folder is no file");
}

#[tokio::test]
async fn a_ledger_that_goes_away_leaves_nothing_unwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let ledger = Ledger::with_file(1, &path).unwrap();
    for _ in 0..1000 {
        ledger.record(entry("s1", "a.test", Verdict::Allowed));
    }
    drop(ledger);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1000);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_counted_and_hurts_nobody() {
    let ledger = Ledger::with_file(10, std::path::Path::new("/dev/full")).unwrap();
    for _ in 0..3 {
        ledger.record(entry("s1", "a.test", Verdict::Allowed));
        ledger.flush().await;
    }
    assert_eq!(ledger.lost(), 3);
    assert_eq!(ledger.recent(None, 10).len(), 3);
}

#[tokio::test]
async fn subscribers_see_entries_live_and_slow_ones_are_told_what_they_missed() {
    let ledger = Ledger::new(16);
    let mut live = ledger.subscribe();
    let mut slow = ledger.subscribe();
    ledger.record(entry("s1", "a.test", Verdict::Allowed));
    assert!(matches!(soon(live.next()).await, Some(LedgerEvent::Entry(entry)) if entry.host == "a.test"));
    for _ in 0..20 {
        ledger.record(entry("s1", "b.test", Verdict::Allowed));
    }
    assert!(matches!(soon(slow.next()).await, Some(LedgerEvent::Missed(5))));
    drop(ledger);
    for _ in 0..16 {
        assert!(matches!(soon(slow.next()).await, Some(LedgerEvent::Entry(_))));
    }
    assert!(soon(slow.next()).await.is_none());
}

#[test]
fn entries_are_found_by_session_and_refusals_by_host() {
    let ledger = Ledger::new(100);
    for (session, host, verdict) in [
        ("s1", "a.test", Verdict::Refused),
        ("s2", "a.test", Verdict::Allowed),
        ("s1", "b.test", Verdict::Allowed),
        ("s1", "a.test", Verdict::Allowed),
    ] {
        ledger.record(entry(session, host, verdict));
    }
    let hosts =
        |session, limit| ledger.recent(session, limit).iter().map(|entry| entry.host.clone()).collect::<Vec<_>>();
    assert_eq!(hosts(Some("s1"), 2), ["b.test", "a.test"]);
    assert_eq!(hosts(None, 10).len(), 4);
    assert_eq!(ledger.last_refusal("s1", "a.test", 443).unwrap().verdict, Verdict::Refused);
    assert!(ledger.last_refusal("s2", "a.test", 443).is_none());
    assert!(ledger.last_refusal("s1", "a.test", 80).is_none());
}
