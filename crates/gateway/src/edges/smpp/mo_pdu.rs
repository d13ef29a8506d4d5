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
mod tests {
    use super::*;
    use hermod_domain::inbound::MoContent;

    fn message(form: MoEncoding, text: &str, header: &[u8]) -> MoMessage {
        MoMessage {
            id: 0x0102_0304,
            source: SmppAddress::new(1, 1, b"4915112345678"),
            destination: SmppAddress::new(3, 0, b"80800"),
            whole: MoContent { text: text.to_owned(), form, header: header.into() },
        }
    }

    fn access(alphabet: CodingZero, inbound: InboundForm) -> SmppAccess {
        SmppAccess { alphabet, inbound, ..SmppAccess::new("shop", "") }
    }

    /// `esm_class`, `data_coding` and what each PDU holds.
    fn brought(message: &MoMessage, access: &SmppAccess, is_3_4: bool) -> Option<Vec<(u8, u8, Vec<u8>)>> {
        let drafted = MoDraft::of(message, access, is_3_4)?;
        let mut tlvs = TlvBuffer::new();
        let each = (0..drafted.pdus()).map(|place| {
            let Some(Pdu::DeliverSm(pdu)) = drafted.deliver_sm(place, &mut tlvs) else {
                panic!("a deliver_sm")
            };
            assert_eq!(pdu.source, Address::international(b"4915112345678"));
            assert_eq!(pdu.destination, Address::new(3, 0, b"80800"));
            assert_eq!([pdu.protocol_id, pdu.priority_flag, pdu.registered_delivery], [0; 3]);
            assert!(is_3_4 || pdu.tlvs.is_empty(), "3.3 has no parameters");
            (pdu.esm_class, pdu.data_coding, pdu.text().to_vec())
        });
        let each = each.collect();
        assert!(drafted.deliver_sm(usize::MAX, &mut TlvBuffer::new()).is_none() || drafted.pdus() == 1);
        Some(each)
    }

    #[track_caller]
    fn check(form: MoEncoding, text: &str, zero: CodingZero, data_coding: u8, octets: &[u8]) {
        let found = brought(&message(form, text, &[]), &access(zero, InboundForm::Parts), true);
        assert_eq!(found, Some(vec![(0, data_coding, octets.to_vec())]), "{text} {zero:?}");
    }

    #[test]
    fn text_keeps_its_alphabet_if_the_connection_can_read_it() {
        use CodingZero::{Ascii, Gsm, Latin1, Utf8};
        check(MoEncoding::SingleByte, "@ €", Gsm, 0, b"\x00 \x1b\x65");
        check(MoEncoding::SingleByte, "@ a", Ascii, 0, b"@ a");
        check(MoEncoding::SingleByte, "@ é", Latin1, 0, b"@ \xe9");
        check(MoEncoding::SingleByte, "é", Utf8, 0, "é".as_bytes());
        check(MoEncoding::SingleByte, "é", Ascii, 8, b"\x00\xe9");
        check(MoEncoding::SingleByte, "€", Latin1, 8, b"\x20\xac");
        check(MoEncoding::SingleByte, "ç", Gsm, 8, b"\x00\xe7");
        check(MoEncoding::Ucs2, "a", Gsm, 8, b"\x00a");
        check(MoEncoding::Ucs2, "Ж😀", Gsm, 8, b"\x04\x16\xd8\x3d\xde\x00");
        check(MoEncoding::Octets { data_coding: 4 }, "00ff", Gsm, 4, b"\x00\xff");
        check(MoEncoding::Octets { data_coding: 0xf5 }, "1b", Utf8, 0xf5, b"\x1b");
        check(MoEncoding::SingleByte, "", Gsm, 0, b"");
        check(MoEncoding::SingleByte, &"x".repeat(160), Gsm, 0, &[b'x'; 160]);
    }

    #[test]
    fn long_message_is_split_without_cutting_a_character() {
        let lengths = |form, text: &str, header: &[u8]| -> Vec<usize> {
            let parts =
                brought(&message(form, text, header), &access(CodingZero::Gsm, InboundForm::Parts), false);
            parts.unwrap().into_iter().map(|(_, _, octets)| octets.len()).collect()
        };
        assert_eq!(lengths(MoEncoding::SingleByte, &"x".repeat(161), &[]), [6 + 153, 6 + 8]);
        assert_eq!(
            lengths(MoEncoding::SingleByte, &format!("{}€€€€€", "x".repeat(152)), &[]),
            [6 + 152, 6 + 10]
        );
        assert_eq!(lengths(MoEncoding::Ucs2, &"Ж".repeat(71), &[]), [6 + 134, 6 + 8]);
        assert_eq!(lengths(MoEncoding::Ucs2, &format!("{}😀😀😀", "Ж".repeat(66)), &[]), [6 + 132, 6 + 12]);
        assert_eq!(lengths(MoEncoding::Octets { data_coding: 4 }, &"ab".repeat(141), &[]), [6 + 134, 6 + 7]);
        assert_eq!(
            lengths(MoEncoding::Octets { data_coding: 4 }, &"ab".repeat(134), &[5, 4, 0, 1, 0, 2]),
            [12 + 128, 12 + 6]
        );
        let parts = brought(
            &message(MoEncoding::SingleByte, &"x".repeat(161), &[]),
            &access(CodingZero::Gsm, InboundForm::None),
            true,
        );
        let headers: Vec<_> =
            parts.unwrap().into_iter().map(|(class, _, it)| (class, it[..6].to_vec())).collect();
        assert_eq!(headers, [(0x40, vec![5, 0, 3, 4, 2, 1]), (0x40, vec![5, 0, 3, 4, 2, 2])]);
    }

    #[test]
    fn long_message_is_one_payload_if_configured_and_the_bind_is_3_4() {
        let payload = access(CodingZero::Gsm, InboundForm::Payload);
        let long = message(MoEncoding::SingleByte, &"x".repeat(400), &[]);
        assert_eq!(brought(&long, &payload, true), Some(vec![(0, 0, vec![b'x'; 400])]));
        assert_eq!(brought(&long, &payload, false).unwrap().len(), 3);
        assert_eq!(
            brought(&message(MoEncoding::SingleByte, "hi", &[]), &payload, true),
            Some(vec![(0, 0, b"hi".to_vec())])
        );
        let ported = message(MoEncoding::Octets { data_coding: 4 }, &"ab".repeat(200), &[5, 4, 0, 1, 0, 2]);
        let found = brought(&ported, &payload, true).unwrap();
        assert_eq!((found.len(), found[0].0, &found[0].2[..8]), (1, 0x40, &[6, 5, 4, 0, 1, 0, 2, 0xab][..]));
    }

    #[test]
    fn user_data_header_of_the_handset_is_kept() {
        let found = brought(
            &message(MoEncoding::Octets { data_coding: 4 }, "cafe", &[5, 4, 0, 1, 0, 2]),
            &access(CodingZero::Gsm, InboundForm::Parts),
            true,
        );
        assert_eq!(found, Some(vec![(0x40, 4, vec![6, 5, 4, 0, 1, 0, 2, 0xca, 0xfe])]));
        let huge = message(MoEncoding::SingleByte, "text", &[0x70; 100]);
        let found = brought(&huge, &access(CodingZero::Gsm, InboundForm::Parts), true);
        assert_eq!(found, Some(vec![(0, 0, b"text".to_vec())]), "a header that is too long is dropped");
    }

    #[test]
    fn message_of_more_than_255_parts_needs_a_payload_or_is_not_encoded() {
        let parts = access(CodingZero::Gsm, InboundForm::Parts);
        let many = message(MoEncoding::Ucs2, &"Ж".repeat(67 * 255 + 1), &[]);
        assert_eq!(brought(&many, &parts, true).unwrap().len(), 1);
        assert_eq!(brought(&many, &parts, false), None);
        let most = message(MoEncoding::Ucs2, &"Ж".repeat(67 * 255), &[]);
        assert_eq!(brought(&most, &parts, false).unwrap().len(), 255);
        assert_eq!(brought(&message(MoEncoding::Ucs2, &"Ж".repeat(33_000), &[]), &parts, true), None);
        assert_eq!(brought(&message(MoEncoding::Octets { data_coding: 4 }, "xyz", &[]), &parts, true), None);
    }
}
