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
#[path = "mo_tests.rs"]
mod tests;
