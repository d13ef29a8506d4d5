//! Messages from handsets: what one `deliver_sm` of a carrier holds, how parts become a message again, whose number was
//! written to, and what a handset says that concerns us before anybody else.

mod alphabet;
mod ends;
mod stop_words;
mod whole;

pub use alphabet::Alphabet;
pub use ends::{handset, number, shown, tidied};
pub use stop_words::{OptKeyword, STOP_WORD_CHARS_MAX, STOP_WORDS_MAX, is_stop_word, opt_keyword};
pub use whole::{Form, Whole};

use crate::origin::WrittenAddress;
use crate::text::Joined;
use std::fmt;

/// What a carrier brought in one PDU: a message, or a part of one.
#[derive(Clone, PartialEq, Eq)]
pub struct InboundPart {
    /// The handset, as the carrier wrote it.
    pub source: WrittenAddress,
    /// What it was written to.
    pub destination: WrittenAddress,
    /// Nothing: it is a whole message.
    pub joined: Option<Joined>,
    /// The handset's own number for it, where the carrier tells it: two messages of the same words are two then.
    pub reference: Option<u16>,
    pub piece: Piece,
}

/// The text of one PDU, as it came.
#[derive(Clone, PartialEq, Eq)]
pub struct Piece {
    pub data_coding: u8,
    pub alphabet: Alphabet,
    /// Elements of the user data header, but for the one that numbers parts, and without its length octet.
    pub header: Box<[u8]>,
    pub octets: Box<[u8]>,
}

impl InboundPart {
    /// A number that differs, for all practical purposes, when any of it differs: a carrier that got no answer brings
    /// the very same again. Everything counts, the text too: handsets use the same reference for one message after the
    /// other.
    ///
    /// It is stored, so it must come out the same in every release: FNV-1a, 128 bits.
    pub fn digest(&self) -> [u8; 16] {
        let InboundPart { source, destination, joined, reference, piece } = self;
        let Piece { data_coding, alphabet: _, header, octets } = piece;
        let mut hash = Fnv1a::new();
        hash.add_field(number(source).as_bytes());
        hash.add_field(number(destination).as_bytes());
        let [high, low] = joined.map_or(0, |joined| joined.reference).to_be_bytes();
        let (total, part) = joined.map_or((0, 0), |joined| (joined.total, joined.part));
        hash.add(&[high, low, total, part, *data_coding]);
        let [high, low] = reference.unwrap_or(0).to_be_bytes();
        hash.add(&[u8::from(reference.is_some()), high, low]);
        hash.add_field(header);
        hash.add(octets);
        hash.0.to_be_bytes()
    }
}

/// Neither the text nor whose handset it is.
impl fmt::Debug for InboundPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InboundPart")
            .field("joined", &self.joined)
            .field("piece", &self.piece)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Piece({:?}, {} octets)", self.alphabet, self.octets.len())
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

    /// With its length, so that the end of one field cannot be mistaken for the beginning of the next.
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
            source: WrittenAddress::new(1, 1, b"4915112345678"),
            destination: WrittenAddress::new(1, 1, b"4915799999999"),
            joined: None,
            reference: None,
            piece: Piece {
                data_coding: 0,
                alphabet: Alphabet::Gsm,
                header: Box::default(),
                octets: b"yes".to_vec().into(),
            },
        }
    }

    #[test]
    fn the_hash_is_fnv_1a() {
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
    fn only_the_very_same_part_has_the_same_digest() {
        let joined = |reference, total, part| Some(Joined { reference, total, part });
        let mut parts = vec![part()];
        parts.push(InboundPart { source: WrittenAddress::new(1, 1, b"4915112345679"), ..part() });
        parts.push(InboundPart { destination: WrittenAddress::new(1, 1, b"4915112345678"), ..part() });
        parts.push(InboundPart { joined: joined(1, 2, 1), ..part() });
        parts.push(InboundPart { joined: joined(1, 2, 2), ..part() });
        parts.push(InboundPart { joined: joined(2, 2, 1), ..part() });
        parts.push(InboundPart { reference: Some(0), ..part() });
        parts.push(InboundPart { reference: Some(1), ..part() });
        parts.push(InboundPart { piece: Piece { data_coding: 1, ..part().piece }, ..part() });
        parts
            .push(InboundPart { piece: Piece { octets: b"yes!".to_vec().into(), ..part().piece }, ..part() });
        let split = Piece { header: b"ye".to_vec().into(), octets: b"s".to_vec().into(), ..part().piece };
        parts.push(InboundPart { piece: split, ..part() });
        let mut digests: Vec<_> = parts.iter().map(InboundPart::digest).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), parts.len());
        // The same handset, written differently on another link.
        let plus = InboundPart { source: WrittenAddress::new(0, 0, b"+4915112345678"), ..part() };
        assert_eq!(plus.digest(), part().digest());
        assert_eq!(format!("{:02x?}", part().digest()), DIGEST_OF_PART, "it is on disks");
    }

    const DIGEST_OF_PART: &str = "[3c, e3, fe, db, b2, 34, 5c, 39, 06, 93, 58, 7b, a0, 66, cb, b8]";

    #[test]
    fn neither_text_nor_handset_is_printed() {
        let printed = format!("{:?}", part());
        assert!(printed.contains("3 octets") && !printed.contains("4915"), "{printed}");
    }
}
