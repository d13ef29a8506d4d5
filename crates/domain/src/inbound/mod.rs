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
mod tests {
    use super::*;

    fn part() -> InboundPart {
        InboundPart {
            source: SmppAddress::new(1, 1, b"4915112345678"),
            destination: SmppAddress::new(1, 1, b"4915799999999"),
            concat: None,
            reference: None,
            segment: MoSegment {
                data_coding: 0,
                alphabet: Alphabet::Gsm,
                header: Box::default(),
                octets: b"yes".to_vec().into(),
            },
        }
    }

    #[test]
    fn hash_is_fnv_1a() {
        // Test values published with the algorithm.
        for (text, expect) in [
            ("", 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d),
            ("a", 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964),
            ("foobar", 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18),
        ] {
            let mut hash = Fnv1a::new();
            hash.add(text.as_bytes());
            assert_eq!(hash.0, expect, "{text:?}");
        }
    }

    #[test]
    fn only_identical_parts_have_the_same_digest() {
        let concat = |reference, total, part| Some(ConcatPart { reference, total, part });
        let mut parts = vec![part()];
        parts.push(InboundPart { source: SmppAddress::new(1, 1, b"4915112345679"), ..part() });
        parts.push(InboundPart { destination: SmppAddress::new(1, 1, b"4915112345678"), ..part() });
        parts.push(InboundPart { concat: concat(1, 2, 1), ..part() });
        parts.push(InboundPart { concat: concat(1, 2, 2), ..part() });
        parts.push(InboundPart { concat: concat(2, 2, 1), ..part() });
        parts.push(InboundPart { reference: Some(0), ..part() });
        parts.push(InboundPart { reference: Some(1), ..part() });
        parts.push(InboundPart { segment: MoSegment { data_coding: 1, ..part().segment }, ..part() });
        parts.push(InboundPart {
            segment: MoSegment { octets: b"yes!".to_vec().into(), ..part().segment },
            ..part()
        });
        let split =
            MoSegment { header: b"ye".to_vec().into(), octets: b"s".to_vec().into(), ..part().segment };
        parts.push(InboundPart { segment: split, ..part() });
        let mut digests: Vec<_> = parts.iter().map(InboundPart::digest).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), parts.len());
        // The same handset in another notation.
        let plus = InboundPart { source: SmppAddress::new(0, 0, b"+4915112345678"), ..part() };
        assert_eq!(plus.digest(), part().digest());
        assert_eq!(format!("{:02x?}", part().digest()), DIGEST_OF_PART, "digests are stored");
    }

    const DIGEST_OF_PART: &str = "[3c, e3, fe, db, b2, 34, 5c, 39, 06, 93, 58, 7b, a0, 66, cb, b8]";

    #[test]
    fn debug_output_has_neither_text_nor_addresses() {
        let printed = format!("{:?}", part());
        assert!(printed.contains("3 octets") && !printed.contains("4915"), "{printed}");
    }
}
