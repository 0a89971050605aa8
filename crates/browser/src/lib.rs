//! Sessions, tabs, frames, reading and acting on pages.
//!
//! [`Engine`] owns the browser process; a [`Session`] is one isolated context with its own policy
//! and door in the gate; a [`Tab`] is a page in it. Handles are cheap to clone. Every call takes a
//! [`Deadline`] or has one of its own, and dropping a call cancels it.

mod act;
mod artifact;
mod capture;
mod context;
mod deadline;
mod dialog;
mod download;
mod engine;
mod error;
mod find;
mod geometry;
mod instance;
mod navigation;
mod page;
mod pdf;
mod read;
mod secret;
mod session;
mod storage;
mod tab;
mod tabs;
mod upload;
mod wait;
mod watched;
mod world;

pub use act::{
    Acted, Button, Changes, ClickOptions, FieldValue, FillOptions, Filled, FormFilled, Key, Modifiers, ScrollDirection,
    ScrollPosition, Selected, Target,
};
pub use bathy_chromium::{Backend, Containment, Level};
pub use capture::{Conceal, Label, Picture, Screenshot, ScreenshotFormat, ScreenshotOptions, Unconcealed};
pub use context::FreshTab;
pub use deadline::Deadline;
pub use dialog::{Dialog, DialogKind};
pub use download::{Download, DownloadState};
pub use engine::{Engine, EngineOptions};
pub use error::Error;
pub use find::{FindOptions, Found, Match};
pub use navigation::{HistoryAction, Navigation, WaitUntil};
pub use pdf::Pdf;
pub use read::{Observation, Outline, OutlineOptions, PageText, Ref, TextFormat, TextOptions};
pub use secret::SecretText;
pub use session::{Session, SessionOptions, TabSummary};
pub use storage::{NetscapeError, StorageFile, StorageFileError, StorageState, StorageStateError, from_netscape};
pub use tab::Tab;
pub use tabs::TabNews;
pub use wait::{WaitFor, Waited};
