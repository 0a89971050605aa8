//! Fields: one, and whole forms.

use serde::Deserialize;
use serde_json::json;

use super::before::{Before, Expects};
use super::click::click;
use super::delivery::Delivery;
use super::keyboard::{insert, strike, type_keys};
use super::target::Aim;
use super::{Acted, ClickOptions, FillOptions, Filled, FormFilled, Key, Target};
use crate::{Deadline, Error, Tab};

/// How the page script began to fill a field.
#[expect(clippy::struct_excessive_bools, reason = "as the page script tells them")]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Begun {
    /// The field holds the value already.
    done: bool,
    /// A checkbox or radio that a click brings to the wanted state.
    #[serde(default)]
    click: bool,
    /// Whether the field has the focus, so that text goes there.
    #[serde(default)]
    focused: bool,
    /// Whether text in the field brings suggestions.
    #[serde(default)]
    suggests: bool,
}

#[derive(Deserialize)]
struct Held {
    value: Option<String>,
}

impl Tab {
    /// Fills a field and reads it back. Text goes in as a whole, or key by key; dates, ranges and colours are set by
    /// value; checkboxes and radios take `true` and `false`.
    ///
    /// # Errors
    /// As [`Tab::click`]; [`Error::NotActionable`] for fields that are disabled, readonly or none at all.
    pub async fn fill(
        &self,
        target: &Target,
        value: &str,
        options: FillOptions,
        deadline: Deadline,
    ) -> Result<Filled, Error> {
        self.enter(deadline).await?;
        let aim = Aim::take(self, target, deadline).await?;
        let (before, _) = aim.approach("fill", deadline).await?;
        fill(&aim, before, value, options, deadline).await
    }

    /// Fills several fields, one after the other. A field that cannot be filled does not keep the others from it.
    ///
    /// # Errors
    /// [`Error::DialogOpen`], [`Error::OffPolicy`], [`Error::PageGone`]; what concerns one field stands in its result.
    pub async fn fill_form(&self, fields: &[(Target, String)], deadline: Deadline) -> Result<FormFilled, Error> {
        self.enter(deadline).await?;
        let before = self.before(None, deadline).await;
        let mut results = Vec::with_capacity(fields.len());
        for (target, value) in fields {
            let filled = self.fill(target, value, FillOptions::default(), deadline).await;
            results.push(filled.map(|filled| filled.value));
        }
        Ok(FormFilled { acted: self.after(before, deadline).await?, fields: results })
    }
}

async fn fill(
    aim: &Aim<'_>,
    mut before: Before,
    value: &str,
    options: FillOptions,
    deadline: Deadline,
) -> Result<Filled, Error> {
    let argument = json!({ "id": aim.id, "value": value, "clear": options.clear });
    let begun: Begun = aim.call("fillBegin", &argument, deadline).await?;
    let acted = if begun.click {
        let ready = aim.prepare("click", deadline).await?;
        click(aim, before, ready, ClickOptions::default(), deadline).await?
    } else {
        if !begun.done {
            if !begun.focused {
                return Err(aim.not("taking the focus"));
            }
            put_in(aim, value, options, deadline).await?;
            if begun.suggests {
                before.expects = Expects::Suggestions;
            }
        }
        aim.tab.after(before, deadline).await?
    };
    finish(aim, acted, value, options, deadline).await
}

async fn put_in(aim: &Aim<'_>, value: &str, options: FillOptions, deadline: Deadline) -> Result<Delivery, Error> {
    aim.check_document()?;
    match (value.is_empty(), options) {
        (true, FillOptions { clear: true, .. }) => {
            let key: Key = "Delete".parse()?;
            strike(aim.tab, &key, deadline).await
        }
        (true, _) => Ok(Delivery::Arrived),
        (false, FillOptions { keys: true, .. }) => type_keys(aim.tab, value, deadline).await,
        (false, _) => insert(aim.tab, value, deadline).await,
    }
}

/// Reads the field back, where it can still be asked.
async fn finish(
    aim: &Aim<'_>,
    mut acted: Acted,
    wanted: &str,
    options: FillOptions,
    deadline: Deadline,
) -> Result<Filled, Error> {
    let open = acted.changes.dialogs.iter().any(|dialog| !dialog.closed);
    if open || acted.changes.tab_closed || aim.check_document().is_err() {
        acted.changes.notes.push("the field could not be read back".to_owned());
        return Ok(Filled { acted, value: String::new() });
    }
    let held: Held = aim.call("value", &json!({ "id": aim.id }), deadline.with_grace()).await?;
    let value = held.value.unwrap_or_default();
    let masked = !value.is_empty() && value.chars().all(|character| character == '•');
    if options.clear && !masked && value.trim() != wanted.trim() {
        acted.changes.notes.push("the field holds something else than it was given".to_owned());
    }
    Ok(Filled { acted, value })
}
