use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::places;

/// What to look for, and where the answer may come from.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// The executable that the operator names; nothing else is tried when it is set.
    pub executable_path: Option<PathBuf>,
    /// Whether a browser without a window will do. A headed one is never a headless shell.
    pub headless: bool,
    /// Whose builds to use.
    pub backend: Backend,
    /// The environment variables and the file system root that the lookup sees.
    pub environment: Environment,
}

/// Whose builds of Chromium to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// Whatever the machine has, in the order of the documentation.
    #[default]
    Auto,
    /// The newest `CloakBrowser` build under `~/.cloakbrowser`.
    CloakBrowser,
}

/// The surroundings of a lookup: variables, and the root below which absolute well-known places are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    root: PathBuf,
}

/// A browser that exists and may be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    path: PathBuf,
    kind: Kind,
    source: Source,
}

/// Which of Chromium's two programs an executable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The small program without any window: starts five times faster, a quarter of the memory for each session.
    HeadlessShell,
    /// The whole browser.
    Full,
}

/// What led to an executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The `executablePath` option.
    ExecutablePath,
    /// An environment variable of this name.
    Variable(&'static str),
    /// A place where systems install browsers.
    WellKnown,
    /// A folder of `$PATH`.
    Path,
    /// Playwright's cache of downloaded browsers.
    PlaywrightCache,
    /// Puppeteer's cache of downloaded browsers.
    PuppeteerCache,
    /// A build under `~/.cloakbrowser`.
    CloakBrowser,
}

/// Why there is no browser to launch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No place that was looked at holds a browser.
    #[error("no {} was found in {} places", wanted(*.headless), .searched.len())]
    Missing {
        /// Every place that was looked at, in order.
        searched: Vec<PathBuf>,
        /// Whether a headless browser was wanted.
        headless: bool,
    },
    /// No `CloakBrowser` build is installed.
    #[error("no CloakBrowser build was found under {}", .folder.display())]
    NoCloakBrowser {
        /// The folder that should hold `chromium-<version>` folders.
        folder: PathBuf,
    },
    /// The path that was asked for does not exist.
    #[error("{} ({wanted_by}) does not exist", .path.display())]
    NoSuchFile {
        /// The path as it was given.
        path: PathBuf,
        /// Who gave it.
        wanted_by: Source,
    },
    /// The path that was asked for is no file that may be executed.
    #[error("{} ({wanted_by}) is not an executable file", .path.display())]
    NotExecutable {
        /// The path as it was given.
        path: PathBuf,
        /// Who gave it.
        wanted_by: Source,
    },
    /// A window is wanted of a headless shell, which has none.
    #[error("{} ({wanted_by}) is a headless shell and cannot show a window", .path.display())]
    HeadlessShellHasNoWindow {
        /// The path as it was given.
        path: PathBuf,
        /// Who gave it.
        wanted_by: Source,
    },
}

/// Finds the browser to launch: `executable_path`, `$BATHY_EXECUTABLE`, `$DSH_BROWSER_EXECUTABLE`, then a headless
/// shell in well-known places, Chrome, Chromium, Edge, Brave and Playwright's cache. Names that are given are binding:
/// when one of them is wrong nothing else is tried.
pub fn find(lookup: &Lookup) -> Result<Executable, FindError> {
    if let Some(path) = &lookup.executable_path {
        return named(lookup, path, Source::ExecutablePath);
    }
    if lookup.backend == Backend::CloakBrowser {
        return newest_cloak_browser(lookup);
    }
    for name in ["BATHY_EXECUTABLE", "DSH_BROWSER_EXECUTABLE"] {
        if let Some(path) = lookup.environment.variable(name) {
            return named(lookup, Path::new(path), Source::Variable(name));
        }
    }
    let mut searched = Vec::new();
    for candidate in places::candidates(&lookup.environment, lookup.headless) {
        if is_executable(&candidate.path) && !leads_to_snap(&candidate.path) {
            return Ok(Executable {
                path: places::behind_wrapper(&lookup.environment, &candidate.path),
                kind: candidate.kind,
                source: candidate.source,
            });
        }
        searched.push(candidate.path);
    }
    Err(FindError::Missing { searched, headless: lookup.headless })
}

impl Lookup {
    /// A lookup for a headless browser in the surroundings of this process.
    pub fn of_this_process() -> Self {
        Self {
            executable_path: None,
            headless: true,
            backend: Backend::Auto,
            environment: Environment::of_this_process(),
        }
    }
}

impl Environment {
    /// The variables of this process and the real root.
    pub fn of_this_process() -> Self {
        Self { variables: std::env::vars_os().collect(), root: PathBuf::from("/") }
    }

    /// These variables and no others, with absolute well-known places taken below `root`.
    pub fn new<N: Into<OsString>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (N, V)>,
        root: impl Into<PathBuf>,
    ) -> Self {
        Self {
            variables: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            root: root.into(),
        }
    }

    /// A variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The home folder, when one is set.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from)
    }

    /// An absolute well-known path, taken below the root.
    pub(crate) fn below_root(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

impl Executable {
    /// The file to execute. Where a distribution wraps its browser in a shell script this is the program behind it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Headless shell or whole browser.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What led to it.
    pub fn source(&self) -> Source {
        self.source
    }
}

impl FindError {
    /// What the operator can do about it, in one or two sentences.
    pub fn advice(&self) -> String {
        match self {
            Self::Missing { headless: true, .. } => if cfg!(target_os = "macos") {
                "install Google Chrome, or run `npx playwright install chromium --only-shell`, or set `executablePath`"
            } else if cfg!(target_os = "linux") {
                "on Debian run `apt-get install chromium-headless-shell fonts-liberation`; elsewhere install your \
                 distribution's chromium or Google Chrome, or run `npx playwright install chromium --only-shell`, or \
                 set `executablePath`"
            } else {
                "install Google Chrome or Chromium, or set `executablePath`"
            }
            .to_owned(),
            Self::Missing { headless: false, .. } => {
                "a window needs a whole browser: install Google Chrome or Chromium (on Debian `apt-get install \
                 chromium`), set `executablePath`, or use `headless = true`"
                    .to_owned()
            }
            Self::NoCloakBrowser { folder } => format!(
                "install CloakBrowser so that {} holds `chromium-<version>`, or leave `browserBackend` at `auto`",
                folder.display()
            ),
            Self::NoSuchFile { wanted_by, .. } | Self::NotExecutable { wanted_by, .. } => {
                format!("point {wanted_by} at a Chromium program, or leave it unset so that one is looked for")
            }
            Self::HeadlessShellHasNoWindow { wanted_by, .. } => {
                format!("point {wanted_by} at a whole Chromium or Chrome, or use `headless = true`")
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExecutablePath => formatter.write_str("`executablePath`"),
            Self::Variable(name) => write!(formatter, "`${name}`"),
            Self::WellKnown => formatter.write_str("a well-known place"),
            Self::Path => formatter.write_str("`$PATH`"),
            Self::PlaywrightCache => formatter.write_str("Playwright's cache"),
            Self::PuppeteerCache => formatter.write_str("Puppeteer's cache"),
            Self::CloakBrowser => formatter.write_str("`~/.cloakbrowser`"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::HeadlessShell => "headless shell",
            Self::Full => "whole browser",
        })
    }
}

fn wanted(headless: bool) -> &'static str {
    if headless { "Chromium" } else { "Chromium with a window" }
}

fn named(lookup: &Lookup, path: &Path, wanted_by: Source) -> Result<Executable, FindError> {
    if !path.exists() {
        return Err(FindError::NoSuchFile { path: path.to_owned(), wanted_by });
    }
    if !is_executable(path) {
        return Err(FindError::NotExecutable { path: path.to_owned(), wanted_by });
    }
    let kind = kind_by_name(path);
    if !lookup.headless && kind == Kind::HeadlessShell {
        return Err(FindError::HeadlessShellHasNoWindow { path: path.to_owned(), wanted_by });
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(Executable { path: places::behind_wrapper(&lookup.environment, &absolute), kind, source: wanted_by })
}

fn newest_cloak_browser(lookup: &Lookup) -> Result<Executable, FindError> {
    let home = lookup.environment.home().unwrap_or_else(|| PathBuf::from("/"));
    let folder = home.join(".cloakbrowser");
    places::versions(&folder, "chromium-")
        .into_iter()
        .flat_map(|build| places::CLOAK_BROWSER_PROGRAMS.map(|program| build.join(program)))
        .find(|path| is_executable(path))
        .map(|path| Executable { path, kind: Kind::Full, source: Source::CloakBrowser })
        .ok_or(FindError::NoCloakBrowser { folder })
}

/// Programs are told apart by name since asking them for their kind would mean running them.
fn kind_by_name(path: &Path) -> Kind {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.contains("headless-shell") || name.contains("headless_shell") { Kind::HeadlessShell } else { Kind::Full }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// Snaps run through a set-user-id program of their own, which neither our namespaces nor `no_new_privs` let work.
fn leads_to_snap(path: &Path) -> bool {
    let Ok(real) = fs::canonicalize(path) else {
        return false;
    };
    if real.starts_with("/snap") || real.ends_with("usr/bin/snap") {
        return true;
    }
    let small = fs::metadata(&real).is_ok_and(|found| found.len() < 16 * 1024);
    small && fs::read(&real).is_ok_and(|script| script.windows(10).any(|part| part == b"/snap/bin/"))
}
