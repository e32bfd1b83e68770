//! Structs of numbers with field names, so that learned weights can be stored by name.

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
