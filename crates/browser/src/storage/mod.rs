//! Storage state: cookies and what pages keep, carried from one session to the next in a file of the operator's.
//!
//! The file has [Playwright's storage-state format](https://playwright.dev/docs/api/class-browsercontext#browser-context-storage-state),
//! so that people can bring theirs; `sessionStorage` is a member of our own beside `localStorage`. A session takes the
//! state in when it starts and, when it closes, writes what it **changed** into whatever the file holds by then. So
//! sessions side by side, of one process or of several, do not undo each other's work, and a session that got nothing
//! wipes nothing out.
//!
//! What a frame keeps under a page of another site is apart from what its own pages keep (the browser partitions it by
//! the site at the top), and the format has no place for it: it ends with the session. Cookies with a partition key are
//! kept.
//!
//! Pages are read and written without traffic: what an origin keeps is reached through an empty document that we
//! answer ourselves in place of the site ([`errand`]).

mod changes;
mod contents;
mod errand;
mod file;
mod jar;
mod keeper;
mod netscape;
mod state;

pub(crate) use keeper::{Keeper, Visited, note_visit};

pub use file::{StorageFile, StorageFileError};
pub use netscape::{NetscapeError, from_netscape};
pub use state::{StorageState, StorageStateError};
