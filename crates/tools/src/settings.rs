//! What the operator decides for all tools.

use std::time::Duration;

use crate::Secrets;

/// Bounds and budgets of all calls.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Budget of a navigation that names none.
    pub navigation_timeout: Duration,
    /// Budget of every other call that names none.
    pub action_timeout: Duration,
    /// The most characters of any text or outline.
    pub max_text_chars: usize,
    /// How many sessions an owner may have at once.
    pub max_sessions: usize,
    /// How long a session may be unused before it is closed.
    pub session_idle: Duration,
    /// What can be typed without being shown.
    pub secrets: Secrets,
    /// Whether pages may be loaded in the background.
    pub jobs: bool,
}

impl Settings {
    /// Characters of a text that nobody wants longer or shorter. With what stands around it an answer stays within
    /// 10000; hosts cut results at 12000 or more.
    const DEFAULT_CHARS: usize = 9_600;

    /// How much text a call gets that asks for `wanted`.
    pub(crate) fn chars(&self, wanted: Option<usize>) -> usize {
        wanted.unwrap_or(Self::DEFAULT_CHARS).min(self.max_text_chars)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            navigation_timeout: Duration::from_secs(30),
            action_timeout: Duration::from_secs(15),
            max_text_chars: 20_000,
            max_sessions: 5,
            session_idle: Duration::from_mins(30),
            secrets: Secrets::default(),
            jobs: true,
        }
    }
}
