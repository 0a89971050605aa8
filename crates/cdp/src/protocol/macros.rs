//! Declares protocol types. Optional fields stand in a block of their own, are left out of what is
//! sent when they are absent, and may be absent in what is received.

/// Objects in both directions.
macro_rules! objects {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
        $(; $($(#[$option_meta:meta])* $option:ident: $option_type:ty,)*)?
    })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
            $($($(#[$option_meta])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $option: Option<$option_type>,)*)?
        }
    )*};
}

/// Commands: `"Domain.method" Name { parameters } -> Output;`.
macro_rules! commands {
    ($($(#[$meta:meta])* $method:literal $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
        $(; $($(#[$option_meta:meta])* $option:ident: $option_type:ty,)*)?
    } -> $output:ty;)*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Default, serde::Serialize)]
            #[serde(rename_all = "camelCase")]
            pub struct $name {
                $($(#[$field_meta])* pub $field: $type,)*
                $($($(#[$option_meta])* #[serde(skip_serializing_if = "Option::is_none")] pub $option: Option<$option_type>,)*)?
            }

            impl $crate::protocol::Command for $name {
                const METHOD: &'static str = $method;
                const PARAMETERS: &'static [&'static str] =
                    &[$(stringify!($field),)* $($(stringify!($option),)*)?];
                type Output = $output;
            }
        )*
        const COMMANDS: &[(&str, &[&str])] =
            &[$((<$name as $crate::protocol::Command>::METHOD, <$name as $crate::protocol::Command>::PARAMETERS)),*];
    };
}

/// Events: `"Domain.event" Name { parameters }`.
macro_rules! events {
    ($($(#[$meta:meta])* $method:literal $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
        $(; $($(#[$option_meta:meta])* $option:ident: $option_type:ty,)*)?
    })*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, serde::Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub struct $name {
                $($(#[$field_meta])* pub $field: $type,)*
                $($($(#[$option_meta])* #[serde(default)] pub $option: Option<$option_type>,)*)?
            }

            impl $crate::protocol::Event for $name {
                const METHOD: &'static str = $method;
                const PARAMETERS: &'static [&'static str] =
                    &[$(stringify!($field),)* $($(stringify!($option),)*)?];
            }
        )*
        const EVENTS: &[(&str, &[&str])] =
            &[$((<$name as $crate::protocol::Event>::METHOD, <$name as $crate::protocol::Event>::PARAMETERS)),*];
    };
}

/// Everything that a domain declares, joined at compile time.
macro_rules! known {
    () => {
        pub(crate) const KNOWN: &[(&str, &[&str])] = &{
            let mut all: [(&str, &[&str]); COMMANDS.len() + EVENTS.len()] = [("", &[]); COMMANDS.len() + EVENTS.len()];
            let mut index = 0;
            while index < all.len() {
                all[index] = if index < COMMANDS.len() { COMMANDS[index] } else { EVENTS[index - COMMANDS.len()] };
                index += 1;
            }
            all
        };
    };
}

/// String identifiers that cannot be mistaken for one another.
macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident,)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

/// Words of the protocol: `Name { Variant = "word" }`; an unknown word is `Other`.
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident { $($(#[$word_meta:meta])* $variant:ident = $word:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$word_meta])* #[serde(rename = $word)] $variant,)*
            /// A word that this client does not know.
            #[default]
            #[serde(other)]
            Other,
        }
    )*};
}

pub(crate) use {commands, events, ids, known, objects, words};
