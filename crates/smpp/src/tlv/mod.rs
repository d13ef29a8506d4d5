//! Optional parameters. They are kept raw, exactly as they came: unknown ones survive, order survives,
//! and reading one costs a walk instead of an allocation.

mod tag;

pub use tag::Tag;
pub(crate) use tag::{DATA, MULTI, SUBMIT};

use smallvec::SmallVec;
use std::fmt;

use crate::CommandStatus;

/// Octets of a TLV before its value: two of tag, two of length.
const TLV_HEADER_BYTES: usize = 4;

/// One optional parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// Which parameter.
    pub tag: Tag,
    /// Its octets.
    pub value: &'a [u8],
}

/// The optional parameters of one PDU: well-formed TLVs, back to back.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Tlvs<'a> {
    bytes: &'a [u8],
}

impl<'a> Tlvs<'a> {
    /// No optional parameters.
    pub const EMPTY: Tlvs<'static> = Tlvs { bytes: &[] };

    /// Reads all of `bytes` as TLVs; `None` if anything is left over. No value is judged.
    pub fn parse(bytes: &'a [u8]) -> Option<Tlvs<'a>> {
        let tlvs = Tlvs::from_prefix(bytes);
        (tlvs.bytes.len() == bytes.len()).then_some(tlvs)
    }

    /// As many whole TLVs as `bytes` starts with; what follows is left out.
    pub(crate) fn from_prefix(bytes: &'a [u8]) -> Tlvs<'a> {
        let mut iter = Iter { rest: bytes };
        while iter.next().is_some() {}
        let used = bytes.len().saturating_sub(iter.rest.len());
        Tlvs { bytes: bytes.get(..used).unwrap_or_default() }
    }

    /// The octets as they travel.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// There are none.
    pub const fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// All of them, in order, repeats included.
    pub const fn iter(self) -> Iter<'a> {
        Iter { rest: self.bytes }
    }

    /// The first value of this tag: where a parameter is repeated, the first wins.
    pub fn get(self, tag: Tag) -> Option<&'a [u8]> {
        self.iter().find(|tlv| tlv.tag == tag).map(|tlv| tlv.value)
    }

    /// A one-octet value; `None` if absent or of another size.
    pub fn get_u8(self, tag: Tag) -> Option<u8> {
        match self.get(tag)? {
            [value] => Some(*value),
            _ => None,
        }
    }

    /// A two-octet value; `None` if absent or of another size.
    pub fn get_u16(self, tag: Tag) -> Option<u16> {
        self.get(tag)?.try_into().ok().map(u16::from_be_bytes)
    }

    /// A text value up to its null, if it has one: many peers leave the null out.
    pub fn get_text(self, tag: Tag) -> Option<&'a [u8]> {
        self.get(tag)?.split(|octet| *octet == 0).next()
    }
}

impl<'a> IntoIterator for Tlvs<'a> {
    type Item = Tlv<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Payloads are message text, so only tags and sizes print.
impl fmt::Debug for Tlvs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|tlv| (tlv.tag, tlv.value.len()))).finish()
    }
}

impl fmt::Debug for TlvBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_tlvs().fmt(f)
    }
}

impl fmt::Debug for Tlv<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} octets)", self.tag, self.value.len())
    }
}

/// Walks the TLVs of a PDU.
#[derive(Clone)]
pub struct Iter<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Iter<'a> {
    type Item = Tlv<'a>;

    fn next(&mut self) -> Option<Tlv<'a>> {
        let ([t0, t1, l0, l1], rest) = self.rest.split_first_chunk::<TLV_HEADER_BYTES>()?;
        let length = usize::from(u16::from_be_bytes([*l0, *l1]));
        let (value, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some(Tlv { tag: Tag(u16::from_be_bytes([*t0, *t1])), value })
    }
}

/// The rules for requests we serve: the stream must be whole, and a parameter meant for the request must
/// have its size and range. Others pass.
pub(crate) fn parse_strict(bytes: &[u8], request: u8) -> Result<Tlvs<'_>, CommandStatus> {
    let tlvs = Tlvs::parse(bytes).ok_or(CommandStatus::INVOPTPARSTREAM)?;
    for Tlv { tag, value } in tlvs.iter().filter(|tlv| tlv.tag.is_meant_for(request)) {
        let Some(octets) = tag.octets() else { continue };
        if !u16::try_from(value.len()).is_ok_and(|length| octets.contains(&length)) {
            return Err(CommandStatus::INVPARLEN);
        }
        if !tag.permits(value) {
            return Err(CommandStatus::INVOPTPARAMVAL);
        }
    }
    Ok(tlvs)
}

/// Builds optional parameters; a receipt's fit without allocating.
#[derive(Clone, Default)]
pub struct TlvBuffer {
    bytes: SmallVec<[u8; 64]>,
}

impl TlvBuffer {
    /// An empty list.
    pub fn new() -> Self {
        TlvBuffer::default()
    }

    /// Adds one parameter.
    ///
    /// # Panics
    /// When the value is longer than the 65,535 octets a TLV can hold.
    pub fn push(&mut self, tag: Tag, value: &[u8]) -> &mut Self {
        let length = u16::try_from(value.len()).expect("a TLV value holds at most 65,535 octets");
        self.bytes.extend_from_slice(&tag.0.to_be_bytes());
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(value);
        self
    }

    /// Adds a one-octet parameter.
    pub fn push_u8(&mut self, tag: Tag, value: u8) -> &mut Self {
        self.push(tag, &[value])
    }

    /// Adds a two-octet parameter.
    pub fn push_u16(&mut self, tag: Tag, value: u16) -> &mut Self {
        self.push(tag, &value.to_be_bytes())
    }

    /// Adds a null-terminated parameter, as `receipted_message_id` is.
    ///
    /// # Panics
    /// When value and null are longer than the 65,535 octets a TLV can hold.
    pub fn push_c_string(&mut self, tag: Tag, value: &[u8]) -> &mut Self {
        let length = value.len().checked_add(1).and_then(|length| u16::try_from(length).ok());
        let length = length.expect("a TLV value holds at most 65,535 octets");
        self.bytes.extend_from_slice(&tag.0.to_be_bytes());
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(value);
        self.bytes.push(0);
        self
    }

    /// What was built, to put into a PDU.
    pub fn as_tlvs(&self) -> Tlvs<'_> {
        Tlvs { bytes: &self.bytes }
    }
}
