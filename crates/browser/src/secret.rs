//! Texts that may be typed on certain hosts alone and never be read back.

use std::fmt;

use bathy_policy::{Host, HostPattern};
use url::Url;

use crate::Error;

/// A secret text and the hosts whose documents may have it.
#[derive(Clone)]
pub struct SecretText {
    value: String,
    hosts: Vec<HostPattern>,
}

/// Never shows the value.
impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretText").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl SecretText {
    /// A secret for documents of these hosts.
    pub fn new(value: String, hosts: Vec<HostPattern>) -> Self {
        Self { value, hosts }
    }

    /// The text itself.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Whether a document of this origin may have it: of one of its hosts, and over a connection that nobody on the way
    /// can read or forge, which is HTTPS or the machine itself (Secure Contexts §3.1).
    pub(crate) fn check(&self, origin: &str) -> Result<(), Error> {
        let refused = |reason: String| Err(Error::SecretRefused(reason));
        let host = Url::parse(origin).ok().and_then(|url| Some((Host::of_url(&url).ok()?, url)));
        let Some((host, url)) = host else {
            return refused("its document has no host of its own".to_owned());
        };
        let local = host.is_localhost() || host.address().is_some_and(|address| address.is_loopback());
        if url.scheme() != "https" && !(url.scheme() == "http" && local) {
            return refused(format!("its document came from {host} over an insecure connection"));
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if self.hosts.iter().any(|pattern| pattern.matches(&host, port)) {
            Ok(())
        } else {
            refused(format!("its document is of {host}, which the secret is not for"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_for_its_hosts_over_connections_that_nobody_reads() {
        let hosts = ["shop.example.com", "*.login.test", "127.0.0.1:8000"];
        let secret = SecretText::new("s3cret".to_owned(), hosts.iter().map(|host| host.parse().unwrap()).collect());
        for (origin, allowed) in [
            ("https://shop.example.com", true),
            ("https://www.shop.example.com:8443", true),
            ("https://a.login.test", true),
            ("http://127.0.0.1:8000", true),
            ("http://127.0.0.1:8001", false),
            ("https://login.test", false),
            ("http://shop.example.com", false),
            ("https://evil-shop.example.com", false),
            ("https://shop.example.com.attacker.test", false),
            ("https://example.com", false),
            ("null", false),
            ("://", false),
            ("", false),
            ("ftp://shop.example.com", false),
        ] {
            assert_eq!(secret.check(origin).is_ok(), allowed, "{origin}");
        }
        assert!(!format!("{secret:?}").contains("s3cret"));
    }
}
