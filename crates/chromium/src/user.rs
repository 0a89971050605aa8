use std::fs;
use std::path::{Path, PathBuf};

/// The user that the browser of root runs as, with a group of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BrowserUser(pub(crate) u32);

/// The first of the numbers that are tried. systemd's table of users leaves 60706 to 61183 to nobody, and 16 bits fit
/// into the mappings that container engines make.
const FIRST: u32 = 60_955;
const TRIED: u32 = 64;
/// `nobody`, which other services share; better than none.
const NOBODY: u32 = 65_534;

impl BrowserUser {
    /// A user that no account has and that exists in our user namespace.
    pub(crate) fn choose() -> Option<Self> {
        let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let map = fs::read_to_string("/proc/self/uid_map").ok();
        let groups = fs::read_to_string("/proc/self/gid_map").ok();
        let mapped = |user| [&map, &groups].iter().all(|map| map.as_ref().is_none_or(|map| is_mapped(map, user)));
        Self::choose_from(&accounts, mapped)
    }

    fn choose_from(accounts: &str, mapped: impl Fn(u32) -> bool) -> Option<Self> {
        (FIRST..FIRST + TRIED)
            .filter(|user| !has_account(accounts, *user))
            .chain([NOBODY])
            .find(|user| mapped(*user))
            .map(Self)
    }
}

/// The outermost folder on the way to `path` that other users may not pass through.
pub(crate) fn barrier(path: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let real = fs::canonicalize(path).ok()?;
    let mut folders: Vec<&Path> = real.ancestors().skip(1).collect();
    folders.reverse();
    folders
        .into_iter()
        .find(|folder| fs::metadata(folder).is_ok_and(|found| found.permissions().mode() & 0o001 == 0))
        .map(Path::to_owned)
}

fn has_account(accounts: &str, user: u32) -> bool {
    accounts.lines().filter_map(|line| line.split(':').nth(2)).any(|field| field.parse() == Ok(user))
}

/// Whether a `uid_map` (inside, outside, length a line) holds an inside number.
fn is_mapped(map: &str, user: u32) -> bool {
    map.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().map(str::parse::<u32>);
        let (Some(Ok(inside)), Some(Ok(_)), Some(Ok(length))) = (fields.next(), fields.next(), fields.next()) else {
            return false;
        };
        user.checked_sub(inside).is_some_and(|offset| offset < length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_has_an_account_is_passed_over() {
        let accounts = "root:x:0:0::/root:/bin/sh\nada:x:60955:60955::/home/ada:/bin/sh\n";
        assert_eq!(BrowserUser::choose_from(accounts, |_| true), Some(BrowserUser(60_956)));
    }

    #[test]
    fn where_few_users_are_mapped_nobody_is_taken_or_none() {
        let nobody_only = |user| is_mapped("0 100000 1000\n65534 165534 1\n", user);
        assert_eq!(BrowserUser::choose_from("", nobody_only), Some(BrowserUser(NOBODY)));
        assert_eq!(BrowserUser::choose_from("", |user| is_mapped("0 1000 1\n", user)), None);
    }

    #[test]
    fn a_map_of_everything_holds_the_first_number() {
        assert!(is_mapped("         0          0 4294967295\n", FIRST));
    }
}
