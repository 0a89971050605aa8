//! Holds documents to the policy where the gate cannot tell them from what pages load besides.

use std::borrow::Cow;

use bathy_cdp::Session;
use bathy_cdp::protocol::fetch::{ContinueRequest, FailRequest, RequestPaused};
use bathy_egress::{Code, LedgerEntry, Timestamp, Verdict};
use bathy_policy::{Host, Purpose, Refusal};
use url::Url;

use super::task::{Charter, Rules};

/// What the ledger calls the request for a document that did not leave the browser.
const KIND: &str = "document";

/// Lets a document's request go on, or ends it before it leaves and says so in the ledger.
pub(super) fn decide(paused: &RequestPaused, session: &Session, rules: &Rules) {
    let charter = rules.charter.borrow().clone();
    match check(&paused.request.url, &charter) {
        Ok(()) => session.send(&ContinueRequest { request_id: paused.request_id.clone() }),
        Err(refusal) => {
            session.send(&FailRequest {
                request_id: paused.request_id.clone(),
                error_reason: "BlockedByClient".to_owned(),
            });
            rules.ledger.record(entry(paused, &refusal, &charter));
        }
    }
}

fn check(url: &str, charter: &Charter) -> Result<(), Refusal> {
    // Documents that a page makes itself ask nobody for anything.
    let made = ["blob:", "data:", "about:"];
    if made.iter().any(|scheme| url.starts_with(scheme)) {
        return Ok(());
    }
    charter.policy.check_url(url, Purpose::Document).map(drop)
}

fn entry(paused: &RequestPaused, refusal: &Refusal, charter: &Charter) -> LedgerEntry {
    let url = Url::parse(&paused.request.url).ok();
    let host = url.as_ref().and_then(|url| Host::of_url(url).ok());
    LedgerEntry {
        time: Timestamp::now(),
        session: charter.session.clone(),
        kind: Cow::Borrowed(KIND),
        method: Some(paused.request.method.clone()),
        host: host.map(|host| host.to_string()).unwrap_or_default(),
        port: url.and_then(|url| url.port_or_known_default()).unwrap_or_default(),
        address: None,
        verdict: Verdict::Refused,
        code: Some(Code::from(refusal)),
        reason: Some(refusal.to_string()),
        bytes_up: 0,
        bytes_down: 0,
        duration_ms: 0,
    }
}
