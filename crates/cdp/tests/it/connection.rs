//! Calls, events and lanes, with the browser's end of the pipe held by the test.

use std::time::Duration;

use bathy_cdp::protocol::page::{Enable, FrameNavigated, Navigate};
use bathy_cdp::protocol::runtime::Evaluate;
use bathy_cdp::protocol::target::AttachedToTarget;
use bathy_cdp::protocol::{SessionId, browser};
use bathy_cdp::{CallError, Connection, Lane};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

const SOON: Duration = Duration::from_secs(20);

/// The browser's end.
struct Peer {
    reader: BufReader<DuplexStream>,
    writer: DuplexStream,
}

impl Peer {
    fn connected() -> (Self, Connection, Lane) {
        let (our_reader, writer) = tokio::io::duplex(64 * 1024);
        let (reader, our_writer) = tokio::io::duplex(64 * 1024);
        let (connection, lane) = Connection::open(our_reader, our_writer);
        (Self { reader: BufReader::new(reader), writer }, connection, lane)
    }

    async fn receive(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.reader.read_until(0, &mut bytes).await.unwrap();
        bytes.pop();
        serde_json::from_slice(&bytes).unwrap()
    }

    async fn send(&mut self, message: &Value) {
        self.write(message.to_string().as_bytes()).await;
    }

    async fn write(&mut self, message: &[u8]) {
        self.writer.write_all(message).await.unwrap();
        self.writer.write_all(&[0]).await.unwrap();
    }
}

fn session(id: &str) -> SessionId {
    SessionId(id.to_owned())
}

fn attached(session: &str, r#type: &str) -> Value {
    json!({
        "sessionId": session, "waitingForDebugger": true,
        "targetInfo": {"targetId": format!("t-{session}"), "type": r#type, "title": "", "url": "", "attached": true}
    })
}

#[tokio::test]
async fn a_command_carries_its_session_and_leaves_absent_options_out() {
    let (mut peer, connection, _lane) = Peer::connected();
    let page = connection.session(session("s1"));
    let call =
        tokio::spawn(async move { page.call(Navigate { url: "http://x/".to_owned(), frame_id: None }, SOON).await });
    let sent = peer.receive().await;
    assert_eq!(sent, json!({"id": 1, "method": "Page.navigate", "params": {"url": "http://x/"}, "sessionId": "s1"}));
    peer.send(&json!({"id": 1, "sessionId": "s1", "result": {"frameId": "f", "loaderId": "l"}})).await;
    assert_eq!(call.await.unwrap().unwrap().loader_id.unwrap().0, "l");
}

#[tokio::test]
async fn the_browsers_error_is_told_in_its_own_words() {
    let (mut peer, connection, _lane) = Peer::connected();
    let call = tokio::spawn(async move { connection.browser().call(browser::GetVersion {}, SOON).await });
    peer.receive().await;
    peer.send(&json!({"id": 1, "error": {"code": -32000, "message": "no"}})).await;
    let error = call.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "Browser.getVersion: no (-32000)");
}

#[tokio::test]
async fn a_silent_browser_is_given_up_at_the_deadline_and_its_late_answer_is_ignored() {
    let (mut peer, connection, _lane) = Peer::connected();
    let late = connection.browser().call(browser::GetVersion {}, Duration::from_millis(30)).await;
    assert!(matches!(late, Err(CallError::TimedOut { .. })));
    peer.receive().await;
    peer.send(&json!({"id": 1, "result": {}})).await;
    let next = connection.clone();
    let call = tokio::spawn(async move { next.session(session("s")).call(Enable {}, SOON).await });
    assert_eq!(peer.receive().await["id"], 2);
    peer.send(&json!({"id": 2, "result": {}})).await;
    call.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_end_of_the_pipe_fails_every_call_at_once() {
    let (mut peer, connection, _lane) = Peer::connected();
    let waiting = connection.clone();
    let call = tokio::spawn(async move { waiting.browser().call(browser::GetVersion {}, SOON).await });
    peer.receive().await;
    drop(peer);
    assert!(matches!(call.await.unwrap(), Err(CallError::Closed { .. })));
    connection.closed().await;
    assert!(connection.is_closed());
    let after = connection.browser().call(browser::GetVersion {}, SOON).await;
    assert!(matches!(after, Err(CallError::Closed { .. })));
}

#[tokio::test]
async fn calls_of_a_detached_session_fail_and_those_of_others_go_on() {
    let (mut peer, connection, _lane) = Peer::connected();
    let (gone, stays) = (connection.session(session("gone")), connection.session(session("stays")));
    let lost = tokio::spawn(async move { gone.call(Enable {}, SOON).await });
    assert_eq!(peer.receive().await["sessionId"], "gone");
    let kept = tokio::spawn(async move { stays.call(Enable {}, SOON).await });
    peer.receive().await;
    peer.send(&json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "gone"}})).await;
    assert!(matches!(lost.await.unwrap(), Err(CallError::Detached { .. })));
    peer.send(&json!({"id": 2, "sessionId": "stays", "result": {}})).await;
    kept.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_session_that_is_unknown_to_the_browser_counts_as_detached() {
    let (mut peer, connection, _lane) = Peer::connected();
    let page = connection.session(session("never"));
    let call = tokio::spawn(async move { page.call(Enable {}, SOON).await });
    peer.receive().await;
    peer.send(&json!({"id": 1, "error": {"code": -32001, "message": "Session with given id not found."}})).await;
    assert!(matches!(call.await.unwrap(), Err(CallError::Detached { .. })));
}

#[tokio::test]
async fn frames_below_a_claimed_page_share_its_lane_in_the_browsers_order() {
    let (mut peer, connection, mut root) = Peer::connected();
    peer.send(&json!({"method": "Target.attachedToTarget", "params": attached("page", "page")})).await;
    let event = root.next().await.unwrap().decode::<AttachedToTarget>().unwrap();
    let mut lane = connection.claim(&event.session_id);
    peer.send(
        &json!({"method": "Target.attachedToTarget", "sessionId": "page", "params": attached("frame", "iframe")}),
    )
    .await;
    peer.send(&json!({"method": "Page.loadEventFired", "sessionId": "frame", "params": {"timestamp": 1}})).await;
    peer.send(&json!({"method": "Page.loadEventFired", "sessionId": "page", "params": {"timestamp": 2}})).await;
    peer.send(&json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "page"}})).await;
    for expected in ["page", "frame", "page"] {
        assert_eq!(lane.next().await.unwrap().session, Some(session(expected)));
    }
    assert_eq!(root.next().await.unwrap().method, "Target.detachedFromTarget");
}

#[tokio::test]
async fn an_event_of_another_shape_is_skipped_and_the_lane_goes_on() {
    let (mut peer, _connection, mut root) = Peer::connected();
    peer.send(&json!({"method": "Page.frameNavigated", "params": {"frame": "odd"}})).await;
    peer.write(b"not json").await;
    peer.send(&json!({"method": "Page.next", "params": {}})).await;
    assert!(root.next().await.unwrap().decode::<FrameNavigated>().is_none());
    assert_eq!(root.next().await.unwrap().method, "Page.next");
}

#[tokio::test]
async fn a_message_of_a_hundred_megabytes_passes_whole() {
    let (mut peer, connection, _lane) = Peer::connected();
    let page = connection.session(session("s"));
    let call = tokio::spawn(async move { page.call(Evaluate::default(), SOON).await });
    peer.receive().await;
    let length = 100 * 1024 * 1024;
    let head = br#"{"id":1,"result":{"result":{"type":"string","value":""#;
    peer.writer.write_all(head).await.unwrap();
    peer.writer.write_all(&vec![b'x'; length]).await.unwrap();
    peer.write(br#""}}}"#).await;
    let value = call.await.unwrap().unwrap().result.value.unwrap();
    assert_eq!(value.as_str().unwrap().len(), length);
}

#[tokio::test]
async fn half_a_surrogate_pair_in_an_answer_does_not_break_it() {
    let (mut peer, connection, _lane) = Peer::connected();
    let page = connection.session(session("s"));
    let call = tokio::spawn(async move { page.call(Evaluate::default(), SOON).await });
    peer.receive().await;
    peer.write(br#"{"id":1,"result":{"result":{"type":"string","value":"a\ud800b"}}}"#).await;
    assert_eq!(call.await.unwrap().unwrap().result.value.unwrap(), "a\u{fffd}b");
}

#[tokio::test]
async fn the_pipe_closes_with_the_last_handle() {
    let (mut peer, connection, _lane) = Peer::connected();
    drop(connection);
    let mut rest = Vec::new();
    assert_eq!(peer.reader.read_until(0, &mut rest).await.unwrap(), 0);
}
