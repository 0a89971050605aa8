//! Cookies, in and out of a browser context.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use bathy_cdp::protocol::BrowserContextId;
use bathy_cdp::protocol::storage::{self, CookiePartitionKey, GetCookies, SetCookies};
use bathy_cdp::{CallError, Session};
use bathy_policy::{Policy, Purpose};
use futures::future::join_all;
use serde_json::Map;

use super::state::{Cookie, CookieKey, PartitionKey, SameSite};
use crate::Deadline;

/// All cookies of a context.
pub(super) async fn read(
    browser: &Session,
    context: &BrowserContextId,
    deadline: Deadline,
) -> Result<BTreeMap<CookieKey, Cookie>, CallError> {
    let command = GetCookies { browser_context_id: Some(context.clone()) };
    let found = browser.call(command, deadline.remaining()).await?.cookies;
    Ok(found.into_iter().map(of_protocol).map(|cookie| (cookie.key(), cookie)).collect())
}

/// Sets cookies. Those that the browser refuses, and those whose time is over, are left out.
pub(super) async fn write(
    browser: &Session,
    context: &BrowserContextId,
    cookies: impl Iterator<Item = &Cookie>,
    deadline: Deadline,
) -> Result<(), CallError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let current = |cookie: &&Cookie| cookie.expires < 0.0 || cookie.expires > now;
    let cookies: Vec<storage::Cookie> = cookies.filter(current).map(to_protocol).collect();
    if cookies.is_empty() {
        return Ok(());
    }
    let set = |cookies| {
        let command = SetCookies { cookies, browser_context_id: Some(context.clone()) };
        browser.call(command, deadline.remaining())
    };
    match set(cookies.clone()).await {
        Err(CallError::Refused { .. }) => {
            // One bad cookie keeps all others out, so each has to try alone.
            for set in join_all(cookies.into_iter().map(|cookie| set(vec![cookie]))).await {
                match set {
                    Err(CallError::Refused { message, .. }) => {
                        tracing::warn!(reason = message, "a stored cookie is refused by the browser");
                    }
                    other => drop(other?),
                }
            }
            Ok(())
        }
        set => set.map(drop),
    }
}

/// Whether a session under this policy could ever send the cookie.
pub(super) fn is_of_use(cookie: &Cookie, policy: &Policy) -> bool {
    let scheme = if cookie.secure { "https" } else { "http" };
    if policy.check_url(&format!("{scheme}://{}/", cookie.host()), Purpose::Resource).is_ok() {
        return true;
    }
    // Patterns may name a port, which cookies know nothing of, or a host below the cookie's domain.
    let config = policy.config();
    let patterns = config.allowed_hosts.iter().map(ToString::to_string);
    let resources = config.allowed_resource_hosts.iter().flatten().map(ToString::to_string);
    let host = cookie.host().to_ascii_lowercase();
    patterns.chain(resources).any(|pattern| {
        let pattern = pattern.strip_prefix("*.").unwrap_or(&pattern);
        let pattern = match pattern.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
            _ => pattern,
        };
        let below = |host: &str, domain: &str| host.strip_suffix(domain).is_some_and(|front| front.ends_with('.'));
        host == pattern || below(&host, pattern) || cookie.domain.starts_with('.') && below(pattern, &host)
    })
}

fn of_protocol(cookie: storage::Cookie) -> Cookie {
    let partition = cookie.partition_key;
    Cookie {
        name: cookie.name,
        value: cookie.value,
        domain: cookie.domain,
        path: cookie.path,
        expires: cookie.expires,
        http_only: cookie.http_only,
        secure: cookie.secure,
        same_site: SameSite::ALL.into_iter().find(|word| Some(word.word()) == cookie.same_site.as_deref()),
        has_cross_site_ancestor: partition.as_ref().map(|key| key.has_cross_site_ancestor),
        partition_key: partition.map(|key| PartitionKey::Site(key.top_level_site)),
        other: Map::new(),
    }
}

fn to_protocol(cookie: &Cookie) -> storage::Cookie {
    storage::Cookie {
        name: cookie.name.clone(),
        value: cookie.value.clone(),
        domain: cookie.domain.clone(),
        path: cookie.path.clone(),
        expires: cookie.expires,
        http_only: cookie.http_only,
        secure: cookie.secure,
        same_site: cookie.same_site.map(|word| word.word().to_owned()),
        partition_key: cookie.partition().map(|(top_level_site, has_cross_site_ancestor)| CookiePartitionKey {
            top_level_site,
            has_cross_site_ancestor,
        }),
    }
}

#[cfg(test)]
mod tests {
    use bathy_policy::PolicyConfig;

    use super::super::StorageState;
    use super::*;

    #[test]
    fn a_cookie_is_of_use_where_a_host_that_gets_it_may_be_reached() {
        let hosts = ["shop.example.com", "a.test:8443", "*.sub.test"];
        let config = PolicyConfig {
            allowed_hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
            ..PolicyConfig::default()
        };
        let (listed, open) = (Policy::new(config), Policy::new(PolicyConfig::default()));
        for (domain, in_listed, in_open) in [
            ("shop.example.com", true, true),
            (".example.com", true, true),
            ("example.com", false, true),
            (".shop.example.com", true, true),
            ("evil-shop.example.com", false, true),
            ("a.test", true, true),
            ("x.sub.test", true, true),
            ("127.0.0.1", false, false),
        ] {
            let text = format!(r#"{{"cookies": [{{"name": "a", "value": "1", "domain": "{domain}"}}]}}"#);
            let cookie = StorageState::parse(&text).unwrap().cookies.remove(0);
            assert_eq!(is_of_use(&cookie, &listed), in_listed, "{domain}");
            assert_eq!(is_of_use(&cookie, &open), in_open, "{domain}");
        }
    }
}
