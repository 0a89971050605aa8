//! The thing that an action is aimed at, as arguments name it.

use bathy_browser::{Ref, Target};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::Failure;

/// A ref as an argument: `@e12` or `e12`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct RefArgument(pub(crate) Ref);

impl TryFrom<String> for RefArgument {
    type Error = bathy_browser::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl JsonSchema for RefArgument {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Ref".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "maxLength": 20})
    }
}

/// Exactly one of ref and selector.
pub(crate) fn exactly_one(reference: Option<RefArgument>, selector: Option<String>) -> Result<Target, Failure> {
    match (reference, selector) {
        (Some(RefArgument(reference)), None) => Ok(Target::Ref(reference)),
        (None, Some(selector)) => Ok(Target::Selector(selector)),
        (None, None) => Err(Failure::invalid("neither `ref` nor `selector` is given")
            .with_hint("Give `ref` with a ref from browser_snapshot, such as @e12.")),
        (Some(_), Some(_)) => Err(Failure::invalid("both `ref` and `selector` are given")
            .with_hint("Give `ref` alone; a selector is for elements that no snapshot shows.")),
    }
}
