//! Reads a delivery receipt from a `deliver_sm` or `data_sm`: from TLVs, and from the text where they are missing.

use crate::{DataSm, DeliverSm, Hidden, ReceiptDialect, ReceiptText, Tag, Tlvs, esm_class};

/// A delivery receipt, with raw values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt<'a> {
    /// Final or intermediate, by `esm_class`.
    pub kind: ReceiptKind,
    /// The carrier's message id.
    pub message_id: Option<&'a [u8]>,
    /// The `message_state` TLV (§5.2.28); takes precedence over `stat`.
    pub message_state: Option<u8>,
    /// The `stat` word of the text.
    pub stat: Option<&'a [u8]>,
    /// The `network_error_code` TLV; takes precedence over the text's `err`.
    pub network_error: Option<NetworkError>,
    /// The `user_message_reference`, if the carrier repeats it.
    pub user_message_reference: Option<u16>,
    /// The fields of the text.
    pub text: ReceiptText<'a>,
}

/// The kind of a receipt, by `esm_class`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptKind {
    /// A delivery receipt, usually final.
    Delivery,
    /// An intermediate notification.
    Intermediate,
}

/// A network's error code (§5.3.2.31).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkError {
    /// 1 ANSI-136, 2 IS-95, 3 GSM.
    pub network: u8,
    /// The code.
    pub code: u16,
}

/// Returns the receipt of a `deliver_sm`; `None` for an MO message.
///
/// A receipt is recognised by `esm_class` or by `receipted_message_id`, which only an SMSC adds. The text alone is not
/// enough, because a subscriber could write it and forge the status of messages.
pub fn read_receipt<'a>(deliver_sm: &DeliverSm<'a>, dialect: ReceiptDialect) -> Option<Receipt<'a>> {
    receipt_in(deliver_sm.esm_class, deliver_sm.text(), deliver_sm.tlvs, dialect)
}

/// Returns the receipt of a `data_sm`, which some carriers use.
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

    /// Returns the three octets of the TLV.
    pub const fn to_bytes(self) -> [u8; 3] {
        let [high, low] = self.code.to_be_bytes();
        [self.network, high, low]
    }
}

#[cfg(test)]
#[path = "receipt_tests.rs"]
mod tests;
