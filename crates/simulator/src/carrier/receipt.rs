//! A pending receipt: small, because a million may be pending, and encoded only when it is sent.

use std::sync::Arc;

use hermod_domain::time::Timestamp;
use hermod_smpp::{Address, DataSm, DeliverSm, Hidden, Pdu, Tag, TlvBuffer, esm_class};

use super::ids::IdFormat;
use super::outcome::{Outcome, ReceiptLink};
use super::receipt_format::{DateDigits, ReceiptFormat, ReceiptValues, TextPlace, write_date};
use super::response_quirk::UNKNOWN_TAG;

/// Octets of an address (SMPP v3.4 §4.4.1).
const ADDRESS_BYTES_MAX: usize = 20;
/// Octets of `short_message`, a whole number of UCS-2 characters.
const TEXT_BYTES_MAX: usize = 254;
const UCS2: u8 = 0x08;
/// Network type GSM in `network_error_code` (§5.3.2.31).
const NETWORK_GSM: u8 = 3;

/// An address without a heap allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoredAddress {
    ton: u8,
    npi: u8,
    length: u8,
    octets: [u8; ADDRESS_BYTES_MAX],
}

impl StoredAddress {
    pub(super) fn new(address: &Address<'_>) -> StoredAddress {
        let value = &address.value[..address.value.len().min(ADDRESS_BYTES_MAX)];
        let mut octets = [0; ADDRESS_BYTES_MAX];
        octets[..value.len()].copy_from_slice(value);
        let length = u8::try_from(value.len()).expect("20 at most");
        StoredAddress { ton: address.ton, npi: address.npi, length, octets }
    }

    fn address(&self) -> Address<'_> {
        Address::new(self.ton, self.npi, &self.octets[..usize::from(self.length)])
    }
}

/// One receipt that is pending or in flight.
#[derive(Debug, Clone)]
pub(super) struct PendingReceipt {
    pub(super) id: u64,
    pub(super) ids: Arc<IdFormat>,
    pub(super) format: Arc<ReceiptFormat>,
    pub(super) outcome: Outcome,
    pub(super) error_code: u16,
    /// The sender and recipient of the submit_sm.
    pub(super) message_source: StoredAddress,
    pub(super) message_destination: StoredAddress,
    pub(super) submitted: Timestamp,
    pub(super) user_message_reference: Option<u16>,
    /// The link of the submit.
    pub(super) link: u64,
    pub(super) via: ReceiptLink,
    /// The PDU is truncated.
    pub(super) malformed: bool,
}

/// Encodes receipts into buffers that are reused.
#[derive(Debug, Default)]
pub(super) struct ReceiptWriter {
    text: String,
    /// The text in UCS-2.
    ucs2: Vec<u8>,
    tlvs: TlvBuffer,
    minutes: Minutes,
}

/// Whether the peer supports TLVs (SMPP 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TlvSupport {
    Yes,
    No,
}

impl ReceiptWriter {
    /// Encodes the receipt as a deliver_sm or data_sm. Returns its id as written, and the PDU.
    pub(super) fn write<'a>(
        &'a mut self,
        receipt: &'a PendingReceipt,
        tlvs: TlvSupport,
        done: Timestamp,
    ) -> (String, Pdu<'a>) {
        let PendingReceipt { ids, format, outcome, error_code, .. } = receipt;
        let id = ids.in_receipt(receipt.id);
        let [submitted, done] = [receipt.submitted, done].map(|time| self.date(format.dates, time));
        let values = ReceiptValues {
            id: &id,
            delivered: u8::from(*outcome == Outcome::Delivered),
            stat: outcome.word(),
            error_code: *error_code,
            submitted: &submitted,
            done: &done,
        };
        format.write(&values, &mut self.text);
        self.ucs2.clear();
        if format.ucs2 {
            self.ucs2.extend(self.text.encode_utf16().flat_map(u16::to_be_bytes));
            self.ucs2.truncate(TEXT_BYTES_MAX);
        }
        self.tlvs = TlvBuffer::new();
        let by_data_sm = format.data_sm && tlvs == TlvSupport::Yes;
        if tlvs == TlvSupport::Yes {
            self.add_tlvs(receipt, &id, by_data_sm);
        }
        let class = match (format.unmarked, outcome.is_final()) {
            (true, _) => 0,
            (false, true) => esm_class::RECEIPT,
            (false, false) => esm_class::INTERMEDIATE,
        };
        let data_coding = if format.ucs2 { UCS2 } else { 0 };
        let source = receipt.message_destination.address();
        let destination = receipt.message_source.address();
        let has_tlvs = tlvs == TlvSupport::Yes;
        let tlvs = self.tlvs.as_tlvs();
        if by_data_sm {
            let data_sm =
                DataSm { source, destination, esm_class: class, data_coding, tlvs, ..DataSm::default() };
            return (id, Pdu::DataSm(data_sm));
        }
        // Peers without TLVs get the text in short_message.
        let in_tlv = format.text_place == TextPlace::Payload && has_tlvs;
        let text = match (in_tlv, format.ucs2) {
            (true, _) => b"",
            (false, true) => self.ucs2.as_slice(),
            (false, false) => self.text.as_bytes(),
        };
        let short_message = Hidden(text);
        let esm_class = class;
        let deliver_sm = DeliverSm {
            source,
            destination,
            esm_class,
            data_coding,
            short_message,
            tlvs,
            ..DeliverSm::default()
        };
        (id, Pdu::DeliverSm(deliver_sm))
    }

    fn date(&mut self, dates: DateDigits, time: Timestamp) -> String {
        match dates {
            DateDigits::Minutes => self.minutes.write(time),
            DateDigits::Seconds | DateDigits::LongYear => write_date(dates, time),
        }
    }

    fn add_tlvs(&mut self, receipt: &PendingReceipt, id: &str, by_data_sm: bool) {
        let format = &receipt.format;
        if format.tlvs.0 {
            self.tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, id.as_bytes());
            self.tlvs.push_u8(Tag::MESSAGE_STATE, receipt.outcome as u8);
            if receipt.error_code != 0 {
                let [high, low] = receipt.error_code.to_be_bytes();
                self.tlvs.push(Tag::NETWORK_ERROR_CODE, &[NETWORK_GSM, high, low]);
            }
            if let Some(reference) = receipt.user_message_reference {
                self.tlvs.push_u16(Tag::USER_MESSAGE_REFERENCE, reference);
            }
        }
        if format.unknown_tlv {
            self.tlvs.push(UNKNOWN_TAG, b"hermod-sim");
        }
        // A data_sm has no short_message.
        if !self.text.is_empty() && (by_data_sm || format.text_place == TextPlace::Payload) {
            let text = if format.ucs2 { self.ucs2.as_slice() } else { self.text.as_bytes() };
            self.tlvs.push(Tag::MESSAGE_PAYLOAD, text);
        }
    }
}

/// Writes dates. The last two minutes are cached: under load nearly all receipts share them.
#[derive(Debug, Default)]
struct Minutes {
    kept: [(i64, String); 2],
    oldest: usize,
}

impl Minutes {
    fn write(&mut self, time: Timestamp) -> String {
        let minute = time.as_millis().div_euclid(60_000);
        if let Some((_, written)) = self.kept.iter().find(|(kept, text)| *kept == minute && !text.is_empty())
        {
            return written.clone();
        }
        let written = time.to_receipt_minute();
        self.kept[self.oldest] = (minute, written.clone());
        self.oldest = 1 - self.oldest;
        written
    }
}

#[cfg(test)]
#[path = "receipt_tests.rs"]
mod tests;
