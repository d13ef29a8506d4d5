//! Unit tests of `receipt_pdu.rs`.

use super::*;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::origin::{Alias, Origin, RegisteredDelivery};
use hermod_domain::receipt::DlrCode;
use hermod_smpp::trace;
use hermod_store::{ReportContent, ReportId};
use std::sync::Arc;

fn report(status: ReportStatus) -> (Report, DlrReport) {
    let accepted = Timestamp::from_utc((2026, 11, 15), (9, 30, 0)).unwrap();
    let origin = Origin {
        registered_delivery: RegisteredDelivery::from_octet(1),
        short_id: false,
        on_transmitter: false,
        reference: None,
        source: SmppAddress::new(5, 0, b"Shop"),
        destination: SmppAddress::new(2, 8, b"004915112345678"),
        quote: Default::default(),
    };
    let origin = Arc::new(origin);
    let dlr = DlrReport { alias: None, origin, status, err: 0, parts: 1, delivered: 1 };
    let report = Report {
        id: ReportId(1),
        account: AccountId::new(1),
        connection: ConnectionId::new(1),
        message: MessageId::first_at(accepted),
        at: accepted.plus(std::time::Duration::from_secs(60)),
        content: ReportContent::Dlr(dlr.clone()),
    };
    (report, dlr)
}

fn shown((report, dlr): &(Report, DlrReport), is_3_4: bool) -> String {
    let mut draft = ReceiptDraft::default();
    draft.tlvs.push_u8(Tag::PRIVACY_INDICATOR, 1);
    let Some(Pdu::DeliverSm(pdu)) = draft.deliver_sm(report, dlr, is_3_4) else {
        return "nothing".to_owned();
    };
    let tlvs: Vec<String> = pdu.tlvs.iter().map(|tlv| format!("{}={:02x?}", tlv.tag, tlv.value)).collect();
    let ends = [pdu.source, pdu.destination]
        .map(|end| format!("{}/{} {}", end.ton, end.npi, end.value.escape_ascii()));
    let text = pdu.short_message.0.escape_ascii();
    let zero = [pdu.data_coding, pdu.registered_delivery, pdu.protocol_id, pdu.priority_flag];
    assert_eq!(zero, [0; 4]);
    format!("{:02x} {} > {} {text} | {}", pdu.esm_class, ends[0], ends[1], tlvs.join(" "))
}

#[test]
fn receipt_has_the_standard_text_and_tlvs() {
    let delivered = report(ReportStatus::Final(DlrCode::Delivrd));
    let id = delivered.0.message.to_string();
    let hex: Vec<String> = id.bytes().chain([0]).map(|octet| format!("{octet:02x}")).collect();
    let expect = format!(
        "04 2/8 004915112345678 > 5/0 Shop id:{id} sub:001 dlvrd:001 submit date:2611150930 \
             done date:2611150931 stat:DELIVRD err:000 text: | receipted_message_id=[{}] message_state=[02]",
        hex.join(", ")
    );
    assert_eq!(shown(&delivered, true), expect);
    let on_3_3 = shown(&delivered, false);
    assert!(on_3_3.ends_with("text: | "), "{on_3_3}");
}

#[test]
fn a_receipt_is_written_in_any_year() {
    for (year, expect) in [(2037, "3712312359"), (2038, "3812312359"), (2093, "9312312359")] {
        let at = Timestamp::from_utc((year, 12, 31), (23, 59, 59)).unwrap();
        let (report, dlr) = report(ReportStatus::Final(DlrCode::Delivrd));
        let late = (Report { at, ..report }, dlr);
        let actual = shown(&late, true);
        assert!(actual.contains(&format!("done date:{expect} ")), "{actual}");
    }
}

#[test]
fn failed_intermediate_and_unknown_receipts_have_their_fields() {
    let changed = |status, change: fn(&mut DlrReport)| {
        let (report, mut dlr) = report(status);
        change(&mut dlr);
        (report, dlr)
    };
    let failed = changed(ReportStatus::Final(DlrCode::Rejectd), |it| (it.err, it.parts) = (10_069, 3));
    let actual = shown(&failed, true);
    for expect in
        ["sub:003 dlvrd:001", "stat:REJECTD err:069", "message_state=[05] network_error_code=[03, 00, 45]"]
    {
        assert!(actual.contains(expect), "{expect} in {actual}");
    }
    let large = shown(&changed(ReportStatus::Final(DlrCode::Undeliv), |it| it.err = 1_234), true);
    assert!(large.contains("err:999") && large.contains("network_error_code=[03, 04, d2]"), "{large}");
    let notice = shown(&report(ReportStatus::Enroute), true);
    assert!(
        notice.starts_with("20 ")
            && notice.contains("stat:ENROUTE")
            && notice.ends_with("message_state=[01]")
    );
    let accepted = shown(&report(ReportStatus::Accepted), true);
    assert!(
        accepted.starts_with("20 ")
            && accepted.contains("stat:ACCEPTD")
            && accepted.ends_with("message_state=[06]")
    );
    let unknown = shown(&report(ReportStatus::Final(DlrCode::Unknown)), true);
    assert!(
        unknown.starts_with("04 ") && unknown.contains("stat:UNKNOWN") && !unknown.contains("message_state")
    );
}

#[test]
fn receipt_contains_alias_reference_and_quoted_text() {
    let mut asked = report(ReportStatus::Final(DlrCode::Delivrd));
    asked.1.alias = Alias::new(0x1234_ABCD);
    let origin = Arc::make_mut(&mut asked.1.origin);
    origin.reference = Some(0xBEEF);
    origin.quote.extend_from_slice(b"hello\x00");
    let actual = shown(&asked, true);
    assert!(actual.contains("id:1234ABCD sub"), "{actual}");
    assert!(
        actual.contains("text:hello\\x00 |") && actual.ends_with("user_message_reference=[be, ef]"),
        "{actual}"
    );
    let mut draft = ReceiptDraft::default();
    let pdu = draft.deliver_sm(&asked.0, &asked.1, true).unwrap();
    let mut out = BytesMut::new();
    hermod_smpp::encode(&pdu, hermod_smpp::CommandStatus::OK, 7, &mut out).unwrap();
    let frame = hermod_smpp::next_frame(&mut out, 16_384).unwrap().unwrap();
    let traced = trace::describe(&frame, hermod_smpp::ReceiptDialect::Standard).to_string();
    assert!(traced.contains("1234ABCD"), "{traced}");
}
