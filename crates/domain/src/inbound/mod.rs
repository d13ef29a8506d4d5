//! MO messages: the content of one `deliver_sm`, its alphabet and addresses, concatenation of parts, and
//! opt-out keywords.

mod addresses;
mod alphabet;
mod concatenation;
mod opt_keywords;

pub use addresses::{display_address, msisdn_of, normalized_address, number_of};
pub use alphabet::Alphabet;
pub use concatenation::{MoContent, MoEncoding};
pub use opt_keywords::{
    OPT_OUT_KEYWORD_CHARS_MAX, OPT_OUT_KEYWORDS, OPT_OUT_KEYWORDS_MAX, OptKeyword, is_opt_out_keyword,
    opt_keyword,
};

use crate::origin::SmppAddress;
use crate::text::ConcatPart;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One `deliver_sm` with an MO message or a part of one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboundPart {
    /// The handset's address, as the carrier sent it.
    pub source: SmppAddress,
    /// The address that the handset wrote to.
    pub destination: SmppAddress,
    /// The position in a concatenated message; `None` for a single-part message.
    pub concat: Option<ConcatPart>,
    /// The `user_message_reference`, if the carrier sends it. It distinguishes two messages with the same text.
    pub reference: Option<u16>,
    pub segment: MoSegment,
}

/// The text of one `deliver_sm`, as received.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoSegment {
    pub data_coding: u8,
    pub alphabet: Alphabet,
    /// The elements of the user data header except concatenation, without the length octet.
    #[serde(with = "crate::octets")]
    pub header: Box<[u8]>,
    #[serde(with = "crate::octets")]
    pub octets: Box<[u8]>,
}

impl InboundPart {
    /// Returns a digest by which duplicates are recognised: a carrier that got no response sends the same PDU again.
    /// All fields count, also the text, because handsets reuse references.
    ///
    /// The digest is stored, so it must be the same in every release: FNV-1a, 128 bits.
    pub fn digest(&self) -> [u8; 16] {
        let InboundPart { source, destination, concat, reference, segment } = self;
        let MoSegment { data_coding, alphabet: _, header, octets } = segment;
        let mut hash = Fnv1a::new();
        hash.add_field(number_of(source).as_bytes());
        hash.add_field(number_of(destination).as_bytes());
        let [high, low] = concat.map_or(0, |concat| concat.reference).to_be_bytes();
        let (total, part) = concat.map_or((0, 0), |concat| (concat.total, concat.part));
        hash.add(&[high, low, total, part, *data_coding]);
        let [high, low] = reference.unwrap_or(0).to_be_bytes();
        hash.add(&[u8::from(reference.is_some()), high, low]);
        hash.add_field(header);
        hash.add(octets);
        hash.0.to_be_bytes()
    }
}

/// Prints neither the text nor the addresses.
impl fmt::Debug for InboundPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InboundPart")
            .field("concat", &self.concat)
            .field("segment", &self.segment)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for MoSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MoSegment({:?}, {} octets)", self.alphabet, self.octets.len())
    }
}

struct Fnv1a(u128);

impl Fnv1a {
    fn new() -> Fnv1a {
        Fnv1a(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn add(&mut self, octets: &[u8]) {
        for octet in octets {
            self.0 = (self.0 ^ u128::from(*octet)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    /// Adds the length and the octets of a field, so that field boundaries count.
    fn add_field(&mut self, octets: &[u8]) {
        self.add(&u64::try_from(octets.len()).unwrap_or(u64::MAX).to_be_bytes());
        self.add(octets);
    }
}

#[cfg(test)]
mod tests;
