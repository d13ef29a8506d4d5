//! The text form of small types, by their `parse` and `Display`.

/// Implements `FromStr`, and serde in the same form. `by as_str` is for types that hold their text. Types with `or` are
/// numbers in binary formats, by the two functions that follow.
macro_rules! text_form {
    ($($name:ident: $refusal:ty),+) => {$(
        text_form!(@read $name, $refusal);
        text_form!(@serde $name, |value, serializer| serializer.collect_str(value));
    )+};
    ($name:ident: $refusal:ty, by as_str) => {
        text_form!(@read $name, $refusal);
        text_form!(@serde $name, |value, serializer| serializer.serialize_str(value.as_str()));
    };
    ($name:ident: $refusal:ty, or $number:ty: $to:expr, $from:expr) => {
        text_form!(@read $name, $refusal);

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    return serializer.collect_str(self);
                }
                let number: $number = $to(*self);
                number.serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                use serde::de::Error;
                if !deserializer.is_human_readable() {
                    let value = $from(<$number>::deserialize(deserializer)?);
                    return value.ok_or_else(|| Error::custom(concat!("not a ", stringify!($name))));
                }
                let text = String::deserialize(deserializer)?;
                $name::parse(&text).map_err(Error::custom)
            }
        }
    };
    (@read $name:ident, $refusal:ty) => {
        impl std::str::FromStr for $name {
            type Err = $refusal;

            fn from_str(text: &str) -> Result<$name, $refusal> {
                $name::parse(text)
            }
        }
    };
    (@serde $name:ident, |$value:ident, $serializer:ident| $write:expr) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, $serializer: S) -> Result<S::Ok, S::Error> {
                let $value = self;
                $write
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let text = String::deserialize(deserializer)?;
                $name::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Implements `Debug` as the name of the type with the text in brackets.
macro_rules! debug_as_text {
    ($($name:ident),+) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    )+};
}
