//! Filling fields with secrets.

use serde::Deserialize;
use serde_json::json;

use super::before::Before;
use super::target::Aim;
use super::{Acted, FillOptions, FormFilled, Target};
use crate::secret::SecretText;
use crate::{Deadline, Error, Tab};

/// What a field of a form is filled with.
#[derive(Debug, Clone)]
pub enum FieldValue {
    /// A text, as [`Tab::fill`] takes it.
    Text(String),
    /// A secret, as [`Tab::fill_secret`] takes it.
    Secret(SecretText),
}

/// How the page script filled a field.
#[derive(Deserialize)]
struct Done {
    /// Whether the field holds the secret now.
    #[serde(default)]
    holds: bool,
}

impl Tab {
    /// Fills a text field with a secret. It is set in the field's own document, by the page script there: it goes
    /// nowhere else, even where the page moves the focus or the frame to another place meanwhile. It is not read back.
    ///
    /// # Errors
    /// As [`Tab::fill`]; [`Error::SecretRefused`] where the document may not have it.
    pub async fn fill_secret(&self, target: &Target, secret: &SecretText, deadline: Deadline) -> Result<Acted, Error> {
        self.enter(deadline).await?;
        let aim = Aim::take(self, target, deadline).await?;
        secret.check(&aim.frame.origin)?;
        let (before, _) = aim.approach("fill", deadline).await?;
        fill(&aim, before, secret, deadline).await
    }

    /// Fills several fields, secrets among them, one after the other; see [`Tab::fill_form`].
    ///
    /// # Errors
    /// As [`Tab::fill_form`]. The result of a field that took a secret is empty.
    pub async fn fill_form_with_secrets(
        &self,
        fields: &[(Target, FieldValue)],
        deadline: Deadline,
    ) -> Result<FormFilled, Error> {
        self.enter(deadline).await?;
        let before = self.before(None, deadline).await;
        let mut results = Vec::with_capacity(fields.len());
        for (target, value) in fields {
            results.push(match value {
                FieldValue::Text(text) => {
                    self.fill(target, text, FillOptions::default(), deadline).await.map(|filled| filled.value)
                }
                FieldValue::Secret(secret) => self.fill_secret(target, secret, deadline).await.map(|_| String::new()),
            });
        }
        Ok(FormFilled { acted: self.after(before, deadline).await?, fields: results })
    }
}

async fn fill(aim: &Aim<'_>, before: Before, secret: &SecretText, deadline: Deadline) -> Result<Acted, Error> {
    aim.check_document()?;
    // The world that this runs in ends with the document that was checked.
    let done: Done = aim.call("fillSecret", &json!({ "id": aim.id, "value": secret.value() }), deadline).await?;
    let mut acted = aim.tab.after(before, deadline).await?;
    if !done.holds {
        acted.changes.notes.push("the field holds something else than it was given".to_owned());
    }
    Ok(acted)
}
