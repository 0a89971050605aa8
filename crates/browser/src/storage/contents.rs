//! What was found in a browser at one moment.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::state::{Cookie, CookieKey, database_name};

/// Cookies and what origins keep, as far as they could be read. What could not is absent, which is not the same as
/// being empty.
#[derive(Clone, Default)]
pub(super) struct Contents {
    pub(super) cookies: Option<BTreeMap<CookieKey, Cookie>>,
    pub(super) origins: BTreeMap<String, Items>,
}

/// What one origin keeps.
#[derive(Clone, Default)]
pub(super) struct Items {
    pub(super) local: BTreeMap<String, String>,
    /// Absent where it was not a tab that was asked.
    pub(super) session: Option<BTreeMap<String, String>>,
    /// By name.
    pub(super) databases: BTreeMap<String, Value>,
    /// Names of items and databases that are there and cannot be carried in a file.
    pub(super) unfit: Vec<String>,
    /// How many values of databases are there that cannot be carried in a file, while their database is.
    pub(super) lost: u64,
}

/// What the script found, as it says it.
#[derive(Deserialize)]
pub(super) struct Found {
    local: Vec<(String, String)>,
    session: Vec<(String, String)>,
    databases: Vec<Value>,
    unfit: Vec<String>,
    lost: u64,
}

impl Items {
    /// Takes over what the script found; the `sessionStorage` of a document of ours is nobody's.
    pub(super) fn of(found: Found, of_a_tab: bool) -> Self {
        Self {
            local: found.local.into_iter().collect(),
            session: of_a_tab.then(|| found.session.into_iter().collect()),
            databases: found.databases.into_iter().map(|database| (database_name(&database), database)).collect(),
            unfit: found.unfit,
            lost: found.lost,
        }
    }
}

impl Contents {
    /// What there is in a fresh context.
    pub(super) fn blank() -> Self {
        Self { cookies: Some(BTreeMap::new()), origins: BTreeMap::new() }
    }

    /// Takes over everything that was read later.
    pub(super) fn overlay(&mut self, later: Self) {
        if later.cookies.is_some() {
            self.cookies = later.cookies;
        }
        for (origin, mut items) in later.origins {
            if items.session.is_none() {
                items.session = self.origins.get(&origin).and_then(|known| known.session.clone());
            }
            self.origins.insert(origin, items);
        }
    }

    /// Drops what is not there any more: it did not get lost by the page's will.
    pub(super) fn keep_what_is_in(&mut self, there: &Self) {
        if let (Some(ours), Some(there)) = (&mut self.cookies, &there.cookies) {
            ours.retain(|key, _| there.contains_key(key));
        }
        self.origins.retain(|origin, _| there.origins.contains_key(origin));
    }
}
