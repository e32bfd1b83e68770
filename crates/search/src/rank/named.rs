//! Structs of numbers with field names, so that learned weights can be stored by name.

use std::collections::BTreeMap;

use prospector_core::Kind;

/// An error in a file of weights.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("unknown feature `{0}`")]
    Feature(String),
    #[error("missing weights for {0}")]
    Kind(Kind),
}

/// Returns the numbers in the order of all `N` names; missing ones are 0.
pub(super) fn in_order<const N: usize>(named: BTreeMap<String, f32>, names: &[&str]) -> Result<[f32; N], ModelError> {
    let mut numbers = [0.0; N];
    for (name, number) in named {
        let at = names.iter().position(|known| *known == name).filter(|at| *at < N);
        numbers[at.ok_or(ModelError::Feature(name))?] = number;
    }
    Ok(numbers)
}

/// Defines a struct of `f32` and a constant with its field names.
macro_rules! numbers {
    ($(#[$about:meta])* $see:vis $type:ident, $names:ident { $($name:ident: $says:literal,)* }) => {
        #[doc = concat!("The field names of [`", stringify!($type), "`], in order.")]
        pub const $names: &[&str] = &[$(stringify!($name)),*];

        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default)]
        $see struct $type {
            $(#[doc = $says] pub(crate) $name: f32,)*
        }

        impl $type {
            /// Returns the values, in the order of the names.
            pub(crate) fn values(&self) -> [f32; $names.len()] {
                [$(self.$name),*]
            }

            /// Creates the struct from values in the order of the names.
            #[allow(dead_code, reason = "not all of these structs contain learned numbers")]
            pub(super) const fn new([$($name),*]: [f32; $names.len()]) -> Self {
                $type { $($name),* }
            }
        }
    };
}

pub(super) use numbers;
