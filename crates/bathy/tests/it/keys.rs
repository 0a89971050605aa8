//! The keys of the configuration, seen from outside: where they may stand and what they do.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bathy_testsite::TestSite;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::client::{Client, bathy, folder};

/// Each key of the harness's plugin: its default as shown, a value as a flag and in a file, and how that is shown.
const KEYS: &[(&str, &str, &str, &str, &str)] = &[
    ("allowedHosts", "", "a.test,b.test", "[\"a.test\", \"b.test\"]", "a.test,b.test"),
    ("allowPrivateNetwork", "false", "true", "true", "true"),
    ("headless", "true", "false", "false", "false"),
    ("executablePath", "", "/opt/chromium", "\"/opt/chromium\"", "/opt/chromium"),
    ("userAgent", "", "agent/1.0 (test)", "\"agent/1.0 (test)\"", "agent/1.0 (test)"),
    (
        "proxyServer",
        "",
        "socks5://ann:s3cret@proxy.test",
        "\"socks5://ann:s3cret@proxy.test\"",
        "socks5://proxy.test:1080",
    ),
    ("proxyBypass", "", "a.test,10.0.0.0/8", "[\"a.test\", \"10.0.0.0/8\"]", "a.test,10.0.0.0/8"),
    ("navigationTimeoutMs", "30000", "1", "1", "1"),
    ("actionTimeoutMs", "15000", "1", "1", "1"),
    ("maxTextChars", "20000", "1", "1", "1"),
    ("artifactsDir", "", "/var/artifacts", "\"/var/artifacts\"", "/var/artifacts"),
    ("uploadsDir", "", "/var/uploads", "\"/var/uploads\"", "/var/uploads"),
    ("storageStatePath", "", "/var/state.json", "\"/var/state.json\"", "/var/state.json"),
];

async fn show(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    let mut command = bathy(home);
    command.args(["config", "show", "--json"]).args(arguments).envs(variables.iter().copied());
    let output = command.output().await.unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["ok"], true, "{answer}");
    answer["data"].clone()
}

fn words(key: &str, separator: char) -> String {
    key.chars().flat_map(|c| c.is_uppercase().then_some(separator).into_iter().chain([c])).collect()
}

#[tokio::test]
async fn every_key_of_the_harness_has_its_default_and_is_taken_from_file_environment_and_flag() {
    let home = folder();
    let defaults = show(home.path(), &[], &[]).await;
    let file = home.path().join("all.toml");
    let lines: String = KEYS.iter().map(|(key, _, _, toml, _)| format!("{key} = {toml}\n")).collect();
    fs::write(&file, lines).unwrap();
    let from_file = show(home.path(), &["--config", file.to_str().unwrap()], &[]).await;
    let variables: Vec<_> =
        KEYS.iter().map(|key| (format!("BATHY_{}", words(key.0, '_').to_uppercase()), key.2)).collect();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let from_environment = show(home.path(), &[], &variables).await;
    let flags: Vec<_> = KEYS.iter().map(|key| format!("--{}={}", words(key.0, '-').to_lowercase(), key.2)).collect();
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let from_flags = show(home.path(), &flags, &[]).await;
    for (key, default, _, _, shown) in KEYS {
        assert_eq!(defaults[key], json!({"value": default, "origin": "default"}), "{key}");
        assert_eq!(from_file[key], json!({"value": shown, "origin": file.to_str()}), "{key}");
        assert_eq!(from_environment[key]["value"], *shown, "{key}");
        assert!(from_environment[key]["origin"].as_str().unwrap().starts_with("$BATHY_"), "{key}");
        assert_eq!(from_flags[key]["value"], *shown, "{key}");
        assert!(from_flags[key]["origin"].as_str().unwrap().starts_with("--"), "{key}");
    }
    // The harness's own variable for its proxy counts where nothing else is set.
    let theirs = show(home.path(), &[], &[("DSH_BROWSER_PROXY", "http://proxy.test:7890")]).await;
    assert_eq!(theirs["proxyServer"], json!({"value": "http://proxy.test:7890", "origin": "$DSH_BROWSER_PROXY"}));
}

#[tokio::test]
async fn a_value_that_a_key_cannot_take_stops_the_start_with_key_and_reason() {
    let home = folder();
    for (flag, reason) in [
        ("--allowed-hosts=http://a.test/", "`allowedHosts` from --allowed-hosts cannot be used"),
        ("--allow-private-network=yes", "'yes'"),
        ("--proxy-server=ftp://proxy.test", "a proxy of the kind `ftp` is not supported"),
        ("--proxy-server=http://ann:s3cret@proxy.test/path", "the proxy has a path"),
        ("--proxy-bypass=exa mple", "`exa mple` in the proxy bypass list is not a host"),
        ("--navigation-timeout-ms=0", "write a number from 1 to"),
        ("--action-timeout-ms=soon", "write a whole number"),
        ("--max-text-chars=-1", "write a whole number"),
        ("--user-agent=a\nb", "it holds characters that cannot stand in a header"),
        ("--storage-state-path=", "it is empty; leave the key out instead"),
        ("--executable-path= ", "it is empty; leave the key out instead"),
    ] {
        let output = bathy(home.path()).args(["config", "show", flag]).output().await.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flag}");
        assert!(told.contains(reason) && !told.contains("s3cret"), "{flag}: {told}");
    }
}

/// A proxy that takes `CONNECT` from anybody, and what it was asked for.
async fn proxy() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, asked) = (listener.local_addr().unwrap().to_string(), Arc::new(Mutex::new(Vec::new())));
    let log = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let log = Arc::clone(&log);
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                let target = head.split(' ').nth(1).unwrap().to_owned();
                log.lock().unwrap().push(head);
                let mut site = TcpStream::connect(target).await.unwrap();
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut site).await;
            });
        }
    });
    (address, asked)
}

#[tokio::test]
async fn a_proxy_gets_what_the_policy_allows_and_never_hears_of_a_refused_host() {
    let site = TestSite::start().await;
    let (proxy, asked) = proxy().await;
    let port = site.addresses()[0].port();
    let server = format!("http://ann:s3cret@{proxy}");
    let mut client = Client::open_with(&[
        "--allow-private-network",
        "--allowed-hosts=site.test,direct.test,refused-address.test",
        "--host-overrides=site.test=127.0.0.1,direct.test=127.0.0.1,refused.test=127.0.0.1",
        "--proxy-server",
        &server,
        "--proxy-bypass=direct.test",
    ])
    .await;
    client.ok("browser_navigate", json!({"url": format!("http://direct.test:{port}/echo")})).await;
    assert_eq!(asked.lock().unwrap().len(), 0);
    client.ok("browser_navigate", json!({"url": format!("http://site.test:{port}/echo")})).await;
    for url in [
        format!("http://refused.test:{port}/"),
        format!("http://site.test:{port}/redirect/302?to=http://refused.test:{port}/"),
        "https://refused.test/".to_owned(),
    ] {
        let failure = client.err("browser_navigate", json!({"url": url})).await;
        assert!(failure.starts_with("BROWSER_HOST_NOT_ALLOWED"), "{url}: {failure}");
    }
    let asked = asked.lock().unwrap().clone();
    assert!(!asked.is_empty());
    let credentials = "proxy-authorization: Basic YW5uOnMzY3JldA==";
    for head in asked {
        assert!(head.starts_with(&format!("CONNECT 127.0.0.1:{port} ")), "an address that was checked: {head}");
        assert!(head.to_ascii_lowercase().contains(&credentials.to_ascii_lowercase()), "{head}");
    }
    assert!(site.requests().iter().all(|request| request.header("proxy-authorization").is_none()));
}
