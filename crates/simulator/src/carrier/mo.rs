//! MO messages: texts and raw octets as one or more deliver_sm, sent in any order and over any link.

use std::fmt;

use hermod_smpp::Tag;

use super::text;

/// MO parts that may be queued.
pub const MO_WAITING_MAX: usize = 10_000;
/// Octets of user data in one part (3GPP TS 23.040 §9.2.3.16).
const USER_DATA_BYTES: usize = 140;
/// Septets of user data in one part.
const USER_DATA_SEPTETS: usize = 160;
/// The esm_class bit for a user data header (SMPP v3.4 §5.2.12).
const UDHI: u8 = 0x40;
const UCS2: u8 = 0x08;

/// One MO deliver_sm.
#[derive(Clone, PartialEq, Eq)]
pub struct MoPart {
    /// The handset.
    pub source: String,
    /// The number it was sent to.
    pub destination: String,
    pub esm_class: u8,
    pub data_coding: u8,
    /// User data header and text.
    pub octets: Vec<u8>,
    /// By tag.
    pub tlvs: Vec<(u16, Vec<u8>)>,
    /// In `message_payload` instead of `short_message`.
    pub in_payload: bool,
    /// The PDU is truncated.
    pub malformed: bool,
    /// The link that sends it; none: any.
    pub link: Option<u64>,
}

/// Does not print the text.
impl fmt::Debug for MoPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MoPart({} octets to {})", self.octets.len(), self.destination)
    }
}

builders! { MoPart
    /// Sends it over this link only.
    over(link: u64) = set link(Some(link));
    /// Truncates the PDU.
    malformed() = set malformed(true);
}

impl MoPart {
    /// Octets with a data coding.
    pub fn raw(source: &str, destination: &str, data_coding: u8, octets: &[u8]) -> MoPart {
        MoPart {
            source: source.to_owned(),
            destination: destination.to_owned(),
            esm_class: 0,
            data_coding,
            octets: octets.to_vec(),
            tlvs: Vec::new(),
            in_payload: false,
            malformed: false,
            link: None,
        }
    }
}

/// An MO text, which may need several parts.
#[derive(Clone, PartialEq, Eq)]
pub struct MoText {
    source: String,
    destination: String,
    text: String,
    reference: u16,
    wide: bool,
    elements: Vec<u8>,
    /// The `user_message_reference` of each part.
    message_number: Option<u16>,
}

/// Does not print the text.
impl fmt::Debug for MoText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MoText(to {})", self.destination)
    }
}

builders! { MoText
    /// Sets the concatenation reference; only the low octet is used unless it is wide.
    reference(reference: u16) = set reference(reference);
    /// Uses 16-bit references instead of 8-bit ones.
    wide() = set wide(true);
}

impl MoText {
    pub fn new(source: &str, destination: &str, text: &str) -> MoText {
        MoText {
            source: source.to_owned(),
            destination: destination.to_owned(),
            text: text.to_owned(),
            reference: 1,
            wide: false,
            elements: Vec::new(),
            message_number: None,
        }
    }

    /// Numbers the message. Without a number, a gateway takes the same text from the same handset for a repetition.
    #[must_use]
    pub fn numbered(mut self, id: u64) -> MoText {
        let number = u16::try_from(id & 0xffff).expect("sixteen bits");
        (self.reference, self.message_number) = (number, Some(number));
        self
    }

    /// Adds an element to the user data header, before the concatenation element.
    #[must_use]
    pub fn with_element(mut self, kind: u8, value: &[u8]) -> MoText {
        let length = u8::try_from(value.len()).expect("an element is short");
        self.elements.extend([kind, length]);
        self.elements.extend_from_slice(value);
        self
    }

    /// Splits the text into as few parts as possible, in order.
    ///
    /// # Panics
    /// When it needs more than 255 parts.
    pub fn parts(&self) -> Vec<MoPart> {
        let (data_coding, units) = self.units();
        let septets = data_coding != UCS2;
        let room = |header: usize| match (septets, header) {
            (true, 0) => USER_DATA_SEPTETS,
            (true, header) => (USER_DATA_BYTES - header) * 8 / 7,
            (false, header) => USER_DATA_BYTES - header,
        };
        let alone = if self.elements.is_empty() { 0 } else { 1 + self.elements.len() };
        let whole: usize = units.iter().map(Vec::len).sum();
        if whole <= room(alone) {
            return vec![self.part(data_coding, &self.elements, &units.concat())];
        }
        let concatenation_bytes = if self.wide { 6 } else { 5 };
        let chunks = pack(&units, room(1 + self.elements.len() + concatenation_bytes));
        let total = u8::try_from(chunks.len()).expect("255 parts at most");
        let numbered = (1..=total).zip(&chunks);
        numbered
            .map(|(sequence, chunk)| {
                self.part(
                    data_coding,
                    &[&self.elements[..], &self.concatenation(total, sequence)].concat(),
                    chunk,
                )
            })
            .collect()
    }

    /// Encodes each character in GSM 03.38, or in UCS-2 if a character is not in it. Returns the data coding and the units,
    /// which must not be split.
    fn units(&self) -> (u8, Vec<Vec<u8>>) {
        let each = |c: char| text::encode_gsm(c.encode_utf8(&mut [0; 4]));
        if let Some(gsm) = self.text.chars().map(each).collect() {
            return (0, gsm);
        }
        let utf16 =
            |c: char| c.encode_utf16(&mut [0; 2]).iter().flat_map(|unit| unit.to_be_bytes()).collect();
        (UCS2, self.text.chars().map(utf16).collect())
    }

    fn concatenation(&self, total: u8, sequence: u8) -> Vec<u8> {
        let [high, low] = self.reference.to_be_bytes();
        if self.wide {
            vec![0x08, 4, high, low, total, sequence]
        } else {
            vec![0x00, 3, low, total, sequence]
        }
    }

    fn part(&self, data_coding: u8, elements: &[u8], text: &[u8]) -> MoPart {
        let mut part = MoPart::raw(&self.source, &self.destination, data_coding, text);
        part.tlvs.extend(
            self.message_number.map(|number| (Tag::USER_MESSAGE_REFERENCE.0, number.to_be_bytes().to_vec())),
        );
        if !elements.is_empty() {
            let length = u8::try_from(elements.len()).expect("a header is short");
            part.octets = [&[length], elements, text].concat();
            part.esm_class = UDHI;
        }
        part
    }
}

/// Packs units into chunks of at most `room` octets.
fn pack(units: &[Vec<u8>], room: usize) -> Vec<Vec<u8>> {
    let mut chunks = vec![Vec::new()];
    for unit in units {
        let last = chunks.last_mut().expect("there is one");
        if last.len() + unit.len() > room {
            chunks.push(unit.clone());
        } else {
            last.extend_from_slice(unit);
        }
    }
    chunks
}

#[cfg(test)]
#[path = "mo_tests.rs"]
mod tests;
