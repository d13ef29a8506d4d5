//! A receipt on its way: small enough that a million can wait, and written out only when it is sent.

use std::sync::Arc;

use hermod_domain::time::Timestamp;
use hermod_smpp::{Address, DataSm, DeliverSm, Hidden, Pdu, Tag, TlvBuffer, esm_class};

use super::ids::IdFormat;
use super::outcome::{Outcome, ReceiptLink};
use super::receipt_format::{DateDigits, ReceiptFormat, ReceiptValues, TextPlace, write_date};
use super::response_quirk::UNKNOWN_TAG;

/// Addresses hold 20 octets at most (SMPP v3.4 §4.4.1).
const ADDRESS_BYTES_MAX: usize = 20;
/// ByteStream of a text in `short_message` at most, a whole number of UCS-2 characters.
const TEXT_BYTES_MAX: usize = 254;
const UCS2: u8 = 0x08;
/// The kind of network in `network_error_code` (§5.3.2.31): GSM.
const NETWORK_GSM: u8 = 3;

/// An address kept in place, without a heap allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoredAddress {
    ton: u8,
    npi: u8,
    length: u8,
    octets: [u8; ADDRESS_BYTES_MAX],
}

impl StoredAddress {
    pub(super) fn keep(address: &Address<'_>) -> StoredAddress {
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

/// One receipt that waits, is in flight, or must be sent again.
#[derive(Debug, Clone)]
pub(super) struct Receipt {
    pub(super) id: u64,
    pub(super) ids: Arc<IdFormat>,
    pub(super) wording: Arc<ReceiptFormat>,
    pub(super) outcome: Outcome,
    pub(super) error_code: u16,
    /// The message's sender and recipient, as they were submitted.
    pub(super) message_source: StoredAddress,
    pub(super) message_destination: StoredAddress,
    pub(super) submitted: Timestamp,
    pub(super) user_message_reference: Option<u16>,
    /// The link the message came on.
    pub(super) link: u64,
    pub(super) way: ReceiptLink,
    /// Its body ends too early.
    pub(super) malformed: bool,
}

/// Places to write receipts into, used again for each.
#[derive(Debug, Default)]
pub(super) struct ReceiptWriter {
    text: String,
    /// The text as it travels, where that is not in single octets.
    wide: Vec<u8>,
    tlvs: TlvBuffer,
    minutes: Minutes,
}

/// Whether the peer may be sent TLVs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    WithTlvs,
    TextOnly,
}

impl ReceiptWriter {
    /// The receipt as a deliver_sm, or as a data_sm. Gives the id as it stands there.
    pub(super) fn write<'a>(
        &'a mut self,
        receipt: &'a Receipt,
        dialect: Dialect,
        done: Timestamp,
    ) -> (String, Pdu<'a>) {
        let Receipt { ids, wording, outcome, error_code, .. } = receipt;
        let id = ids.in_receipt(receipt.id);
        let [submitted, done] = [receipt.submitted, done].map(|time| self.date(wording.dates, time));
        let said = ReceiptValues {
            id: &id,
            delivered: u8::from(*outcome == Outcome::Delivered),
            stat: outcome.word(),
            error_code: *error_code,
            submitted: &submitted,
            done: &done,
        };
        wording.write(&said, &mut self.text);
        self.wide.clear();
        if wording.ucs2 {
            self.wide.extend(self.text.encode_utf16().flat_map(u16::to_be_bytes));
            self.wide.truncate(TEXT_BYTES_MAX);
        }
        self.tlvs = TlvBuffer::new();
        let by_data_sm = wording.data_sm && dialect == Dialect::WithTlvs;
        if dialect == Dialect::WithTlvs {
            self.add_tlvs(receipt, &id, by_data_sm);
        }
        let class = match (wording.unmarked, outcome.is_final()) {
            (true, _) => 0,
            (false, true) => esm_class::RECEIPT,
            (false, false) => esm_class::INTERMEDIATE,
        };
        let data_coding = if wording.ucs2 { UCS2 } else { 0 };
        let source = receipt.message_destination.address();
        let destination = receipt.message_source.address();
        let tlvs = self.tlvs.as_tlvs();
        if by_data_sm {
            let data_sm =
                DataSm { source, destination, esm_class: class, data_coding, tlvs, ..DataSm::default() };
            return (id, Pdu::DataSm(data_sm));
        }
        // Who may not be sent TLVs gets the text where there is room for it without them.
        let in_tlv = wording.place == TextPlace::Payload && dialect == Dialect::WithTlvs;
        let text = match (in_tlv, wording.ucs2) {
            (true, _) => b"",
            (false, true) => self.wide.as_slice(),
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

    fn add_tlvs(&mut self, receipt: &Receipt, id: &str, by_data_sm: bool) {
        let wording = &receipt.wording;
        if wording.tlvs {
            self.tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, id.as_bytes());
            self.tlvs.push_u8(Tag::MESSAGE_STATE, receipt.outcome.message_state());
            if receipt.error_code != 0 {
                let [high, low] = receipt.error_code.to_be_bytes();
                self.tlvs.push(Tag::NETWORK_ERROR_CODE, &[NETWORK_GSM, high, low]);
            }
            if let Some(reference) = receipt.user_message_reference {
                self.tlvs.push_u16(Tag::USER_MESSAGE_REFERENCE, reference);
            }
        }
        if wording.unknown_tlv {
            self.tlvs.push(UNKNOWN_TAG, b"hermod-sim");
        }
        // A data_sm has no other place for a text.
        if !self.text.is_empty() && (by_data_sm || wording.place == TextPlace::Payload) {
            let text = if wording.ucs2 { self.wide.as_slice() } else { self.text.as_bytes() };
            self.tlvs.push(Tag::MESSAGE_PAYLOAD, text);
        }
    }
}

/// DateDigits of receipts. The last two minutes asked for are kept: under load nearly all receipts share them.
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
mod tests {
    use super::*;
    use crate::carrier::ids::IdStyle;

    fn receipt(outcome: Outcome) -> Receipt {
        Receipt {
            id: 0x1f,
            ids: Arc::new(IdFormat::each(IdStyle::Hex, IdStyle::Decimal)),
            wording: Arc::new(ReceiptFormat::standard()),
            outcome,
            error_code: if outcome == Outcome::Delivered { 0 } else { 11 },
            message_source: StoredAddress::keep(&Address::alphanumeric(b"Hermod")),
            message_destination: StoredAddress::keep(&Address::international(b"4915112345678")),
            submitted: Timestamp::from_millis(1_709_164_799_000),
            user_message_reference: Some(7),
            link: 1,
            way: ReceiptLink::Any,
            malformed: false,
        }
    }

    #[track_caller]
    fn check(outcome: Outcome, expect_class: u8, expect_text: &str) {
        let receipt = receipt(outcome);
        let mut writer = ReceiptWriter::default();
        for dialect in [Dialect::WithTlvs, Dialect::TextOnly] {
            let (id, pdu) = writer.write(&receipt, dialect, Timestamp::from_millis(1_709_164_860_000));
            let Pdu::DeliverSm(pdu) = pdu else { panic!("{pdu:?} is no deliver_sm") };
            assert_eq!(id, "31");
            assert_eq!(pdu.esm_class, expect_class);
            assert_eq!(std::str::from_utf8(&pdu.short_message).unwrap(), expect_text);
            assert_eq!(pdu.source, Address::international(b"4915112345678"));
            assert_eq!(pdu.destination, Address::alphanumeric(b"Hermod"));
            assert_eq!(pdu.tlvs.is_empty(), dialect == Dialect::TextOnly);
        }
    }

    #[test]
    fn the_text_has_the_shape_strict_readers_want() {
        let dates = "submit date:2402282359 done date:2402290001";
        let delivered = format!("id:31 sub:001 dlvrd:001 {dates} stat:DELIVRD err:000 text:");
        check(Outcome::Delivered, 0x04, &delivered);
        let failed = format!("id:31 sub:001 dlvrd:000 {dates} stat:UNDELIV err:011 text:");
        check(Outcome::Undeliverable, 0x04, &failed);
        let enroute = format!("id:31 sub:001 dlvrd:000 {dates} stat:ENROUTE err:011 text:");
        check(Outcome::Enroute, 0x20, &enroute);
    }

    #[test]
    fn tlvs_say_the_same() {
        let receipt = receipt(Outcome::Undeliverable);
        let mut writer = ReceiptWriter::default();
        let (_, pdu) = writer.write(&receipt, Dialect::WithTlvs, receipt.submitted);
        let Pdu::DeliverSm(pdu) = pdu else { panic!("{pdu:?} is no deliver_sm") };
        assert_eq!(pdu.tlvs.get_text(Tag::RECEIPTED_MESSAGE_ID), Some(&b"31"[..]));
        assert_eq!(pdu.tlvs.get_u8(Tag::MESSAGE_STATE), Some(5));
        assert_eq!(pdu.tlvs.get(Tag::NETWORK_ERROR_CODE), Some(&[3, 0, 11][..]));
        assert_eq!(pdu.tlvs.get_u16(Tag::USER_MESSAGE_REFERENCE), Some(7));
    }

    #[test]
    fn a_text_may_travel_in_the_payload_or_in_a_data_sm_and_never_to_an_old_client() {
        let usual =
            "id:31 sub:001 dlvrd:001 submit date:2402282359 done date:2402282359 stat:DELIVRD err:000 text:";
        let wordings = [
            ReceiptFormat::in_payload(),
            ReceiptFormat::text_only().by_data_sm(),
            ReceiptFormat::text_only(),
        ];
        for (wording, expect) in wordings.into_iter().zip(["deliver_sm", "data_sm", "deliver_sm"]) {
            let receipt = Receipt { wording: Arc::new(wording), ..receipt(Outcome::Delivered) };
            let mut writer = ReceiptWriter::default();
            let (_, pdu) = writer.write(&receipt, Dialect::WithTlvs, receipt.submitted);
            let (name, text) = match pdu {
                Pdu::DeliverSm(pdu) => ("deliver_sm", pdu.text()),
                Pdu::DataSm(pdu) => ("data_sm", pdu.text()),
                other => panic!("{other:?} is no receipt"),
            };
            assert_eq!((name, std::str::from_utf8(&text).unwrap()), (expect, usual));
            let (_, pdu) = writer.write(&receipt, Dialect::TextOnly, receipt.submitted);
            let Pdu::DeliverSm(pdu) = pdu else { panic!("{pdu:?} is no deliver_sm") };
            assert!(pdu.tlvs.is_empty() && &*pdu.short_message == usual.as_bytes());
        }
    }

    #[test]
    fn addresses_are_kept_as_they_came() {
        for value in [&b""[..], b"1", b"12345678901234567890"] {
            let address = Address::new(3, 9, value);
            assert_eq!(StoredAddress::keep(&address).address(), address);
        }
    }
}
