//! A small MCP client over standard input and output: one call at a time, newline-delimited JSON-RPC 2.0.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::problem::{Doing as _, Problem};

/// Longer than any call may take by default.
const PATIENCE: Duration = Duration::from_secs(90);

/// How long the server may take to leave once its input has ended.
const FAREWELL: Duration = Duration::from_secs(10);

/// The revision of the protocol that is asked for.
const REVISION: &str = "2025-06-18";

/// A running server.
pub(crate) struct McpClient {
    server: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    next_id: u64,
}

impl McpClient {
    /// Starts a server and greets it. It is killed when the client is dropped.
    pub(crate) async fn start<I, S>(program: &Path, arguments: I) -> Result<Self, Problem>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let starting = || format!("start {}", program.display());
        let mut server = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .doing(starting)?;
        let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
            return Err(Problem::ServerEnded { method: "initialize".to_owned() });
        };
        let mut client = Self { server, input, output: BufReader::new(output).lines(), next_id: 0 };
        let about_us = json!({"name": "bathysphere-xtask", "version": env!("CARGO_PKG_VERSION")});
        let greeting = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": about_us});
        client.request("initialize", greeting).await?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(client)
    }

    /// The server's process id, while it runs.
    pub(crate) fn process_id(&self) -> Option<u32> {
        self.server.id()
    }

    /// Calls a tool and gives the text of its answer.
    pub(crate) async fn tool(&mut self, name: &str, arguments: Value) -> Result<String, Problem> {
        let result = self.request("tools/call", json!({"name": name, "arguments": arguments})).await?;
        let text = text_of(&result);
        if result["isError"] == true {
            return Err(Problem::Tool { tool: name.to_owned(), message: text });
        }
        Ok(text)
    }

    /// Sends a request and gives its result.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Result<Value, Problem> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        let mut answer = timeout(PATIENCE, self.answer(id, method))
            .await
            .map_err(|_| Problem::ServerSilent { method: method.to_owned(), after: PATIENCE })??;
        if answer["error"].is_null() {
            return Ok(answer["result"].take());
        }
        Err(Problem::ServerRefused { method: method.to_owned(), message: answer["error"].to_string() })
    }

    /// Ends the server's input and waits until it has gone.
    pub(crate) async fn finish(self) -> Result<ExitStatus, Problem> {
        let Self { mut server, input, .. } = self;
        drop(input);
        timeout(FAREWELL, server.wait())
            .await
            .map_err(|_| Problem::ServerSilent { method: "end of input".to_owned(), after: FAREWELL })?
            .doing(|| "wait for the server".to_owned())
    }

    /// Kills the server at once, as `kill -9` does.
    pub(crate) async fn kill(mut self) -> Result<(), Problem> {
        self.server.kill().await.doing(|| "kill the server".to_owned())
    }

    async fn answer(&mut self, id: u64, method: &str) -> Result<Value, Problem> {
        loop {
            let line = self.output.next_line().await.doing(|| "read from the server".to_owned())?;
            let line = line.ok_or_else(|| Problem::ServerEnded { method: method.to_owned() })?;
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                return Err(Problem::Expectation(format!("the server wrote a line that is no JSON: {line}")));
            };
            if message["id"] == id && message["method"].is_null() {
                return Ok(message);
            }
            // The server may ask, too; this client offers nothing.
            if !message["id"].is_null() && !message["method"].is_null() {
                let refusal = json!({"code": -32601, "message": "not supported"});
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": refusal})).await?;
            }
        }
    }

    async fn send(&mut self, message: &Value) -> Result<(), Problem> {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.doing(|| "write to the server".to_owned())?;
        self.input.flush().await.doing(|| "write to the server".to_owned())
    }
}

fn text_of(result: &Value) -> String {
    let parts = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}
