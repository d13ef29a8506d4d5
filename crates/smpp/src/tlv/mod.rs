//! Optional parameters (TLVs). They stay raw, so that unknown ones and their order are kept, and reading one costs a
//! scan instead of an allocation.

mod tag;

pub use tag::Tag;
pub(crate) use tag::{DATA, MULTI, SUBMIT};

use smallvec::SmallVec;
use std::fmt;

use crate::{CommandStatus, EncodeError, EncodeErrorKind, udh::Concatenation};

/// Octets of a TLV before its value: tag and length, two each.
const TLV_HEADER_BYTES: usize = 4;

/// The maximum octets of a TLV's value, whose length field has two octets.
pub const VALUE_BYTES_MAX: usize = 65_535;

/// One optional parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// The tag.
    pub tag: Tag,
    /// The value.
    pub value: &'a [u8],
}

/// The TLVs of one PDU: well-formed and consecutive.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Tlvs<'a> {
    bytes: &'a [u8],
}

impl<'a> Tlvs<'a> {
    /// No TLVs.
    pub const EMPTY: Tlvs<'static> = Tlvs { bytes: &[] };

    /// Parses all of `bytes` as TLVs; `None` if octets remain. Values are not checked.
    pub fn parse(bytes: &'a [u8]) -> Option<Tlvs<'a>> {
        let tlvs = Tlvs::from_prefix(bytes);
        (tlvs.bytes.len() == bytes.len()).then_some(tlvs)
    }

    /// Parses the complete TLVs at the start of `bytes` and ignores what follows.
    pub(crate) fn from_prefix(bytes: &'a [u8]) -> Tlvs<'a> {
        let mut iter = Iter { rest: bytes };
        while iter.next().is_some() {}
        let used = bytes.len().saturating_sub(iter.rest.len());
        Tlvs { bytes: bytes.get(..used).unwrap_or_default() }
    }

    /// Returns the encoded octets.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Whether there are no TLVs.
    pub const fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns all TLVs in order, including repeated ones.
    pub const fn iter(self) -> Iter<'a> {
        Iter { rest: self.bytes }
    }

    /// Returns the first value of a tag.
    pub fn get(self, tag: Tag) -> Option<&'a [u8]> {
        self.iter().find(|tlv| tlv.tag == tag).map(|tlv| tlv.value)
    }

    /// Returns a one-octet value; `None` if absent or of another size.
    pub fn get_u8(self, tag: Tag) -> Option<u8> {
        match self.get(tag)? {
            [value] => Some(*value),
            _ => None,
        }
    }

    /// Returns a two-octet value; `None` if absent or of another size.
    pub fn get_u16(self, tag: Tag) -> Option<u16> {
        self.get(tag)?.try_into().ok().map(u16::from_be_bytes)
    }

    /// Returns a text value up to its null, which many peers omit.
    pub fn get_text(self, tag: Tag) -> Option<&'a [u8]> {
        self.get(tag)?.split(|octet| *octet == 0).next()
    }
}

impl Tlvs<'_> {
    /// Returns the concatenation of the three `sar_*` TLVs; `None` unless all are present and valid (§5.3.2.22 to 24).
    pub fn sar(self) -> Option<Concatenation> {
        let reference = self.get_u16(Tag::SAR_MSG_REF_NUM)?;
        let total = self.get_u8(Tag::SAR_TOTAL_SEGMENTS)?;
        let part = self.get_u8(Tag::SAR_SEGMENT_SEQNUM)?;
        (1..=total).contains(&part).then_some(Concatenation { reference, total, part })
    }
}

impl<'a> IntoIterator for Tlvs<'a> {
    type Item = Tlv<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Prints only tags and sizes, because payloads are message text.
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

/// Iterates over the TLVs of a PDU.
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

/// Parses the TLVs of a customer's request: they must be complete, and TLVs that the request allows must have a valid
/// size and value. Others are ignored.
pub(crate) fn parse_strict(bytes: &[u8], request: u8) -> Result<Tlvs<'_>, CommandStatus> {
    let tlvs = parse_with_stray_null(bytes).ok_or(CommandStatus::INVOPTPARSTREAM)?;
    for Tlv { tag, value } in tlvs.iter().filter(|tlv| tlv.tag.is_allowed_in(request)) {
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

/// Parses all of `bytes` as TLVs, ignoring one octet 0x00 before or after them; `None` if anything else remains.
/// php-smpp and naz terminate `short_message`, an octet string that needs no terminator: the null is at the end of the
/// PDU, or before the `sar_*` TLVs that php-smpp adds.
pub(crate) fn parse_with_stray_null(bytes: &[u8]) -> Option<Tlvs<'_>> {
    let without_last = || Tlvs::parse(bytes.strip_suffix(&[0])?);
    let without_first = || Tlvs::parse(bytes.strip_prefix(&[0])?);
    Tlvs::parse(bytes).or_else(without_last).or_else(without_first)
}

/// Builds TLVs, without allocating for those of a receipt.
#[derive(Clone, Default)]
pub struct TlvBuffer {
    bytes: SmallVec<[u8; 64]>,
}

impl TlvBuffer {
    /// Makes an empty buffer.
    pub fn new() -> Self {
        TlvBuffer::default()
    }

    /// Adds a TLV.
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

    /// Adds a one-octet TLV.
    pub fn push_u8(&mut self, tag: Tag, value: u8) -> &mut Self {
        self.push(tag, &[value])
    }

    /// Adds a two-octet TLV.
    pub fn push_u16(&mut self, tag: Tag, value: u16) -> &mut Self {
        self.push(tag, &value.to_be_bytes())
    }

    /// Adds a null-terminated TLV, such as `receipted_message_id`.
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

    /// Adds a TLV with a value of untrusted size, such as a vendor TLV. Fails without adding it if the value is too
    /// long.
    pub fn try_push(&mut self, tag: Tag, value: &[u8]) -> Result<&mut Self, EncodeError> {
        if value.len() > VALUE_BYTES_MAX {
            return Err(EncodeError { field: tag.name().unwrap_or("tlv"), why: EncodeErrorKind::TooLong });
        }
        Ok(self.push(tag, value))
    }

    /// Adds the three `sar_*` TLVs of one part.
    pub fn push_sar(&mut self, part: Concatenation) -> &mut Self {
        self.push_u16(Tag::SAR_MSG_REF_NUM, part.reference)
            .push_u8(Tag::SAR_TOTAL_SEGMENTS, part.total)
            .push_u8(Tag::SAR_SEGMENT_SEQNUM, part.part)
    }

    /// Removes all TLVs and keeps the capacity.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Returns the TLVs.
    pub fn as_tlvs(&self) -> Tlvs<'_> {
        Tlvs { bytes: &self.bytes }
    }
}

#[cfg(test)]
mod tests;
