use std::ffi::OsString;
use std::net::SocketAddr;

use crate::find::Kind;
use crate::home::Directories;
use crate::launch::LaunchOptions;

/// A command-line flag of Chromium, and why the browser gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// The flag as it is passed; those that take a value of the launch end in `=`.
    pub flag: &'static str,
    /// The reason for it.
    pub why: &'static str,
}

/// Every flag that a launch may pass, for documentation.
pub fn documented_flags() -> impl Iterator<Item = &'static Flag> {
    [ALWAYS, OF_LAUNCH, HEADLESS, WINDOW, FULL, SMALL_SHARED_MEMORY].into_iter().flatten()
}

/// The arguments of a launch.
pub(crate) fn arguments(
    options: &LaunchOptions,
    directories: &Directories,
    refusing_proxy: SocketAddr,
    small_shared_memory: bool,
) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::with_capacity(64);
    let mut take = |flags: &[Flag]| all.extend(flags.iter().map(|flag| OsString::from(flag.flag)));
    take(ALWAYS);
    if options.headless {
        take(HEADLESS);
    } else {
        take(WINDOW);
    }
    if options.executable.kind() == Kind::Full {
        take(FULL);
    }
    if small_shared_memory {
        take(SMALL_SHARED_MEMORY);
    }
    let (width, height) = options.window;
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(directories.profile());
    all.push(profile);
    all.push(format!("--proxy-server=http://{refusing_proxy}").into());
    all.push(format!("--window-size={width},{height}").into());
    all.push(format!("--disk-cache-size={}", options.disk_cache_bytes).into());
    if let Some(agent) = &options.user_agent {
        all.push(format!("--user-agent={agent}").into());
    }
    all
}

const fn flag(flag: &'static str, why: &'static str) -> Flag {
    Flag { flag, why }
}

const ALWAYS: &[Flag] = &[
    flag(
        "--remote-debugging-pipe",
        "the protocol runs over descriptors 3 and 4: no port, and the end of the pipe ends the browser",
    ),
    flag("--proxy-bypass-list=<-loopback>", "without it Chromium goes to loopback addresses past the proxy"),
    flag(
        // The rules hold for literal addresses too, and a gate has its doors all over 127.0.0.0/8. `?` stands for one
        // letter or none; no name of the public tree ends in so short a label with a digit at its end.
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.???.???.??0, EXCLUDE 127.???.???.??1, \
         EXCLUDE 127.???.???.??2, EXCLUDE 127.???.???.??3, EXCLUDE 127.???.???.??4, EXCLUDE 127.???.???.??5, \
         EXCLUDE 127.???.???.??6, EXCLUDE 127.???.???.??7, EXCLUDE 127.???.???.??8, EXCLUDE 127.???.???.??9",
        "the browser resolves no name itself, the gate does; loopback addresses are not looked up",
    ),
    flag("--disable-quic", "QUIC does not go through the gate"),
    flag("--webrtc-ip-handling-policy=disable_non_proxied_udp", "no packet of WebRTC past the proxy"),
    flag("--site-per-process", "each site in a process of its own, also where Chromium would save memory"),
    flag("--no-first-run", "no welcome page"),
    flag("--no-default-browser-check", "no question about the default browser"),
    flag("--no-service-autorun", "nothing in the background"),
    flag("--no-pings", "no requests for `<a ping>`"),
    flag("--disable-background-networking", "no calls home"),
    flag("--disable-component-update", "no downloads of components"),
    flag("--disable-sync", "no account"),
    flag("--disable-domain-reliability", "no reports to Google"),
    flag("--disable-client-side-phishing-detection", "no model downloads"),
    flag("--disable-field-trial-config", "the same behaviour on every machine"),
    flag("--disable-breakpad", "no crash reports"),
    flag("--disable-crash-reporter", "no crash handler process"),
    flag("--metrics-recording-only", "metrics are never sent"),
    flag("--password-store=basic", "no keyring of the desktop"),
    flag("--use-mock-keychain", "no keychain of macOS"),
    flag(
        "--disable-back-forward-cache",
        "a page that was left is gone: no memory for it, no process of its own for its successor, no second life of refs",
    ),
    flag("--mute-audio", "no sound, no audio device"),
    flag("--disable-background-timer-throttling", "tabs in the background keep working"),
    flag("--disable-renderer-backgrounding", "tabs in the background keep working"),
    flag("--disable-backgrounding-occluded-windows", "windows behind others keep working"),
    flag("--disable-hang-monitor", "no dialog about a page that hangs; each command has a deadline"),
    flag("--force-color-profile=srgb", "screenshots look the same everywhere"),
    flag(
        "--disable-features=AutofillServerCommunication,CertificateTransparencyComponentUpdater,\
         DialMediaRouteProvider,GlobalMediaControls,HttpsUpgrades,InterestFeedContentSuggestions,LensOverlay,\
         MediaRouter,OptimizationHints,Translate",
        "features that call home, open listening sockets, rewrite the address or offer something over the page",
    ),
];

const OF_LAUNCH: &[Flag] = &[
    flag("--user-data-dir=", "the profile lies in the private home"),
    flag("--proxy-server=", "what belongs to no session is refused"),
    flag("--window-size=", "the size of the viewport"),
    flag("--disk-cache-size=", "the private directory stays small"),
    flag("--user-agent=", "only where the operator sets one"),
];

const HEADLESS: &[Flag] = &[
    flag("--headless", "no window"),
    flag("--disable-gpu", "no probing for graphics hardware: pages are painted in software anyway"),
    flag("--enable-logging=stderr", "without it a headless browser writes down whatever pages say to their console"),
    flag("--log-level=2", "errors alone: a page that floods its console would hold up the whole browser"),
];

const WINDOW: &[Flag] = &[flag(
    "--no-startup-window",
    "no page but those of sessions; the browser would end with the first window, which belongs to none and is closed",
)];

const FULL: &[Flag] = &[
    flag("--disable-extensions", "no extensions of the system"),
    flag("--disable-default-apps", "no apps to install"),
    flag("--disable-component-extensions-with-background-pages", "no background pages of Chromium's own"),
    flag("--disable-search-engine-choice-screen", "no question about the search engine"),
];

const SMALL_SHARED_MEMORY: &[Flag] = &[flag(
    "--disable-dev-shm-usage",
    "only where `/dev/shm` is tiny, as in containers: pages would crash when it is full",
)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flag_weakens_the_sandbox_or_opens_a_port() {
        for Flag { flag, .. } in documented_flags() {
            for bad in [
                "no-sandbox",
                "sandbox",
                "debugging-port",
                "debugging-address",
                "web-security",
                "no-zygote",
                "single-process",
            ] {
                assert!(!flag.contains(bad), "{flag}");
            }
        }
    }
}
