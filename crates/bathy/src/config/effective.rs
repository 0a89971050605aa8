//! What the configuration comes to, and the parts of the program that are made of it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bathy_browser::{EngineOptions, StorageFile};
use bathy_chromium::{Backend, Containment, Environment, Lookup};
use bathy_egress::{
    Bypass, GateOptions, HostOverrides, Ledger, NameServerResolver, OverrideResolver, Resolve, SystemResolver, Upstream,
};
use bathy_policy::{Policy, PolicyConfig};
use bathy_tools::{Code, Failure, Secrets, Selection, Settings};

/// How long a browser may take to start.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(30);

/// The most bytes of a downloaded file where nothing else is said.
const MAX_DOWNLOAD_BYTES: u64 = 200_000_000;

/// Entries that the ledger remembers for questions.
const LEDGER_ENTRIES: usize = 4096;

/// The whole configuration, checked.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) policy: PolicyConfig,
    pub(crate) host_overrides: Vec<(String, IpAddr)>,
    pub(crate) resolver: ResolverChoice,
    pub(crate) containment: Containment,
    pub(crate) headless: bool,
    pub(crate) executable_path: Option<PathBuf>,
    pub(crate) backend: Backend,
    pub(crate) user_agent: Option<String>,
    pub(crate) viewport: (u32, u32),
    pub(crate) upstream: Option<Upstream>,
    pub(crate) bypass: Bypass,
    /// The bypass list as it was written.
    pub(crate) bypass_rules: Vec<String>,
    pub(crate) tools: Settings,
    pub(crate) spare_sessions: usize,
    pub(crate) artifacts_directory: Option<PathBuf>,
    pub(crate) storage_state: Option<PathBuf>,
    pub(crate) uploads_directory: Option<PathBuf>,
    pub(crate) max_download_bytes: u64,
    pub(crate) secrets_file: Option<PathBuf>,
    pub(crate) ledger_file: Option<PathBuf>,
    pub(crate) selection: Selection,
    pub(crate) structured: bool,
}

/// Who resolves names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResolverChoice {
    System,
    Server(SocketAddr),
}

impl Default for Config {
    fn default() -> Self {
        Self {
            policy: PolicyConfig::default(),
            host_overrides: Vec::new(),
            resolver: ResolverChoice::System,
            containment: Containment::Auto,
            headless: true,
            executable_path: None,
            backend: Backend::Auto,
            user_agent: None,
            viewport: (1280, 800),
            upstream: None,
            bypass: Bypass::default(),
            bypass_rules: Vec::new(),
            tools: Settings::default(),
            spare_sessions: 1,
            artifacts_directory: None,
            storage_state: None,
            uploads_directory: None,
            max_download_bytes: MAX_DOWNLOAD_BYTES,
            secrets_file: None,
            ledger_file: None,
            selection: Selection::Default,
            structured: false,
        }
    }
}

impl Config {
    /// Where a browser is looked for.
    pub(crate) fn lookup(&self) -> Lookup {
        Lookup {
            executable_path: self.executable_path.clone(),
            headless: self.headless,
            backend: self.backend,
            environment: Environment::of_this_process(),
        }
    }

    /// What the tools are told, the operator's secrets included.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let secrets = match &self.secrets_file {
            Some(path) => Secrets::load(path).map_err(|error| {
                Failure::new(Code::InvalidArgument, format_args!("`secretsFile` cannot be used: {error}")).with_hint(
                    "Write `[name]`, `value = \"…\"` and `hosts = [\"…\"]` for each secret into a file of mode 600.",
                )
            })?,
            None => Secrets::default(),
        };
        Ok(Settings { secrets, ..self.tools.clone() })
    }

    /// What an engine is made of.
    pub(crate) fn engine_options(&self) -> Result<EngineOptions, Failure> {
        Ok(EngineOptions {
            lookup: self.lookup(),
            containment: self.containment,
            viewport: self.viewport,
            user_agent: self.user_agent.clone(),
            policy: Policy::new(self.policy.clone()),
            gate: GateOptions {
                resolver: self.resolver()?,
                upstream: self.upstream.clone(),
                bypass: self.bypass.clone(),
                ledger: self.ledger()?,
                ..GateOptions::default()
            },
            spare_sessions: self.spare_sessions,
            artifacts_directory: self.artifacts_directory.clone(),
            storage_state: self.storage_state.clone().map(StorageFile::at),
            uploads_directory: self.uploads_directory.clone(),
            max_download_bytes: self.max_download_bytes,
            launch_timeout: LAUNCH_TIMEOUT,
        })
    }

    fn resolver(&self) -> Result<Arc<dyn Resolve>, Failure> {
        let unusable = |key: &str, error: &dyn std::fmt::Display| {
            Failure::new(Code::InvalidArgument, format_args!("`{key}` cannot be used: {error}"))
        };
        let resolver: Arc<dyn Resolve> = match self.resolver {
            ResolverChoice::System => Arc::new(SystemResolver),
            ResolverChoice::Server(server) => {
                Arc::new(NameServerResolver::new(server).map_err(|error| unusable("resolver", &error))?)
            }
        };
        if self.host_overrides.is_empty() {
            return Ok(resolver);
        }
        let pairs = self.host_overrides.iter().map(|(name, address)| (name, vec![*address]));
        let overrides = HostOverrides::new(pairs).map_err(|error| unusable("hostOverrides", &error))?;
        Ok(Arc::new(OverrideResolver::new(overrides, resolver)))
    }

    fn ledger(&self) -> Result<Ledger, Failure> {
        let Some(path) = &self.ledger_file else {
            return Ok(Ledger::new(LEDGER_ENTRIES));
        };
        Ledger::with_file(LEDGER_ENTRIES, path).map_err(|error: io::Error| {
            Failure::new(
                Code::InvalidArgument,
                format_args!("`ledgerFile` cannot be used: {}: {error}", path.display()),
            )
            .with_hint("Name a file in a folder that exists and can be written.")
        })
    }
}
