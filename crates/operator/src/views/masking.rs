//! Numbers of handsets and texts of messages in views. They are written whole, except in a response to an operator whose role may
//! not see them: there a number loses its middle, and a text is hidden. A view that has one uses these types, and so cannot forget
//! to mask it.

use hermod_domain::phone::{hide_numbers, masked};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use std::ops::Deref;
use utoipa::ToSchema;

/// The action of the row of the audit log about a reason: an operator gave one to see numbers and texts whole.
pub const REASON_GIVEN: &str = "reason.give";

/// What is written in place of a text.
const HIDDEN: &str = "(hidden)";

tokio::task_local! {
    static MASKING: Masking;
}

/// How numbers and texts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masking {
    Whole,
    Masked,
}

impl Masking {
    /// Returns how the response that is being written shows numbers; whole outside of responses.
    pub(crate) fn current() -> Masking {
        MASKING.try_with(|masking| *masking).unwrap_or(Masking::Whole)
    }

    /// Runs what writes a response.
    pub(crate) fn write<T>(self, write: impl FnOnce() -> T) -> T {
        MASKING.sync_scope(self, write)
    }
}

macro_rules! masked_types {
    ($($(#[$doc:meta])* $name:ident: $example:literal, $mask:expr;)*) => {
        /// The names of these types in the document of the operator API.
        pub(crate) const MASKED_TYPES: &[&str] = &[$(stringify!($name)),*];
    $(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, ToSchema)]
        #[serde(transparent)]
        #[schema(value_type = String, examples($example))]
        pub struct $name(String);

        impl $name {
            fn masked(&self) -> String {
                let mask: fn(&str) -> String = $mask;
                mask(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match Masking::current() {
                    Masking::Whole => serializer.serialize_str(&self.0),
                    Masking::Masked => serializer.serialize_str(&self.masked()),
                }
            }
        }

        /// Masked: logs have neither numbers nor texts.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.masked(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(whole: String) -> $name {
                $name(whole)
            }
        }

        impl From<$name> for String {
            fn from($name(whole): $name) -> String {
                whole
            }
        }
    )*};
}

masked_types! {
    /// The number of a handset. Roles that may not see it get it without its middle, such as `+491********78`.
    HandsetNumber: "+4915112345678", masked;
    /// A text of a message, or one that can repeat it. Roles that may not see it get `(hidden)`.
    MessageText: "Your code is 1234.", |text| if text.is_empty() { String::new() } else { HIDDEN.to_owned() };
    /// A text of the gateway that can name a handset. Roles that may not see numbers get it with masked ones.
    NamesHandsets: "shop/4915112345678", hide_numbers;
}

/// Writes a value whose texts can name handsets.
pub(crate) fn texts_masked<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    match Masking::current() {
        Masking::Whole => value.serialize(serializer),
        Masking::Masked => hide_in(value).serialize(serializer),
    }
}

fn hide_in(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(hide_numbers(text)),
        Value::Array(list) => list.iter().map(hide_in).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), hide_in(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
#[path = "masking_tests.rs"]
mod tests;
