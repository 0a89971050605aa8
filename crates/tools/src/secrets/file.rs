//! The operator's file of secrets.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bathy_browser::SecretText;
use bathy_policy::HostPattern;
use serde::Deserialize;

use super::{Secret, mask};

/// The most characters of a value.
const LONGEST: usize = 4_096;
/// The most characters of a name.
const NAME: usize = 64;
/// The largest file, in bytes.
const SIZE: u64 = 1 << 20;

/// Why the file of secrets cannot be used. Values are never part of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretsError {
    /// The system does not let us read it.
    #[error("{} cannot be read: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others could read or change it.
    #[error("{} is not for its owner alone: {reason}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Who else has a part in it, and what to do.
        reason: String,
    },
    /// It is not what such a file is.
    #[error("{}: {reason}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Where and what is wrong.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: String,
    hosts: Vec<String>,
}

/// Reads and checks the file.
pub(super) fn read(path: &Path) -> Result<Vec<Secret>, SecretsError> {
    let unreadable = |source| SecretsError::Unreadable { path: path.to_owned(), source };
    let content = |reason: String| SecretsError::Content { path: path.to_owned(), reason };
    let mut options = OpenOptions::new();
    options.read(true);
    // A pipe in its place must not hold up the start.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file = options.open(path).map_err(unreadable)?;
    check(path, &file)?;
    let mut text = String::new();
    file.take(SIZE + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > SIZE {
        return Err(content("it is larger than 1 MB".to_owned()));
    }
    let entries = parse(&text).map_err(content)?;
    entries.into_iter().map(|(name, entry)| secret(name, entry).map_err(content)).collect()
}

/// The file must be a plain one that its owner alone can read, and the owner must be who we are.
#[cfg(unix)]
fn check(path: &Path, file: &File) -> Result<(), SecretsError> {
    use std::os::unix::fs::MetadataExt;
    let found = file.metadata().map_err(|source| SecretsError::Unreadable { path: path.to_owned(), source })?;
    let open = |reason: String| Err(SecretsError::Open { path: path.to_owned(), reason });
    if !found.is_file() {
        return Err(SecretsError::Content { path: path.to_owned(), reason: "it is not a plain file".to_owned() });
    }
    let us = rustix::process::geteuid().as_raw();
    if found.uid() != us {
        return open(format!("it belongs to user {}, and bathy runs as user {us}; chown it", found.uid()));
    }
    if found.mode() & 0o077 != 0 {
        return open(format!("its mode is {:03o}; run `chmod 600 {}`", found.mode() & 0o777, path.display()));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check(path: &Path, file: &File) -> Result<(), SecretsError> {
    let found = file.metadata().map_err(|source| SecretsError::Unreadable { path: path.to_owned(), source })?;
    if found.is_file() {
        Ok(())
    } else {
        Err(SecretsError::Content { path: path.to_owned(), reason: "it is not a plain file".to_owned() })
    }
}

/// The parsers' own messages show the line that they stumble over, which may hold a value: only the place is told.
fn parse(text: &str) -> Result<BTreeMap<String, Entry>, String> {
    const FORM: &str = "write `[name]`, `value = \"…\"` and `hosts = [\"…\"]` for each";
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| {
            format!(
                "line {} column {} is not a table of secrets, each with `value` and `hosts`",
                error.line(),
                error.column()
            )
        });
    }
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
        format!("line {line} is not part of a table of secrets; {FORM}")
    })
}

fn secret(name: String, Entry { value, hosts }: Entry) -> Result<Secret, String> {
    let usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > NAME || !name.chars().all(usable) {
        let shown: String = name.escape_debug().take(NAME).collect();
        return Err(format!("`{shown}` is not a name of letters, digits, `-`, `_` and `.`, up to {NAME} of them"));
    }
    let length = value.chars().count();
    if value.chars().filter(|c| !mask::is_filler(*c)).count() < mask::SHORTEST {
        return Err(format!(
            "the value of `{name}` is shorter than {} characters, spaces, quotes and backslashes apart; so short a text \
             cannot be kept out of answers",
            mask::SHORTEST
        ));
    }
    if length > LONGEST {
        return Err(format!("the value of `{name}` is longer than {LONGEST} characters"));
    }
    if value.chars().any(char::is_control) {
        return Err(format!("the value of `{name}` holds a line break or another control character"));
    }
    if hosts.is_empty() {
        return Err(format!("`{name}` names no hosts that it may be typed on"));
    }
    let hosts: Vec<HostPattern> = hosts
        .iter()
        .map(|host| host.parse().map_err(|error| format!("the hosts of `{name}`: {error}")))
        .collect::<Result<_, _>>()?;
    Ok(Secret { name, text: SecretText::new(value, hosts) })
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::super::Secrets;
    use super::*;

    fn load(text: &str, mode: u32) -> Result<Vec<String>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
        let loaded = Secrets::load(file.path()).map_err(|error| error.to_string());
        loaded.map(|secrets| secrets.names().map(ToOwned::to_owned).collect())
    }

    #[test]
    fn both_formats_are_read() {
        let toml = "[shop]\nvalue = \"s3cret\"\nhosts = [\"shop.test\"]\n[mail]\nvalue = 'pässwörd'\nhosts = ['*.mail.test']\n";
        assert_eq!(load(toml, 0o600).unwrap(), ["mail", "shop"]);
        assert_eq!(load(r#"{"shop": {"value": "s3cret", "hosts": ["shop.test"]}}"#, 0o400).unwrap(), ["shop"]);
        assert_eq!(load("", 0o600).unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_wrong_is_told_without_a_value() {
        let entry = |name: &str, value: &str, hosts: &str| format!("[{name}]\nvalue = \"{value}\"\nhosts = {hosts}\n");
        for (text, expected) in [
            (entry("a", "s3x", "[\"a.test\"]"), "the value of `a` is shorter than 4 characters, spaces, quotes"),
            (entry("a", "   s3x   ", "[\"a.test\"]"), "the value of `a` is shorter than 4 characters, spaces, quotes"),
            (
                entry("a", r#"s\"3\"x \\"#, "[\"a.test\"]"),
                "the value of `a` is shorter than 4 characters, spaces, quotes",
            ),
            (entry("a", "s3cret", "[]"), "`a` names no hosts"),
            (entry("a", "s3cret", "[\"http://a.test\"]"), "the hosts of `a`: "),
            (entry("\"a b\"", "s3cret", "[\"a.test\"]"), "`a b` is not a name of letters"),
            (entry("a", "s3\\ncret", "[\"a.test\"]"), "the value of `a` holds a line break"),
            ("[a]\nvalue = \"s3cret\"\n".to_owned(), "line 1 is not part of a table of secrets; write `[name]`"),
            ("[a]\nvalue = s3cret\n".to_owned(), "line 2 is not part of a table of secrets"),
            ("a = \"s3cret\"\n".to_owned(), "line 1 is not part of a table of secrets"),
            (r#"{"a": {"value": "s3cret", "host": []}}"#.to_owned(), "line 1 column 32 is not a table of secrets"),
            (r#"{"a": "s3cret"}"#.to_owned(), "line 1 column 14 is not a table of secrets"),
        ] {
            let error = load(&text, 0o600).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains("s3"), "{error}");
        }
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_with_what_to_do() {
        for mode in [0o644, 0o640, 0o604, 0o666, 0o610] {
            let error = load("", mode).unwrap_err();
            assert!(error.contains(&format!("its mode is {mode:03o}; run `chmod 600 /")), "{error}");
        }
        let missing = Secrets::load(Path::new("/nowhere/secrets.toml")).unwrap_err().to_string();
        assert!(missing.starts_with("/nowhere/secrets.toml cannot be read: "), "{missing}");
        let folder = Secrets::load(Path::new("/")).unwrap_err().to_string();
        assert!(folder.contains("not a plain file"), "{folder}");
    }
}
