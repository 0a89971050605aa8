//! What the browser calls itself.

use bathy_browser::{EngineOptions, TextOptions, WaitFor, WaitUntil};

use crate::support::{Stage, open_policy, options, soon};

/// A page that asks everybody in it who they are.
const ASKS: &str = r"<title>Who</title><p id=told></p><script>
const who = 'const who = () => JSON.stringify([navigator.userAgent, navigator.appVersion, (navigator.userAgentData?.brands ?? []).map((one) => one.brand)]);';
const script = (text) => URL.createObjectURL(new Blob([who + text], { type: 'text/javascript' }));
const next = (target, name = 'onmessage') => new Promise((resolve) => { target[name] = (event) => resolve(event.data); });
(async () => {
  const told = [`page ${eval(who + 'who()')}`];
  const worker = new Worker(script(`fetch('${location.origin}/echo?worker').then(() => postMessage(who()))`));
  told.push(`worker ${await next(worker)}`);
  const shared = new SharedWorker('/identity/shared.js');
  told.push(`shared ${await next(shared.port)}`);
  await navigator.serviceWorker.register('/identity/service.js', { scope: '/identity/' });
  const { active, installing, waiting } = await navigator.serviceWorker.getRegistration('/identity/');
  (active ?? waiting ?? installing).postMessage('');
  told.push(`service ${await next(navigator.serviceWorker)}`);
  const frame = document.createElement('iframe');
  frame.src = '{{other}}/identity/frame.html';
  document.body.append(frame);
  told.push(`frame ${await next(window)}`);
  document.getElementById('told').innerHTML = told.map((line) => line.replaceAll('<', '')).join('<br>') + '<br>All told.';
})().catch((error) => document.body.append(`failed: ${error}`));
</script>";

const WHO: &str = "const who = () => JSON.stringify([navigator.userAgent, navigator.appVersion, \
                   (navigator.userAgentData?.brands ?? []).map((one) => one.brand)]);";

async fn asked(user_agent: Option<&str>) -> (Vec<String>, Stage) {
    let options = EngineOptions { user_agent: user_agent.map(ToOwned::to_owned), ..options(open_policy()) };
    let stage = Stage::with(options).await;
    for (path, kind, text) in [
        (
            "identity/shared.js",
            "text/javascript",
            format!(
                "{WHO} onconnect = async (event) => {{ await fetch('/echo?shared'); event.ports[0].postMessage(who()); }}"
            ),
        ),
        (
            "identity/service.js",
            "text/javascript",
            format!(
                "{WHO} onmessage = async (event) => {{ await fetch('/echo?service'); event.source.postMessage(who()); }}"
            ),
        ),
        ("identity/frame.html", "text/html", format!("<script>{WHO} parent.postMessage(who(), '*')</script>")),
    ] {
        stage.site.add(bathy_testsite::Page::bytes(kind, text).at(path));
    }
    stage.show(ASKS).await;
    stage.tab.wait(&WaitFor::Text("All told.".to_owned()), soon()).await.unwrap();
    let text = stage.tab.text(TextOptions { max_chars: 8_000, ..TextOptions::default() }, soon()).await.unwrap().text;
    let told = text.lines().filter(|line| line.contains('[')).map(ToOwned::to_owned).collect();
    (told, stage)
}

#[tokio::test]
async fn a_user_agent_of_the_operators_is_the_same_in_headers_pages_frames_and_workers_and_no_hint_contradicts_it() {
    let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let (told, stage) = asked(Some(agent)).await;
    assert_eq!(told.len(), 5, "{told:?}");
    for line in told {
        let (who, answer) = line.split_once(' ').unwrap();
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        assert_eq!(answer[0], agent, "{who}");
        assert_eq!(answer[1], agent.strip_prefix("Mozilla/").unwrap(), "{who}");
        assert_eq!(answer[2], serde_json::json!([]), "{who}");
    }
    stage.tab.navigate(&stage.site.other_url("echo"), WaitUntil::Load, soon()).await.unwrap();
    for request in stage.site.requests() {
        assert_eq!(request.header("user-agent"), Some(agent), "{}", request.path);
        let hints: Vec<_> = request.headers.iter().filter(|(name, _)| name.starts_with("sec-ch-ua")).collect();
        assert!(hints.is_empty(), "{}: {hints:?}", request.path);
    }
}

#[tokio::test]
async fn without_one_the_browser_calls_itself_what_it_is_everywhere() {
    let (told, stage) = asked(None).await;
    assert_eq!(told.len(), 5, "{told:?}");
    let sent = stage.site.requests()[0].header("user-agent").unwrap().to_owned();
    for line in told {
        assert!(line.contains(&format!("\"{sent}\"")) && line.contains("Chromium"), "{line}\n{sent}");
    }
    for request in stage.site.requests() {
        assert_eq!(request.header("user-agent"), Some(sent.as_str()), "{}", request.path);
    }
}
