//! The table of keys.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use bathy_chromium::Backend;
use bathy_egress::HostOverrides;

use super::effective::{Config, ResolverChoice};

/// A key: its name, what it takes, what it means, and how it goes into the configuration and comes out.
pub(crate) struct Key {
    /// As in files: camel case.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// One sentence for help and documentation.
    pub(crate) about: &'static str,
    pub(super) apply: fn(&mut Config, &Raw) -> Result<(), String>,
    /// The value in text, without secrets; empty where there is none.
    pub(crate) show: fn(&Config) -> String,
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Flag,
    Number { least: u64, most: u64 },
    Text,
    Path,
    List,
}

/// A value that fits the kind of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Raw {
    Flag(bool),
    Number(u64),
    Text(String),
    List(Vec<String>),
}

/// Keys of the documentation that come with later versions: saying so beats ignoring them.
pub(super) const NOT_YET: &[&str] = &["allowEvaluate", "isolation"];

/// The longest span that may be set, in milliseconds: a day.
const DAY: u64 = 24 * 3600 * 1000;

const fn key(
    name: &'static str,
    kind: Kind,
    about: &'static str,
    apply: fn(&mut Config, &Raw) -> Result<(), String>,
    show: fn(&Config) -> String,
) -> Key {
    Key { name, kind, about, apply, show }
}

const MILLISECONDS: Kind = Kind::Number { least: 1, most: DAY };

/// Every key, in the order of the documentation.
pub(crate) const KEYS: &[Key] = &[
    key(
        "allowedHosts",
        Kind::List,
        "Hosts that pages may come from, each with its subdomains; `*.host` for subdomains alone, `host:port` for one port. Empty: any public host",
        |config, raw| raw.parsed().map(|hosts| config.policy.allowed_hosts = hosts),
        |config| listed(&config.policy.allowed_hosts),
    ),
    key(
        "allowedResourceHosts",
        Kind::List,
        "Hosts that pages may load from besides; `*` for any public host. Unset: those of allowedHosts alone",
        |config, raw| raw.parsed().map(|hosts| config.policy.allowed_resource_hosts = Some(hosts)),
        |config| config.policy.allowed_resource_hosts.as_deref().map(listed).unwrap_or_default(),
    ),
    key(
        "allowPrivateNetwork",
        Kind::Flag,
        "Open loopback, private, link-local and all other addresses that are not public",
        |config, raw| raw.flag().map(|flag| config.policy.allow_private_network = flag),
        |config| config.policy.allow_private_network.to_string(),
    ),
    key(
        "allowedNetworks",
        Kind::List,
        "Addresses or networks that are not public and yet open, such as `127.0.0.1:8080` or `10.0.0.0/8`",
        |config, raw| raw.parsed().map(|networks| config.policy.allowed_networks = networks),
        |config| listed(&config.policy.allowed_networks),
    ),
    key(
        "hostOverrides",
        Kind::List,
        "Names with addresses of your choice, each `name=address`; they are checked like any answer",
        |config, raw| overrides(raw).map(|pairs| config.host_overrides = pairs),
        |config| {
            let pairs = config.host_overrides.iter();
            pairs.map(|(name, address)| format!("{name}={address}")).collect::<Vec<_>>().join(",")
        },
    ),
    key(
        "resolver",
        Kind::Text,
        "Who resolves names: `system`, or the address of a DNS server, with a port if it is not 53",
        |config, raw| resolver(raw).map(|choice| config.resolver = choice),
        |config| match config.resolver {
            ResolverChoice::System => "system".to_owned(),
            ResolverChoice::Server(address) => address.to_string(),
        },
    ),
    key(
        "containment",
        Kind::Text,
        "How the browser is held: `kernel` (a network namespace of its own, or no browser), `browser`, or `auto`",
        |config, raw| raw.parse().map(|containment| config.containment = containment),
        |config| config.containment.to_string(),
    ),
    key(
        "headless",
        Kind::Flag,
        "Run without a window",
        |config, raw| raw.flag().map(|flag| config.headless = flag),
        |config| config.headless.to_string(),
    ),
    key(
        "executablePath",
        Kind::Path,
        "The browser to run. Unset: one is looked for",
        |config, raw| raw.path().map(|path| config.executable_path = Some(path)),
        |config| shown(config.executable_path.as_ref().map(|path| path.display())),
    ),
    key(
        "browserBackend",
        Kind::Text,
        "Whose builds to run: `auto`, or `cloakbrowser` for the newest under ~/.cloakbrowser",
        |config, raw| backend(raw).map(|backend| config.backend = backend),
        |config| match config.backend {
            Backend::Auto => "auto".to_owned(),
            Backend::CloakBrowser => "cloakbrowser".to_owned(),
        },
    ),
    key(
        "userAgent",
        Kind::Text,
        "The user agent that sites are told. Unset: the browser's own",
        |config, raw| raw.header().map(|agent| config.user_agent = Some(agent)),
        |config| config.user_agent.clone().unwrap_or_default(),
    ),
    key(
        "viewport",
        Kind::Text,
        "Size of a new session's view in CSS pixels, such as `1280x800`",
        |config, raw| viewport(raw).map(|size| config.viewport = size),
        |config| format!("{}x{}", config.viewport.0, config.viewport.1),
    ),
    key(
        "proxyServer",
        Kind::Text,
        "A proxy behind the gate, `http://[user:password@]host:port`, `https://…` or `socks5://…`; it is given addresses that the policy allowed, never names. Unset: $DSH_BROWSER_PROXY if that is set",
        |config, raw| raw.parse().map(|upstream| config.upstream = Some(upstream)),
        |config| shown(config.upstream.as_ref()),
    ),
    key(
        "proxyBypass",
        Kind::List,
        "Hosts and networks that are reached without that proxy",
        |config, raw| {
            let rules = raw.list()?;
            rules.join(",").parse().map_err(|error: bathy_egress::BypassError| error.to_string()).map(|bypass| {
                config.bypass = bypass;
                config.bypass_rules = rules;
            })
        },
        |config| config.bypass_rules.join(","),
    ),
    key(
        "navigationTimeoutMs",
        MILLISECONDS,
        "How long a navigation may take",
        |config, raw| raw.milliseconds().map(|span| config.tools.navigation_timeout = span),
        |config| config.tools.navigation_timeout.as_millis().to_string(),
    ),
    key(
        "actionTimeoutMs",
        MILLISECONDS,
        "How long any other call may take",
        |config, raw| raw.milliseconds().map(|span| config.tools.action_timeout = span),
        |config| config.tools.action_timeout.as_millis().to_string(),
    ),
    key(
        "maxTextChars",
        Kind::Number { least: 1, most: 10_000_000 },
        "The most characters of any text or outline",
        |config, raw| raw.size().map(|chars| config.tools.max_text_chars = chars),
        |config| config.tools.max_text_chars.to_string(),
    ),
    key(
        "maxSessions",
        Kind::Number { least: 1, most: 1000 },
        "How many sessions an owner may have at once",
        |config, raw| raw.size().map(|count| config.tools.max_sessions = count),
        |config| config.tools.max_sessions.to_string(),
    ),
    key(
        "sessionIdleMs",
        Kind::Number { least: 1, most: 30 * DAY },
        "How long a session may be unused before it is closed",
        |config, raw| raw.milliseconds().map(|span| config.tools.session_idle = span),
        |config| config.tools.session_idle.as_millis().to_string(),
    ),
    key(
        "jobs",
        Kind::Flag,
        "Whether pages may be loaded in the background",
        |config, raw| raw.flag().map(|flag| config.tools.jobs = flag),
        |config| config.tools.jobs.to_string(),
    ),
    key(
        "spareSessions",
        Kind::Number { least: 0, most: 100 },
        "How many sessions are kept warm while few are open, so that a new one starts at once",
        |config, raw| raw.size().map(|count| config.spare_sessions = count),
        |config| config.spare_sessions.to_string(),
    ),
    key(
        "artifactsDir",
        Kind::Path,
        "Where pictures and other files go. Unset: a private folder that is removed at the end",
        |config, raw| raw.path().map(|path| config.artifacts_directory = Some(path)),
        |config| shown(config.artifacts_directory.as_ref().map(|path| path.display())),
    ),
    key(
        "storageStatePath",
        Kind::Path,
        "A file in Playwright's storage-state format that sessions take cookies and storage from when they start, and write their changes into when they close. It holds live credentials. Unset: nothing is kept",
        |config, raw| raw.path().map(|path| config.storage_state = Some(path)),
        |config| shown(config.storage_state.as_ref().map(|path| path.display())),
    ),
    key(
        "maxDownloadBytes",
        Kind::Number { least: 1, most: 1 << 50 },
        "The most bytes of a downloaded file; a larger one is ended and removed",
        |config, raw| raw.count().map(|bytes| config.max_download_bytes = bytes),
        |config| config.max_download_bytes.to_string(),
    ),
    key(
        "uploadsDir",
        Kind::Path,
        "Where files lie that may be uploaded, by their bare names. Unset: none may",
        |config, raw| raw.path().map(|path| config.uploads_directory = Some(path)),
        |config| shown(config.uploads_directory.as_ref().map(|path| path.display())),
    ),
    key(
        "secretsFile",
        Kind::Path,
        "A file of secrets, TOML or JSON, that no other user can read: names, each with a `value` and the `hosts` that it may be typed on. browser_fill types `{\"secret\": \"name\"}`; the value is never shown",
        |config, raw| raw.path().map(|path| config.secrets_file = Some(path)),
        |config| shown(config.secrets_file.as_ref().map(|path| path.display())),
    ),
    key(
        "ledgerFile",
        Kind::Path,
        "A file that every connection and action is appended to, one line of JSON each. Unset: they are kept in memory alone",
        |config, raw| raw.path().map(|path| config.ledger_file = Some(path)),
        |config| shown(config.ledger_file.as_ref().map(|path| path.display())),
    ),
    key(
        "tools",
        Kind::List,
        "Tools to offer: `default`, `all`, or names",
        |config, raw| {
            let names = raw.list()?.join(",");
            names
                .parse()
                .map_err(|error: bathy_tools::UnknownTool| error.to_string())
                .map(|tools| config.selection = tools)
        },
        |config| config.selection.to_string(),
    ),
    key(
        "structured",
        Kind::Flag,
        "Answer with structuredContent and outputSchema besides text; several hosts show the model nothing else then",
        |config, raw| raw.flag().map(|flag| config.structured = flag),
        |config| config.structured.to_string(),
    ),
];

impl Key {
    /// The key of this name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The flag without its dashes: kebab case.
    pub(crate) fn flag(&self) -> String {
        words(self.name, '-').to_ascii_lowercase()
    }

    /// The environment variable: upper snake case with the prefix.
    pub(crate) fn variable(&self) -> String {
        Self::variable_of(self.name)
    }

    /// The environment variable of a key with this name.
    pub(super) fn variable_of(name: &str) -> String {
        format!("BATHY_{}", words(name, '_').to_ascii_uppercase())
    }
}

fn words(camel: &str, separator: char) -> String {
    let mut out = String::new();
    for character in camel.chars() {
        if character.is_ascii_uppercase() {
            out.push(separator);
        }
        out.push(character);
    }
    out
}

impl Raw {
    /// What stands between the items of a list in one text.
    pub(crate) const SEPARATOR: &'static str = ",";

    /// Reads the text of a flag or a variable.
    pub(super) fn of_text(kind: Kind, text: &str) -> Result<Self, String> {
        match kind {
            Kind::Flag => match text {
                "true" => Ok(Self::Flag(true)),
                "false" => Ok(Self::Flag(false)),
                _ => Err(format!("it is {text:?}; write true or false")),
            },
            Kind::Number { .. } => {
                let number = text.trim().parse().map_err(|_| format!("it is {text:?}; write a whole number"))?;
                Self::number(kind, number)
            }
            Kind::Text | Kind::Path => Ok(Self::Text(text.to_owned())),
            Kind::List => {
                let items = text.split(Self::SEPARATOR).map(str::trim).filter(|item| !item.is_empty());
                Ok(Self::List(items.map(ToOwned::to_owned).collect()))
            }
        }
    }

    /// Reads the value of a file.
    pub(super) fn of_toml(kind: Kind, value: &toml::Value) -> Result<Self, String> {
        match (kind, value) {
            (Kind::Flag, toml::Value::Boolean(flag)) => Ok(Self::Flag(*flag)),
            (Kind::Number { least, most }, toml::Value::Integer(number)) => match u64::try_from(*number) {
                Ok(number) => Self::number(kind, number),
                Err(_) => Err(format!("it is {number}; write a number from {least} to {most}")),
            },
            (Kind::Text | Kind::Path, toml::Value::String(text)) => Ok(Self::Text(text.clone())),
            (Kind::List, toml::Value::Array(items)) => {
                let items = items.iter().map(|item| item.as_str().map(ToOwned::to_owned));
                items.collect::<Option<_>>().map(Self::List).ok_or_else(|| "its items are not all texts".to_owned())
            }
            (kind, value) => Err(format!("it is of the type {}; write {}", value.type_str(), kind.words())),
        }
    }

    fn number(kind: Kind, number: u64) -> Result<Self, String> {
        match kind {
            Kind::Number { least, most } if !(least..=most).contains(&number) => {
                Err(format!("it is {number}; write a number from {least} to {most}"))
            }
            _ => Ok(Self::Number(number)),
        }
    }

    fn flag(&self) -> Result<bool, String> {
        match self {
            Self::Flag(flag) => Ok(*flag),
            _ => Err(self.misfit()),
        }
    }

    fn count(&self) -> Result<u64, String> {
        match self {
            Self::Number(number) => Ok(*number),
            _ => Err(self.misfit()),
        }
    }

    fn size(&self) -> Result<usize, String> {
        self.count()?.try_into().map_err(|_| "it is too large".to_owned())
    }

    fn milliseconds(&self) -> Result<Duration, String> {
        self.count().map(Duration::from_millis)
    }

    fn text(&self) -> Result<&str, String> {
        match self {
            Self::Text(text) if text.trim().is_empty() => Err("it is empty; leave the key out instead".to_owned()),
            Self::Text(text) => Ok(text),
            _ => Err(self.misfit()),
        }
    }

    fn list(&self) -> Result<Vec<String>, String> {
        match self {
            Self::List(items) => Ok(items.clone()),
            _ => Err(self.misfit()),
        }
    }

    /// An absolute path; `~/` means the home folder, since files and hosts' settings know no shell.
    fn path(&self) -> Result<PathBuf, String> {
        let text = self.text()?;
        match text.strip_prefix("~/") {
            Some(rest) => {
                let home = std::env::home_dir().ok_or("there is no home folder for `~`")?;
                Ok(home.join(rest))
            }
            None => std::path::absolute(text).map_err(|error| error.to_string()),
        }
    }

    /// A text that can stand in a header of HTTP.
    fn header(&self) -> Result<String, String> {
        let text = self.text()?;
        if text.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
            Ok(text.to_owned())
        } else {
            Err("it holds characters that cannot stand in a header".to_owned())
        }
    }

    fn parse<T: FromStr<Err: ToString>>(&self) -> Result<T, String> {
        self.text()?.parse().map_err(|error: T::Err| error.to_string())
    }

    fn parsed<T: FromStr<Err: ToString>>(&self) -> Result<Vec<T>, String> {
        self.list()?.iter().map(|item| item.parse().map_err(|error: T::Err| error.to_string())).collect()
    }

    /// A value that its kind let through and its key does not take: a fault in the table, which a test would find.
    fn misfit(&self) -> String {
        format!("{self:?} does not fit the key")
    }
}

impl Kind {
    /// What to write, in words.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Number { least, most } => format!("a number from {least} to {most}"),
            Self::Text => "a text".to_owned(),
            Self::Path => "a path".to_owned(),
            Self::List => "a list of texts".to_owned(),
        }
    }
}

fn overrides(raw: &Raw) -> Result<Vec<(String, IpAddr)>, String> {
    let pairs: Vec<(String, IpAddr)> = raw
        .list()?
        .iter()
        .map(|item| {
            let (name, address) = item.split_once('=').ok_or_else(|| format!("{item:?} is not `name=address`"))?;
            let address = address.trim().parse().map_err(|_| format!("{address:?} is not an address"))?;
            Ok((name.trim().to_owned(), address))
        })
        .collect::<Result<_, String>>()?;
    HostOverrides::new(pairs.iter().map(|(name, address)| (name, vec![*address])))
        .map_err(|error| error.to_string())?;
    Ok(pairs)
}

fn resolver(raw: &Raw) -> Result<ResolverChoice, String> {
    let text = raw.text()?;
    if text == "system" {
        return Ok(ResolverChoice::System);
    }
    let server =
        text.parse::<SocketAddr>().or_else(|_| text.parse().map(|address: IpAddr| SocketAddr::new(address, 53)));
    server
        .map(ResolverChoice::Server)
        .map_err(|_| format!("{text:?} is neither `system` nor the address of a DNS server"))
}

fn backend(raw: &Raw) -> Result<Backend, String> {
    match raw.text()? {
        "auto" => Ok(Backend::Auto),
        "cloakbrowser" => Ok(Backend::CloakBrowser),
        other => Err(format!("{other:?} is neither `auto` nor `cloakbrowser`")),
    }
}

fn viewport(raw: &Raw) -> Result<(u32, u32), String> {
    let text = raw.text()?;
    let side = |text: &str| text.trim().parse().ok().filter(|side| (100..=8000).contains(side));
    text.split_once('x')
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .ok_or_else(|| format!("{text:?} is not a size such as `1280x800`, each side from 100 to 8000"))
}

fn listed<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn shown(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_flags_and_variables_follow_from_the_key() {
        let key = Key::find("allowedResourceHosts").unwrap();
        assert_eq!(key.flag(), "allowed-resource-hosts");
        assert_eq!(key.variable(), "BATHY_ALLOWED_RESOURCE_HOSTS");
    }

    #[test]
    fn what_a_key_shows_it_also_takes() {
        let defaults = Config::default();
        for key in KEYS {
            let shown = (key.show)(&defaults);
            if shown.is_empty() && key.kind != Kind::List {
                continue;
            }
            let raw = Raw::of_text(key.kind, &shown).unwrap();
            let mut config = Config::default();
            (key.apply)(&mut config, &raw).unwrap_or_else(|reason| panic!("{}: {reason}", key.name));
            assert_eq!((key.show)(&config), shown, "{}", key.name);
        }
    }

    #[test]
    fn no_key_takes_a_value_of_another_kind() {
        let values = [Raw::Flag(true), Raw::Number(1), Raw::List(vec!["x".to_owned()])];
        for key in KEYS {
            for value in &values {
                let fits = match (key.kind, value) {
                    (Kind::Flag, Raw::Flag(_)) | (Kind::Number { .. }, Raw::Number(_)) | (Kind::List, Raw::List(_)) => {
                        continue;
                    }
                    _ => (key.apply)(&mut Config::default(), value).is_ok(),
                };
                assert!(!fits, "{} takes {value:?}", key.name);
            }
        }
    }

    #[test]
    fn a_password_of_a_proxy_is_never_shown() {
        let mut config = Config::default();
        let key = Key::find("proxyServer").unwrap();
        (key.apply)(&mut config, &Raw::Text("http://ada:secret@proxy.test:8080".to_owned())).unwrap();
        assert_eq!((key.show)(&config), "http://proxy.test:8080");
    }
}
