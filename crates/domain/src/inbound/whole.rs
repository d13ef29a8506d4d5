//! Parts put together again, in their order, as far as they have come.

use crate::inbound::{Alphabet, Piece};
use std::fmt;
use std::fmt::Write;

/// A message from a handset.
#[derive(Clone, PartialEq, Eq)]
pub struct Whole {
    /// What can be read of it. Binary data in hexadecimal digits.
    pub text: String,
    pub form: Form,
    /// Elements of the first part's user data header, but for the one that numbers parts.
    pub header: Box<[u8]>,
}

/// What its text was on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Characters of one octet or septet each.
    Narrow,
    Ucs2,
    /// The text is hexadecimal digits; this is what the carrier said about the octets they stand for.
    Octets {
        data_coding: u8,
    },
}

impl Whole {
    /// Pieces with their numbers, in order. Some may be missing. Neighbours in the same alphabet are read together: a
    /// character may begin in one and end in the next.
    pub fn of(pieces: &[(u8, Piece)]) -> Whole {
        let mut whole = Whole { text: String::new(), form: Form::Narrow, header: Box::default() };
        let Some((_, first)) = pieces.first() else { return whole };
        whole.header.clone_from(&first.header);
        let (mut texts, mut wide, mut octets) = (false, false, None);
        for run in pieces.chunk_by(|one, next| {
            one.0.checked_add(1) == Some(next.0)
                && one.1.data_coding == next.1.data_coding
                && one.1.alphabet == next.1.alphabet
        }) {
            let Some((_, Piece { data_coding, alphabet, .. })) = run.first() else { continue };
            let joined: Vec<u8> = run.iter().flat_map(|(_, piece)| piece.octets.iter().copied()).collect();
            match alphabet.decode(&joined) {
                Some(text) => {
                    whole.text.push_str(&text);
                    texts = true;
                    wide |= *alphabet == Alphabet::Ucs2;
                }
                None => {
                    write_hex(&joined, &mut whole.text);
                    octets.get_or_insert(*data_coding);
                }
            }
        }
        whole.form = match octets {
            Some(data_coding) if !texts => Form::Octets { data_coding },
            _ if wide => Form::Ucs2,
            _ => Form::Narrow,
        };
        whole
    }
}

fn write_hex(octets: &[u8], text: &mut String) {
    for octet in octets {
        write!(text, "{octet:02x}").expect("a String takes everything");
    }
}

impl Form {
    /// The octets that the text of a binary message stands for. `None` for any other, or if it is damaged.
    pub fn octets_of(self, text: &str) -> Option<Vec<u8>> {
        let Form::Octets { .. } = self else { return None };
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
        let octet = |pair: &[u8; 2]| {
            let digits = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(digits, 16).ok()
        };
        pairs.iter().map(octet).collect()
    }
}

/// Never the text.
impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Whole({:?}, {} bytes)", self.form, self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(data_coding: u8, alphabet: Alphabet, octets: &[u8]) -> Piece {
        Piece { data_coding, alphabet, header: Box::default(), octets: octets.into() }
    }

    #[track_caller]
    fn check(pieces: &[(u8, u8, Alphabet, &[u8])], text: &str, form: Form) {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|(no, coding, alphabet, octets)| (*no, piece(*coding, *alphabet, octets)))
            .collect();
        let whole = Whole::of(&pieces);
        assert_eq!((whole.text.as_str(), whole.form), (text, form));
    }

    #[test]
    fn parts_are_read_together_and_across_their_borders() {
        use Alphabet::{Gsm, Latin1, Octets, Ucs2};
        let binary = |data_coding| Form::Octets { data_coding };
        check(&[(1, 0, Gsm, b"hello")], "hello", Form::Narrow);
        check(&[(1, 0, Gsm, b"1 \x1b"), (2, 0, Gsm, b"\x65")], "1 €", Form::Narrow);
        check(&[(1, 8, Ucs2, b"\xd8\x3d"), (2, 8, Ucs2, b"\xde\x00")], "😀", Form::Ucs2);
        check(&[(1, 8, Ucs2, b"\x00a\xd8"), (2, 8, Ucs2, b"\x3d\xde\x00")], "a😀", Form::Ucs2);
        // The part between them is missing: what seems to fit does not.
        check(&[(1, 8, Ucs2, b"\xd8\x3d"), (3, 8, Ucs2, b"\xde\x00")], "\u{fffd}\u{fffd}", Form::Ucs2);
        check(&[(2, 0, Gsm, b"only"), (4, 0, Gsm, b"these")], "onlythese", Form::Narrow);
        check(&[(1, 3, Latin1, b"\xe9"), (2, 8, Ucs2, b"\x04\x16")], "éЖ", Form::Ucs2);
        check(&[(1, 4, Octets, b"\x01\xff"), (2, 4, Octets, b"\x00")], "01ff00", binary(4));
        check(&[(1, 0, Gsm, b"a\x80")], "6180", binary(0));
        check(&[(1, 8, Ucs2, b"\x00")], "00", binary(8));
        check(&[(1, 0, Gsm, b"a"), (2, 4, Octets, b"\x0b")], "a0b", Form::Narrow);
        check(&[(1, 0, Gsm, b"")], "", Form::Narrow);
        check(&[], "", Form::Narrow);
    }

    #[test]
    fn the_first_parts_header_is_kept_and_octets_come_back() {
        let first = Piece { header: [5, 4, 1, 2, 3, 4].into(), ..piece(4, Alphabet::Octets, b"\xca\xfe") };
        let whole = Whole::of(&[(1, first), (2, piece(4, Alphabet::Octets, b"\x00"))]);
        assert_eq!((&whole.header[..], whole.text.as_str()), (&[5, 4, 1, 2, 3, 4][..], "cafe00"));
        assert_eq!(whole.form.octets_of(&whole.text), Some(vec![0xca, 0xfe, 0]));
        assert_eq!(whole.form.octets_of("caf"), None);
        assert_eq!(whole.form.octets_of("zz"), None);
        assert_eq!(Form::Ucs2.octets_of("cafe"), None);
        assert_eq!(format!("{whole:?}"), "Whole(Octets { data_coding: 4 }, 6 bytes)");
    }
}
