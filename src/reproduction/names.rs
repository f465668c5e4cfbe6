//! Names: how the command line, files and messages spell what there is to choose from.

/// Text that is none of the names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a {kind}; the {kind}s are {known}")]
pub struct UnknownName {
    pub(super) found: String,
    pub(super) kind: &'static str,
    pub(super) known: String,
}

/// Gives the variants of an enum their names: `EVERY`, `Display` and `FromStr`.
macro_rules! named {
    ($type:ident, $kind:literal, $($variant:ident = $name:literal),+) => {
        impl $type {
            /// Every one there is.
            pub const EVERY: [Self; [$($name),+].len()] = [$(Self::$variant),+];
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $name,)+
                })
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::reproduction::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                match name {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(Self::Err { found: name.into(), kind: $kind, known: [$($name),+].join(", ") }),
                }
            }
        }
    };
}

/// Writes a type to JSON as its text, and reads it back from it.
macro_rules! written_as_text {
    ($type:ident) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(super) use {named, written_as_text};
