//! What sessions keep: cookies and storage, from one to the next.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bathy_browser::{
    Engine, EngineOptions, Error, Session, SessionOptions, StorageFile, Tab, TextOptions, WaitFor, WaitUntil,
};
use bathy_policy::{Policy, PolicyConfig};
use bathy_testsite::TestSite;
use bathy_testsite::processes::{browser_naming, signal};
use serde_json::{Value, json};

use crate::support::{open_policy, options, soon};

/// A site, a file, and engines whose sessions keep their state in it.
struct Kept {
    site: TestSite,
    _home: tempfile::TempDir,
    path: PathBuf,
}

impl Kept {
    async fn set() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.json");
        Self { site: TestSite::start().await, path, _home: home }
    }

    fn engine(&self) -> Engine {
        self.engine_with(open_policy(), None)
    }

    fn engine_with(&self, policy: Policy, user_agent: Option<String>) -> Engine {
        let storage_state = Some(StorageFile::at(self.path.clone()));
        Engine::new(EngineOptions { storage_state, user_agent, ..options(policy) })
    }

    fn bytes(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.bytes()).unwrap()
    }

    fn write(&self, state: &Value) -> String {
        let text = state.to_string();
        fs::write(&self.path, &text).unwrap();
        text
    }
}

async fn open(engine: &Engine) -> Session {
    let options = SessionOptions { id: "keeps".to_owned(), ..SessionOptions::default() };
    engine.open_session(options).await.unwrap()
}

async fn go(tab: &Tab, url: &str) {
    tab.navigate(url, WaitUntil::Load, soon()).await.unwrap();
}

/// What `storage/keep.html` shows once it is done.
async fn told(tab: &Tab, url: &str) -> String {
    go(tab, url).await;
    tab.wait(&WaitFor::Text("Done.".to_owned()), soon()).await.unwrap();
    tab.text(TextOptions { max_chars: 4_000, ..TextOptions::default() }, soon()).await.unwrap().text
}

/// The cookies of the file, each as `name=value`.
fn cookies(state: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let list = state["cookies"].as_array().unwrap();
    let mut told: Vec<_> = list.iter().map(|one| format!("{}={}", text(&one["name"]), text(&one["value"]))).collect();
    told.sort();
    told
}

#[tokio::test]
async fn two_hosts_keep_everything_through_a_close_and_their_first_documents_find_it() {
    let kept = Kept::set().await;
    let (first, second) = (kept.site.url("storage/keep.html"), kept.site.other_url("storage/keep.html"));
    let engine = kept.engine();
    let session = open(&engine).await;
    let tab = session.tab(None).await.unwrap();
    let before = told(&tab, &format!("{first}?name=one")).await;
    assert!(before.contains("before: local=undefined session=undefined cookie=none database=none"), "{before}");
    told(&tab, &format!("{second}?name=two")).await;
    let requests = kept.site.requests().len();
    session.close().await;
    assert_eq!(kept.site.requests().len(), requests, "the state is read without traffic");
    engine.close().await;

    // What others can read: Playwright's members by their names.
    let state = kept.state();
    assert_eq!(cookies(&state), ["kept=one", "kept=two"]);
    let origin = state["origins"].as_array().unwrap().iter().find(|one| one["origin"] == kept.site.origin()).unwrap();
    assert_eq!(origin["localStorage"], json!([{"name": "kept", "value": "one"}]));
    assert_eq!(origin["indexedDB"][0]["name"], "kept");
    assert_eq!(origin["indexedDB"][0]["version"], 3);
    let stores = origin["indexedDB"][0]["stores"].as_array().unwrap();
    let values = stores.iter().find(|store| store["name"] == "values").unwrap();
    assert_eq!(values["records"][0]["key"], "one");
    assert!(values["records"][0]["valueEncoded"]["o"].is_array(), "{values}");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&kept.path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    let engine = kept.engine();
    let session = open(&engine).await;
    let tab = session.tab(None).await.unwrap();
    assert_eq!(session.tab_count(), 1);
    assert_eq!(tab.url(), "about:blank");
    assert!(tab.history(bathy_browser::HistoryAction::Back, WaitUntil::Load, soon()).await.is_err());
    assert_eq!(kept.site.requests().len(), requests, "the state is restored without traffic");
    for (url, name) in [(&second, "two"), (&first, "one")] {
        let text = told(&tab, url).await;
        let database = format!(
            "database={name},1970-01-01T00:00:00.000Z,Uint8Array:1-2-255,undefined,12345678901234567890,true,1,7"
        );
        let before = text.lines().find(|line| line.starts_with("before: ")).unwrap();
        for expected in [format!("local={name} "), format!("cookie=kept={name} "), database] {
            assert!(before.contains(&expected), "{before}\n{expected}");
        }
        // Of a page that was open to the end.
        assert!(name == "one" || before.contains("session=two "), "{before}");
    }
    // Nothing was changed, so nothing is written.
    let (bytes, written) = (kept.bytes(), fs::metadata(&kept.path).unwrap().modified().unwrap());
    session.close().await;
    assert_eq!(kept.bytes(), bytes);
    assert_eq!(fs::metadata(&kept.path).unwrap().modified().unwrap(), written);
    engine.close().await;
}

/// Puts values of every kind into a database that is not there, and shows what is in it.
const KINDS: &str = "<script>
  const request = indexedDB.open('kinds', 2);
  let fresh = false;
  request.onupgradeneeded = () => {
    fresh = true;
    const made = request.result;
    made.createObjectStore('auto', { autoIncrement: true });
    const paths = made.createObjectStore('paths', { keyPath: ['a', 'b.c'] });
    paths.createIndex('u', 'u', { unique: true });
    paths.createIndex('m', 'tags', { multiEntry: true });
    paths.createIndex('two', ['a', 'u']);
    made.createObjectStore('loose');
  };
  const done = (request) => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  done(request).then(async (db) => {
    const stores = () => { const t = db.transaction(['auto', 'paths', 'loose'], 'readwrite'); return ['auto', 'paths', 'loose'].map((n) => t.objectStore(n)); };
    let [auto, paths, loose] = stores();
    if (fresh) {
      const self = { nan: NaN, none: undefined, zero: -0, far: -Infinity, big: 2n ** 70n };
      self.self = self;
      auto.add(self);
      auto.add({ map: new Map([['k', new Date(0)], [self, new Set([1n, 'x'])]]), view: new DataView(new Uint8Array([7, 8]).buffer) });
      auto.add({ blob: new Blob(['blobbed'], { type: 'text/x' }), file: new File(['filed'], 'f.txt', { type: 'text/plain', lastModified: 5 }),
        buffer: new Uint8Array([1, 2]).buffer, floats: new Float64Array([0.5]), pattern: /a+/gi, error: new RangeError('far') });
      paths.put({ a: 1, b: { c: 'x' }, u: 'one', tags: ['p', 'q'] });
      loose.put('date', new Date(5)); loose.put('list', [1, 'a', [new Date(6)]]); loose.put('bytes', new Uint8Array([3, 4]).buffer);
      loose.put(new ImageData(1, 1), 'picture');
      await done(loose.put('beside', 'picture-2'));
      [auto, paths, loose] = stores();
    }
    const [first, second, third] = await done(auto.getAll());
    [auto, paths, loose] = stores();
    const [entry] = [...second.map].filter(([key]) => typeof key === 'object');
    const told = {
      first: [Number.isNaN(first.nan), 'none' in first && first.none === undefined, Object.is(first.zero, -0), first.far === -Infinity, first.big === 2n ** 70n, first.self === first],
      map: [second.map.get('k').getTime(), entry[0].self === entry[0], [...entry[1]].map(String).join()],
      view: [second.view instanceof DataView, second.view.getUint8(1)],
      bytes: [new Uint8Array(third.buffer).join(), third.floats[0], String(third.pattern), third.error instanceof Error, third.error.message],
      unique: await done(paths.add({ a: 2, b: { c: 'y' }, u: 'one', tags: [] })).then(() => 'taken', (error) => error.name),
    };
    [auto, paths, loose] = stores();
    told.indexes = [...paths.indexNames].join() + (await done(paths.index('m').getAllKeys('q'))).join(';') + JSON.stringify(paths.index('two').keyPath);
    const keys = await done(loose.getAllKeys());
    told.loose = keys.map((key) => key instanceof Date ? 'date ' + key.getTime() : Array.isArray(key) ? 'list ' + key[2][0].getTime() : key instanceof ArrayBuffer ? 'bytes ' + new Uint8Array(key).join() : key);
    [auto, paths, loose] = stores();
    told.next = await done(auto.add('next'));
    told.blobs = [await third.blob.text(), third.blob.type, third.file instanceof File, third.file.name, third.file.lastModified, await third.file.text()];
    document.body.append(JSON.stringify(told), ' Done.');
  }).catch((error) => document.body.append('failed: ' + error.stack, ' Done.'));
</script><body></body>";

#[tokio::test]
async fn values_of_every_kind_come_back_and_one_that_has_no_form_takes_none_along() {
    let kept = Kept::set().await;
    let url = kept.site.page(KINDS);
    let mut told_before = String::new();
    for round in 0..2 {
        let engine = kept.engine();
        let session = open(&engine).await;
        let tab = session.tab(None).await.unwrap();
        let text = told(&tab, &url).await;
        assert!(!text.contains("failed"), "round {round}: {text}");
        session.close().await;
        engine.close().await;
        if round == 0 {
            assert!(text.contains("\"picture\",\"picture-2\""), "{text}");
            let next = "\"next\":4";
            assert!(text.contains(next), "{text}");
            // The picture has no form in a file. The key that was given last is taken by then.
            told_before = text.replace("\"picture\",", "").replace(next, "\"next\":5");
        } else {
            assert_eq!(text, told_before);
        }
    }
}

#[tokio::test]
async fn cookies_of_all_kinds_go_in_and_out_unchanged() {
    let kept = Kept::set().await;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let later = now + 1_000_000;
    let cookie = |name: &str, domain: &str, more: Value| {
        let mut cookie = json!({"name": name, "value": format!("{name}-value"), "domain": domain, "path": "/", "expires": -1,
            "httpOnly": false, "secure": false});
        cookie.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        cookie
    };
    let all = [
        cookie("host-only", "a.test", json!({"sameSite": "Lax"})),
        cookie("domain", ".a.test", json!({"sameSite": "Strict", "expires": later})),
        cookie("http-only", "a.test", json!({"httpOnly": true, "path": "/deep"})),
        cookie("secure", "a.test", json!({"secure": true, "sameSite": "None", "expires": later})),
        cookie("__Host-prefixed", "a.test", json!({"secure": true, "sameSite": "Lax"})),
        cookie(
            "partitioned",
            "widget.test",
            json!({"secure": true, "sameSite": "None", "httpOnly": true,
            "partitionKey": "https://top.test", "_crHasCrossSiteAncestor": true}),
        ),
        cookie("mine", "127.0.0.1", json!({"httpOnly": true})),
        // The browser refuses this one, which must not keep the others out, nor be lost.
        cookie("__Host-refused", ".a.test", json!({"secure": true})),
    ];
    kept.write(&json!({"cookies": all, "origins": [], "note": "not ours"}));
    let engine = kept.engine();
    let session = open(&engine).await;
    let tab = session.tab(None).await.unwrap();
    go(&tab, &kept.site.url("echo")).await;
    let sent = kept.site.requests().last().unwrap().header("cookie").map(ToOwned::to_owned);
    assert_eq!(sent.as_deref(), Some("mine=mine-value"));
    go(&tab, &kept.site.url("cookie/set?fresh=1&attributes=HttpOnly")).await;
    session.close().await;
    engine.close().await;
    let state = kept.state();
    assert_eq!(state["note"], "not ours");
    let written = state["cookies"].as_array().unwrap();
    for cookie in &all {
        assert!(written.contains(cookie), "{cookie} is not in {state:#}");
    }
    assert_eq!(written.len(), all.len() + 1);
    let fresh = written.iter().find(|cookie| cookie["name"] == "fresh").unwrap();
    assert_eq!(
        (&fresh["httpOnly"], &fresh["expires"], &fresh["domain"]),
        (&json!(true), &json!(-1), &json!("127.0.0.1"))
    );
}

#[tokio::test]
async fn sessions_that_close_side_by_side_keep_each_others_changes() {
    let kept = Kept::set().await;
    let origin = kept.site.origin();
    let host_cookie = |name: &str| json!({"name": name, "value": "old", "domain": "127.0.0.1", "path": "/"});
    let item = |name: &str| json!({"name": name, "value": "old"});
    kept.write(&json!({
        "cookies": [host_cookie("left"), host_cookie("changed"), host_cookie("deleted")],
        "origins": [{"origin": origin, "localStorage": [item("left"), item("changed"), item("deleted")]}],
    }));
    // Two engines, as two processes would have.
    let engines = [kept.engine(), kept.engine()];
    let sessions = [open(&engines[0]).await, open(&engines[1]).await];
    let pages = [
        "<script>document.cookie = 'changed=first; path=/'; document.cookie = 'first=1; path=/'; localStorage.changed = 'first'; \
         localStorage.first = '1'</script>",
        "<script>document.cookie = 'deleted=; path=/; max-age=0'; document.cookie = 'second=1; path=/'; \
         localStorage.removeItem('deleted'); localStorage.second = '1'</script>",
    ];
    for (session, page) in sessions.iter().zip(pages) {
        go(&session.tab(None).await.unwrap(), &kept.site.page(page)).await;
    }
    tokio::join!(sessions[0].close(), sessions[1].close());
    let state = kept.state();
    assert_eq!(cookies(&state), ["changed=first", "first=1", "left=old", "second=1"]);
    let mut items: Vec<_> = state["origins"][0]["localStorage"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| format!("{}={}", item["name"].as_str().unwrap(), item["value"].as_str().unwrap()))
        .collect();
    items.sort();
    assert_eq!(items, ["changed=first", "first=1", "left=old", "second=1"]);
    for engine in engines {
        engine.close().await;
    }
}

#[tokio::test]
async fn a_good_file_survives_every_session_that_has_nothing_to_add() {
    let kept = Kept::set().await;
    let engine = kept.engine();
    // No page was ever shown: no file is made.
    open(&engine).await.close().await;
    assert!(!kept.path.exists());

    // A damaged file stops the session, and stays.
    for damaged in ["", "{\"cookies\": [{\"name\": \"a\"", "{\"cookies\": {}}"] {
        fs::write(&kept.path, damaged).unwrap();
        let options = SessionOptions { id: "keeps".to_owned(), ..SessionOptions::default() };
        let error = engine.open_session(options).await.err().unwrap();
        let message = error.to_string();
        assert!(matches!(error, Error::StorageState(_)) && message.contains("state.json is damaged at"), "{message}");
        assert_eq!(kept.bytes(), damaged);
    }

    // A file that became damaged while a session ran stays, too.
    let good = json!({"cookies": [{"name": "a", "value": "1", "domain": "127.0.0.1", "path": "/"}], "origins": []});
    let good = kept.write(&good);
    let session = open(&engine).await;
    go(&session.tab(None).await.unwrap(), &kept.site.url("cookie/set?fresh=1")).await;
    fs::write(&kept.path, "broken").unwrap();
    session.close().await;
    assert_eq!(kept.bytes(), "broken");

    // Nor does a session whose browser died before it did anything.
    fs::write(&kept.path, &good).unwrap();
    let marker = format!("Dies/{}", std::process::id());
    let dying = kept.engine_with(open_policy(), Some(marker.clone()));
    let session = open(&dying).await;
    signal("KILL", browser_naming(&marker).unwrap());
    gone(&session).await;
    session.close().await;
    dying.close().await;
    assert_eq!(kept.bytes(), good);
    engine.close().await;
}

/// Waits until the session has told that its browser is gone.
async fn gone(session: &Session) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !matches!(session.tab(None).await, Err(Error::BrowserGone(_))) {
        assert!(Instant::now() < deadline, "the end was not noticed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn after_a_crash_the_fresh_browser_has_what_the_session_had_and_the_close_saves_it() {
    let kept = Kept::set().await;
    let marker = format!("Crashes/{}", std::process::id());
    let engine = kept.engine_with(open_policy(), Some(marker.clone()));
    let session = open(&engine).await;
    {
        let tab = session.tab(None).await.unwrap();
        told(&tab, &format!("{}?name=mine", kept.site.url("storage/keep.html"))).await;
    }
    // What is kept is looked at every second.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    signal("KILL", browser_naming(&marker).unwrap());
    gone(&session).await;
    let tab = session.tab(None).await.unwrap();
    let text = told(&tab, &kept.site.url("storage/keep.html")).await;
    assert!(text.contains("before: local=mine session=mine cookie=kept=mine database=mine"), "{text}");
    session.close().await;
    engine.close().await;
    assert_eq!(cookies(&kept.state()), ["kept=mine"]);
}

#[tokio::test]
async fn after_a_crash_a_session_without_a_file_has_its_cookies_still_and_nobody_elses() {
    let marker = format!("Forgets/{}", std::process::id());
    let site = TestSite::start().await;
    let engine = Engine::new(EngineOptions { user_agent: Some(marker.clone()), ..options(open_policy()) });
    let (session, other) = (open(&engine).await, open(&engine).await);
    for (session, query) in [(&session, "mine=1&attributes=HttpOnly"), (&other, "theirs=1")] {
        let tab = session.tab(None).await.unwrap();
        go(&tab, &site.url(&format!("cookie/set?{query}"))).await;
    }
    // What is kept is looked at every second.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    for round in 0..2 {
        signal("KILL", browser_naming(&marker).unwrap());
        gone(&session).await;
        let tab = session.tab(None).await.unwrap();
        go(&tab, &site.url("echo")).await;
        assert_eq!(site.requests().last().unwrap().header("cookie"), Some("mine=1"), "round {round}");
    }
    engine.close().await;
}

#[tokio::test]
async fn what_belongs_to_hosts_off_policy_stays_in_the_file_and_out_of_the_browser() {
    let kept = Kept::set().await;
    let other = kept.site.other_origin();
    let cookie = |domain: &str| {
        json!({"name": "kept", "value": "old", "domain": domain, "path": "/", "expires": -1,
        "httpOnly": false, "secure": false})
    };
    let before = json!({
        "cookies": [cookie("127.0.0.1"), cookie("127.0.0.2"), cookie("elsewhere.test")],
        "origins": [{"origin": other, "localStorage": [{"name": "kept", "value": "old"}]}],
    });
    kept.write(&before);
    let config = PolicyConfig {
        allowed_hosts: vec!["127.0.0.1".parse().unwrap()],
        allow_private_network: true,
        ..PolicyConfig::default()
    };
    let narrow = kept.engine_with(Policy::new(config), None);
    let session = open(&narrow).await;
    go(&session.tab(None).await.unwrap(), &kept.site.url("cookie/set?fresh=1")).await;
    session.close().await;
    let state = kept.state();
    assert_eq!(cookies(&state), ["fresh=1", "kept=old", "kept=old", "kept=old"]);
    assert_eq!(state["origins"], before["origins"]);
    let refused = narrow.ledger().recent(None, 1000);
    assert!(refused.iter().all(|entry| entry.host == "127.0.0.1"), "{refused:?}");
    narrow.close().await;

    // The same file under a policy that opens them.
    let wide = kept.engine();
    let session = open(&wide).await;
    go(&session.tab(None).await.unwrap(), &kept.site.other_url("echo")).await;
    assert_eq!(kept.site.requests().last().unwrap().header("cookie"), Some("kept=old"));
    wide.close().await;
}

#[tokio::test]
async fn a_page_does_not_notice_that_its_storage_is_read() {
    let kept = Kept::set().await;
    let engine = kept.engine();
    let session = open(&engine).await;
    let tab = session.tab(None).await.unwrap();
    go(&tab, &kept.site.url("storage/watches.html")).await;
    // Longer than it takes until the storage is looked at.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(kept.site.reports(), []);
    go(&tab, &kept.site.other_url("storage/keep.html")).await;
    let left = kept.site.wait_report(|report| report.value == "pagehide", Duration::from_secs(5)).await;
    assert!(left.is_some(), "the page would have told");
    session.close().await;
    engine.close().await;
    assert!(Path::new(&kept.path).exists());
}
