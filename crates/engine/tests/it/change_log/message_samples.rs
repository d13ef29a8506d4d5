//! Samples of changes of messages: MT and MO messages, their parts, receipts, reports and steps.

use super::samples::{add, row_changes};
use super::values::*;
use hermod_domain::inbound::{Alphabet, MoEncoding, MoSegment};
use hermod_domain::lifecycle::{Billable, DeliveryOutcome, DoubtPolicy, MessageState, Part, PartState};
use hermod_domain::money::Money;
use hermod_domain::receipt::{DlrCode, ReceiptWords, ReportStatus};
use hermod_domain::text::{ConcatPart, Encoding, MessageText, SmsOptions};
use hermod_engine::ops::{
    DlrReport, EarlierCost, EventId, GivenUpReport, LinkNumber, ParkedReceipt, ReceiptLoss, Report,
    ReportContent, ReportGiveUpReason, ReportId,
};
use hermod_engine::steps::{Canceller, CarrierWord, LateResponse, MessageStep, NextResend, StepId, StepKind};
use hermod_engine::tables::*;
use std::sync::Arc;

pub(super) fn add_all(all: &mut Vec<Change>) {
    add(all, messages_accepted());
    add(all, message_changes());
    add(all, message_exceptions());
    add(all, parts());
    add(all, parts_of_carriers());
    add(all, parked_receipts());
    add(all, reports());
    add(all, given_up_reports());
    add(all, inbound());
    add(all, mo_parts());
    add(all, steps());
}

/// Returns a message without anything that it need not have.
fn plain_row(encoding: Encoding) -> MessageRow {
    MessageRow {
        id: message(1),
        account: ACCOUNT,
        connection: CONNECTION,
        carrier: CARRIER,
        from: sender(),
        to: handset(),
        text: MessageText::parse("Grüße für 12 €").expect("a text"),
        encoding,
        parts: 2,
        whole: true,
        tlvs: None,
        options: None,
        origin: None,
        alias: None,
        reference: 200,
        cost: COST,
        carrier_cost: None,
        expires_at: LATER,
        status: MessageStatus { state: MessageState::Queued, code: DlrCode::Acceptd, err: 0 },
    }
}

fn earlier_cost() -> EarlierCost {
    let cost = Some(carrier_cost());
    EarlierCost { message: message(1), no: 2, carrier: CARRIER, submitted: 3, doubts: 4, cost }
}

fn messages_accepted() -> Vec<MessageChange> {
    let full = MessageRow {
        tlvs: Some(tlvs()),
        options: Some(Arc::new(SmsOptions {
            header: [1, 0, 255].into(),
            concat: Some(ConcatPart { reference: 513, total: 3, part: 2 }),
            class: Some(0),
            protocol_id: 64,
            data_coding: Some(4),
        })),
        origin: Some(Arc::new(origin())),
        alias: Some(alias()),
        carrier_cost: Some(carrier_cost()),
        ..plain_row(Encoding::Gsm7)
    };
    let rows = ENCODINGS.iter().map(|encoding| plain_row(*encoding)).chain([full]);
    rows.map(|row| MessageChange::Add(Box::new(row))).collect()
}

fn message_changes() -> Vec<MessageChange> {
    let status = |state: &MessageState| MessageStatus { state: *state, code: DlrCode::Acceptd, err: 0 };
    let end = |code: &DlrCode| MessageStatus { state: MessageState::Expired, code: *code, err: 259 };
    let states = MESSAGE_STATES.iter().map(status);
    let ends = DLR_CODES.iter().map(end);
    let mut all = vec![
        MessageChange::Carrier { message: message(1), carrier: OTHER_CARRIER, whole: true, cost: None },
        MessageChange::Carrier {
            message: message(1),
            carrier: OTHER_CARRIER,
            whole: false,
            cost: Some(carrier_cost()),
        },
        MessageChange::Expiry { message: message(1), expires_at: LATER },
    ];
    all.extend(states.map(|status| MessageChange::Status { message: message(1), status }));
    let (settled_at, billable) = (AT, Billable { submitted: 3, delivered: 2 });
    let message = message(1);
    all.extend(ends.map(|status| MessageChange::End { message, status, settled_at, billable }));
    all
}

fn message_exceptions() -> Vec<Change> {
    let (message, unknown_at) = (message(1), Some(AT));
    let exceptions = MessageExceptions { has_failed_over: true, unknown_at, late_receipts: 3 };
    let mut all = Vec::new();
    add(&mut all, row_changes(MessageExceptionRow { message, exceptions }));
    add(&mut all, row_changes(CarrierRefusal { message, carrier: CARRIER }));
    add(&mut all, row_changes(earlier_cost()));
    add(&mut all, row_changes(EarlierCost { cost: None, ..earlier_cost() }));
    all
}

fn parts() -> Vec<PartChange> {
    let (key, part) = (message_key(), part(2));
    let row = |doubt: &DoubtPolicy| PartRow {
        key,
        part,
        now: Part { state: PartState::Sending, doubts: 1 },
        doubt: *doubt,
        attempts: 130,
        due_at: Some(AT),
        expires_at: LATER,
    };
    let state = |state: &PartState| PartChange::State {
        key,
        part,
        now: Part { state: *state, doubts: 2 },
        due_at: None,
        attempts: Some(3),
    };
    let mut all: Vec<PartChange> = DOUBT_POLICIES.iter().map(|doubt| PartChange::Add(row(doubt))).collect();
    all.extend(PART_STATES.iter().map(state));
    all.extend([
        PartChange::DueTime { key, part, due_at: Some(AT) },
        PartChange::Expiry { key, part, expires_at: LATER },
        PartChange::Move { key, to: OTHER_CARRIER, due_at: Some(AT) },
        PartChange::Delete(key),
        PartChange::SetLate(key),
    ]);
    all
}

/// Returns changes of carrier ids, of parts without one, and of parts that are set aside.
fn parts_of_carriers() -> Vec<Change> {
    let assignment = IdAssignment { part: part_key(), to: Some(handset()), at: AT, day: DAY };
    let without = IdAssignment { to: None, ..assignment };
    let (carrier, to, part, reason) = (CARRIER, handset(), part_key(), "state 99".to_owned());
    let mut all = vec![
        CarrierIdChange::CreateDay(DAY).into(),
        CarrierIdChange::RetireDay(DAY).into(),
        CarrierIdChange::DeleteRetired { day: DAY, limit: 1_000 }.into(),
        CarrierIdChange::DropRetiredDay(DAY).into(),
        CarrierIdChange::Add { carrier, remote: remote(), assignment }.into(),
        CarrierIdChange::Put { carrier, remote: remote(), assignment: without }.into(),
        SetAsideChange::Parts { key: STORED_KEY, reason: reason.clone(), at: AT }.into(),
        SetAsideChange::Message { key: STORED_KEY, reason, at: AT }.into(),
        SetAsideChange::Delete(messages()).into(),
    ];
    add(&mut all, row_changes(UnnamedPart { carrier, to, part, at: AT }));
    all
}

fn parked_receipts() -> Vec<Change> {
    let carrier = CARRIER;
    let receipt = |verdict: &DeliveryOutcome| ParkedReceipt {
        remote: remote(),
        verdict: *verdict,
        err: 259,
        word: Some("LOST".into()),
        source: Some(handset()),
        at: AT,
        ambiguous: true,
    };
    let mut all = Vec::new();
    let receipts = OUTCOMES.iter().map(receipt);
    receipts.for_each(|receipt| add(&mut all, row_changes(ParkedRow { carrier, receipt })));
    add(&mut all, row_changes(ReceiptLoss { day: DAY, carrier, too_old: 1, crowded_out: 2 }));
    all
}

fn reports() -> Vec<ReportChange> {
    let dlr = |status: ReportStatus| {
        let (alias, origin) = (Some(alias()), Arc::new(origin()));
        ReportContent::Dlr(DlrReport { alias, origin, status, err: 259, parts: 2, delivered: 1 })
    };
    let contents = report_statuses().into_iter().map(dlr).chain([ReportContent::Inbound(130)]);
    let added = contents.map(|content| {
        let (id, account, connection) = (ReportId(70_000), ACCOUNT, CONNECTION);
        let report = Report { id, account, connection, message: message(1), at: AT, content };
        ReportChange::Add { report, has_webhook_event: true }
    });
    let (connection, first, last) = (CONNECTION, ReportId(1), ReportId(70_000));
    added.chain([ReportChange::Delete { connection, first, last }]).collect()
}

fn given_up_reports() -> Vec<Change> {
    let report = |reason: ReportGiveUpReason| GivenUpReport {
        id: ReportId(70_000),
        account: ACCOUNT,
        connection: CONNECTION,
        message: message(1),
        status: Some(ReportStatus::Accepted),
        at: AT,
        given_up_at: LATER,
        reason,
    };
    let mut all = Vec::new();
    report_give_up_reasons().into_iter().for_each(|reason| add(&mut all, row_changes(report(reason))));
    all
}

fn inbound() -> Vec<Change> {
    let (from, to, text) = ("+4915112345678".to_owned(), "80808".to_owned(), "ja, €".to_owned());
    let row = InboundRow {
        account: ACCOUNT,
        id: 130,
        message: message(7),
        from: from.clone(),
        to: to.clone(),
        text: text.clone(),
        wire: None,
        missing: 1,
        received_at: AT,
    };
    let counter = InboundCounter { account: ACCOUNT, last: 130, newest: message(7) };
    let last = Conversation { account: ACCOUNT, connection: CONNECTION, message: message(1), at: AT };
    let key = ConversationKey { handset: handset(), number: to.clone() };
    let unassigned = UnassignedRow {
        message: message(8),
        carrier: CARRIER,
        from,
        to,
        text,
        wire: wire(MoEncoding::Ucs2),
        missing: 0,
        received_at: AT,
    };
    let wires = mo_encodings().into_iter().map(|form| Some(wire(form))).chain([None]);
    let rows = wires.map(|wire| InboundRow { wire, ..row.clone() });
    let mut all = Vec::new();
    rows.for_each(|row| add(&mut all, row_changes(row)));
    add(&mut all, row_changes(counter));
    add(&mut all, row_changes(ConversationRow { key, last }));
    add(&mut all, row_changes(unassigned));
    all
}

fn mo_parts() -> Vec<MoPartChange> {
    let (id, seen) = (UnfinishedId(9), SeenKey { carrier: CARRIER, digest: DIGEST });
    let unfinished =
        Unfinished { carrier: CARRIER, source: source(), destination: destination(), total: 3, since: AT };
    let key = UnfinishedKey {
        carrier: CARRIER,
        source: "4915112345678".to_owned(),
        destination: "80808".to_owned(),
        reference: 513,
        total: 3,
    };
    let part = |alphabet: &Alphabet| {
        let (header, octets) = ([5, 4].into(), b"octets \xff".as_slice().into());
        MoPartChange::AddPart {
            id,
            no: 2,
            segment: MoSegment { data_coding: 4, alphabet: *alphabet, header, octets },
        }
    };
    let mut all: Vec<MoPartChange> = ALPHABETS.iter().map(part).collect();
    all.extend([
        MoPartChange::Seen { key: seen, until: LATER },
        MoPartChange::DeleteSeen(seen),
        MoPartChange::AddUnfinished { id, unfinished: Box::new(unfinished), key },
        MoPartChange::UnfinishedSince { id, since: LATER },
        MoPartChange::UnfinishedSize { id, size: UnfinishedSize { parts: 2, octets: 280 } },
        MoPartChange::DeleteUnfinished(id),
        MoPartChange::DeleteParts(id),
    ]);
    all
}

/// Returns steps of every kind that is kept. Others are never in a journal.
fn steps() -> Vec<StepChange> {
    let (message, part) = (message(1), part(2));
    let keep = step_kinds()
        .into_iter()
        .filter(StepKind::is_kept)
        .map(|kind| StepChange::Keep(MessageStep { id: StepId(u64::MAX), message, part, at: AT, kind }));
    keep.chain([StepChange::Reserved(StepId(70_000))]).collect()
}

/// Returns steps of every kind.
pub(super) fn step_kinds() -> Vec<StepKind> {
    let (carrier, link, remote, status, err) = (CARRIER, LinkNumber(513), remote(), 0x58, 259);
    let (from, to, verdict) = (CARRIER, OTHER_CARRIER, DeliveryOutcome::Expired);
    let word = Some(CarrierWord("LOST".into()));
    let late = |response: &LateResponse| StepKind::LateResponse { carrier, response: *response };
    let mut kinds: Vec<StepKind> = LATE_RESPONSES.iter().map(late).collect();
    kinds.extend([
        StepKind::Accepted { account: ACCOUNT, carrier, parts: 2 },
        StepKind::Sent { carrier, link },
        StepKind::Resent { carrier, link, resend: 1 },
        StepKind::NotSent { carrier },
        StepKind::CarrierAccepted { carrier, remote: remote.clone() },
        StepKind::NoCarrierId { carrier },
        StepKind::CarrierIdReused { carrier, remote },
        StepKind::Throttled { carrier },
        StepKind::TemporaryError { carrier, status },
        StepKind::Rejected { carrier, status },
        StepKind::Refused { carrier, status },
        StepKind::InDoubt { carrier, next: None },
        StepKind::InDoubt { carrier, next: Some(NextResend { number: 1, max: 3 }) },
        StepKind::Moved { from, to },
        StepKind::FailedOver { from, to },
        StepKind::CarrierCost { cost: Some(carrier_cost()), earlier: Some(Box::new(earlier_cost())) },
        StepKind::Receipt { carrier, verdict, err, words: ReceiptWords::new(Some(b"DELIVRD"), Some(b"000")) },
        StepKind::LateReceipt { verdict, err, word: word.clone() },
        StepKind::UnreadableReceipt { verdict, err, word },
        StepKind::Unknown,
        StepKind::Expired,
        StepKind::Cancelled { by: Canceller::Customer },
        StepKind::Cancelled { by: Canceller::Operator },
        StepKind::Reported { connection: CONNECTION, report: ReportId(8), status: ReportStatus::Accepted },
        StepKind::WebhookAttempt { event: EventId(77), attempt: 2, status: Some(503), took_ms: 12 },
        StepKind::State(MessageState::Enroute),
        StepKind::Ended {
            state: MessageState::Rejected,
            code: DlrCode::Rejectd,
            err,
            refund: Some(Money::from_micros(37_500)),
            billable: Billable { submitted: 1, delivered: 0 },
        },
        StepKind::ReportAnswered { connection: CONNECTION, report: ReportId(8), status: 0x45 },
    ]);
    kinds
}
