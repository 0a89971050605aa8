use std::fmt;
use std::str::FromStr;

/// How firmly the operator wants the browser held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Containment {
    /// The kernel level where the machine allows it, the browser level elsewhere.
    #[default]
    Auto,
    /// The kernel level or no browser at all.
    Kernel,
    /// The browser level, even where the kernel level could be had.
    Browser,
}

/// How firmly a running browser is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A network namespace of its own: loopback and the gate's listening socket are all there is.
    Kernel,
    /// Chromium's proxy and resolver switches; on Linux a system-call filter that allows no socket but TCP as well.
    Browser,
}

/// A word that names no [`Containment`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown containment {0:?}: use `auto`, `kernel` or `browser`")]
pub struct UnknownContainment(pub String);

impl FromStr for Containment {
    type Err = UnknownContainment;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "auto" => Ok(Self::Auto),
            "kernel" => Ok(Self::Kernel),
            "browser" => Ok(Self::Browser),
            _ => Err(UnknownContainment(word.to_owned())),
        }
    }
}

impl fmt::Display for Containment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Auto => "auto",
            Self::Kernel => "kernel",
            Self::Browser => "browser",
        })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Kernel => "kernel",
            Self::Browser => "browser",
        })
    }
}
