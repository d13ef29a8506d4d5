//! Decodes the text of a submit by its `data_coding`. Septets are unpacked, one per octet, as is usual over SMPP. Text
//! that cannot be decoded is rejected, or passed through unchanged where only the handset needs to understand it.

use hermod_domain::catalogue::{CodingZero, SmppAccess};
use hermod_domain::text::iso8859::{cyrillic, hebrew, latin1};
use hermod_domain::text::{Encoding, MessageText, TextRefusal, gsm7, ucs2};
use hermod_smpp::CommandStatus;

/// Alphabet and class of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Coding {
    pub(super) alphabet: SubmitAlphabet,
    pub(super) class: Option<u8>,
    /// The data_coding has a meaning beyond alphabet and class, and is passed on unchanged.
    pub(super) is_special: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubmitAlphabet {
    /// GSM 03.38.
    Gsm,
    /// The connection's default alphabet.
    Default,
    Ascii,
    Latin1,
    Cyrillic,
    Hebrew,
    Ucs2,
    Octets,
}

impl Coding {
    pub(super) fn of(data_coding: u8, access: &SmppAccess) -> Result<Coding, CommandStatus> {
        let plain = |alphabet| Coding { alphabet, class: None, is_special: false };
        let with_class = |alphabet| Coding { class: Some(data_coding & 0b11), ..plain(alphabet) };
        Ok(match data_coding {
            0x00 => plain(SubmitAlphabet::Default),
            0x01 => plain(SubmitAlphabet::Ascii),
            0x02 | 0x04 => plain(SubmitAlphabet::Octets),
            0x03 => plain(SubmitAlphabet::Latin1),
            0x06 => plain(SubmitAlphabet::Cyrillic),
            0x07 => plain(SubmitAlphabet::Hebrew),
            0x08 => plain(SubmitAlphabet::Ucs2),
            0x10..=0x1F => match data_coding & 0b1100 {
                0b0000 => with_class(SubmitAlphabet::Gsm),
                0b0100 => with_class(SubmitAlphabet::Octets),
                0b1000 => with_class(SubmitAlphabet::Ucs2),
                _ => return Err(CommandStatus::SUBMITFAIL),
            },
            0xC0..=0xDF if access.message_waiting => {
                Coding { is_special: true, ..plain(SubmitAlphabet::Gsm) }
            }
            0xF0..=0xFF if data_coding & 0b100 == 0 => with_class(SubmitAlphabet::Gsm),
            0xF0..=0xFF => with_class(SubmitAlphabet::Octets),
            _ => return Err(CommandStatus::SUBMITFAIL),
        })
    }
}

/// A decoded text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DecodedText {
    pub(super) text: MessageText,
    /// `None`: to be chosen by the characters.
    pub(super) encoding: Option<Encoding>,
    /// Its octets are passed through, because decoding would lose something.
    pub(super) is_untouched: bool,
}

/// Which portion of a message the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The whole message.
    Whole,
    /// The whole message after a user data header: it must arrive octet for octet.
    Headed,
    /// One part of a concatenated message: it may begin or end inside a character.
    Part,
}

/// Decodes a text.
pub(super) fn read(
    octets: &[u8],
    alphabet: SubmitAlphabet,
    access: &SmppAccess,
    extent: Extent,
) -> Result<DecodedText, CommandStatus> {
    let decoded = match alphabet {
        SubmitAlphabet::Octets => {
            return written(MessageText::of_octets(octets), Some(Encoding::Octets), false);
        }
        SubmitAlphabet::Ucs2 if !octets.len().is_multiple_of(2) => return Err(CommandStatus::INVMSGLEN),
        SubmitAlphabet::Ucs2 => match ucs2::decode(octets) {
            Ok(text) => Ok((text, Some(Encoding::Ucs2))),
            // Half a surrogate pair: the other half is in the neighbouring part. Elsewhere it is invalid text, which
            // screening could not check.
            Err(_) if extent == Extent::Part && octets.len() <= 140 && ucs2::is_part(octets) => {
                return written(MessageText::of_octets(octets), Some(Encoding::Octets), true);
            }
            Err(_) => Err(CommandStatus::SUBMITFAIL),
        },
        SubmitAlphabet::Gsm => read_gsm(octets, access),
        SubmitAlphabet::Default => match access.alphabet {
            CodingZero::Gsm => read_gsm(octets, access),
            CodingZero::Ascii => ascii(octets),
            CodingZero::Latin1 => Ok((latin1(octets), None)),
            CodingZero::Utf8 => match std::str::from_utf8(octets) {
                Ok(text) => Ok((text.to_owned(), None)),
                Err(_) => Err(CommandStatus::SUBMITFAIL),
            },
        },
        SubmitAlphabet::Ascii => ascii(octets),
        SubmitAlphabet::Latin1 => Ok((latin1(octets), None)),
        SubmitAlphabet::Cyrillic => by_table(octets, cyrillic),
        SubmitAlphabet::Hebrew => by_table(octets, hebrew),
    };
    let (text, encoding) = decoded?;
    let is_part = extent != Extent::Whole;
    if is_part && encoding == Some(Encoding::Gsm7) && !reads_back(&text, octets) {
        return written(MessageText::of_octets(octets), Some(Encoding::Octets), true);
    }
    let encoding = encoding.or_else(|| is_part.then(|| Encoding::choose(&text)));
    written(MessageText::parse(&text), encoding, false)
}

fn written(
    text: Result<MessageText, TextRefusal>,
    encoding: Option<Encoding>,
    is_untouched: bool,
) -> Result<DecodedText, CommandStatus> {
    let text = text.map_err(|_| CommandStatus::INVMSGLEN)?;
    Ok(DecodedText { text, encoding, is_untouched })
}

type Decoded = Result<(String, Option<Encoding>), CommandStatus>;

fn read_gsm(octets: &[u8], access: &SmppAccess) -> Decoded {
    match gsm7::decode(octets) {
        Ok(text) => Ok((text, Some(Encoding::Gsm7))),
        Err(_) if access.latin1_fallback => Ok((latin1(octets), None)),
        Err(_) => Err(CommandStatus::SUBMITFAIL),
    }
}

/// Whether the text encodes to the same octets. Not so for an escape at the end or an undefined one.
fn reads_back(text: &str, octets: &[u8]) -> bool {
    let mut septets = Vec::with_capacity(octets.len());
    gsm7::encode(text, &mut septets) && septets == octets
}

fn ascii(octets: &[u8]) -> Decoded {
    by_table(octets, |octet| octet.is_ascii().then_some(char::from(octet)))
}

fn by_table(octets: &[u8], character: impl Fn(u8) -> Option<char>) -> Decoded {
    let text: Option<String> = octets.iter().copied().map(character).collect();
    text.map(|text| (text, None)).ok_or(CommandStatus::SUBMITFAIL)
}

#[cfg(test)]
#[path = "data_coding_tests.rs"]
mod tests;
