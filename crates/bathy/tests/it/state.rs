//! The file that sessions keep their cookies and storage in.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bathy_testsite::TestSite;
use bathy_testsite::processes::signal;
use serde_json::{Value, json};

use crate::client::{Client, bathy, folder, text};

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

async fn state(home: &Path, kept: &Path, arguments: &[&str]) -> Ran {
    let mut command = bathy(home);
    command.arg("state").args(arguments).arg("--storage-state-path").arg(kept);
    let output = command.output().await.unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    Ran { code: output.status.code(), out, err }
}

fn cookies(kept: &Path) -> Vec<String> {
    let state: Value = serde_json::from_str(&fs::read_to_string(kept).unwrap()).unwrap();
    let names = state["cookies"].as_array().unwrap().iter().map(|cookie| cookie["name"].as_str().unwrap().to_owned());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

async fn comes_to_be(mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(5), "it did not come to be");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn every_way_in_which_a_session_ends_keeps_what_it_got_and_what_others_got() {
    let site = TestSite::start().await;
    let home = folder();
    let kept = home.path().join("kept/state.json");
    let flags =
        ["--allow-private-network", "--storage-state-path", kept.to_str().unwrap(), "--session-idle-ms", "1000"];
    // The first process lives through the ends of all others, and has read the file before any of them.
    let mut first = Client::open_with(&flags[..3]).await;
    first.ok("browser_navigate", json!({"url": site.url("cookie/set?close=1")})).await;
    let mut expected = Vec::new();
    for way in ["input", "TERM", "stop", "idle"] {
        let mut client = Client::open_with(if way == "idle" { &flags } else { &flags[..3] }).await;
        client.ok("browser_navigate", json!({"url": site.url(&format!("cookie/set?{way}=1"))})).await;
        expected.push(way.to_owned());
        match way {
            "input" => client.end_input(),
            "stop" => drop(client.ok("browser_session_stop", json!({})).await),
            "idle" => comes_to_be(|| cookies(&kept).contains(&"idle".to_owned())).await,
            name => signal(name, client.id()),
        }
        if way == "input" || way == "TERM" {
            assert_eq!(client.exit_code().await, Some(0), "{way}");
        }
        expected.sort();
        assert_eq!(cookies(&kept), expected, "{way}");
    }
    first.ok("browser_close", json!({})).await;
    expected.push("close".to_owned());
    expected.sort();
    assert_eq!(cookies(&kept), expected);

    let mut last = Client::open_with(&flags[..3]).await;
    last.ok("browser_navigate", json!({"url": site.url("echo")})).await;
    let sent = site.requests().last().unwrap().header("cookie").unwrap_or_default().to_owned();
    for way in &expected {
        assert!(sent.contains(&format!("{way}=1")), "{way}: {sent}");
    }
}

#[tokio::test]
async fn a_damaged_file_is_told_to_whoever_starts_a_session_and_stays() {
    let home = folder();
    let kept = home.path().join("state.json");
    fs::write(&kept, "{\"cookies\": [}").unwrap();
    let mut client = Client::open_with(&["--storage-state-path", kept.to_str().unwrap()]).await;
    let answer = client.call("browser_session_start", json!({})).await;
    let told = text(&answer);
    assert!(told.starts_with("BROWSER_LAUNCH_FAILED: the storage state cannot be used: "), "{told}");
    assert!(told.contains("state.json is damaged at cookies") && told.contains("line 1 column 14"), "{told}");
    client.ok("browser_close", json!({})).await;
    assert_eq!(fs::read_to_string(&kept).unwrap(), "{\"cookies\": [}");
}

#[tokio::test]
async fn states_are_imported_merged_replaced_and_exported() {
    let home = folder();
    let kept = home.path().join("state.json");
    let give = |name: &str, text: &str| {
        let path = home.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let nothing = state(home.path(), &kept, &["export", "-"]).await;
    assert!(nothing.code == Some(2) && nothing.err.contains("is not there"), "{}", nothing.err);

    let playwrights = give(
        "playwright.json",
        r#"{"cookies": [{"name": "a", "value": "1", "domain": "a.test", "path": "/", "expires": -1, "httpOnly": true,
            "secure": false, "sameSite": "Lax"}], "origins": [{"origin": "https://a.test", "localStorage": []}]}"#,
    );
    let imported = state(home.path(), &kept, &["import", &playwrights]).await;
    assert!(imported.out.starts_with("imported 1 cookies and 1 origins into "), "{}{}", imported.out, imported.err);
    let netscape = give("cookies.txt", "# Netscape HTTP Cookie File\n.b.test\tTRUE\t/\tTRUE\t0\tb\t2\n");
    let imported = state(home.path(), &kept, &["import", &netscape, "--json"]).await;
    let answer: Value = serde_json::from_str(&imported.out).unwrap();
    assert_eq!((&answer["ok"], &answer["data"]["cookies"]), (&json!(true), &json!(1)));
    assert_eq!(cookies(&kept), ["a", "b"]);

    let exported = state(home.path(), &kept, &["export", "-"]).await;
    assert_eq!(exported.out, fs::read_to_string(&kept).unwrap());
    let target = home.path().join("exported.json");
    let ran = state(home.path(), &kept, &["export", target.to_str().unwrap()]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(fs::read(&target).unwrap(), fs::read(&kept).unwrap());
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&target).unwrap().permissions()) & 0o777, 0o600);
    // Neither an export nor a bad import destroys anything.
    let again = state(home.path(), &kept, &["export", target.to_str().unwrap()]).await;
    assert!(again.code == Some(7) && again.err.contains("Name a file that is not there yet"), "{}", again.err);
    let good = fs::read_to_string(&kept).unwrap();
    for (name, bad, reason) in [
        ("bad.json", "{\"cookies\": 1}", "cookies (line 1 column 13): invalid type"),
        ("bad.txt", "no cookies here", "line 1: it has not seven fields"),
        ("list.json", "[]", "line 1 column 0: invalid type"),
    ] {
        let ran = state(home.path(), &kept, &["import", &give(name, bad)]).await;
        assert!(ran.code == Some(2) && ran.err.contains(reason) && ran.err.contains(name), "{}", ran.err);
    }
    let missing = state(home.path(), &kept, &["import", "/nowhere/state.json"]).await;
    assert!(missing.code == Some(2) && missing.err.contains("/nowhere/state.json cannot be read"), "{}", missing.err);
    assert_eq!(fs::read_to_string(&kept).unwrap(), good);

    let replaced = state(home.path(), &kept, &["import", &netscape, "--replace"]).await;
    assert_eq!(replaced.code, Some(0));
    assert_eq!(cookies(&kept), ["b"]);
    let unset = bathy(home.path()).args(["state", "export", "-"]).output().await.unwrap();
    let unset = String::from_utf8(unset.stderr).unwrap();
    assert!(unset.contains("`storageStatePath` is not set") && unset.contains("--storage-state-path FILE"), "{unset}");
}
