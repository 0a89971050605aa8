//! Speaks MCP with a `bathy mcp` of its own, as a host does.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// What an honest answer never needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The program, with a home folder of its own and nothing of the surroundings but the path.
pub(crate) fn bathy(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bathy"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home).env("LANG", "C.UTF-8");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// A folder that the browser's own user may pass through.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o711)).unwrap();
    folder
}

/// A running server and what it said that nobody asked for yet.
pub(crate) struct Client {
    pub(crate) process: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    unread: VecDeque<Value>,
    last_id: u64,
    /// Fields for `_meta` of every request, in the stateless era.
    meta: Option<Value>,
    /// Removed with the client.
    _home: tempfile::TempDir,
}

impl Client {
    /// Starts a server and does not say anything yet.
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::start_with(flags, &[])
    }

    pub(crate) fn start_with(flags: &[&str], variables: &[(&str, &Path)]) -> Self {
        let home = folder();
        let mut command = bathy(home.path());
        command.args(["mcp", "--embedded"]).args(flags).envs(variables.iter().copied());
        // Who asks for a log reads it.
        let errors =
            if variables.iter().any(|variable| variable.0 == "BATHY_LOG") { Stdio::piped() } else { Stdio::null() };
        let mut process = command.stdin(Stdio::piped()).stderr(errors).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        let input = process.stdin.take();
        Self { process, input, output, unread: VecDeque::new(), last_id: 0, meta: None, _home: home }
    }

    /// Starts a server that may open loopback, and shakes hands in the old way.
    pub(crate) async fn open() -> Self {
        Self::open_with(&["--allow-private-network"]).await
    }

    pub(crate) async fn open_with(flags: &[&str]) -> Self {
        let mut client = Self::start(flags);
        client.initialize().await;
        client
    }

    pub(crate) async fn initialize(&mut self) -> Value {
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}
        });
        let answer = self.request("initialize", hello).await;
        self.notify("notifications/initialized", json!({})).await;
        answer["result"].clone()
    }

    /// Speaks the stateless era from now on: each request says who asks and in which revision.
    pub(crate) fn stateless(&mut self) {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }));
    }

    /// Sends a request and gives its id.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if let Some(Value::Object(meta)) = &self.meta {
            let own = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
            own.as_object_mut().unwrap().extend(meta.clone());
        }
        self.write(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}).to_string())
            .await;
        self.last_id
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await;
    }

    /// Writes a line as it is.
    pub(crate) async fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    /// The answer to a request.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        self.find(|message| message["id"] == id).await.unwrap_or_else(|| panic!("no answer to request {id}"))
    }

    /// The first message like this, read already or yet to come; none when nothing comes any more.
    pub(crate) async fn find(&mut self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        if let Some(index) = self.unread.iter().position(&wanted) {
            return self.unread.remove(index);
        }
        loop {
            let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await.ok()?.unwrap()?;
            let message: Value = serde_json::from_str(&line).unwrap();
            if wanted(&message) {
                return Some(message);
            }
            self.unread.push_back(message);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer(id).await
    }

    /// Sends a call of a tool and gives its id.
    pub(crate) async fn send_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Calls a tool and gives the result, an error too.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.send_call(tool, arguments).await;
        let answer = self.answer(id).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that has to succeed, and gives its text.
    pub(crate) async fn ok(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        text(&result)
    }

    /// Calls a tool that has to fail, and gives its text.
    pub(crate) async fn err(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        text(&result)
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id().unwrap()
    }

    /// Ends the input, as a host does that goes away.
    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }

    /// What the server exits with.
    pub(crate) async fn exit_code(&mut self) -> Option<i32> {
        tokio::time::timeout(PATIENCE, self.process.wait()).await.expect("an end").unwrap().code()
    }
}

/// The text content of a result.
pub(crate) fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The ref on the first line of an outline that holds this.
pub(crate) fn reference(outline: &str, what: &str) -> String {
    let line = outline.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{what} in {outline}"));
    line.split_whitespace().find(|word| word.starts_with("@e")).unwrap().to_owned()
}
