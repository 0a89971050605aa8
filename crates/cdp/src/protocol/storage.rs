//! Domain `Storage`: cookies of a whole context.

use super::macros::{commands, known, objects};
use super::{BrowserContextId, Nothing};

objects! {
    /// The top-level site that a partitioned cookie belongs to.
    CookiePartitionKey {
        /// Its origin without the port, such as `https://example.com`.
        top_level_site: String,
        /// Whether a frame of another site stands between it and the top.
        has_cross_site_ancestor: bool,
    }
    /// A cookie, as it is read and as it is set.
    Cookie {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
        /// Its host; with a leading dot where subdomains get it, too.
        domain: String,
        /// Its path.
        path: String,
        /// Seconds since 1970; -1 for a session cookie.
        expires: f64,
        /// Whether scripts cannot see it.
        http_only: bool,
        /// Whether it goes over secure connections alone.
        secure: bool,
        ;
        /// `Strict`, `Lax` or `None`; absent where the site does not say.
        same_site: String,
        /// The partition; absent for a cookie that is not partitioned.
        partition_key: CookiePartitionKey,
    }
    /// The answer to [`GetCookies`].
    Cookies {
        /// All cookies of the context.
        cookies: Vec<Cookie>,
    }
}

commands! {
    /// Reads all cookies of a context.
    "Storage.getCookies" GetCookies {
        ;
        /// The context; the default one when absent.
        browser_context_id: BrowserContextId,
    } -> Cookies;
    /// Sets cookies. Where one of them cannot be set, none is.
    "Storage.setCookies" SetCookies {
        /// The cookies.
        cookies: Vec<Cookie>,
        ;
        /// The context; the default one when absent.
        browser_context_id: BrowserContextId,
    } -> Nothing;
}

const EVENTS: &[(&str, &[&str])] = &[];

known!();
