//! Our names against those of the browser that is installed.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A browser that serves nothing but its protocol's description, ended when dropped.
struct Browser {
    child: Child,
    home: tempfile::TempDir,
}

impl Browser {
    fn start() -> Self {
        let executable = ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium-headless-shell"]
            .into_iter()
            .find(|path| Path::new(path).exists())
            .expect("the package chromium-headless-shell is installed");
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(executable);
        command
            .args(["--remote-debugging-port=0", "--disable-background-networking", "--no-first-run", "about:blank"])
            .arg(format!("--user-data-dir={}", home.path().join("profile").display()))
            .env("HOME", home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        run_unprivileged(&mut command, home.path());
        Self { child: command.spawn().unwrap(), home }
    }

    fn protocol(&self) -> Value {
        let file = self.home.path().join("profile/DevToolsActivePort");
        let deadline = Instant::now() + Duration::from_secs(30);
        let port: u16 = loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some(port) = text.lines().next().and_then(|line| line.parse().ok()) {
                break port;
            }
            assert!(Instant::now() < deadline, "the browser does not listen");
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(b"GET /json/protocol HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut bytes = Vec::new();
        let mut chunk = vec![0; 65_536];
        loop {
            match stream.read(&mut chunk) {
                Ok(0) | Err(_) => break,
                Ok(read) => bytes.extend_from_slice(&chunk[..read]),
            }
            if let Some(value) = body(&bytes) {
                return value;
            }
        }
        body(&bytes).expect("a description of the protocol")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The browser's sandbox does not work for root, and is not to be switched off.
fn run_unprivileged(command: &mut Command, home: &Path) {
    use std::os::unix::fs::{MetadataExt, chown};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    if std::fs::metadata(home).unwrap().uid() == 0 {
        chown(home, Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
}

fn body(response: &[u8]) -> Option<Value> {
    let start = response.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    serde_json::from_slice(&response[start..]).ok()
}

/// `snake_case` to `camelCase`, as the types are serialised; raw identifiers lose their mark.
fn camel(name: &str) -> String {
    let mut words = name.trim_start_matches("r#").split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let mut letters = word.chars();
        text + &letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default() + letters.as_str()
    })
}

#[test]
fn every_command_event_and_parameter_is_one_of_the_browsers() {
    let browser = Browser::start();
    let protocol = browser.protocol();
    let mut known: HashMap<String, HashSet<String>> = HashMap::new();
    for domain in protocol["domains"].as_array().unwrap() {
        for kind in ["commands", "events"] {
            for method in domain[kind].as_array().into_iter().flatten() {
                let name = format!("{}.{}", domain["domain"].as_str().unwrap(), method["name"].as_str().unwrap());
                let parameters = method["parameters"].as_array().into_iter().flatten();
                known
                    .insert(name, parameters.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect());
            }
        }
    }
    assert!(known.len() > 300, "only {} methods", known.len());
    let mut drifted = Vec::new();
    for (method, parameters) in bathy_cdp::protocol::known() {
        match known.get(method) {
            None => drifted.push(method.to_owned()),
            Some(names) => {
                let missing = parameters.iter().map(|name| camel(name)).filter(|name| !names.contains(name));
                drifted.extend(missing.map(|name| format!("{method} {name}")));
            }
        }
    }
    assert_eq!(drifted, Vec::<String>::new());
}
