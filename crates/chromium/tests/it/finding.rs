use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use bathy_chromium::{Backend, Environment, FindError, Kind, Lookup, Source, find};

struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn with(files: &[&str]) -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        for file in files {
            machine.add(file, 0o755);
        }
        machine
    }

    fn add(&self, file: &str, mode: u32) {
        let path = self.at(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn at(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn lookup(&self) -> Lookup {
        let at = |path: &str| self.at(path).into_os_string();
        let variables = [("HOME", at("home")), ("PATH", at("bin"))];
        Lookup {
            executable_path: None,
            headless: true,
            backend: Backend::Auto,
            environment: Environment::new(variables, self.folder.path()),
        }
    }

    fn found(&self, lookup: &Lookup) -> (String, Kind, Source) {
        let executable = find(lookup).unwrap();
        let path = executable.path().strip_prefix(self.folder.path()).unwrap();
        (path.to_str().unwrap().to_owned(), executable.kind(), executable.source())
    }
}

const IN_ORDER: [(&str, Kind, Source); 10] = [
    ("usr/lib64/chromium-browser/headless_shell", Kind::HeadlessShell, Source::WellKnown),
    ("bin/chrome-headless-shell", Kind::HeadlessShell, Source::Path),
    (
        "home/.cache/ms-playwright/chromium_headless_shell-1200/chrome-headless-shell-linux64/chrome-headless-shell",
        Kind::HeadlessShell,
        Source::PlaywrightCache,
    ),
    (
        "home/.cache/puppeteer/chrome-headless-shell/linux-156.0.7204.1/chrome-headless-shell-linux64/chrome-headless-shell",
        Kind::HeadlessShell,
        Source::PuppeteerCache,
    ),
    ("opt/google/chrome/chrome", Kind::Full, Source::WellKnown),
    ("usr/lib/chromium/chromium", Kind::Full, Source::WellKnown),
    ("bin/chromium", Kind::Full, Source::Path),
    ("opt/microsoft/msedge/msedge", Kind::Full, Source::WellKnown),
    ("bin/brave-browser", Kind::Full, Source::Path),
    ("home/.cache/ms-playwright/chromium-1200/chrome-linux64/chrome", Kind::Full, Source::PlaywrightCache),
];

#[test]
fn of_all_that_is_there_the_first_in_order_is_taken() {
    for start in 0..IN_ORDER.len() {
        let files: Vec<&str> = IN_ORDER[start..].iter().rev().map(|(file, ..)| *file).collect();
        let machine = Machine::with(&files);
        let (file, kind, source) = machine.found(&machine.lookup());
        assert_eq!((file.as_str(), kind, source), IN_ORDER[start]);
    }
}

#[test]
fn a_window_needs_a_whole_browser() {
    let files: Vec<&str> = IN_ORDER.iter().map(|(file, ..)| *file).collect();
    let machine = Machine::with(&files);
    let lookup = Lookup { headless: false, ..machine.lookup() };
    assert_eq!(machine.found(&lookup).0, "opt/google/chrome/chrome");

    let shell = Machine::with(&["bin/chrome-headless-shell"]);
    let lookup = Lookup { headless: false, ..shell.lookup() };
    assert!(matches!(find(&lookup), Err(FindError::Missing { headless: false, .. })));
    let named = Lookup { executable_path: Some(shell.at("bin/chrome-headless-shell")), ..lookup };
    assert!(matches!(find(&named), Err(FindError::HeadlessShellHasNoWindow { .. })));
}

#[test]
fn names_that_are_given_come_first_in_their_order() {
    let machine = Machine::with(&["opt/google/chrome/chrome", "a/chrome", "b/chrome", "c/headless_shell"]);
    let at = |path: &str| machine.at(path).into_os_string();
    let variables = |names: &[(&'static str, &str)]| {
        let pairs: Vec<_> = names.iter().map(|(name, path)| (*name, at(path))).collect();
        Environment::new(pairs, machine.folder.path())
    };
    let both = [("BATHY_EXECUTABLE", "b/chrome"), ("DSH_BROWSER_EXECUTABLE", "c/headless_shell")];
    let lookup = Lookup { environment: variables(&both), ..machine.lookup() };
    let named = Lookup { executable_path: Some(machine.at("a/chrome")), ..lookup.clone() };
    assert_eq!(machine.found(&named), ("a/chrome".to_owned(), Kind::Full, Source::ExecutablePath));
    assert_eq!(machine.found(&lookup).0, "b/chrome");
    let lookup = Lookup { environment: variables(&both[1..]), ..lookup };
    let expected = Source::Variable("DSH_BROWSER_EXECUTABLE");
    assert_eq!(machine.found(&lookup), ("c/headless_shell".to_owned(), Kind::HeadlessShell, expected));
    let empty = Environment::new([("BATHY_EXECUTABLE", "")], machine.folder.path());
    assert_eq!(machine.found(&Lookup { environment: empty, ..lookup }).0, "opt/google/chrome/chrome");
}

#[test]
fn a_name_that_is_wrong_is_an_error_and_nothing_else_is_tried() {
    let machine = Machine::with(&["opt/google/chrome/chrome"]);
    machine.add("plain.txt", 0o644);
    let lookup = |path: &str| Lookup { executable_path: Some(machine.at(path)), ..machine.lookup() };
    assert!(matches!(find(&lookup("absent")), Err(FindError::NoSuchFile { .. })));
    assert!(matches!(find(&lookup("plain.txt")), Err(FindError::NotExecutable { .. })));
    assert!(matches!(find(&lookup("opt")), Err(FindError::NotExecutable { .. })));
}

#[test]
fn the_program_behind_a_wrapper_script_is_taken() {
    let machine = Machine::with(&["usr/bin/chromium-headless-shell", "usr/lib/chromium/chromium-headless-shell"]);
    assert_eq!(machine.found(&machine.lookup()).0, "usr/lib/chromium/chromium-headless-shell");
    fs::create_dir(machine.at("bin")).unwrap();
    symlink(machine.at("usr/bin/chromium-headless-shell"), machine.at("bin/mine")).unwrap();
    let named = Lookup { executable_path: Some(machine.at("bin/mine")), ..machine.lookup() };
    assert_eq!(machine.found(&named).0, "usr/lib/chromium/chromium-headless-shell");
}

#[test]
fn a_script_that_leads_to_a_snap_is_passed_over() {
    let machine = Machine::with(&["bin/chromium", "bin/brave-browser"]);
    fs::write(machine.at("bin/chromium"), "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n").unwrap();
    assert_eq!(machine.found(&machine.lookup()).0, "bin/brave-browser");
}

#[test]
fn a_relative_folder_on_the_path_is_not_looked_into() {
    let machine = Machine::with(&[]);
    let environment = Environment::new([("PATH", "relative:.")], machine.folder.path());
    let Err(FindError::Missing { searched, .. }) = find(&Lookup { environment, ..machine.lookup() }) else {
        panic!("nothing is there to be found");
    };
    assert!(searched.iter().all(|path| path.starts_with(machine.folder.path())), "{searched:?}");
}

#[test]
fn versions_are_compared_as_numbers() {
    let shell = "chrome-linux/headless_shell";
    let cache = |build: &str| format!("home/.cache/ms-playwright/chromium_headless_shell-{build}/{shell}");
    let machine = Machine::with(&[&cache("999"), &cache("1200"), &cache("1099")]);
    assert_eq!(machine.found(&machine.lookup()).0, cache("1200"));
}

#[test]
fn the_newest_cloak_browser_is_taken_in_either_layout() {
    let linux = "home/.cloakbrowser/chromium-146.0.10.2/chrome";
    let macos = "home/.cloakbrowser/chromium-146.0.9.9/Chromium.app/Contents/MacOS/Chromium";
    let machine = Machine::with(&[linux, macos, "opt/google/chrome/chrome", "home/.cloakbrowser/chromium-x/chrome"]);
    let lookup = Lookup { backend: Backend::CloakBrowser, ..machine.lookup() };
    assert_eq!(machine.found(&lookup), (linux.to_owned(), Kind::Full, Source::CloakBrowser));
    fs::remove_file(machine.at(linux)).unwrap();
    assert_eq!(machine.found(&lookup).0, macos);
    fs::remove_dir_all(machine.at("home")).unwrap();
    let error = find(&lookup).unwrap_err();
    assert!(matches!(&error, FindError::NoCloakBrowser { folder } if folder == &machine.at("home/.cloakbrowser")));
}

#[test]
fn an_empty_machine_says_where_it_looked_and_what_to_install() {
    let machine = Machine::with(&[]);
    let error = find(&machine.lookup()).unwrap_err();
    assert!(error.advice().contains("chromium-headless-shell"), "{}", error.advice());
    let FindError::Missing { searched, headless: true } = error else { panic!("{error}") };
    for place in ["usr/bin/chromium-headless-shell", "bin/chrome-headless-shell", "opt/google/chrome/chrome"] {
        assert!(searched.contains(&machine.at(place)), "{place}");
    }
    let parts = |path: &Path| path.to_string_lossy().contains("ms-playwright/chromium_headless_shell-*");
    assert!(searched.iter().any(|path| parts(path)));
}
