//! The table of error codes.

use std::fmt;

use serde::{Serialize, Serializer};

/// What went wrong, as a steady word. Its text form carries the prefix `BROWSER_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The host is not on the operator's list.
    HostNotAllowed,
    /// The address is not public, and the operator did not open it.
    PrivateNetwork,
    /// The session has no page.
    NoPage,
    /// No tab has this index.
    NoSuchTab,
    /// The file may not be uploaded.
    UploadNotAllowed,
    /// Background jobs cannot be had.
    JobsUnavailable,
    /// The document could not be loaded.
    NavigationFailed,
    /// The action could not be carried out.
    ActionFailed,
    /// The browser did not start.
    LaunchFailed,
    /// The session, the page or the browser went away.
    Closed,
    /// The call was cancelled.
    Aborted,
    /// The scheme is not opened.
    UnsupportedScheme,
    /// The URL cannot be used.
    InvalidUrl,
    /// The owner has no such session.
    NoSuchSession,
    /// The owner has as many sessions as it may have.
    SessionLimit,
    /// Nothing matches.
    NoSuchElement,
    /// The ref's element or document is gone.
    RefStale,
    /// The element cannot take the action.
    NotActionable,
    /// Another element covers the target.
    Obscured,
    /// A dialog must be answered first.
    DialogOpen,
    /// It took longer than it may.
    Timeout,
    /// An argument or an option is missing, unknown or makes no sense.
    InvalidArgument,
    /// No browser is installed.
    MissingBinary,
    /// The search gave nothing that can be used.
    SearchFailed,
    /// The operator did not switch this on.
    NotEnabled,
    /// Too many calls are waiting.
    Busy,
}

struct Row {
    code: Code,
    name: &'static str,
    exit: u8,
    retryable: bool,
    hint: &'static str,
}

const fn row(code: Code, name: &'static str, exit: u8, retryable: bool, hint: &'static str) -> Row {
    Row { code, name, exit, retryable, hint }
}

/// One row a code. Exit codes: 2 the request is wrong, 3 refused, 4 no browser, 5 nothing there, 6 the element or a
/// dialog is in the way, 7 it failed, 8 too slow, 9 too much at once, 130 cancelled.
#[rustfmt::skip]
const TABLE: [Row; 26] = [
    row(Code::HostNotAllowed, "BROWSER_HOST_NOT_ALLOWED", 3, false, "Only the operator can allow a host; go on without it."),
    row(Code::PrivateNetwork, "BROWSER_PRIVATE_NETWORK", 3, false, "Only the operator can open private addresses (allowedNetworks, allowPrivateNetwork); go on without it."),
    row(Code::NoPage, "BROWSER_NO_PAGE", 5, false, "Open a page with browser_navigate first."),
    row(Code::NoSuchTab, "BROWSER_NO_SUCH_TAB", 5, false, "Use the index of a tab that is open, or leave `tab` out."),
    row(Code::UploadNotAllowed, "BROWSER_UPLOAD_NOT_ALLOWED", 3, false, "Only bare names of files that the operator laid out can be uploaded."),
    row(Code::JobsUnavailable, "BROWSER_JOBS_UNAVAILABLE", 7, false, "Load the page in the foreground with browser_navigate."),
    row(Code::NavigationFailed, "BROWSER_NAVIGATION_FAILED", 7, true, "Check the URL, or try again later."),
    row(Code::ActionFailed, "BROWSER_ACTION_FAILED", 7, false, "Look at the page with browser_snapshot, then try another way."),
    row(Code::LaunchFailed, "BROWSER_LAUNCH_FAILED", 4, true, "Ask the operator to run `bathy doctor`."),
    row(Code::Closed, "BROWSER_CLOSED", 7, true, "Call again; after the browser or the session is gone, start with browser_navigate."),
    row(Code::Aborted, "BROWSER_ABORTED", 130, true, "The call was cancelled; call again if it is still wanted."),
    row(Code::UnsupportedScheme, "BROWSER_UNSUPPORTED_SCHEME", 2, false, "Use an http or https URL."),
    row(Code::InvalidUrl, "BROWSER_INVALID_URL", 2, false, "Give a whole URL such as https://example.com/page, without user name or password."),
    row(Code::NoSuchSession, "BROWSER_NO_SUCH_SESSION", 5, false, "See browser_session_list, or start one with browser_session_start."),
    row(Code::SessionLimit, "BROWSER_SESSION_LIMIT", 9, false, "Stop a session with browser_session_stop, or go on in one that is open."),
    row(Code::NoSuchElement, "BROWSER_NO_SUCH_ELEMENT", 5, false, "Take a ref from a fresh browser_snapshot."),
    row(Code::RefStale, "BROWSER_REF_STALE", 5, false, "Take a new ref from a fresh browser_snapshot."),
    row(Code::NotActionable, "BROWSER_NOT_ACTIONABLE", 6, false, "Look at the page with browser_snapshot; something may have to be done first."),
    row(Code::Obscured, "BROWSER_OBSCURED", 6, false, "Deal with what covers it first, for instance close it by its ref."),
    row(Code::DialogOpen, "BROWSER_DIALOG_OPEN", 6, false, "Answer it with browser_dialog first."),
    row(Code::Timeout, "BROWSER_TIMEOUT", 8, true, "Try again with a larger timeoutMs, or look at what there is with browser_snapshot."),
    row(Code::InvalidArgument, "BROWSER_INVALID_ARGUMENT", 2, false, "Correct the argument and call again."),
    row(Code::MissingBinary, "BROWSER_MISSING_BINARY", 4, true, "Install a browser and call again, nothing has to be restarted."),
    row(Code::SearchFailed, "BROWSER_SEARCH_FAILED", 7, true, "Try other words, or open a page directly with browser_navigate."),
    row(Code::NotEnabled, "BROWSER_NOT_ENABLED", 3, false, "Only the operator can switch this on."),
    row(Code::Busy, "BROWSER_BUSY", 9, true, "Wait for calls that are running, then call again."),
];

impl Code {
    /// Every code.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.code)
    }

    /// The code as text, such as `BROWSER_TIMEOUT`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What a command exits with.
    pub fn exit_code(self) -> u8 {
        self.row().exit
    }

    /// Whether the same call may succeed when it is made again.
    pub fn retryable(self) -> bool {
        self.row().retryable
    }

    /// What to do, where nothing better is known.
    pub fn hint(self) -> &'static str {
        self.row().hint
    }

    fn row(self) -> &'static Row {
        // The rows stand in the order of the variants; a test holds that.
        &TABLE[self as usize]
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_code_finds_its_own_row() {
        for row in &TABLE {
            assert_eq!(row.code.name(), row.name);
        }
        assert_eq!(Code::Busy as usize + 1, TABLE.len());
    }

    #[test]
    fn names_are_unique_prefixed_and_upper_case_and_hints_are_sentences() {
        let names: HashSet<_> = TABLE.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), TABLE.len());
        for row in &TABLE {
            let rest = row.name.strip_prefix("BROWSER_").unwrap();
            assert!(rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{rest}");
            assert!(row.hint.ends_with('.'), "{}", row.hint);
            assert_ne!(row.exit, 0);
        }
    }
}
