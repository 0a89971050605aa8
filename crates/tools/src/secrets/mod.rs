//! Secrets of the operator: typed for the model, never shown to it.

mod file;
mod forms;
mod mask;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use bathy_browser::{Conceal, SecretText};
use bathy_egress::LedgerEntry;

pub use file::SecretsError;

use crate::arguments::nearest;
use crate::{Answer, Code, Failure, escape};
use mask::Mask;

/// The secrets that can be typed, by name, and the mask that keeps their values out of everything that leaves. A cheap
/// handle; by default there are none.
#[derive(Clone, Default)]
pub struct Secrets {
    shared: Option<Arc<Shared>>,
}

struct Shared {
    list: Vec<Secret>,
    mask: Mask,
}

/// A secret as its file holds it, checked.
struct Secret {
    name: String,
    text: SecretText,
}

/// Names alone.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Secrets {
    /// Reads the operator's file: TOML, or JSON where it begins with a brace. Each name stands for a table of `value` and
    /// `hosts`.
    ///
    /// # Errors
    /// [`SecretsError`], for a file that others can read, too.
    pub fn load(path: &Path) -> Result<Self, SecretsError> {
        let list = file::read(path)?;
        let mask = Mask::new(list.iter().map(|secret| (secret.name.as_str(), secret.text.value())))
            .map_err(|reason| SecretsError::Content { path: path.to_owned(), reason })?;
        Ok(Self { shared: Some(Arc::new(Shared { list, mask })) })
    }

    /// The names, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.shared.iter().flat_map(|shared| &shared.list).map(|secret| secret.name.as_str())
    }

    /// The secret of this name.
    pub(crate) fn find(&self, name: &str) -> Result<&SecretText, Failure> {
        let Some(shared) = &self.shared else {
            return Err(Failure::new(Code::NotEnabled, "the operator has set no secrets (secretsFile)"));
        };
        shared.list.iter().find(|secret| secret.name == name).map(|secret| &secret.text).ok_or_else(|| {
            let failure = Failure::invalid(format_args!("there is no secret {}", escape::quoted(name, 60)));
            match nearest(name, self.names()) {
                Some(near) => failure.with_hint(format_args!("Did you mean {}?", escape::quoted(near, 60))),
                None => failure.with_hint(format_args!("There are {}.", self.names().collect::<Vec<_>>().join(", "))),
            }
        })
    }

    /// The text with every secret in it, in whatever form, replaced by its name.
    pub fn mask(&self, text: &str) -> String {
        self.shared.as_ref().map_or_else(|| text.to_owned(), |shared| shared.mask.text(text))
    }

    /// Finds them in what pages show, for pictures and prints; nothing where there are none.
    pub(crate) fn conceal(&self) -> Option<Conceal> {
        let shared = self.shared.as_ref().filter(|shared| !shared.list.is_empty()).map(Arc::clone)?;
        Some(Conceal::new(move |text| shared.mask.places(text).into_iter().map(|(from, to, _)| from..to).collect()))
    }

    /// Masks what an entry of the ledger took over from pages and calls.
    pub fn mask_entry(&self, entry: &mut LedgerEntry) {
        let Some(shared) = &self.shared else { return };
        for text in [Some(&mut entry.host), entry.reason.as_mut(), entry.method.as_mut()].into_iter().flatten() {
            *text = shared.mask.text(text);
        }
    }

    /// Masks the outcome of a call.
    pub(crate) fn mask_outcome(&self, outcome: Result<Answer, Failure>) -> Result<Answer, Failure> {
        let Some(shared) = &self.shared else { return outcome };
        match outcome {
            Ok(mut answer) => {
                answer.text = shared.mask.text(&answer.text);
                shared.mask.data(&mut answer.data);
                Ok(answer)
            }
            Err(failure) => Err(failure.mapped(|text| shared.mask.text(text))),
        }
    }

    /// What stands for a secret wherever it would be shown.
    pub(crate) fn placeholder(name: &str) -> String {
        format!("[secret {name}]")
    }
}
