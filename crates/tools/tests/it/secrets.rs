//! Secrets: typed where they may be, shown nowhere.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine as _;
use bathy_tools::{Code, Secrets, Settings};
use serde_json::{Value, json};

use crate::support::Stage;

/// With everything that encodings change.
const VALUE: &str = "Tr0ub4dor & \"3\"<ü>";

async fn stage(hosts: &[&str]) -> Stage {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(file.path(), json!({"shop": {"value": VALUE, "hosts": hosts}}).to_string()).unwrap();
    let secrets = Secrets::load(file.path()).unwrap();
    let masking = secrets.clone();
    let stage = Stage::with(Settings { secrets, ..Settings::default() }, None).await;
    stage.engine.ledger().mask_with(move |entry| masking.mask_entry(entry));
    stage
}

/// Parts of the value's forms that no honest text has.
fn traces() -> Vec<String> {
    let base64 = base64::engine::general_purpose::STANDARD;
    let reversed: String = VALUE.chars().rev().collect();
    let hex: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
    vec![
        "tr0ub4".to_owned(),
        "t r 0 u b".to_owned(),
        reversed[..6].to_lowercase(),
        "rod4bu".to_owned(),
        hex[..12].to_owned(),
        base64.encode(VALUE)[..10].to_lowercase(),
        base64.encode(format!("u:{VALUE}"))[4..14].to_lowercase(),
        "&#84;&#114;".to_owned(),
        "\\u0054\\u0072".to_owned(),
        "%c3%bc".to_owned(),
    ]
}

/// Everything that ever left, to be searched.
#[derive(Default)]
struct Left(String);

impl Left {
    async fn call(&mut self, stage: &Stage, tool: &str, arguments: Value) {
        let _ = match stage.call(tool, arguments).await {
            Ok(answer) => write!(self.0, "\n=== {tool}\n{}\n{:#}", answer.text, answer.data),
            Err(failure) => write!(self.0, "\n=== {tool}\n{failure}\n{:#}", failure.data()),
        };
    }

    fn holds_no_trace(&self) {
        let left = self.0.to_lowercase();
        for trace in traces() {
            if let Some(at) = left.find(&trace) {
                let mut from = at.saturating_sub(200);
                while !left.is_char_boundary(from) {
                    from -= 1;
                }
                let context: String = left[from..].chars().take(500).collect();
                panic!("{trace} left in: {context}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_reaches_its_page_and_no_answer_error_or_ledger_tells_it_in_any_form() {
    let stage = stage(&["127.0.0.1"]).await;
    stage.ok("browser_navigate", json!({"url": stage.site.url("secrets/echoes.html")})).await;
    let filled = stage.ok("browser_fill", json!({"selector": "#password", "value": {"secret": "shop"}})).await;
    assert_eq!(filled.data["value"], "[secret shop]");
    assert!(filled.text.contains("value: \"[secret shop]\""), "{}", filled.text);
    assert!(!filled.text.contains("something else"), "{}", filled.text);
    // It arrived as it is.
    let sent =
        |request: &bathy_testsite::RecordedRequest| request.path.contains("leak=Tr0ub4dor%20%26%20%223%22%3C%C3%BC%3E");
    assert!(stage.site.wait_request(sent, std::time::Duration::from_secs(5)).await.is_some());

    let mut left = Left::default();
    left.0.push_str(&filled.text);
    left.0.push_str(&filled.data.to_string());
    for (tool, arguments) in [
        ("browser_read_text", json!({})),
        ("browser_read_text", json!({"format": "markdown"})),
        ("browser_snapshot", json!({})),
        ("browser_snapshot", json!({"maxChars": 150})),
        ("browser_find", json!({"text": "You typed"})),
        ("browser_find", json!({"text": "Go to"})),
        ("browser_find", json!({"text": VALUE})),
        ("browser_session_list", json!({})),
        ("browser_click", json!({"selector": "#alert"})),
        ("browser_click", json!({"selector": "#ask"})),
        ("browser_read_text", json!({})),
        ("browser_dialog", json!({"action": "accept"})),
        ("browser_fill_form", json!({"fields": [{"ref": "@e9999", "value": {"secret": "shop"}}]})),
        ("browser_fill", json!({"selector": "#area", "value": "{\"secret\": \"shop\"}"})),
        ("browser_wait", json!({"text": VALUE, "timeoutMs": 300})),
        ("browser_navigate", json!({"url": format!("http://{VALUE}/")})),
        ("browser_navigate", json!({"url": format!("ftp://x/{VALUE}")})),
        ("browser_click", json!({"selector": format!("[title='{VALUE}']")})),
        ("browser_click", json!({"selector": "#link"})),
        ("browser_history", json!({"action": "back"})),
    ] {
        left.call(&stage, tool, arguments).await;
    }
    // Cut everywhere: no piece of an answer tells a piece of the secret.
    let mut cursor = Value::Null;
    for _ in 0..6 {
        let arguments = json!({"maxChars": 37, "cursor": cursor});
        let Ok(answer) = stage.call("browser_read_text", arguments).await else { break };
        left.0.push_str(&answer.text);
        cursor = answer.data["cursor"].clone();
    }
    for entry in stage.engine.ledger().recent(None, 10_000) {
        left.0.push_str(&serde_json::to_string(&*entry).unwrap());
    }
    assert!(left.0.contains("[secret shop]") && left.0.contains("Echo of [secret shop]"), "{}", left.0);
    left.holds_no_trace();
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_typed_into_documents_of_its_hosts_alone_whatever_is_around_them() {
    let stage = stage(&["127.0.0.2"]).await;
    let page = |around: &str| {
        format!(
            "<title>Around</title><input id=mine>{around}<script>onblur = () => document.getElementById('mine').focus(); \
         mine.oninput = () => fetch('/stolen?' + mine.value)</script>"
        )
    };
    let inner = stage
        .site
        .add(bathy_testsite::Page::html("<input id=field oninput=\"fetch('/arrived?' + encodeURIComponent(value))\">"));
    let inner = inner.rsplit_once('/').unwrap().1.to_owned();
    let frame = format!("<iframe src='{{{{other}}}}/page/{inner}'></iframe>");
    stage.ok("browser_navigate", json!({"url": stage.site.page(page(&frame))})).await;
    // Not into the page itself.
    assert_eq!(
        stage.code("browser_fill", json!({"selector": "#mine", "value": {"secret": "shop"}})).await,
        Code::HostNotAllowed
    );
    // Into the frame of its host, even where the page around takes the focus away.
    stage.ok("browser_fill", json!({"selector": "#field", "value": {"secret": "shop"}})).await;
    let arrived = stage
        .site
        .wait_request(|request| request.path.starts_with("/arrived"), std::time::Duration::from_secs(5))
        .await;
    assert!(arrived.unwrap().path.ends_with("Tr0ub4dor%20%26%20%223%22%3C%C3%BC%3E"));
    // Not into a document that the page wrote, whatever it says of itself.
    let written = "<iframe srcdoc='<base href={{other}}/><input id=field>'></iframe>";
    stage.ok("browser_navigate", json!({"url": stage.site.page(page(written))})).await;
    assert_eq!(
        stage.code("browser_fill", json!({"selector": "#field", "value": {"secret": "shop"}})).await,
        Code::HostNotAllowed
    );
    assert!(stage.site.requests().iter().all(|request| !request.path.starts_with("/stolen")));

    for (arguments, code) in [
        (json!({"selector": "#mine", "value": {"secret": "shoo"}}), Code::InvalidArgument),
        (json!({"selector": "#mine", "value": {"secret": "shop", "more": 1}}), Code::InvalidArgument),
        (json!({"selector": "#mine", "value": {"secret": "shop"}, "keys": true}), Code::InvalidArgument),
        (json!({"selector": "#mine", "value": {"secret": "shop"}, "clear": false}), Code::InvalidArgument),
    ] {
        assert_eq!(stage.code("browser_fill", arguments.clone()).await, code, "{arguments}");
    }
    let failure =
        stage.call("browser_fill", json!({"selector": "#mine", "value": {"secret": "shoo"}})).await.unwrap_err();
    assert!(failure.hint().contains("Did you mean \"shop\"?"), "{failure}");
    stage.toolbox.close().await;

    // Where there are no secrets, the form of a text is a text.
    let plain = Stage::set().await;
    plain.ok("browser_navigate", json!({"url": plain.site.page("<input id=mine>")})).await;
    assert_eq!(
        plain.code("browser_fill", json!({"selector": "#mine", "value": {"secret": "shop"}})).await,
        Code::NotEnabled
    );
    let filled = plain.ok("browser_fill", json!({"selector": "#mine", "value": "{\"secret\": \"shop\"}"})).await;
    assert_eq!(filled.data["value"], "{\"secret\": \"shop\"}");
    plain.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_takes_secrets_among_its_texts() {
    let stage = stage(&["127.0.0.1"]).await;
    stage
        .ok(
            "browser_navigate",
            json!({"url": stage.site.page("<label>Name <input></label><label>Word <input type=password></label>")}),
        )
        .await;
    let outline = stage.ok("browser_snapshot", json!({})).await.text;
    let reference = |name: &str| {
        let line = outline.lines().find(|line| line.contains(name)).unwrap();
        line.split_whitespace().find(|word| word.starts_with("@e")).unwrap().to_owned()
    };
    let fields =
        json!([{"ref": reference("Name"), "value": "Ada"}, {"ref": reference("Word"), "value": {"secret": "shop"}}]);
    let filled = stage.ok("browser_fill_form", json!({"fields": fields})).await;
    assert_eq!(filled.data["filled"][0]["value"], "Ada");
    assert_eq!(filled.data["filled"][1]["value"], "[secret shop]");
    let bad = json!({"fields": [{"ref": reference("Word"), "value": 3}]});
    let failure = stage.call("browser_fill_form", bad).await.unwrap_err();
    assert!(failure.message().contains("give a text, or {\"secret\": \"name\"}"), "{failure}");
    stage.toolbox.close().await;
}
