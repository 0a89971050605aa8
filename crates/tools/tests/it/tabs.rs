//! Tabs, as tools give them.

use bathy_testsite::{Canary, Page};
use bathy_tools::Code;
use serde_json::{Value, json};

use crate::support::Stage;

const TABS: &[&str] = &["index", "active", "url", "allowed"];

async fn listed(stage: &Stage) -> Vec<Value> {
    let answer = stage.ok("browser_tab_list", json!({})).await;
    answer.data["tabs"].as_array().unwrap().clone()
}

fn titles(tabs: &[Value]) -> Vec<&str> {
    tabs.iter().map(|tab| tab["title"].as_str().unwrap_or("-")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_are_opened_listed_chosen_and_closed() {
    let stage = Stage::set().await;
    let page = |title: &str| stage.site.page(format!("<title>{title}</title><p>text of {title}"));
    // Without a session it starts one, whose first tab it is.
    let (one, two) = (page("One"), page("Two"));
    let first = stage.ok("browser_tab_new", json!({"url": one})).await;
    assert_eq!(
        [&first.data["index"], &first.data["url"], &first.data["title"], &first.data["statusCode"]],
        [&json!(0), &json!(one), &json!("One"), &json!(200)]
    );
    let second = stage.ok("browser_tab_new", json!({"url": two})).await;
    assert_eq!((&second.data["index"], &second.data["title"]), (&json!(1), &json!("Two")));
    let third = stage.ok("browser_tab_new", json!({})).await;
    assert_eq!((&third.data["index"], &third.data["url"]), (&json!(2), &json!("about:blank")));
    assert!(third.data.get("statusCode").is_none());

    let tabs = listed(&stage).await;
    assert_eq!(titles(&tabs), ["One", "Two", ""]);
    assert_eq!(tabs.iter().map(|tab| &tab["active"]).collect::<Vec<_>>(), [false, false, true]);
    assert!(tabs.iter().all(|tab| TABS.iter().all(|field| tab.get(*field).is_some()) && tab["allowed"] == true));

    let selected = stage.ok("browser_tab_select", json!({"index": 0})).await;
    assert_eq!(
        [&selected.data["index"], &selected.data["url"], &selected.data["title"]],
        [&json!(0), &json!(one), &json!("One")]
    );
    let text = stage.ok("browser_read_text", json!({})).await;
    assert!(text.data["text"].as_str().unwrap().contains("text of One"));
    let text = stage.ok("browser_read_text", json!({"tab": 1})).await;
    assert!(text.data["text"].as_str().unwrap().contains("text of Two"));

    let closed = stage.ok("browser_tab_close", json!({"index": 1})).await;
    assert_eq!([&closed.data["closed"], &closed.data["remaining"]], [&json!(true), &json!(2)]);
    assert_eq!(stage.code("browser_tab_close", json!({"index": 2})).await, Code::NoSuchTab);
    assert_eq!(stage.code("browser_tab_select", json!({"index": 2})).await, Code::NoSuchTab);
    assert_eq!(titles(&listed(&stage).await), ["One", ""]);

    // The last one leaves a session that can go on.
    stage.ok("browser_tab_close", json!({})).await;
    let closed = stage.ok("browser_tab_close", json!({})).await;
    assert_eq!(closed.data["remaining"], 0);
    for tool in ["browser_read_text", "browser_snapshot", "browser_screenshot", "browser_tab_close"] {
        assert_eq!(stage.code(tool, json!({})).await, Code::NoPage, "{tool}");
    }
    assert!(listed(&stage).await.is_empty());
    let again = stage.ok("browser_navigate", json!({"url": one})).await;
    assert_eq!(again.data["session"], first.data["session"]);
    assert_eq!(titles(&listed(&stage).await), ["One"]);
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_whose_load_is_refused_or_fails_is_never_there() {
    let stage = Stage::set().await;
    stage.ok("browser_session_start", json!({"allowedHosts": ["127.0.0.1"]})).await;
    let canary = Canary::start([127, 0, 0, 9]).await;
    let secret = format!("http://{}/", canary.address());
    let redirect = stage.site.url(&format!("redirect/302?to={secret}"));
    for (url, code) in [
        (secret.as_str(), Code::HostNotAllowed),
        (redirect.as_str(), Code::HostNotAllowed),
        ("file:///etc/passwd", Code::UnsupportedScheme),
        ("http://", Code::InvalidUrl),
        (stage.site.url("cut-off").replace("http:", "https:").as_str(), Code::NavigationFailed),
    ] {
        assert_eq!(stage.code("browser_tab_new", json!({"url": url})).await, code, "{url}");
        let tabs = listed(&stage).await;
        assert_eq!((tabs.len(), &tabs[0]["active"]), (1, &json!(true)), "{url}: {tabs:?}");
    }
    let hanging = json!({"url": stage.site.url("hang"), "timeoutMs": 300});
    assert_eq!(stage.code("browser_tab_new", hanging).await, Code::Timeout);
    assert_eq!(listed(&stage).await.len(), 1);
    assert!(canary.hits().is_empty(), "{:?}", canary.hits());
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_off_policy_is_listed_without_title_and_can_only_be_closed() {
    let stage = Stage::set().await;
    stage.ok("browser_session_start", json!({"allowedHosts": ["127.0.0.1"]})).await;
    let canary = Canary::start([127, 0, 0, 9]).await;
    let secret = format!("http://{}/secret", canary.address());
    let page = format!("<title>Opener</title><a id=go target=_blank href='{secret}'>go</a>");
    stage.ok("browser_navigate", json!({"url": stage.site.page(page)})).await;
    let clicked = stage.ok("browser_click", json!({"selector": "#go"})).await;
    assert_eq!(clicked.data["changes"]["newTabs"], json!([{"index": 1, "url": secret, "allowed": false}]));
    let tabs = listed(&stage).await;
    assert_eq!(tabs[1], json!({"index": 1, "active": false, "url": secret, "allowed": false}));
    assert!(tabs[0]["active"] == true && titles(&tabs) == ["Opener", "-"]);
    for (tool, arguments) in [
        ("browser_tab_select", json!({"index": 1})),
        ("browser_read_text", json!({"tab": 1})),
        ("browser_snapshot", json!({"tab": 1})),
        ("browser_screenshot", json!({"tab": 1})),
        ("browser_press", json!({"tab": 1, "key": "Enter"})),
    ] {
        let failure = stage.call(tool, arguments).await.unwrap_err();
        assert_eq!(failure.code(), Code::HostNotAllowed, "{tool}: {failure}");
    }
    let failure = stage.call("browser_tab_select", json!({"index": 1})).await.unwrap_err();
    assert!(failure.hint().contains("browser_tab_close"), "{failure}");
    stage.ok("browser_tab_close", json!({"index": 1})).await;
    assert_eq!(titles(&listed(&stage).await), ["Opener"]);
    assert!(canary.hits().is_empty(), "{:?}", canary.hits());
    stage.toolbox.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_pages_do_with_tabs_is_told_by_the_next_answer() {
    let stage = Stage::set().await;
    let closing = "<title>Closing</title><script>setTimeout(() => close(), 300)</script>";
    stage.site.add(Page::html(closing).at("closing"));
    let opener = stage.site.page("<title>Opener</title><script>open('/closing')</script>");
    let landed = stage.ok("browser_navigate", json!({"url": opener, "read": "none"})).await;
    let told = |answer: &bathy_tools::Answer| answer.data["notices"].clone();
    // A popup that came with the load is told by the load, or by the call after it.
    let later = stage.ok("browser_wait", json!({"ms": 1})).await;
    let heard = [told(&landed), told(&later)];
    assert!(heard.contains(&json!(["a page opened tab 1"])), "{heard:?}");
    let lines: Vec<_> = [landed.text, later.text].iter().map(|text| text.lines().nth(1).unwrap().to_owned()).collect();
    assert!(lines.contains(&"a page opened tab 1".to_owned()), "{lines:?}");

    // It takes the places of those behind it along when it goes.
    while listed(&stage).await.len() > 1 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let popup =
        stage.site.page("<title>Popup</title><button id=go onclick='setTimeout(() => window.close(), 50)'>x</button>");
    let opener =
        stage.site.page(format!("<title>Opener</title><a id=go target=_blank rel=opener href='{popup}'>go</a>"));
    stage.ok("browser_navigate", json!({"url": opener, "read": "none"})).await;
    let clicked = stage.ok("browser_click", json!({"selector": "#go"})).await;
    let index = clicked.data["changes"]["newTabs"][0]["index"].clone();
    stage.ok("browser_tab_select", json!({"index": index})).await;
    let clicked = stage.call("browser_click", json!({"selector": "#go"})).await;
    // Whichever call meets the end of the tab says so, and where calls go now.
    let mut said = match clicked {
        Ok(answer) => answer.text,
        Err(failure) => failure.to_string(),
    };
    for _ in 0..200 {
        if said.contains("the active tab closed by itself; tab 0 is active now") {
            break;
        }
        said = match stage.call("browser_wait", json!({"ms": 10})).await {
            Ok(answer) => answer.text,
            Err(failure) => failure.to_string(),
        };
    }
    assert!(said.contains("the active tab closed by itself; tab 0 is active now"), "{said}");
    let now = stage.ok("browser_read_text", json!({})).await;
    assert_eq!(now.data["title"], "Opener");
    assert!(now.data.get("notices").is_none(), "{}", now.data);
    stage.toolbox.close().await;
}
