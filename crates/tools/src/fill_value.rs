//! What a field is filled with, as arguments name it.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::Secrets;

/// A text, or the name of a secret: `{"secret": "name"}`. The schema says that it is a text, since several hosts refuse
/// schemas with a choice in them; so a text of that form names a secret, too, where the operator has any.
#[derive(Debug, Clone)]
pub(crate) enum FillValue {
    Text(String),
    Secret(String),
}

impl FillValue {
    /// The same, where a text may be a secret's name in the form of a text.
    pub(crate) fn among(self, secrets: &Secrets) -> Self {
        match self {
            Self::Text(text) if secrets.names().next().is_some() => {
                let named = serde_json::from_str(&text).ok().as_ref().and_then(secret_named).map(ToOwned::to_owned);
                named.map_or(Self::Text(text), Self::Secret)
            }
            value => value,
        }
    }
}

/// The name in `{"secret": "name"}`.
pub(crate) fn secret_named(value: &Value) -> Option<&str> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    members.get("secret")?.as_str()
}

impl<'de> Deserialize<'de> for FillValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match (secret_named(&value).map(ToOwned::to_owned), value) {
            (Some(name), _) => Ok(Self::Secret(name)),
            (None, Value::String(text)) => Ok(Self::Text(text)),
            _ => Err(de::Error::custom("give a text, or {\"secret\": \"name\"}")),
        }
    }
}

impl JsonSchema for FillValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FillValue".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}
