//! Domain `Browser`: the program as a whole.

use super::macros::{commands, events, known, objects};
use super::{BrowserContextId, Nothing};

objects! {
    /// The answer to [`GetVersion`].
    Version {
        /// `HeadlessChrome/156.0.0.0` and the like.
        product: String,
        /// The default user agent.
        user_agent: String,
        /// The protocol's version.
        protocol_version: String,
    }
}

commands! {
    /// Names the browser.
    "Browser.getVersion" GetVersion {} -> Version;
    /// Ends the browser.
    "Browser.close" Close {} -> Nothing;
    /// Says what becomes of downloads.
    "Browser.setDownloadBehavior" SetDownloadBehavior {
        /// `deny`, `allow`, `allowAndName` or `default`.
        behavior: String,
        ;
        /// The context; the default one when absent.
        browser_context_id: BrowserContextId,
        /// Where they go.
        download_path: String,
        /// Whether events are sent.
        events_enabled: bool,
    } -> Nothing;
    /// Gives up a download.
    "Browser.cancelDownload" CancelDownload {
        /// The download.
        guid: String,
        ;
        /// The context; the default one when absent.
        browser_context_id: BrowserContextId,
    } -> Nothing;
}

events! {
    /// A download goes on.
    "Browser.downloadProgress" DownloadProgress {
        /// The download.
        guid: String,
        /// Bytes expected.
        total_bytes: f64,
        /// Bytes so far.
        received_bytes: f64,
        /// `inProgress`, `completed` or `canceled`.
        state: String,
    }
}

known!();
