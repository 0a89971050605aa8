//! What a session changed, and how that goes into a file which others change, too.

use std::collections::BTreeMap;

use serde_json::Value;

use super::contents::{Contents, Items};
use super::state::{Cookie, CookieKey, Item, OriginState, StorageState, database_name};

/// What became of each thing between two moments: set to this, or gone.
type Differences<K, V> = BTreeMap<K, Option<V>>;

/// Everything that a session changed.
#[derive(Default)]
pub(super) struct Changes {
    cookies: Differences<CookieKey, Cookie>,
    origins: BTreeMap<String, OriginChanges>,
}

#[derive(Default)]
struct OriginChanges {
    local: Differences<String, String>,
    session: Differences<String, String>,
    databases: Differences<String, Value>,
}

impl OriginChanges {
    fn between(before: &Items, after: &Items) -> Self {
        let nothing = BTreeMap::new();
        let mut changes = Self {
            local: differences(&before.local, &after.local),
            session: match &after.session {
                Some(session) => differences(before.session.as_ref().unwrap_or(&nothing), session),
                None => Differences::new(),
            },
            databases: differences(&before.databases, &after.databases),
        };
        for name in &after.unfit {
            changes.local.remove(name);
            changes.session.remove(name);
            changes.databases.remove(name);
        }
        changes
    }

    fn is_empty(&self) -> bool {
        self.local.is_empty() && self.session.is_empty() && self.databases.is_empty()
    }
}

impl Changes {
    /// What happened between `before` and `after`. What either of them could not read did not change.
    pub(super) fn between(before: &Contents, after: &Contents) -> Self {
        let cookies = match (&before.cookies, &after.cookies) {
            (Some(before), Some(after)) => differences(before, after),
            (None, Some(after)) => differences(&BTreeMap::new(), after),
            (_, None) => Differences::new(),
        };
        let unknown = Items::default();
        let origins = after.origins.iter().map(|(origin, items)| {
            (origin.clone(), OriginChanges::between(before.origins.get(origin).unwrap_or(&unknown), items))
        });
        Self { cookies, origins: origins.filter(|(_, changes)| !changes.is_empty()).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cookies.is_empty() && self.origins.is_empty()
    }

    /// Makes the changes in a state, which keeps everything else.
    pub(super) fn apply(&self, state: &mut StorageState) {
        apply(&mut state.cookies, &self.cookies, Cookie::key, |_, cookie| cookie.clone());
        for (name, changes) in &self.origins {
            let index = state.origins.iter().position(|origin| origin.origin == *name).unwrap_or_else(|| {
                state.origins.push(OriginState { origin: name.clone(), ..OriginState::default() });
                state.origins.len() - 1
            });
            let origin = &mut state.origins[index];
            let item = |name: &String, value: &String| Item { name: name.clone(), value: value.clone() };
            apply(&mut origin.local_storage, &changes.local, |item| item.name.clone(), item);
            apply(&mut origin.session_storage, &changes.session, |item| item.name.clone(), item);
            apply(&mut origin.databases, &changes.databases, database_name, |_, database| database.clone());
            if state.origins[index].is_empty() {
                state.origins.remove(index);
            }
        }
    }
}

fn differences<K: Ord + Clone, V: PartialEq + Clone>(
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
) -> Differences<K, V> {
    let set = after.iter().filter(|(key, value)| before.get(key) != Some(value));
    let gone = before.keys().filter(|key| !after.contains_key(key));
    set.map(|(key, value)| (key.clone(), Some(value.clone()))).chain(gone.map(|key| (key.clone(), None))).collect()
}

fn apply<T, K: Ord, V>(
    items: &mut Vec<T>,
    differences: &Differences<K, V>,
    key: impl Fn(&T) -> K,
    make: impl Fn(&K, &V) -> T,
) {
    items.retain(|item| !matches!(differences.get(&key(item)), Some(None)));
    for (name, value) in differences {
        let Some(value) = value else { continue };
        let item = make(name, value);
        match items.iter_mut().find(|known| key(known) == *name) {
            Some(known) => *known = item,
            None => items.push(item),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(cookies: &[(&str, &str)], local: &[(&str, &str)]) -> Contents {
        let cookies = cookies.iter().map(|(name, value)| cookie(name, value)).map(|cookie| (cookie.key(), cookie));
        let local = local.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let items = Items { local, ..Items::default() };
        Contents { cookies: Some(cookies.collect()), origins: BTreeMap::from([("https://a.test".to_owned(), items)]) }
    }

    fn cookie(name: &str, value: &str) -> Cookie {
        let text = format!(r#"{{"cookies": [{{"name": "{name}", "value": "{value}", "domain": "a.test"}}]}}"#);
        StorageState::parse(&text).unwrap().cookies.remove(0)
    }

    fn state(cookies: &[(&str, &str)], local: &[(&str, &str)]) -> StorageState {
        let mut state = StorageState::default();
        Changes::between(&Contents::default(), &contents(cookies, local)).apply(&mut state);
        state
    }

    fn told(state: &StorageState) -> Vec<String> {
        let cookies = state.cookies.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value));
        let items = state.origins.iter().flat_map(|origin| &origin.local_storage);
        cookies.chain(items.map(|item| format!("{}:{}", item.name, item.value))).collect()
    }

    #[test]
    fn only_what_a_session_changed_goes_into_what_others_wrote_meanwhile() {
        let before = contents(&[("kept", "1"), ("set", "1"), ("gone", "1")], &[("x", "1"), ("y", "1")]);
        let after = contents(&[("kept", "1"), ("set", "2"), ("new", "1")], &[("x", "2"), ("z", "1")]);
        let mut file =
            state(&[("kept", "theirs"), ("set", "theirs"), ("gone", "1"), ("more", "1")], &[("y", "1"), ("w", "1")]);
        Changes::between(&before, &after).apply(&mut file);
        assert_eq!(told(&file), ["kept=theirs", "more=1", "set=2", "new=1", "w:1", "x:2", "z:1"]);
    }

    #[test]
    fn what_could_not_be_read_did_not_change() {
        let before = contents(&[("a", "1")], &[("x", "1")]);
        assert!(Changes::between(&before, &Contents::default()).is_empty());
        let mut unfit = contents(&[("a", "1")], &[]);
        unfit.origins.get_mut("https://a.test").unwrap().unfit.push("x".to_owned());
        assert!(Changes::between(&before, &unfit).is_empty());
        // An empty reading is a reading: the page threw everything away.
        assert!(!Changes::between(&before, &contents(&[], &[])).is_empty());
    }

    #[test]
    fn an_origin_that_keeps_nothing_any_more_leaves_the_file() {
        let mut file = state(&[], &[("x", "1")]);
        Changes::between(&contents(&[], &[("x", "1")]), &contents(&[], &[])).apply(&mut file);
        assert_eq!(file, StorageState::default());
    }
}
