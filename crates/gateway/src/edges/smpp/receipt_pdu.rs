//! Encodes a delivery report as `deliver_sm`: the receipt text in the format that the strictest clients read, and on
//! 3.4 binds the optional parameters with the same values. Source and destination are the customer's own, swapped.

use bytes::BytesMut;
use hermod_domain::origin::SmppAddress;
use hermod_domain::receipt::ErrCode;
use hermod_domain::receipt::ReportStatus;
use hermod_domain::time::Timestamp;
use hermod_smpp::{
    Address, DeliverSm, Hidden, Pdu, ReceiptDate, ReceiptFields, Tag, TlvBuffer, esm_class, receipt_text,
};
use hermod_store::{DlrReport, Report};
use std::io::Write;

/// The network type GSM in `network_error_code`.
const NETWORK_GSM: u8 = 3;
/// The largest code of three digits; a larger one is in `network_error_code` only.
const ERR_MAX: u16 = 999;

/// Encodes the receipts of one bind into reused buffers.
#[derive(Default)]
pub(super) struct ReceiptDraft {
    id: Vec<u8>,
    text: BytesMut,
    tlvs: TlvBuffer,
}

impl ReceiptDraft {
    /// Returns the PDU; `None` if the values do not fit in a receipt (only with corrupt data).
    pub(super) fn deliver_sm<'a>(
        &'a mut self,
        report: &'a Report,
        dlr: &'a DlrReport,
        is_3_4: bool,
    ) -> Option<Pdu<'a>> {
        let Report { message, at, .. } = report;
        let DlrReport { alias, origin, status, err, parts, delivered } = dlr;
        self.id.clear();
        match alias {
            Some(alias) => write!(self.id, "{alias}"),
            None => write!(self.id, "{message}"),
        }
        .expect("a Vec takes everything");
        let err = ErrCode::new(*err).smpp_code();
        let err_text = format!("{:03}", err.min(ERR_MAX));
        self.text.clear();
        let fields = ReceiptFields {
            id: &self.id,
            sub: u16::from(*parts),
            dlvrd: u16::from(*delivered),
            submit_date: date(message.accepted_at())?,
            done_date: date(*at)?,
            stat: status.word().as_bytes().try_into().ok()?,
            err: err_text.as_bytes().try_into().ok()?,
            text: Hidden(&origin.quote),
        };
        receipt_text::write(&fields, &mut self.text).ok()?;
        self.tlvs.clear();
        if is_3_4 {
            write_tlvs(&mut self.tlvs, &self.id, *status, err, origin.reference);
        }
        Some(Pdu::DeliverSm(DeliverSm {
            source: address(&origin.destination),
            destination: address(&origin.source),
            esm_class: if status.is_final() { esm_class::RECEIPT } else { esm_class::INTERMEDIATE },
            short_message: Hidden(&self.text),
            tlvs: self.tlvs.as_tlvs(),
            ..DeliverSm::default()
        }))
    }
}

fn write_tlvs(tlvs: &mut TlvBuffer, id: &[u8], status: ReportStatus, err: u16, reference: Option<u16>) {
    tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, id);
    if let Some(state) = status.message_state() {
        tlvs.push_u8(Tag::MESSAGE_STATE, state);
    }
    if err != 0 {
        let [high, low] = err.to_be_bytes();
        tlvs.push(Tag::NETWORK_ERROR_CODE, &[NETWORK_GSM, high, low]);
    }
    if let Some(reference) = reference {
        tlvs.push_u16(Tag::USER_MESSAGE_REFERENCE, reference);
    }
}

fn address(written: &SmppAddress) -> Address<'_> {
    Address::new(written.ton, written.npi, &written.digits)
}

/// Only two digits of the year are written, so every year fits.
fn date(at: Timestamp) -> Option<ReceiptDate> {
    let ((year, month, day), (hour, minute, second)) = at.to_utc();
    let of = |value: i8| u8::try_from(value).ok();
    let year = u16::try_from(year).ok()?;
    let (month, day, hour, minute, second) = (of(month)?, of(day)?, of(hour)?, of(minute)?, of(second)?);
    Some(ReceiptDate { year, month, day, hour, minute, second })
}

#[cfg(test)]
#[path = "receipt_pdu_tests.rs"]
mod tests;
