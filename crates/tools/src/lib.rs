//! The catalogue of tools, each defined once, and what carries their calls: owners, sessions, queues,
//! cancellation, limits and the table of errors.
//!
//! A face makes one [`Toolbox`] for the engine and one [`Owner`] for whoever asks, looks a tool up with
//! [`find`], and calls it with [`Owner::call`]. Schemas, descriptions and texts come from here; a face
//! only translates.

mod action;
mod answer;
mod arguments;
mod catalogue {
    //! One tool a file. A new file is a new tool: nothing else has to be told.
    automod::dir!("src/catalogue");
}
mod changes;
mod code;
mod escape;
mod failure;
mod fence;
mod fill_value;
mod jobs;
mod listing;
mod owner;
mod progress;
mod queue;
mod reading;
mod schema;
mod secrets;
mod settings;
mod tabs;
mod target;
mod tool;
mod toolbox;

pub use answer::{Answer, Image};
pub use code::Code;
pub use failure::Failure;
pub use listing::{Selection, UnknownTool, all, everyday, find, nearest};
pub use owner::{Owner, Place};
pub use progress::{Amount, Progress};
pub use secrets::{Secrets, SecretsError};
pub use settings::Settings;
pub use tool::{Effect, Hints, Tool};
pub use toolbox::Toolbox;
