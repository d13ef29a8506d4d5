//! Enums of which each variant has a name, and perhaps a number in the store, written once beside it.

/// Defines an enum with `ALL`, its variants in their order. If the variants have names, it has also `as_str`, `parse` (the variant
/// of a name) and `Display`; if they have numbers, before the names, also the two functions in brackets, to and from a number.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident,)* }) => {
        $(#[$meta])*
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            pub const ALL: [$name; [$(stringify!($variant)),*].len()] = [$($name::$variant),*];
        }
    };
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $crate::named! { $(#[$meta])* pub enum $name { $($(#[$doc])* $variant,)* } }

        impl $name {
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            pub fn parse(text: &str) -> Option<$name> {
                $name::ALL.into_iter().find(|one| one.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
    ($(#[$meta:meta])* pub enum $name:ident ($to:ident, $from:ident: $number:ty) {
        $($(#[$doc:meta])* $variant:ident = $stored:literal $($text:literal)?,)*
    }) => {
        $crate::named! { $(#[$meta])* pub enum $name { $($(#[$doc])* $variant $(= $text)?,)* } }

        impl $name {
            pub const fn $to(self) -> $number {
                match self { $($name::$variant => $stored,)* }
            }

            pub const fn $from(stored: $number) -> Option<$name> {
                match stored {
                    $($stored => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    };
}
