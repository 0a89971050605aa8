//! Installs what is missing, where that is possible, and says what to do where it is not.

use std::process::Command;

use bathy_chromium::{Kind, Lookup, find};

use crate::command::{cargo, program, run, works};
use crate::problem::Problem;

const HEADLESS_SHELL: &str = "chromium-headless-shell";
/// Debian's Chromium that can show a window, and the server of a display in memory: 85 MB to fetch where the headless
/// shell is there already and a graphical system, too, 135 MB where nothing is.
const WHOLE_BROWSER: &str = "chromium";
const DISPLAY_SERVER: &str = "xvfb";

/// What tests and demo need.
pub(crate) fn everything() -> Result<(), Problem> {
    browser()?;
    window();
    compiler()?;
    ["cargo-nextest", "cargo-deny", "cargo-fuzz"].into_iter().try_for_each(cargo_tool)
}

/// A headless shell and fonts, or any Chromium where Debian's packages cannot be had.
pub(crate) fn browser() -> Result<(), Problem> {
    let found = find(&Lookup::of_this_process());
    let is_shell = found.as_ref().is_ok_and(|executable| executable.kind() == Kind::HeadlessShell);
    let mut missing = Vec::new();
    if !is_shell && offers(HEADLESS_SHELL) {
        missing.push(HEADLESS_SHELL);
    }
    if works(program("dpkg").arg("--version")) && !works(program("dpkg").args(["--status", "fonts-liberation"])) {
        missing.push("fonts-liberation");
    }
    match (apt_install(&missing), found) {
        // A full Chromium, or a text in a fallback font, is slower or uglier but does the job.
        (_, Ok(_)) => Ok(()),
        (Ok(()), Err(_)) => find(&Lookup::of_this_process())
            .map(drop)
            .map_err(|error| Problem::Missing { what: "a Chromium".to_owned(), advice: error.advice() }),
        (Err(problem), Err(_)) => Err(problem),
    }
}

/// What the test of a visible window needs. Where that cannot be had the test leaves itself out, and this says so.
fn window() {
    let whole = Lookup { headless: false, ..Lookup::of_this_process() };
    let mut missing = Vec::new();
    if find(&whole).is_err() {
        missing.push(WHOLE_BROWSER);
    }
    if !works(program("Xvfb").arg("-help")) {
        missing.push(DISPLAY_SERVER);
    }
    let result = match missing.iter().find(|package| !offers(package)) {
        Some(package) => Err(Problem::Missing {
            what: (*package).to_owned(),
            advice: "this distribution has no such package".to_owned(),
        }),
        None => apt_install(&missing),
    };
    if let Err(problem) = result {
        eprintln!("no window can be tested here: {problem}");
    }
}

/// Whether the distribution has a package. A new machine may have no list of packages yet.
fn offers(package: &str) -> bool {
    let listed = || works(program("apt-cache").args(["show", package]));
    listed() || apt_get().is_some_and(|apt_get| run(apt_get().arg("update")).is_ok()) && listed()
}

/// The C++ compiler that the fuzzing library is built with.
fn compiler() -> Result<(), Problem> {
    if works(program("c++").arg("--version")) { Ok(()) } else { apt_install(&["g++"]) }
}

/// A subcommand of Cargo.
pub(crate) fn cargo_tool(name: &str) -> Result<(), Problem> {
    if has_cargo_tool(name) {
        return Ok(());
    }
    run(cargo().args(["install", "--locked", name])).map_err(|problem| Problem::Missing {
        what: name.to_owned(),
        advice: format!("install it with `cargo install --locked {name}` ({problem})"),
    })
}

/// Whether a subcommand of Cargo is installed.
pub(crate) fn has_cargo_tool(name: &str) -> bool {
    works(cargo().args([name.trim_start_matches("cargo-"), "--version"]))
}

fn apt_install(packages: &[&str]) -> Result<(), Problem> {
    if packages.is_empty() {
        return Ok(());
    }
    let advice = || Problem::Missing {
        what: packages.join(" and "),
        advice: format!(
            "install it (on Debian and Ubuntu as root: `apt-get install {}`), or set BATHY_EXECUTABLE to the path of \
             a Chromium when it is the browser",
            packages.join(" ")
        ),
    };
    let Some(apt_get) = apt_get() else {
        return Err(advice());
    };
    // Stale lists are the usual reason for a failure, and only then is it worth the time to fetch new ones.
    let install = |mut apt_get: Command| {
        run(apt_get
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["install", "--yes", "--no-install-recommends"])
            .args(packages))
    };
    install(apt_get()).or_else(|_| run(apt_get().arg("update")).and_then(|()| install(apt_get()))).map_err(|_| advice())
}

/// How to start `apt-get` as root, if that can be done without a question.
fn apt_get() -> Option<fn() -> Command> {
    let direct: fn() -> Command = || program("apt-get");
    let by_sudo: fn() -> Command = || {
        let mut sudo = program("sudo");
        sudo.args(["--non-interactive", "--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
        sudo
    };
    if !works(direct().arg("--version")) {
        None
    } else if is_root() {
        Some(direct)
    } else {
        works(program("sudo").args(["--non-interactive", "true"])).then_some(by_sudo)
    }
}

/// Whether this process runs as root.
pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
