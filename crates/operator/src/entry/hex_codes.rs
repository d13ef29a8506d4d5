//! Numbers in hexadecimal: SMPP status codes and parameter tags. Accepts a number or a text such as "0x45"; writes the
//! text.

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{Object, ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// A number of up to 32 bits, shown in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexCode(pub u32);

/// A number of 16 bits, shown in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HexTag(pub u16);

impl fmt::Display for HexCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:02X}", self.0)
    }
}

impl fmt::Display for HexTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:04X}", self.0)
    }
}

impl Serialize for HexCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for HexTag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HexCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HexCode, D::Error> {
        deserializer.deserialize_any(Hexadecimal { most: u32::MAX }).map(HexCode)
    }
}

impl<'de> Deserialize<'de> for HexTag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HexTag, D::Error> {
        let tag = deserializer.deserialize_any(Hexadecimal { most: u16::MAX.into() })?;
        Ok(HexTag(u16::try_from(tag).expect("checked against the largest")))
    }
}

struct Hexadecimal {
    most: u32,
}

impl Visitor<'_> for Hexadecimal {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number such as 0x45, at most {:#X}", self.most)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => Err(E::custom(format!("{number} is no number from 0 to {:#X}", self.most))),
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u32, E> {
        let fits = u32::try_from(number).ok().filter(|number| *number <= self.most);
        fits.ok_or_else(|| E::custom(format!("{number} is no number from 0 to {:#X}", self.most)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u32, E> {
        let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        number.filter(|number| *number <= self.most).ok_or_else(|| {
            E::custom(format!("\"{text}\" is not a number such as 0x45, at most {:#X}", self.most))
        })
    }
}

impl PartialSchema for HexCode {
    fn schema() -> RefOr<Schema> {
        schema(8, u32::MAX, "0x45").into()
    }
}

impl ToSchema for HexCode {}

impl PartialSchema for HexTag {
    fn schema() -> RefOr<Schema> {
        schema(4, u16::MAX.into(), "0x1400").into()
    }
}

impl ToSchema for HexTag {}

fn schema(digits: u8, most: u32, example: &str) -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Integer]))
        .pattern(Some(format!("^0x[0-9A-Fa-f]{{1,{digits}}}$")))
        .minimum(Some(0))
        .maximum(Some(most))
        .description(Some("In hexadecimal, or as a number."))
        .examples([example])
        .build()
}
