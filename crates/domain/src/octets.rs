//! The serialized form of octets: written and read at once. The derived form of a list handles them one by one.
//!
//! For binary formats only, whose readers can borrow octets from their input.

use serde::{Deserialize, Deserializer, Serializer, de};

pub fn serialize<S: Serializer>(octets: &impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(octets.as_ref())
}

pub fn deserialize<'de, D: Deserializer<'de>, T: TryFrom<&'de [u8]>>(deserializer: D) -> Result<T, D::Error> {
    let octets = <&[u8]>::deserialize(deserializer)?;
    T::try_from(octets).map_err(|_| de::Error::invalid_length(octets.len(), &"another number of octets"))
}
