//! The catalogue as a list: what is in it, what is offered, what a name means.

use std::fmt;
use std::str::FromStr;

use crate::Tool;
use crate::arguments;

/// Every tool, by name.
pub fn all() -> Vec<&'static Tool> {
    let mut tools: Vec<&'static Tool> = inventory::iter::<Tool>().collect();
    tools.sort_by_key(|tool| tool.name());
    tools
}

/// The default list, by name.
pub fn everyday() -> Vec<&'static Tool> {
    all().into_iter().filter(|tool| tool.is_everyday()).collect()
}

/// The tool with this name or alias.
pub fn find(name: &str) -> Option<&'static Tool> {
    inventory::iter::<Tool>().find(|tool| tool.name() == name || tool.aliases().contains(&name))
}

/// The tool whose name is most similar, where one is similar at all.
pub fn nearest(name: &str) -> Option<&'static str> {
    arguments::nearest(name, inventory::iter::<Tool>().map(Tool::name))
}

/// Which tools a face offers: `default`, `all`, or names separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Selection {
    /// The everyday ones.
    #[default]
    Default,
    /// All.
    All,
    /// Those with these names.
    Named(Vec<&'static str>),
}

/// A name that no tool has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool `{name}`{}", .near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
pub struct UnknownTool {
    /// What was asked for.
    pub name: String,
    /// The most similar name.
    pub near: Option<&'static str>,
}

impl Selection {
    /// The tools, by name.
    pub fn tools(&self) -> Vec<&'static Tool> {
        match self {
            Self::Default => everyday(),
            Self::All => all(),
            Self::Named(names) => all().into_iter().filter(|tool| names.contains(&tool.name())).collect(),
        }
    }
}

impl FromStr for Selection {
    type Err = UnknownTool;

    fn from_str(text: &str) -> Result<Self, UnknownTool> {
        match text.trim() {
            "default" => return Ok(Self::Default),
            "all" => return Ok(Self::All),
            _ => {}
        }
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(|name| {
            find(name)
                .map(Tool::name)
                .ok_or_else(|| UnknownTool { name: name.escape_debug().take(60).collect(), near: nearest(name) })
        });
        names.collect::<Result<_, _>>().map(Self::Named)
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::All => f.write_str("all"),
            Self::Named(names) => f.write_str(&names.join(",")),
        }
    }
}
