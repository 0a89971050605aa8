use std::fs;
use std::path::{Path, PathBuf};

use crate::find::{Environment, Kind, Source};

/// A path where a browser may be.
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) source: Source,
}

/// The programs inside a `CloakBrowser` build: the macOS layout, then the Linux ones.
pub(crate) const CLOAK_BROWSER_PROGRAMS: [&str; 3] =
    ["Chromium.app/Contents/MacOS/Chromium", "chrome", "chrome-linux/chrome"];

/// All places, best first.
pub(crate) fn candidates(environment: &Environment, headless: bool) -> Vec<Candidate> {
    let mut found = Vec::new();
    if headless {
        installed(environment, &HEADLESS_SHELL, &mut found);
        cached(environment, &SHELL_CACHES, &mut found);
    }
    for browser in &BROWSERS {
        installed(environment, browser, &mut found);
    }
    cached(environment, &BROWSER_CACHES, &mut found);
    found
}

/// The program behind a distribution's shell script, so that the process that is started is the browser itself and
/// its id, its signals and its exit are the browser's. Anything else stays as it is.
pub(crate) fn behind_wrapper(environment: &Environment, path: &Path) -> PathBuf {
    let resolved = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    for (wrapper, program) in WRAPPERS {
        let program = environment.below_root(program);
        let is_wrapper = fs::canonicalize(environment.below_root(wrapper)).is_ok_and(|known| known == resolved);
        if is_wrapper && program.is_file() {
            return program;
        }
    }
    path.to_owned()
}

/// The folders `prefix<version>` in `folder`, newest first by the numbers of the version.
pub(crate) fn versions(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<(Vec<u64>, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some((numbers(name.strip_prefix(prefix)?), entry.path()))
        })
        .filter(|(version, _)| !version.is_empty())
        .collect();
    found.sort_by(|left, right| right.cmp(left));
    found.into_iter().map(|(_, path)| path).collect()
}

/// One product: where systems install it, and its names on `$PATH`.
struct Product {
    kind: Kind,
    linux: &'static [&'static str],
    macos: &'static [&'static str],
    names: &'static [&'static str],
}

const HEADLESS_SHELL: Product = Product {
    kind: Kind::HeadlessShell,
    linux: &[
        "/usr/bin/chromium-headless-shell",
        "/usr/lib64/chromium-browser/headless_shell",
        "/usr/lib/chromium-browser/headless_shell",
    ],
    macos: &[],
    names: &["chrome-headless-shell", "chromium-headless-shell", "headless_shell"],
};

const BROWSERS: [Product; 4] = [
    Product {
        kind: Kind::Full,
        linux: &["/opt/google/chrome/chrome"],
        macos: &["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"],
        names: &["google-chrome-stable", "google-chrome"],
    },
    Product {
        kind: Kind::Full,
        linux: &["/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser"],
        macos: &["/Applications/Chromium.app/Contents/MacOS/Chromium"],
        names: &["chromium", "chromium-browser"],
    },
    Product {
        kind: Kind::Full,
        linux: &["/opt/microsoft/msedge/msedge"],
        macos: &["/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"],
        names: &["microsoft-edge-stable", "microsoft-edge"],
    },
    Product {
        kind: Kind::Full,
        linux: &["/opt/brave.com/brave/brave"],
        macos: &["/Applications/Brave Browser.app/Contents/MacOS/Brave Browser"],
        names: &["brave-browser-stable", "brave-browser"],
    },
];

/// Shell scripts of distributions and vendors, with the program that each of them runs.
const WRAPPERS: [(&str, &str); 6] = [
    ("/usr/bin/chromium-headless-shell", "/usr/lib/chromium/chromium-headless-shell"),
    ("/usr/bin/chromium", "/usr/lib/chromium/chromium"),
    ("/usr/bin/chromium-browser", "/usr/lib64/chromium-browser/chromium-browser"),
    ("/usr/bin/google-chrome-stable", "/opt/google/chrome/chrome"),
    ("/usr/bin/microsoft-edge-stable", "/opt/microsoft/msedge/msedge"),
    ("/usr/bin/brave-browser-stable", "/opt/brave.com/brave/brave"),
];

/// One kind of download: the tool that makes it, its folder names, and the programs two levels further down.
struct Cache {
    kind: Kind,
    source: Source,
    prefix: &'static str,
    programs: &'static [&'static str],
}

const SHELL_CACHES: [Cache; 2] = [
    Cache {
        kind: Kind::HeadlessShell,
        source: Source::PlaywrightCache,
        prefix: "chromium_headless_shell-",
        programs: &["chrome-headless-shell", "headless_shell"],
    },
    Cache {
        kind: Kind::HeadlessShell,
        source: Source::PuppeteerCache,
        prefix: "chrome-headless-shell/",
        programs: &["chrome-headless-shell"],
    },
];

const BROWSER_CACHES: [Cache; 2] = [
    Cache {
        kind: Kind::Full,
        source: Source::PlaywrightCache,
        prefix: "chromium-",
        programs: &[
            "chrome",
            "Chromium.app/Contents/MacOS/Chromium",
            "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
        ],
    },
    Cache {
        kind: Kind::Full,
        source: Source::PuppeteerCache,
        prefix: "chrome/",
        programs: &["chrome", "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing"],
    },
];

fn installed(environment: &Environment, product: &Product, found: &mut Vec<Candidate>) {
    let known = if cfg!(target_os = "macos") { product.macos } else { product.linux };
    for place in known {
        let path = environment.below_root(place);
        found.push(Candidate { path, kind: product.kind, source: Source::WellKnown });
    }
    let folders = environment.variable("PATH").map(std::env::split_paths).into_iter().flatten();
    // A relative folder on the path would let whoever owns the working folder choose the browser.
    for folder in folders.filter(|folder| folder.is_absolute()) {
        for name in product.names {
            found.push(Candidate { path: folder.join(name), kind: product.kind, source: Source::Path });
        }
    }
}

fn cached(environment: &Environment, caches: &[Cache], found: &mut Vec<Candidate>) {
    for cache in caches {
        let Some(root) = cache_root(environment, cache.source) else {
            continue;
        };
        let folder = cache.prefix.split_once('/').map_or_else(|| root.clone(), |(product, _)| root.join(product));
        // Puppeteer's folders are named `linux-156.0.1`; Playwright's carry the product and a build number.
        let prefix = match cache.source {
            Source::PuppeteerCache => "",
            _ => cache.prefix,
        };
        let mut builds = versions(&folder, prefix);
        if builds.is_empty() {
            builds.push(folder.join(format!("{prefix}*")));
        }
        for build in builds {
            let mut inner: Vec<PathBuf> =
                fs::read_dir(&build).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            inner.sort();
            if inner.is_empty() {
                inner.push(build);
            }
            for platform in inner {
                for program in cache.programs {
                    found.push(Candidate { path: platform.join(program), kind: cache.kind, source: cache.source });
                }
            }
        }
    }
}

fn cache_root(environment: &Environment, source: Source) -> Option<PathBuf> {
    let (variable, linux, macos) = match source {
        Source::PlaywrightCache => ("PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright", "Library/Caches/ms-playwright"),
        _ => ("PUPPETEER_CACHE_DIR", ".cache/puppeteer", ".cache/puppeteer"),
    };
    if let Some(folder) = environment.variable(variable).map(PathBuf::from).filter(|folder| folder.is_absolute()) {
        return Some(folder);
    }
    Some(environment.home()?.join(if cfg!(target_os = "macos") { macos } else { linux }))
}

/// The numbers in a version such as `linux-156.0.7204.1`, in order.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|letter: char| !letter.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}
