//! Reads a receipt out of a `deliver_sm`: the TLVs where they are, the text where they are not.

use crate::{DataSm, DeliverSm, Hidden, ReceiptDialect, ReceiptText, Tag, Tlvs, esm_class};

/// What a carrier says about one message. Values are raw: what they mean is decided elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt<'a> {
    /// Final or on the way, as `esm_class` announces it.
    pub kind: ReceiptKind,
    /// The carrier's id of the message.
    pub message_id: Option<&'a [u8]>,
    /// The `message_state` TLV (§5.2.28). Prefer it to `stat`.
    pub message_state: Option<u8>,
    /// The state as a word of the text.
    pub stat: Option<&'a [u8]>,
    /// The `network_error_code` TLV. Prefer it to the text's `err`.
    pub network_error: Option<NetworkError>,
    /// Our reference, where the carrier gives it back.
    pub user_message_reference: Option<u16>,
    /// Everything the text says.
    pub text: ReceiptText<'a>,
}

/// What `esm_class` says a receipt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptKind {
    /// A delivery receipt, mostly final.
    Delivery,
    /// An intermediate notification.
    Intermediate,
}

/// A network's own code for a failure (§5.3.2.31).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkError {
    /// 1 ANSI-136, 2 IS-95, 3 GSM.
    pub network: u8,
    /// The code.
    pub code: u16,
}

/// The receipt in a `deliver_sm`, `None` when it is a message from a subscriber.
///
/// `esm_class` decides, and so does a `receipted_message_id`, which only a message centre adds. The text
/// alone does not: a subscriber can write it, and would settle messages that are not his.
pub fn read_receipt<'a>(deliver_sm: &DeliverSm<'a>, dialect: ReceiptDialect) -> Option<Receipt<'a>> {
    receipt_in(deliver_sm.esm_class, deliver_sm.text(), deliver_sm.tlvs, dialect)
}

/// The receipt in a `data_sm`: some carriers send them so.
pub fn read_data_sm_receipt<'a>(data_sm: &DataSm<'a>, dialect: ReceiptDialect) -> Option<Receipt<'a>> {
    receipt_in(data_sm.esm_class, data_sm.text(), data_sm.tlvs, dialect)
}

fn receipt_in<'a>(
    class: u8,
    text: Hidden<'a>,
    tlvs: Tlvs<'a>,
    dialect: ReceiptDialect,
) -> Option<Receipt<'a>> {
    let receipted_id = tlvs.get_text(Tag::RECEIPTED_MESSAGE_ID).filter(|id| !id.is_empty());
    let kind = match class & esm_class::TYPE_MASK {
        kind if kind & esm_class::INTERMEDIATE != 0 => ReceiptKind::Intermediate,
        kind if kind & esm_class::RECEIPT != 0 || receipted_id.is_some() => ReceiptKind::Delivery,
        _ => return None,
    };
    let text = dialect.read(text.0);
    Some(Receipt {
        kind,
        message_id: receipted_id.or(text.id.filter(|id| !id.is_empty())),
        message_state: tlvs.get_u8(Tag::MESSAGE_STATE),
        stat: text.stat.filter(|stat| !stat.is_empty()),
        network_error: tlvs.get(Tag::NETWORK_ERROR_CODE).and_then(NetworkError::parse),
        user_message_reference: tlvs.get_u16(Tag::USER_MESSAGE_REFERENCE),
        text,
    })
}

impl NetworkError {
    fn parse(value: &[u8]) -> Option<NetworkError> {
        match value {
            [network, high, low] => {
                Some(NetworkError { network: *network, code: u16::from_be_bytes([*high, *low]) })
            }
            _ => None,
        }
    }

    /// The three octets of the TLV.
    pub const fn to_bytes(self) -> [u8; 3] {
        let [high, low] = self.code.to_be_bytes();
        [self.network, high, low]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TlvBuffer;

    fn check(class: u8, text: &[u8], tlvs: &TlvBuffer, expect: &str) {
        check_in(ReceiptDialect::Standard, class, text, tlvs, expect);
    }

    fn check_in(dialect: ReceiptDialect, class: u8, text: &[u8], tlvs: &TlvBuffer, expect: &str) {
        let deliver_sm = DeliverSm {
            esm_class: class,
            short_message: Hidden(text),
            tlvs: tlvs.as_tlvs(),
            ..DeliverSm::default()
        };
        let shown = match read_receipt(&deliver_sm, dialect) {
            None => "message".into(),
            Some(r) => format!(
                "{:?} id={} state={:?} stat={} error={:?}",
                r.kind,
                r.message_id.unwrap_or(b"-").escape_ascii(),
                r.message_state,
                r.stat.unwrap_or(b"-").escape_ascii(),
                r.network_error.map(|e| (e.network, e.code)),
            ),
        };
        assert_eq!(shown, expect);
    }

    #[test]
    fn tlvs_are_preferred_and_either_alone_is_enough() {
        let text = b"id:9 stat:DELIVRD err:000";
        let none = TlvBuffer::new();
        check(0x04, text, &none, "Delivery id=9 state=None stat=DELIVRD error=None");

        let mut tlvs = TlvBuffer::new();
        tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"ab").push_u8(Tag::MESSAGE_STATE, 2);
        tlvs.push(Tag::NETWORK_ERROR_CODE, &NetworkError { network: 3, code: 11 }.to_bytes());
        check(0x04, text, &tlvs, "Delivery id=ab state=Some(2) stat=DELIVRD error=Some((3, 11))");
        check(0x04, b"", &tlvs, "Delivery id=ab state=Some(2) stat=- error=Some((3, 11))");
        check(0x00, b"", &tlvs, "Delivery id=ab state=Some(2) stat=- error=Some((3, 11))");
        check(0x20, text, &tlvs, "Intermediate id=ab state=Some(2) stat=DELIVRD error=Some((3, 11))");

        let mut odd = TlvBuffer::new();
        odd.push(Tag::RECEIPTED_MESSAGE_ID, b"no-null").push(Tag::MESSAGE_STATE, &[0, 2]);
        odd.push(Tag::NETWORK_ERROR_CODE, &[3]);
        check(0x04, text, &odd, "Delivery id=no-null state=None stat=DELIVRD error=None");
    }

    #[test]
    fn a_receipt_may_travel_in_the_payload() {
        let mut tlvs = TlvBuffer::new();
        tlvs.push(Tag::MESSAGE_PAYLOAD, b"id:5 stat:EXPIRED");
        check(0x44, b"", &tlvs, "Delivery id=5 state=None stat=EXPIRED error=None");
    }

    #[test]
    fn a_receipt_may_travel_in_a_data_sm() {
        let mut tlvs = TlvBuffer::new();
        tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"ab").push_u8(Tag::MESSAGE_STATE, 5);
        let data_sm = DataSm { esm_class: 0x04, tlvs: tlvs.as_tlvs(), ..DataSm::default() };
        let receipt = read_data_sm_receipt(&data_sm, ReceiptDialect::Standard).unwrap();
        assert_eq!((receipt.message_id, receipt.message_state), (Some(&b"ab"[..]), Some(5)));
        assert_eq!(read_data_sm_receipt(&DataSm::default(), ReceiptDialect::Standard), None);
    }

    #[test]
    fn a_carriers_own_dialect_is_read_and_its_tlvs_still_win() {
        let dialect: ReceiptDialect = "id,stat,err".parse().unwrap();
        let mut tlvs = TlvBuffer::new();
        check_in(dialect, 0x04, b"9,EXPIRED,012", &tlvs, "Delivery id=9 state=None stat=EXPIRED error=None");
        check_in(dialect, 0x04, b",", &tlvs, "Delivery id=- state=None stat=- error=None");
        check_in(dialect, 0x00, b"9,EXPIRED,012", &tlvs, "message");
        tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"ab");
        check_in(dialect, 0x04, b"9,EXPIRED,012", &tlvs, "Delivery id=ab state=None stat=EXPIRED error=None");
    }

    #[test]
    fn a_subscriber_cannot_write_a_receipt() {
        let none = TlvBuffer::new();
        check(0x00, b"id:9 sub:001 dlvrd:001 stat:DELIVRD", &none, "message");
        check(0x40, b"id:9 stat:DELIVRD", &none, "message");
        check(0x08, b"id:9 stat:DELIVRD", &none, "message");
    }
}
