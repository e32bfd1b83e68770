//! Enumerations of names.

/// Defines an enumeration of stable names, with `ALL`, `as_str` and `Display`.
///
/// ```
/// prospector_core::named_enum! {
///     /// The size of a shirt.
///     #[derive(Debug, Clone, Copy, PartialEq, Eq)]
///     pub enum Size {
///         /// For children.
///         Small = "small",
///         /// For adults.
///         Large = "large",
///     }
/// }
/// assert_eq!(Size::ALL, [Size::Small, Size::Large]);
/// assert_eq!(Size::Large.as_str(), "large");
/// assert_eq!(Size::Large.to_string(), "large");
/// ```
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$about:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$about_variant:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        $visibility enum $name {
            $($(#[$about_variant])* $variant,)+
        }

        impl $name {
            /// All variants, in order.
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$variant),+];

            /// Returns the stable name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

/// Implements the JSON schema of a [`named_enum`] as a plain list of words, which costs a model far fewer tokens than the
/// derived one with a description per variant.
#[macro_export]
macro_rules! word_schema {
    ($name:ident) => {
        impl ::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({"type": "string", "enum": $name::ALL.map($name::as_str)})
            }
        }
    };
}
