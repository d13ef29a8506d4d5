//! Encodes an MO message as `deliver_sm` for a customer: in its own alphabet if the connection can read it, a long
//! message in parts with a user data header, or whole in one `message_payload`.

use hermod_domain::catalogue::{CodingZero, InboundForm, SmppAccess};
use hermod_domain::inbound::MoEncoding;
use hermod_domain::origin::SmppAddress;
use hermod_domain::text::sms_options::PART_OCTETS_MAX;
use hermod_domain::text::{gsm7, ucs2};
use hermod_smpp::tlv::VALUE_BYTES_MAX;
use hermod_smpp::{Address, DeliverSm, Hidden, Pdu, Tag, TlvBuffer, esm_class, udh};
use hermod_store::MoMessage;
use smallvec::SmallVec;

const CODING_DEFAULT: u8 = 0;
const CODING_UCS2: u8 = 8;
/// The longest user data header of the handset that is kept; a longer one would leave no room for the text.
const HEADER_KEPT_OCTETS_MAX: usize = 64;

/// One MO message, encoded.
pub(super) struct MoDraft {
    source: SmppAddress,
    destination: SmppAddress,
    data_coding: u8,
    has_header: bool,
    bodies: Bodies,
}

enum Bodies {
    /// Each in the `short_message` of its own PDU.
    Short(Vec<Vec<u8>>),
    /// The whole text in one `message_payload`.
    Payload(Vec<u8>),
}

/// One encoded character.
type Unit = SmallVec<[u8; 4]>;

/// A text in the alphabet of its PDUs.
struct Written {
    data_coding: u8,
    units: Vec<Unit>,
    /// The units are septets, of which 160 fit in 140 octets.
    is_septets: bool,
}

impl MoDraft {
    /// Encodes a message. Returns `None` if it fits neither in a payload nor in 255 parts.
    pub(super) fn of(message: &MoMessage, access: &SmppAccess, is_3_4: bool) -> Option<MoDraft> {
        let MoMessage { id, source, destination, whole } = message;
        let written = write(&whole.text, whole.form, access.alphabet)?;
        let kept = Some(&whole.header[..]).filter(|header| header.len() <= HEADER_KEPT_OCTETS_MAX);
        let kept = kept.unwrap_or_default();
        let length: usize = written.units.iter().map(SmallVec::len).sum();
        let bodies = if length <= written.room(header_octets(kept)) {
            Bodies::Short(vec![with_header(kept, &written.units)])
        } else {
            let payload = || payload(kept, &written.units).filter(|_| is_3_4);
            // The same reference for every attempt, so that a client recognises a repeated part.
            let [.., reference] = id.to_be_bytes();
            let parts = || parts(kept, &written, reference).map(Bodies::Short);
            match access.inbound {
                InboundForm::Payload => payload().or_else(parts)?,
                InboundForm::Parts | InboundForm::None => parts().or_else(payload)?,
            }
        };
        let has_header = !kept.is_empty() || matches!(&bodies, Bodies::Short(parts) if parts.len() > 1);
        Some(MoDraft {
            source: source.clone(),
            destination: destination.clone(),
            data_coding: written.data_coding,
            has_header,
            bodies,
        })
    }

    /// Returns the number of PDUs.
    pub(super) fn pdus(&self) -> usize {
        match &self.bodies {
            Bodies::Short(parts) => parts.len(),
            Bodies::Payload(_) => 1,
        }
    }

    /// Returns the PDU with this index, from 0; `None` past the last.
    pub(super) fn deliver_sm<'a>(&'a self, place: usize, tlvs: &'a mut TlvBuffer) -> Option<Pdu<'a>> {
        tlvs.clear();
        let short_message = match &self.bodies {
            Bodies::Short(parts) => parts.get(place)?.as_slice(),
            Bodies::Payload(whole) => {
                tlvs.try_push(Tag::MESSAGE_PAYLOAD, whole).ok()?;
                &[]
            }
        };
        Some(Pdu::DeliverSm(DeliverSm {
            source: address(&self.source),
            destination: address(&self.destination),
            esm_class: if self.has_header { esm_class::UDHI } else { 0 },
            data_coding: self.data_coding,
            short_message: Hidden(short_message),
            tlvs: tlvs.as_tlvs(),
            ..DeliverSm::default()
        }))
    }
}

fn address(written: &SmppAddress) -> Address<'_> {
    Address::new(written.ton, written.npi, &written.digits)
}

/// Encodes the text in the alphabet it came in, if the connection can read it, else in UCS-2.
fn write(text: &str, form: MoEncoding, zero: CodingZero) -> Option<Written> {
    match form {
        MoEncoding::Octets { data_coding } => {
            let units = form.octets_of(text)?.into_iter().map(|octet| Unit::from_slice(&[octet])).collect();
            Some(Written { data_coding, units, is_septets: false })
        }
        MoEncoding::Ucs2 => Some(in_ucs2(text)),
        MoEncoding::SingleByte => Some(in_default(text, zero).unwrap_or_else(|| in_ucs2(text))),
    }
}

fn in_ucs2(text: &str) -> Written {
    let unit = |character: char| {
        let mut octets = Vec::with_capacity(4);
        ucs2::encode(character.encode_utf8(&mut [0; 4]), &mut octets);
        Unit::from_vec(octets)
    };
    Written { data_coding: CODING_UCS2, units: text.chars().map(unit).collect(), is_septets: false }
}

/// Encodes in the connection's alphabet of `data_coding` 0. Returns `None` if a character is missing there.
fn in_default(text: &str, zero: CodingZero) -> Option<Written> {
    let unit = |character: char| -> Option<Unit> {
        let octet = || u8::try_from(character).ok().map(|octet| Unit::from_slice(&[octet]));
        match zero {
            CodingZero::Gsm => {
                let mut septets = Vec::with_capacity(2);
                gsm7::encode(character.encode_utf8(&mut [0; 4]), &mut septets)
                    .then(|| Unit::from_vec(septets))
            }
            CodingZero::Ascii => octet().filter(|_| character.is_ascii()),
            CodingZero::Latin1 => octet(),
            CodingZero::Utf8 => Some(Unit::from_slice(character.encode_utf8(&mut [0; 4]).as_bytes())),
        }
    };
    let units = text.chars().map(unit).collect::<Option<Vec<_>>>()?;
    Some(Written { data_coding: CODING_DEFAULT, units, is_septets: zero != CodingZero::Utf8 })
}

impl Written {
    /// Returns the units of text that fit beside a header of this length.
    fn room(&self, header: usize) -> usize {
        let octets = PART_OCTETS_MAX.saturating_sub(header);
        if self.is_septets { octets * 8 / 7 } else { octets }
    }
}

/// Returns the length of a header with its length octet; 0 without elements.
fn header_octets(elements: &[u8]) -> usize {
    if elements.is_empty() { 0 } else { elements.len() + 1 }
}

fn with_header(elements: &[u8], units: &[Unit]) -> Vec<u8> {
    let mut body = Vec::new();
    if !elements.is_empty() {
        body.extend(u8::try_from(elements.len()));
        body.extend_from_slice(elements);
    }
    units.iter().for_each(|unit| body.extend_from_slice(unit));
    body
}

fn payload(kept: &[u8], units: &[Unit]) -> Option<Bodies> {
    let whole = with_header(kept, units);
    (whole.len() <= VALUE_BYTES_MAX).then_some(Bodies::Payload(whole))
}

/// Splits the text into parts. Returns `None` if there are more than 255.
fn parts(kept: &[u8], written: &Written, reference: u8) -> Option<Vec<Vec<u8>>> {
    let room = written.room(kept.len() + udh::CONCATENATION_HEADER_BYTES);
    let mut chunks: Vec<&[Unit]> = Vec::new();
    let mut rest = written.units.as_slice();
    while !rest.is_empty() {
        let mut filled = 0;
        let fits = rest.iter().take_while(|unit| {
            filled += unit.len();
            filled <= room
        });
        let (chunk, behind) = rest.split_at_checked(fits.count().max(1))?;
        chunks.push(chunk);
        rest = behind;
    }
    let total = u8::try_from(chunks.len()).ok()?;
    let numbered = (1..=total).zip(chunks);
    let part = |(number, chunk): (u8, &[Unit])| {
        let [_, numbering @ ..] = udh::concatenation_header(reference, total, number);
        with_header(&[kept, &numbering].concat(), chunk)
    };
    Some(numbered.map(part).collect())
}

#[cfg(test)]
#[path = "mo_pdu_tests.rs"]
mod tests;
