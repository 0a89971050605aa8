//! Giving files to a page.

use std::time::Duration;

use bathy_cdp::Session;
use bathy_cdp::protocol::RemoteObjectId;
use bathy_cdp::protocol::dom::{ResolveNode, SetFileInputFiles};
use bathy_cdp::protocol::runtime::CallFunctionOn;
use serde::Deserialize;
use serde_json::{Value, json};

use super::target::Aim;
use super::{Acted, ClickOptions, Target};
use crate::tab::{Chooser, PageState};
use crate::world::{World, by_value};
use crate::{Deadline, Error, Tab};

/// How long a page may take to ask for a file once its button is clicked.
const ASKS: Duration = Duration::from_secs(2);
/// The name under which handles are kept.
const HANDLES: &str = "bathysphere-upload";
/// What is to be known of a file input.
const FACTS: &str = "function() { return { accept: this.accept, disabled: this.matches(':disabled'), \
                     multiple: this.multiple, folder: this.webkitdirectory }; }";

/// A file input.
struct Input {
    session: Session,
    handle: RemoteObjectId,
    facts: Facts,
}

#[derive(Deserialize)]
struct Facts {
    accept: String,
    disabled: bool,
    multiple: bool,
    folder: bool,
}

impl Tab {
    /// Gives files, by their bare names, to a file input: the element itself, that of its label, or the one that a page
    /// asks to be filled when the element is clicked.
    ///
    /// # Errors
    /// [`Error::UploadNotAllowed`], [`Error::NotActionable`] for an input that is disabled or takes one file alone, and
    /// for an element that leads to no input; [`Error::Artifact`]; otherwise as [`Tab::click`].
    pub async fn upload(&self, target: &Target, names: &[String], deadline: Deadline) -> Result<Acted, Error> {
        let files = names.iter().map(|name| self.uploads().open(name)).collect::<Result<Vec<_>, _>>()?;
        self.enter(deadline).await?;
        let aim = Aim::take(self, target, deadline).await?;
        let input = match direct(&aim, deadline).await? {
            Some(input) => input,
            None => self.chosen_by_click(&aim, target, deadline).await?,
        };
        let Input { session, handle, facts } = input;
        if facts.disabled {
            return Err(refused(&aim, "disabled"));
        }
        if facts.folder {
            return Err(refused(&aim, "for whole folders, not for files"));
        }
        if names.len() > 1 && !facts.multiple {
            return Err(refused(&aim, "for one file alone"));
        }
        let mut before = self.before(Some(&aim.frame), deadline).await;
        let uploads = self.uploads().clone();
        let copied = tokio::task::spawn_blocking(move || uploads.copy(files)).await;
        let paths = copied.map_err(|error| Error::ActionFailed(error.to_string()))??;
        let files = paths.iter().map(|path| path.display().to_string()).collect();
        let give = SetFileInputFiles { files, object_id: Some(handle), ..SetFileInputFiles::default() };
        session.call(give, deadline.remaining()).await?;
        for name in names.iter().filter(|name| !accepts(&facts.accept, name)) {
            before.note(&format!("the page asks for other files than {name}; it may not take it"));
        }
        self.after(before, deadline).await
    }

    /// The input that the page asks to be filled when the element is clicked.
    async fn chosen_by_click(&self, aim: &Aim<'_>, target: &Target, deadline: Deadline) -> Result<Input, Error> {
        let seen = self.state().borrow().file_choosers;
        self.click(target, ClickOptions::default(), deadline).await?;
        let asked = |state: &PageState| state.file_choosers > seen;
        match self.until("a request for a file", deadline.at_most(ASKS), asked).await {
            Ok(()) => {}
            Err(Error::TimedOut { .. }) => {
                return Err(refused(aim, "no way to choose a file: it was clicked, and the page asked for none"));
            }
            Err(error) => return Err(error),
        }
        let chooser = self.state().borrow().chooser.clone();
        let Some(Chooser { frame, session, node: Some(node) }) = chooser else {
            return Err(refused(aim, "asking for a file in a way that has no input"));
        };
        let frame = self.frame(&frame).ok_or_else(|| Error::PageGone("its frame went away".to_owned()))?;
        let world = World::of(&frame, deadline).await.map_err(|error| error.about_page(deadline))?;
        let resolve = ResolveNode {
            backend_node_id: Some(node),
            execution_context_id: Some(world.context()),
            object_group: Some(HANDLES.to_owned()),
        };
        let handle = session.call(resolve, deadline.remaining()).await?.object.object_id;
        Input::of(session, handle, deadline).await
    }
}

/// The input that the element is or stands for, without a click.
async fn direct(aim: &Aim<'_>, deadline: Deadline) -> Result<Option<Input>, Error> {
    #[derive(Deserialize)]
    struct Found {
        id: Option<u32>,
    }
    let found: Found = aim.call("fileInput", &json!({ "id": aim.id }), deadline).await?;
    let Some(id) = found.id else {
        return Ok(None);
    };
    let function = ("id", "bathy.element(id)");
    let handle = aim.world.handle(function, vec![by_value(Value::from(id))], HANDLES, deadline).await;
    let handle = handle.map_err(|error| error.about_page(deadline))?.object_id;
    Input::of(aim.world.session().clone(), handle, deadline).await.map(Some)
}

impl Input {
    async fn of(session: Session, handle: Option<RemoteObjectId>, deadline: Deadline) -> Result<Self, Error> {
        let gone = || Error::PageGone("the page took its file input away".to_owned());
        let handle = handle.ok_or_else(gone)?;
        let ask = CallFunctionOn {
            function_declaration: FACTS.to_owned(),
            object_id: Some(handle.clone()),
            return_by_value: Some(true),
            silent: Some(true),
            ..CallFunctionOn::default()
        };
        let answer = session.call(ask, deadline.remaining()).await?.result.value.unwrap_or_default();
        let facts = serde_json::from_value(answer).map_err(|_| gone())?;
        Ok(Self { session, handle, facts })
    }
}

fn refused(aim: &Aim<'_>, reason: &str) -> Error {
    Error::NotActionable { target: aim.name(), reason: reason.to_owned() }
}

/// Whether a file of this name is one that the page asks for, as far as its ending tells (HTML, attribute `accept`).
fn accepts(accept: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let mut asked =
        accept.split(',').map(|token| token.trim().to_lowercase()).filter(|token| !token.is_empty()).peekable();
    if asked.peek().is_none() {
        return true;
    }
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let kind = kind_of(ending);
    asked.any(|token| match token.strip_suffix("/*") {
        Some(family) => kind.is_none_or(|kind| kind.starts_with(&format!("{family}/"))),
        None if token.starts_with('.') => name.ends_with(&token),
        None => kind.is_none_or(|kind| kind == token),
    })
}

/// The media type of files with an ending that is well known.
fn kind_of(ending: &str) -> Option<&'static str> {
    Some(match ending {
        "txt" | "log" => "text/plain",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "json" => "application/json",
        "xml" => "text/xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_asks_for_is_told_by_ending_and_by_type() {
        for (accept, name, expected) in [
            ("", "a.txt", true),
            (" , ", "a.txt", true),
            (".csv", "a.CSV", true),
            (".csv", "a.txt", false),
            ("image/*", "a.png", true),
            ("image/*", "a.txt", false),
            ("image/png, .pdf", "a.pdf", true),
            ("image/png", "a.jpg", false),
            ("image/*", "a.unheard-of", true),
        ] {
            assert_eq!(accepts(accept, name), expected, "{accept:?} {name}");
        }
    }
}
