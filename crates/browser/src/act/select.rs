//! Choosing options: native ones by the page script, ARIA ones by clicks, as a person would.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::click::click;
use super::keyboard::insert;
use super::target::{Aim, Kind};
use super::{ClickOptions, Selected, Target};
use crate::{Deadline, Error, Tab};

/// How long a list may take to open.
const OPENS: Duration = Duration::from_millis(1_500);
/// How long a list may take to open before its field is typed into.
const TYPE_AFTER: Duration = Duration::from_millis(300);
/// How often a list that is to open is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(30);

#[derive(Deserialize)]
#[serde(untagged)]
enum Choice {
    Native {
        selected: Vec<String>,
    },
    Listbox {
        /// Whether it must be opened to show its options.
        expand: bool,
        options: Vec<Entry>,
    },
}

#[derive(Deserialize)]
struct Entry {
    id: u32,
    name: String,
    /// Whether it is one that was asked for.
    r#match: bool,
    selected: bool,
    disabled: bool,
}

impl Tab {
    /// Selects options by label or value.
    ///
    /// # Errors
    /// As [`Tab::click`]; [`Error::InvalidArgument`] for an option that there is none of, with those that there are.
    pub async fn select(&self, target: &Target, values: &[String], deadline: Deadline) -> Result<Selected, Error> {
        self.enter(deadline).await?;
        let aim = Aim::take(self, target, deadline).await?;
        let (before, ready) = aim.approach("select", deadline).await?;
        match choose(&aim, values, deadline).await? {
            Choice::Native { selected } => {
                let acted = self.after(before, deadline).await?;
                Ok(Selected { acted, selected })
            }
            Choice::Listbox { .. } if values.is_empty() => {
                Err(Error::InvalidArgument("give the option to choose".to_owned()))
            }
            Choice::Listbox { .. } => {
                let mut selected = Vec::with_capacity(values.len());
                for value in values {
                    selected.push(pick(&aim, ready.kind, value, deadline).await?);
                }
                Ok(Selected { acted: self.after(before, deadline).await?, selected })
            }
        }
    }
}

async fn choose(aim: &Aim<'_>, values: &[String], deadline: Deadline) -> Result<Choice, Error> {
    aim.call("select", &json!({ "id": aim.id, "values": values }), deadline).await
}

/// Picks one option of an ARIA listbox, which is opened first where need be.
async fn pick(aim: &Aim<'_>, kind: Kind, value: &str, deadline: Deadline) -> Result<String, Error> {
    let entry = entry(aim, kind, value, deadline).await?;
    if entry.disabled {
        return Err(Error::NotActionable { target: value.to_owned(), reason: "disabled".to_owned() });
    }
    if entry.selected {
        return Ok(entry.name);
    }
    press(&aim.at(entry.id), deadline).await?;
    Ok(entry.name)
}

async fn entry(aim: &Aim<'_>, kind: Kind, value: &str, deadline: Deadline) -> Result<Entry, Error> {
    let wanted = [value.to_owned()];
    let opens = Instant::now() + OPENS;
    let mut typing = None;
    let mut opened = false;
    loop {
        let (expand, options) = match choose(aim, &wanted, deadline).await? {
            Choice::Listbox { expand, options } => (expand, options),
            Choice::Native { .. } => {
                return Err(Error::ActionFailed("the list changed its kind".to_owned()));
            }
        };
        let known: Vec<String> = options.iter().map(|entry| format!("\"{}\"", entry.name)).collect();
        if let Some(entry) = options.into_iter().find(|entry| entry.r#match) {
            return Ok(entry);
        }
        if expand && !opened {
            opened = true;
            press(aim, deadline).await?;
            typing = (kind == Kind::Text).then(|| Instant::now() + TYPE_AFTER);
            continue;
        }
        if typing.is_some_and(|at| Instant::now() >= at) {
            typing = None;
            // A field with suggestions shows them for what is typed.
            let _: serde_json::Value =
                aim.call("fillBegin", &json!({ "id": aim.id, "value": value, "clear": true }), deadline).await?;
            insert(aim.tab, value, deadline).await?;
        }
        if !known.is_empty() && typing.is_none() && !opened || Instant::now() >= opens {
            let known = if known.is_empty() { "no option".to_owned() } else { known.join(", ") };
            let problem = format!("no option `{}`", value.escape_debug());
            return Err(Error::Unfit { problem, shown: format!("there is {known}") });
        }
        deadline.bound("the list of options", tokio::time::sleep(LOOK_AGAIN)).await?;
    }
}

/// A click on the way to a choice.
async fn press(aim: &Aim<'_>, deadline: Deadline) -> Result<(), Error> {
    let (before, ready) = aim.approach("click", deadline).await?;
    let acted = click(aim, before, ready, ClickOptions::default(), deadline).await?;
    match acted.changes.dialogs.into_iter().find(|dialog| !dialog.closed) {
        Some(dialog) => Err(Error::DialogOpen(dialog)),
        None => Ok(()),
    }
}
