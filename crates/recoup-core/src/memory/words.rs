//! Enums with a fixed word for each variant.

/// Defines an enum whose words are stored, shown and parsed.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident: $what:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word that is stored and shown.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Parses a word.
            pub fn parse(word: &str) -> $crate::error::Result<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == word).ok_or_else(|| {
                    let all: Vec<&str> = Self::ALL.iter().map(|it| it.as_str()).collect();
                    $crate::error::Error::usage(format!("{word:?} is no {}: expected one of {}", $what, all.join(", ")))
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(super) use words;
