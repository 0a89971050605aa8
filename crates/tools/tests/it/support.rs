//! Starts a site, an engine and a toolbox, and makes calls in one line.

use std::path::PathBuf;
use std::time::Duration;

use bathy_browser::{Containment, Engine, EngineOptions};
use bathy_chromium::Lookup;
use bathy_egress::GateOptions;
use bathy_policy::{Policy, PolicyConfig};
use bathy_testsite::TestSite;
use bathy_tools::{Answer, Code, Failure, Owner, Settings, Toolbox, find};
use serde_json::{Value, json};

/// A site and a toolbox. The browser ends with it.
pub(crate) struct Stage {
    pub(crate) site: TestSite,
    pub(crate) engine: Engine,
    pub(crate) toolbox: Toolbox,
    pub(crate) owner: Owner,
}

impl Stage {
    pub(crate) async fn set() -> Self {
        Self::with(Settings::default(), None).await
    }

    pub(crate) async fn with(settings: Settings, artifacts_directory: Option<PathBuf>) -> Self {
        Self::with_files(settings, artifacts_directory, None).await
    }

    pub(crate) async fn with_files(
        settings: Settings,
        artifacts_directory: Option<PathBuf>,
        uploads_directory: Option<PathBuf>,
    ) -> Self {
        let policy = PolicyConfig { allow_private_network: true, ..PolicyConfig::default() };
        let engine = Engine::new(EngineOptions {
            lookup: Lookup::of_this_process(),
            containment: Containment::Auto,
            viewport: (1280, 800),
            user_agent: None,
            policy: Policy::new(policy),
            gate: GateOptions::default(),
            spare_sessions: 0,
            artifacts_directory,
            storage_state: None,
            uploads_directory,
            max_download_bytes: 1 << 30,
            launch_timeout: Duration::from_secs(30),
        });
        let toolbox = Toolbox::new(engine.clone(), settings);
        let owner = toolbox.owner();
        Self { site: TestSite::start().await, engine, toolbox, owner }
    }

    /// Calls a tool for the first owner.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Answer, Failure> {
        call(&self.owner, tool, arguments).await
    }

    /// Calls a tool that has to succeed.
    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> Answer {
        self.call(tool, arguments).await.unwrap_or_else(|failure| panic!("{tool}: {failure}"))
    }

    /// Calls a tool that has to fail, and gives its code.
    pub(crate) async fn code(&self, tool: &str, arguments: Value) -> Code {
        match self.call(tool, arguments).await {
            Ok(answer) => panic!("{tool} succeeded: {}", answer.text),
            Err(failure) => failure.code(),
        }
    }
}

/// Calls a tool; its place in line is taken when the future is made.
pub(crate) fn call(
    owner: &Owner,
    tool: &str,
    arguments: Value,
) -> impl Future<Output = Result<Answer, Failure>> + Send + use<> {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    let tool = find(tool).unwrap();
    let (owner, place) = (owner.clone(), owner.place());
    async move { owner.call(place, tool, arguments, None).await }
}

pub(crate) fn session_of(answer: &Answer) -> String {
    answer.data["session"].as_str().unwrap().to_owned()
}

/// Opens a page with this HTML.
pub(crate) async fn show(stage: &Stage, html: &str) {
    let url = stage.site.page(format!("<!doctype html><title>Test</title>{html}"));
    stage.ok("browser_navigate", json!({"url": url, "read": "none"})).await;
}

/// The ref of the first element whose line in the outline holds these words.
pub(crate) async fn reference(stage: &Stage, words: &str) -> String {
    let outline = stage.ok("browser_snapshot", json!({})).await;
    let outline = outline.data["snapshot"].as_str().unwrap().to_owned();
    let line = outline.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words} in\n{outline}"));
    line.split_whitespace().find(|word| word.starts_with("@e")).unwrap().to_owned()
}

/// The lines before, inside and after the one fence of a text.
pub(crate) fn parts(text: &str) -> (Vec<&str>, Vec<&str>, Vec<&str>) {
    let lines: Vec<_> = text.lines().collect();
    let opening: Vec<_> = lines.iter().filter(|line| line.starts_with("--- untrusted content of ")).collect();
    assert_eq!(opening.len(), 1, "{text}");
    let mark = opening[0].split("mark ").nth(1).unwrap();
    let marked: Vec<_> = (0..lines.len()).filter(|index| lines[*index].contains(mark)).collect();
    assert_eq!(marked.len(), 2, "{text}");
    (lines[..marked[0]].to_vec(), lines[marked[0] + 1..marked[1]].to_vec(), lines[marked[1] + 1..].to_vec())
}
