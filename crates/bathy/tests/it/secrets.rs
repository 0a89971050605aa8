//! Secrets of the operator, seen from outside: the file, and everything that the program writes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bathy_testsite::TestSite;
use serde_json::json;
use tokio::io::AsyncReadExt;

use crate::client::{Client, bathy, folder};

const VALUE: &str = "Tr0ub4dor3";

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn a_secret_is_typed_and_neither_answers_nor_log_nor_ledger_tell_it() {
    let site = TestSite::start().await;
    let home = folder();
    let (file, ledger) = (home.path().join("secrets.toml"), home.path().join("ledger.jsonl"));
    write(&file, &format!("[shop]\nvalue = \"{VALUE}\"\nhosts = [\"127.0.0.1\"]\n"), 0o600);
    let flags = [
        "--allow-private-network",
        "--secrets-file",
        file.to_str().unwrap(),
        "--ledger-file",
        ledger.to_str().unwrap(),
    ];
    let mut client = Client::start_with(&flags, &[("BATHY_LOG", Path::new("trace"))]);
    let mut errors = client.process.stderr.take().unwrap();
    let log = tokio::spawn(async move {
        let mut bytes = Vec::new();
        errors.read_to_end(&mut bytes).await.unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    client.initialize().await;
    client.ok("browser_navigate", json!({"url": site.url("secrets/echoes.html")})).await;
    let mut left = client.ok("browser_fill", json!({"selector": "#password", "value": {"secret": "shop"}})).await;
    let arrived = site.wait_request(|request| request.path.contains(VALUE), std::time::Duration::from_secs(5)).await;
    assert!(arrived.is_some());
    left += &client.ok("browser_snapshot", json!({})).await;
    left += &client.err("browser_navigate", json!({"url": format!("http://{VALUE}.test/")})).await;
    left += &client.err("browser_navigate", json!({"url": format!("ftp://{VALUE}.test/")})).await;
    client.end_input();
    assert_eq!(client.exit_code().await, Some(0));
    let (log, ledger) = (log.await.unwrap(), fs::read_to_string(&ledger).unwrap());
    assert!(log.len() > 10_000 && ledger.lines().count() > 3 && left.contains("[secret shop]"));
    for (what, text) in [("answers", left), ("log", log), ("ledger", ledger)] {
        let text = text.to_lowercase();
        let hex: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
        for trace in [VALUE.to_lowercase(), hex] {
            if let Some(at) = text.find(&trace) {
                let context: String =
                    text[..at].chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect();
                panic!("{what} tell {trace} after {context}");
            }
        }
    }
}

#[tokio::test]
async fn a_file_of_secrets_that_others_can_read_stops_the_start_and_says_what_to_do() {
    let home = folder();
    let file = home.path().join("secrets.toml");
    let good = format!("[shop]\nvalue = \"{VALUE}\"\nhosts = [\"127.0.0.1\"]\n");
    let short = good.replace(VALUE, "abc");
    for (text, mode, reason) in [
        (good.as_str(), 0o644, "its mode is 644; run `chmod 600 "),
        (short.as_str(), 0o600, "the value of `shop` is shorter than 4 characters"),
        ("nonsense", 0o600, "is not part of a table of secrets"),
    ] {
        write(&file, text, mode);
        let output = bathy(home.path()).args(["mcp", "--secrets-file", file.to_str().unwrap()]).output().await.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("`secretsFile` cannot be used: ") && told.contains(reason), "{told}");
        assert!(!told.contains(VALUE), "{told}");
    }
}
