//! Reads an MO message, or a part of one, from a carrier's `deliver_sm` or `data_sm`. Nothing is rejected here: what
//! cannot be decoded is passed on as octets.

use hermod_domain::carrier::DefaultAlphabet;
use hermod_domain::inbound::{Alphabet, InboundPart, MoSegment};
use hermod_domain::origin::SmppAddress;
use hermod_domain::text::ConcatPart;
use hermod_smpp::udh::{self, Concatenation};
use hermod_smpp::{Address, DataSm, DeliverSm, Tag, Tlvs, esm_class};

/// User data header elements for concatenation; we remove them.
const NUMBERING: [u8; 2] = [0x00, 0x08];

/// Elements that select a national language shift table (3GPP TS 23.040 sections 9.2.3.24.15 and 16). We have none of
/// these tables.
const LANGUAGES: [u8; 2] = [0x24, 0x25];

/// The fields that both PDUs have.
struct Fields<'a> {
    source: Address<'a>,
    destination: Address<'a>,
    esm_class: u8,
    data_coding: u8,
    text: &'a [u8],
    tlvs: Tlvs<'a>,
}

pub(super) fn of_deliver_sm(pdu: &DeliverSm<'_>, zero: DefaultAlphabet) -> InboundPart {
    let DeliverSm { source, destination, esm_class, data_coding, tlvs, .. } = *pdu;
    read(&Fields { source, destination, esm_class, data_coding, text: pdu.text().0, tlvs }, zero)
}

pub(super) fn of_data_sm(pdu: &DataSm<'_>, zero: DefaultAlphabet) -> InboundPart {
    let DataSm { source, destination, esm_class, data_coding, tlvs, .. } = *pdu;
    read(&Fields { source, destination, esm_class, data_coding, text: pdu.text().0, tlvs }, zero)
}

fn read(fields: &Fields<'_>, zero: DefaultAlphabet) -> InboundPart {
    let Fields { source, destination, esm_class, data_coding, text, tlvs } = *fields;
    let alphabet = Alphabet::of_data_coding(data_coding, zero);
    let has_header = esm_class & esm_class::UDHI != 0;
    let (joined, header, octets, alphabet) = match udh::parse(text) {
        Ok(udh) if has_header => {
            let others = udh.elements().filter(|element| !NUMBERING.contains(&element.id));
            let mut header = Vec::new();
            for element in others {
                header.extend([element.id, u8::try_from(element.value.len()).unwrap_or(0)]);
                header.extend_from_slice(element.value);
            }
            let is_national = udh.elements().any(|element| LANGUAGES.contains(&element.id));
            let alphabet = match alphabet {
                // Wrong letters are worse than octets: a customer with the tables can decode octets and header.
                Alphabet::Gsm if is_national => Alphabet::Octets,
                known => known,
            };
            (udh.concatenation().or_else(|| tlvs.sar()), header, udh.text.0, alphabet)
        }
        // The header is unreadable, so the beginning of the text is unknown.
        Err(_) if has_header => (tlvs.sar(), Vec::new(), text, Alphabet::Octets),
        Ok(_) | Err(_) => (tlvs.sar(), Vec::new(), text, alphabet),
    };
    InboundPart {
        source: written(source),
        destination: written(destination),
        concat: joined
            .filter(|joined| joined.total > 1)
            .map(|Concatenation { reference, total, part }| ConcatPart { reference, total, part }),
        reference: tlvs.get_u16(Tag::USER_MESSAGE_REFERENCE),
        segment: MoSegment { data_coding, alphabet, header: header.into(), octets: octets.into() },
    }
}

fn written(address: Address<'_>) -> SmppAddress {
    SmppAddress::new(address.ton, address.npi, address.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_smpp::{Hidden, TlvBuffer};

    const UDHI: u8 = esm_class::UDHI;

    fn shown(part: &InboundPart) -> String {
        let joined = part.concat.map(|it| format!("{} {}/{} ", it.reference, it.part, it.total));
        let MoSegment { alphabet, header, octets, .. } = &part.segment;
        format!("{}{alphabet:?} {header:02x?} {}", joined.unwrap_or_default(), octets.escape_ascii())
    }

    #[track_caller]
    fn check(class: u8, data_coding: u8, text: &[u8], tlvs: &TlvBuffer, expect: &str) {
        let pdu = DeliverSm {
            source: Address::international(b"4915112345678"),
            destination: Address::new(3, 0, b"80800"),
            esm_class: class,
            data_coding,
            short_message: Hidden(text),
            tlvs: tlvs.as_tlvs(),
            ..DeliverSm::default()
        };
        let part = of_deliver_sm(&pdu, DefaultAlphabet::Gsm);
        assert_eq!(shown(&part), expect);
        assert_eq!(part.source, SmppAddress::new(1, 1, b"4915112345678"));
        assert_eq!(part.destination, SmppAddress::new(3, 0, b"80800"));
    }

    #[test]
    fn concatenation_is_read_from_the_header_or_the_sar_parameters() {
        let none = TlvBuffer::new();
        check(0, 0, b"hello", &none, "Gsm [] hello");
        check(0, 8, b"\x04\x16", &none, "Ucs2 [] \\x04\\x16");
        check(UDHI, 0, b"\x05\x00\x03\x07\x02\x01hi", &none, "7 1/2 Gsm [] hi");
        check(UDHI, 0, b"\x06\x08\x04\x12\x34\x03\x03hi", &none, "4660 3/3 Gsm [] hi");
        // Other elements before, or instead.
        let ports = b"\x0b\x05\x04\x0b\x84\x23\xf0\x00\x03\x01\x02\x02x";
        check(UDHI, 4, ports, &none, "1 2/2 Octets [05, 04, 0b, 84, 23, f0] x");
        check(UDHI, 0, b"\x03\x24\x01\x05text", &none, "Octets [24, 01, 05] text");
        check(UDHI, 0, b"\x03\x25\x01\x01text", &none, "Octets [25, 01, 01] text");
        check(UDHI, 8, b"\x03\x24\x01\x01\x04\x16", &none, "Ucs2 [24, 01, 01] \\x04\\x16");
        check(UDHI, 0, b"\x05\x00\x03\x07\x01\x01one", &none, "Gsm [] one");
        check(UDHI, 0, b"\x05\x00\x03\x07\x02\x09odd", &none, "Gsm [] odd");
        // Not marked as a header: it is text that looks like one.
        check(0, 4, b"\x05\x00\x03\x07\x02\x01hi", &none, "Octets [] \\x05\\x00\\x03\\x07\\x02\\x01hi");
        check(UDHI, 0, b"\xffbroken", &none, "Octets [] \\xffbroken");
        let mut sar = TlvBuffer::new();
        sar.push_sar(Concatenation { reference: 300, total: 3, part: 2 });
        check(0, 0, b"sar", &sar, "300 2/3 Gsm [] sar");
        check(UDHI, 0, b"\x03\x24\x01\x05both", &sar, "300 2/3 Octets [24, 01, 05] both");
        let mut odd = TlvBuffer::new();
        odd.push_sar(Concatenation { reference: 300, total: 3, part: 4 });
        check(0, 0, b"sar", &odd, "Gsm [] sar");
    }

    #[test]
    fn text_is_read_from_message_payload_and_from_data_sm() {
        let mut payload = TlvBuffer::new();
        payload.push(Tag::MESSAGE_PAYLOAD, b"long").push_u16(Tag::USER_MESSAGE_REFERENCE, 9);
        check(0, 0, b"", &payload, "Gsm [] long");
        let pdu = DataSm { data_coding: 0, tlvs: payload.as_tlvs(), ..DataSm::default() };
        let part = of_data_sm(&pdu, DefaultAlphabet::Latin1);
        assert_eq!((shown(&part).as_str(), part.reference), ("Latin1 [] long", Some(9)));
    }
}
