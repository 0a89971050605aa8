//! Where values come from, lowest first.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;

use super::keys::NOT_YET;
use super::{Config, ConfigError, KEYS, Key, Raw};

/// The prefix of variables that are keys.
const PREFIX: &str = "BATHY_";
/// Variables with that prefix that are no keys.
const OTHER_VARIABLES: &[&str] = &["BATHY_LOG", "BATHY_EXECUTABLE"];

/// Who set a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File(PathBuf),
    Variable(String),
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => write!(f, "${name}"),
            Self::Flag(name) => write!(f, "--{name}"),
        }
    }
}

/// Values that were set, the highest layer's of each key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layers {
    values: BTreeMap<&'static str, (Raw, Origin)>,
}

/// What the layers are read from.
pub(crate) struct Sources<'a> {
    /// The file of `--config`.
    pub(crate) file: Option<&'a Path>,
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Flags: key and text.
    pub(crate) flags: Vec<(&'static str, String)>,
}

impl Layers {
    /// Reads all layers.
    pub(crate) fn read(sources: Sources<'_>) -> Result<Self, ConfigError> {
        let mut layers = Self::default();
        if let Some(path) = user_file() {
            match fs::read_to_string(&path) {
                Ok(text) => layers.file(&path, &text)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(unreadable(&path, &error)),
            }
        }
        if let Some(path) = sources.file {
            let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
            layers.file(path, &text)?;
        }
        layers.variables(sources.variables)?;
        for (name, text) in sources.flags {
            let Some(key) = Key::find(name) else { continue };
            layers.text(key, &text, Origin::Flag(key.flag()))?;
        }
        Ok(layers)
    }

    /// The configuration that comes of them.
    pub(crate) fn config(&self) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        for key in KEYS {
            if let Some((raw, origin)) = self.values.get(key.name) {
                (key.apply)(&mut config, raw).map_err(|reason| ConfigError::Value {
                    key: key.name,
                    origin: origin.clone(),
                    reason,
                })?;
            }
        }
        Ok(config)
    }

    /// Who set this key.
    pub(crate) fn origin(&self, key: &Key) -> Origin {
        self.values.get(key.name).map_or(Origin::Default, |(_, origin)| origin.clone())
    }

    fn file(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let origin = Origin::File(path.to_owned());
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| ConfigError::File {
            path: path.display().to_string(),
            reason: error.to_string(),
        })?;
        for (name, value) in &table {
            let key = known(name, &origin)?;
            let raw = Raw::of_toml(key.kind, value).map_err(|reason| ConfigError::Value {
                key: key.name,
                origin: origin.clone(),
                reason,
            })?;
            self.values.insert(key.name, (raw, origin.clone()));
        }
        Ok(())
    }

    fn variables(&mut self, variables: Vec<(OsString, OsString)>) -> Result<(), ConfigError> {
        for (name, value) in variables {
            let Some(name) = name.to_str() else { continue };
            // The proxy of the harness that this program is a tool of; every setting of ours wins over it.
            let fallback = name == "DSH_BROWSER_PROXY" && !value.is_empty();
            if !fallback && (!name.starts_with(PREFIX) || OTHER_VARIABLES.contains(&name)) {
                continue;
            }
            let origin = Origin::Variable(name.to_owned());
            let key = if fallback { Key::find("proxyServer") } else { KEYS.iter().find(|key| key.variable() == name) };
            let Some(key) = key else {
                return Err(unknown_variable(name, origin));
            };
            if fallback && self.values.contains_key(key.name) {
                continue;
            }
            let Some(text) = value.to_str() else {
                return Err(ConfigError::Value { key: key.name, origin, reason: "it is not UTF-8".to_owned() });
            };
            self.text(key, text, origin)?;
        }
        Ok(())
    }

    fn text(&mut self, key: &'static Key, text: &str, origin: Origin) -> Result<(), ConfigError> {
        match Raw::of_text(key.kind, text) {
            Ok(raw) => {
                self.values.insert(key.name, (raw, origin));
                Ok(())
            }
            Err(reason) => Err(ConfigError::Value { key: key.name, origin, reason }),
        }
    }
}

/// The user's own file, where there is a home folder.
pub(crate) fn user_file() -> Option<PathBuf> {
    let folders = Xdg::new().ok()?;
    Some(folders.config_dir().join("bathysphere").join("config.toml"))
}

fn known(name: &str, origin: &Origin) -> Result<&'static Key, ConfigError> {
    if let Some(key) = Key::find(name) {
        return Ok(key);
    }
    if let Some(key) = NOT_YET.iter().find(|key| **key == name) {
        return Err(ConfigError::NotYet { key, origin: origin.clone() });
    }
    let near = nearest(name, KEYS.iter().map(|key| key.name.to_owned()));
    Err(ConfigError::Unknown { key: shown(name), origin: origin.clone(), near })
}

fn unknown_variable(name: &str, origin: Origin) -> ConfigError {
    if let Some(key) = NOT_YET.iter().find(|key| Key::variable_of(key) == name) {
        return ConfigError::NotYet { key, origin };
    }
    let near = nearest(name, KEYS.iter().map(Key::variable));
    ConfigError::Unknown { key: shown(name), origin, near }
}

fn nearest(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let name = name.to_ascii_lowercase();
    known
        .map(|known| (strsim::jaro_winkler(&name, &known.to_ascii_lowercase()), known))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, known)| known)
}

fn shown(name: &str) -> String {
    name.escape_debug().take(60).collect()
}

fn unreadable(path: &Path, error: &io::Error) -> ConfigError {
    ConfigError::File { path: path.display().to_string(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(file: &str, variables: &[(&str, &str)], flags: &[(&'static str, &str)]) -> Result<Layers, ConfigError> {
        let mut layers = Layers::default();
        layers.file(Path::new("/etc/bathy.toml"), file)?;
        layers.variables(variables.iter().map(|(name, value)| (name.into(), value.into())).collect())?;
        for (name, text) in flags {
            let key = Key::find(name).unwrap();
            layers.text(key, text, Origin::Flag(key.flag()))?;
        }
        Ok(layers)
    }

    fn problem(file: &str, variables: &[(&str, &str)], flags: &[(&'static str, &str)]) -> String {
        match layers(file, variables, flags).and_then(|layers| layers.config()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_highest_layer_wins_and_is_named() {
        let layers = layers(
            "maxSessions = 2\nallowedHosts = [\"a.test\"]\nheadless = true",
            &[("BATHY_MAX_SESSIONS", "3"), ("BATHY_ALLOWED_HOSTS", "b.test, c.test"), ("PATH", "x")],
            &[("maxSessions", "4")],
        )
        .unwrap();
        let config = layers.config().unwrap();
        assert_eq!(config.tools.max_sessions, 4);
        assert_eq!(layers.origin(Key::find("maxSessions").unwrap()).to_string(), "--max-sessions");
        assert_eq!(config.policy.allowed_hosts.len(), 2);
        assert_eq!(layers.origin(Key::find("allowedHosts").unwrap()).to_string(), "$BATHY_ALLOWED_HOSTS");
        assert_eq!(layers.origin(Key::find("headless").unwrap()).to_string(), "/etc/bathy.toml");
        assert_eq!(layers.origin(Key::find("tools").unwrap()), Origin::Default);
    }

    #[test]
    fn what_cannot_be_used_is_named_with_its_origin_and_the_nearest_key() {
        let table = [
            (
                problem("allowedHost = []", &[], &[]),
                "/etc/bathy.toml sets `allowedHost`, which is not a key; did you mean `allowedHosts`?",
            ),
            (problem("x = 1", &[], &[]), "/etc/bathy.toml sets `x`, which is not a key"),
            (
                problem("allowEvaluate = true", &[], &[]),
                "/etc/bathy.toml sets `allowEvaluate`, which this version does not support; leave it out",
            ),
            (
                problem("maxSessions = 0", &[], &[]),
                "`maxSessions` from /etc/bathy.toml cannot be used: it is 0; write a number from 1 to 1000",
            ),
            (
                problem("maxSessions = \"2\"", &[], &[]),
                "`maxSessions` from /etc/bathy.toml cannot be used: it is of the type string; write a number from 1 to 1000",
            ),
            (
                problem("allowedHosts = [1]", &[], &[]),
                "`allowedHosts` from /etc/bathy.toml cannot be used: its items are not all texts",
            ),
            (
                problem("", &[("BATHY_HEADLES", "true")], &[]),
                "$BATHY_HEADLES sets `BATHY_HEADLES`, which is not a key; did you mean `BATHY_HEADLESS`?",
            ),
            (
                problem("", &[("BATHY_ISOLATION", "x")], &[]),
                "$BATHY_ISOLATION sets `isolation`, which this version does not support; leave it out",
            ),
            (
                problem("", &[("BATHY_HEADLESS", "yes")], &[]),
                "`headless` from $BATHY_HEADLESS cannot be used: it is \"yes\"; write true or false",
            ),
            (
                problem("", &[], &[("containment", "jail")]),
                "`containment` from --containment cannot be used: unknown containment \"jail\": use `auto`, `kernel` or `browser`",
            ),
            (
                problem("", &[], &[("viewport", "big")]),
                "`viewport` from --viewport cannot be used: \"big\" is not a size such as `1280x800`, each side from 100 to 8000",
            ),
            (
                problem("", &[], &[("tools", "browser_clik")]),
                "`tools` from --tools cannot be used: there is no tool `browser_clik`; did you mean `browser_click`?",
            ),
            (
                problem("", &[], &[("hostOverrides", "a.test")]),
                "`hostOverrides` from --host-overrides cannot be used: \"a.test\" is not `name=address`",
            ),
            (
                problem("", &[], &[("resolver", "dns.test")]),
                "`resolver` from --resolver cannot be used: \"dns.test\" is neither `system` nor the address of a DNS server",
            ),
        ];
        for (found, expected) in table {
            assert_eq!(found, expected);
        }
        assert!(problem("a = ", &[], &[]).starts_with("/etc/bathy.toml cannot be read: TOML parse error"));
    }

    #[test]
    fn the_harness_proxy_is_used_where_no_other_is_set() {
        let ours =
            layers("", &[("BATHY_PROXY_SERVER", "http://a.test:1"), ("DSH_BROWSER_PROXY", "http://b.test:2")], &[]);
        assert_eq!(ours.unwrap().config().unwrap().upstream.unwrap().to_string(), "http://a.test:1");
        let theirs = layers("", &[("DSH_BROWSER_PROXY", "http://b.test:2")], &[]);
        assert_eq!(theirs.unwrap().config().unwrap().upstream.unwrap().to_string(), "http://b.test:2");
    }
}
