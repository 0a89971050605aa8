use std::fmt;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::containment::{Containment, Level};
use crate::find::{Executable, Lookup, find};
use crate::launch::{LaunchError, LaunchOptions, launch};
use crate::os;
use crate::start::SMALL_SHARED_MEMORY;

/// What a machine can do for a browser, as `bathy doctor` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineReport {
    /// One finding for each thing that was looked at.
    pub findings: Vec<Finding>,
    /// The containment that a launch got, where one succeeded.
    pub level: Option<Level>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, in one or two words.
    pub name: &'static str,
    /// Whether it is as it should be.
    pub outcome: Outcome,
    /// What was found.
    pub detail: String,
    /// What to change, where something should be changed.
    pub advice: Option<String>,
}

/// Whether a thing is as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// As it should be.
    Good,
    /// The main job can run, less well than it could.
    Warning,
    /// The main job cannot run.
    Bad,
}

/// Looks the machine over. What can be tried is tried: a browser is launched and closed again.
pub async fn examine(lookup: &Lookup, containment: Containment) -> MachineReport {
    let mut findings = vec![user()];
    let mut level = None;
    match find(lookup) {
        Err(error) => {
            findings.push(Finding::new("browser", Outcome::Bad, &error).advise(error.advice()));
        }
        Ok(executable) => {
            findings.push(browser(&executable, lookup.headless));
            level = try_launch(executable, lookup.headless, containment, &mut findings).await;
        }
    }
    findings.extend([fonts(), shared_memory(), memory(), temporary_space()].into_iter().flatten());
    MachineReport { findings, level }
}

impl MachineReport {
    /// The worst of the findings: the main job can run unless it is [`Outcome::Bad`].
    pub fn worst(&self) -> Outcome {
        self.findings.iter().map(|finding| finding.outcome).max().unwrap_or(Outcome::Good)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Good => "good",
            Self::Warning => "warning",
            Self::Bad => "bad",
        })
    }
}

impl Finding {
    fn new(name: &'static str, outcome: Outcome, detail: impl fmt::Display) -> Self {
        Self { name, outcome, detail: detail.to_string(), advice: None }
    }

    fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

fn user() -> Finding {
    match os::effective_user() {
        0 => Finding::new("user", Outcome::Good, "root; the browser runs as an unprivileged user"),
        user => Finding::new("user", Outcome::Good, format_args!("ordinary user {user}")),
    }
}

fn browser(executable: &Executable, headless: bool) -> Finding {
    let kind = executable.kind();
    let detail = format!("{} ({kind}, by {})", executable.path().display(), executable.source());
    let slow = headless && kind == crate::find::Kind::Full;
    if slow {
        Finding::new("browser", Outcome::Warning, detail).advise(
            "a headless shell starts five times faster in a quarter of the memory: on Debian `apt-get install \
             chromium-headless-shell`, elsewhere `npx playwright install chromium --only-shell`",
        )
    } else {
        Finding::new("browser", Outcome::Good, detail)
    }
}

async fn try_launch(
    executable: Executable,
    headless: bool,
    containment: Containment,
    findings: &mut Vec<Finding>,
) -> Option<Level> {
    let options = LaunchOptions { containment, headless, ..LaunchOptions::new(executable) };
    let begun = Instant::now();
    let launched = match launch(options).await {
        Ok(launched) => launched,
        Err(error) => {
            let name = match error {
                LaunchError::NoSandbox { .. } => "sandbox",
                LaunchError::Confine { .. } | LaunchError::NoKernelContainment => "containment",
                _ => "launch",
            };
            findings.push(Finding::new(name, Outcome::Bad, &error).advise(error.advice()));
            return None;
        }
    };
    let taken = begun.elapsed().as_millis();
    let version = format!("{} answers after {taken} ms", launched.product);
    findings.push(Finding::new("launch", Outcome::Good, version));
    findings.push(match &launched.shortfall {
        Some(error) => {
            let detail = format!("browser level, since the kernel level cannot be had: {error}");
            Finding::new("containment", Outcome::Warning, detail).advise(error.advice())
        }
        None => Finding::new("containment", Outcome::Good, format_args!("{} level", launched.level)),
    });
    // A browser that answers has started its sandbox: it gives up without one, and no flag of ours tells it not to.
    findings.push(Finding::new("sandbox", Outcome::Good, "Chromium's own sandbox is on"));
    let level = launched.level;
    launched.process.close(Duration::from_secs(1)).await;
    Some(level)
}

fn fonts() -> Option<Finding> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let folders = ["/usr/share/fonts", "/usr/local/share/fonts"];
    Some(if folders.iter().any(|folder| has_font(Path::new(folder), 6)) {
        Finding::new("fonts", Outcome::Good, "installed")
    } else {
        Finding::new("fonts", Outcome::Warning, "none are installed; pages show boxes for letters")
            .advise("on Debian `apt-get install fonts-liberation fonts-noto-core`")
    })
}

fn has_font(folder: &Path, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return depth > 0 && has_font(&path, depth - 1);
        }
        path.extension()
            .is_some_and(|found| ["ttf", "otf", "ttc", "pfb"].iter().any(|known| found.eq_ignore_ascii_case(known)))
    })
}

fn shared_memory() -> Option<Finding> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    Some(match os::free_bytes(Path::new("/dev/shm")) {
        Ok(free) if free >= SMALL_SHARED_MEMORY => {
            Finding::new("shared memory", Outcome::Good, format_args!("{} MB", free >> 20))
        }
        Ok(free) => Finding::new(
            "shared memory",
            Outcome::Warning,
            format_args!("{} MB in /dev/shm; the browser uses files instead, which is slower", free >> 20),
        )
        .advise("give the container more, with Docker `--shm-size=1g`"),
        Err(error) => Finding::new("shared memory", Outcome::Warning, format_args!("no /dev/shm: {error}"))
            .advise("mount a tmpfs on /dev/shm"),
    })
}

fn memory() -> Option<Finding> {
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let megabytes = line.split_ascii_whitespace().next()?.parse::<u64>().ok()? / 1024;
    let detail = format!("{megabytes} MB available");
    Some(if megabytes >= 600 {
        Finding::new("memory", Outcome::Good, detail)
    } else {
        Finding::new("memory", Outcome::Warning, detail).advise("one session needs about 200 MB, twenty about 500 MB")
    })
}

fn temporary_space() -> Option<Finding> {
    let folder = std::env::temp_dir();
    let free = os::free_bytes(&folder).ok()?;
    let detail = format!("{} MB free in {}", free >> 20, folder.display());
    Some(if free >= 200 << 20 {
        Finding::new("disk", Outcome::Good, detail)
    } else {
        Finding::new("disk", Outcome::Warning, detail).advise("make room, or point TMPDIR elsewhere")
    })
}
