//! Octets that must never be logged: passwords and message text. They print as a length only.

use std::{fmt, ops::Deref};

/// Borrowed octets whose `Debug` shows only how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Hidden<'a>(pub &'a [u8]);

impl Deref for Hidden<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0
    }
}

impl<'a> From<&'a [u8]> for Hidden<'a> {
    fn from(octets: &'a [u8]) -> Self {
        Hidden(octets)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Hidden<'a> {
    fn from(octets: &'a [u8; N]) -> Self {
        Hidden(octets)
    }
}

impl fmt::Debug for Hidden<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} octets)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::*;

    #[test]
    fn debug_output_has_neither_texts_nor_passwords() {
        let mut tlvs = TlvBuffer::new();
        tlvs.push(Tag::MESSAGE_PAYLOAD, b"SECRET");
        let mut destinations = DestinationsBuffer::default();
        destinations.push(DestinationEntry::Sme(Address::international(b"4917SECRET"))).unwrap();
        let address = Address::international(b"4917SECRET");
        let short_message = Hidden(b"SECRET");
        let pdus = [
            Pdu::Bind(BindType::Receiver, Bind { password: Hidden(b"SECRET"), ..Bind::default() }),
            Pdu::Outbind(Outbind { password: Hidden(b"SECRET"), ..Outbind::default() }),
            Pdu::SubmitSm(SubmitSm { source: address, short_message, ..SubmitSm::default() }),
            Pdu::DeliverSm(DeliverSm { tlvs: tlvs.as_tlvs(), ..DeliverSm::default() }),
            Pdu::ReplaceSm(ReplaceSm { short_message, ..ReplaceSm::default() }),
            Pdu::SubmitMulti(SubmitMulti {
                destinations: destinations.as_destinations(),
                ..SubmitMulti::default()
            }),
            Pdu::Unknown(CommandId(0x999), Hidden(b"SECRET")),
        ];
        let octets = b"SECRET".map(|octet| octet.to_string()).join(", ");
        let mut printed = format!("{pdus:?} {tlvs:?}");
        let mut out = bytes::BytesMut::new();
        for pdu in &pdus {
            encode(pdu, CommandStatus::OK, 1, &mut out).unwrap();
            printed += &format!("{:?}", next_frame(&mut out, 16_384).unwrap().unwrap());
        }
        assert!(!printed.contains("SECRET") && !printed.contains(&octets), "{printed}");
    }
}
