//! Commands for people and scripts.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::client::{bathy, folder};

struct Ran {
    code: i32,
    out: String,
    err: String,
}

async fn run(home: &Path, arguments: &[&str]) -> Ran {
    run_with(home, arguments, &[]).await
}

async fn run_with(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let output = bathy(home).args(arguments).envs(variables.iter().copied()).output().await.unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[tokio::test]
async fn doctor_says_that_pages_can_be_opened_here() {
    let home = folder();
    let ran = run(home.path(), &["doctor", "--json"]).await;
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(ran.code, 0);
    assert!(answer["data"]["containment"].is_string(), "{answer}");
    let told = run(home.path(), &["doctor", "--no-launch"]).await;
    assert!(told.out.contains("browser") && told.code == 0, "{}", told.out);
}

#[tokio::test]
async fn doctor_fails_where_there_is_no_browser_and_says_what_to_do() {
    let home = folder();
    for flags in [&["doctor", "--json"][..], &["doctor", "--json", "--no-launch"]] {
        let arguments = [flags, &["--executable-path", "/nowhere/chromium"]].concat();
        let ran = run(home.path(), &arguments).await;
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(answer["error"]["code"], "BROWSER_MISSING_BINARY", "{answer}");
        assert!(answer["error"]["hint"].as_str().unwrap().contains("executablePath"), "{answer}");
        assert_eq!(ran.code, 4);
    }
    let told = run(home.path(), &["doctor", "--executable-path", "/nowhere/chromium"]).await;
    assert!(told.out.contains("BAD") && told.out.contains("->"), "{}", told.out);
    assert_eq!(told.code, 4);
}

#[tokio::test]
async fn what_cannot_be_used_stops_the_start_with_key_reason_and_nearest_key() {
    let home = folder();
    let file = home.path().join("bathy.toml");
    let path = file.to_str().unwrap();
    fs::write(&file, "allowedHost = [\"a.test\"]").unwrap();
    for (arguments, variables, expected) in [
        (&["mcp", "--config", path][..], &[][..], "did you mean `allowedHosts`?"),
        (&["mcp", "--allowed-hosts", "http://a.test/"], &[], "`allowedHosts` from --allowed-hosts cannot be used"),
        (&["mcp", "--max-sessions", "0"], &[], "write a number from 1 to 1000"),
        (&["mcp", "--config", "/nowhere.toml"], &[], "/nowhere.toml cannot be read"),
        (&["mcp"], &[("BATHY_MAX_SESSION", "3")], "did you mean `BATHY_MAX_SESSIONS`?"),
        (&["mcp", "--ledger-file", "/nowhere/ledger"], &[], "`ledgerFile` cannot be used"),
        (&["mcp", "--proxy-server", "ftp://a:sesame@b"], &[], "`proxyServer` from --proxy-server cannot be used"),
    ] {
        let ran = run_with(home.path(), arguments, variables).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(expected) && ran.out.is_empty(), "{expected} in {}", ran.err);
        assert!(!ran.err.contains("sesame"), "{}", ran.err);
    }
}

#[tokio::test]
async fn failures_are_json_where_json_is_asked_for_misuse_too() {
    let home = folder();
    for arguments in [
        &["doctor", "--json", "--nonsense"][..],
        &["tools", "--json", "extra"],
        &["config", "show", "--json", "--viewport", "big"],
    ] {
        let ran = run(home.path(), arguments).await;
        let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err));
        assert_eq!(answer["ok"], false);
        assert_eq!(answer["error"]["code"], "BROWSER_INVALID_ARGUMENT", "{answer}");
        assert_eq!(answer["error"]["retryable"], false);
        assert_eq!(ran.code, 2);
    }
}

#[tokio::test]
async fn the_configuration_in_force_is_shown_with_its_origins() {
    let home = folder();
    let folder = home.path().join(".config/bathysphere");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("config.toml"),
        "maxSessions = 2\nheadless = true\nproxyServer = \"http://ada:sesame@p.test:1\"",
    )
    .unwrap();
    let arguments = ["config", "show", "--json", "--allow-private-network=false", "--allowed-hosts", "a.test,b.test"];
    let ran = run_with(home.path(), &arguments, &[("BATHY_MAX_SESSIONS", "3")]).await;
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    let data = &answer["data"];
    assert_eq!(data["maxSessions"]["value"], "3");
    assert_eq!(data["maxSessions"]["origin"], "$BATHY_MAX_SESSIONS");
    assert!(data["headless"]["origin"].as_str().unwrap().ends_with(".config/bathysphere/config.toml"));
    assert_eq!(data["allowPrivateNetwork"]["value"], "false");
    assert_eq!(data["allowedHosts"]["value"], "a.test,b.test");
    assert_eq!(data["actionTimeoutMs"]["origin"], "default");
    assert_eq!(data["proxyServer"]["value"], "http://p.test:1");
    let told = run(home.path(), &["config", "show"]).await;
    assert!(told.out.contains("maxSessions") && !told.out.contains("sesame"), "{}", told.out);
}

#[tokio::test]
async fn a_configuration_in_the_working_folder_is_not_read() {
    let home = folder();
    fs::write(home.path().join("config.toml"), "nonsense = 1").unwrap();
    fs::write(home.path().join("bathysphere.toml"), "nonsense = 1").unwrap();
    let output = bathy(home.path()).current_dir(home.path()).args(["config", "show"]).output().await.unwrap();
    assert!(output.status.success());
}

#[tokio::test]
async fn tools_help_and_completions_are_printed() {
    let home = folder();
    let tools = run(home.path(), &["tools", "--json"]).await;
    let answer: Value = serde_json::from_str(&tools.out).unwrap();
    assert!(answer["data"].as_array().unwrap().iter().any(|tool| tool["name"] == "browser_click"));
    assert!(run(home.path(), &["tools"]).await.out.contains("browser_navigate"));
    let help = run(home.path(), &["mcp", "--help"]).await;
    assert!(help.out.contains("--allowed-hosts") && help.out.contains("--embedded"), "{}", help.out);
    assert!(run(home.path(), &["completions", "bash"]).await.out.contains("bathy"));
    assert_eq!(run(home.path(), &["--version"]).await.code, 0);
    assert_eq!(run(home.path(), &[]).await.code, 2);
}

#[tokio::test]
async fn the_documentation_is_written_the_same_every_time() {
    let home = folder();
    let mut written = Vec::new();
    for name in ["first", "second"] {
        let folder = home.path().join(name);
        let ran = run(home.path(), &["__docs", folder.to_str().unwrap()]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
        written.push((read("tools.md"), read("configuration.md"), read("schema/tools.json")));
    }
    assert_eq!(written[0], written[1]);
    assert!(written[0].0.contains("BROWSER_TIMEOUT") && written[0].1.contains("`--allowed-hosts`"));
}
