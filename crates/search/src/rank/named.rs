//! Structs of numbers that are known by name, so that what was learned from them can say which is which.

/// A struct of `f32` and the names of its fields, in their order.
macro_rules! numbers {
    ($(#[$about:meta])* $see:vis $type:ident, $names:ident { $($name:ident: $says:literal,)* }) => {
        #[doc = concat!("The names of what [`", stringify!($type), "`] holds, in their order.")]
        pub const $names: &[&str] = &[$(stringify!($name)),*];

        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default)]
        $see struct $type {
            $(#[doc = $says] pub(crate) $name: f32,)*
        }

        impl $type {
            /// The values, in the order of the names.
            pub(crate) fn values(&self) -> [f32; $names.len()] {
                [$(self.$name),*]
            }

            /// The one of these values, which are in the order of the names.
            #[allow(dead_code, reason = "not all of these structs are made of learned numbers")]
            pub(super) const fn new([$($name),*]: [f32; $names.len()]) -> Self {
                $type { $($name),* }
            }
        }
    };
}

pub(super) use numbers;
