use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bathy_chromium::{Containment, LaunchOptions, Launched, Lookup, find, launch};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Options for the browser of this machine with a parent directory of the test's own.
pub(crate) fn options(containment: Containment, parent: &Path) -> LaunchOptions {
    let executable = find(&Lookup::of_this_process()).expect("a browser is installed");
    LaunchOptions {
        containment,
        parent_directory: Some(parent.to_owned()),
        deadline: PATIENCE,
        ..LaunchOptions::new(executable)
    }
}

/// Options for a program that need not be a browser.
pub(crate) fn options_for(program: &Path, parent: &Path) -> LaunchOptions {
    let lookup = Lookup { executable_path: Some(program.to_owned()), ..Lookup::of_this_process() };
    LaunchOptions { executable: find(&lookup).unwrap(), ..options(Containment::Auto, parent) }
}

/// A shell script.
pub(crate) fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A directory that the browser's user can pass through.
pub(crate) fn parent() -> tempfile::TempDir {
    let parent = tempfile::Builder::new().prefix("test-of-chromium-").tempdir_in("/tmp").unwrap();
    fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o711)).unwrap();
    parent
}

pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A launched browser with a hand-written protocol client.
pub(crate) struct Driven {
    pub(crate) launched: Launched,
    received: Vec<u8>,
    next: u64,
}

impl Driven {
    pub(crate) async fn launch(options: LaunchOptions) -> Self {
        Self { launched: launch(options).await.unwrap(), received: Vec::new(), next: 1 }
    }

    /// Sends a command and waits for its result.
    pub(crate) async fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut command = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.launched.writer.write_all(format!("{command}\0").as_bytes()).await.unwrap();
        let answer = async {
            loop {
                while let Some(end) = self.received.iter().position(|byte| *byte == 0) {
                    let message: Value = serde_json::from_slice(&self.received[..end]).unwrap();
                    self.received.drain(..=end);
                    if message["id"] == id {
                        return message;
                    }
                }
                assert_ne!(self.launched.reader.read_buf(&mut self.received).await.unwrap(), 0);
            }
        };
        let message = tokio::time::timeout(PATIENCE, answer).await.unwrap();
        assert!(message.get("error").is_none(), "{method}: {message}");
        message["result"].clone()
    }

    /// A page in a context of its own, behind a proxy of its own; comes back as a protocol session.
    pub(crate) async fn page(&mut self, proxy: &str, url: &str) -> String {
        let context = self
            .call(None, "Target.createBrowserContext", json!({"proxyServer": proxy, "proxyBypassList": "<-loopback>"}))
            .await["browserContextId"]
            .clone();
        let target =
            self.call(None, "Target.createTarget", json!({"url": url, "browserContextId": context})).await["targetId"]
                .clone();
        let attached = json!({"targetId": target, "flatten": true});
        let session = self.call(None, "Target.attachToTarget", attached).await;
        session["sessionId"].as_str().unwrap().to_owned()
    }

    /// The value of an expression, awaited.
    pub(crate) async fn evaluate(&mut self, session: &str, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        self.call(Some(session), "Runtime.evaluate", parameters).await["result"]["value"].clone()
    }

    pub(crate) fn id(&self) -> u32 {
        self.launched.process.pid()
    }
}

/// Waits until `condition` holds; what it takes is bounded, what it returns is whether it came to hold.
pub(crate) fn comes_true(within: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + within;
    while !condition() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}
