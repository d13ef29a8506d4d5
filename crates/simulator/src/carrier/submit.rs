//! Handles one submit_sm: reads it, asks the plan, prepares its receipts and the MO reply, and writes it to the record.

use std::time::{Duration, Instant};

use hermod_smpp::{Frame, SubmitSm, Tag, esm_class};

use super::LinkContext;
use super::mo::{MoPart, MoText};
use super::outcome::Outcome;
use super::plan::{Decision, Excess, PlannedResponse, SubmitView};
use super::receipt::{PendingReceipt, StoredAddress};
use super::record::{ReceivedSubmit, RecordedResponse, ResponseKind, fingerprint};
use super::text::{self, PartNumber};

/// The decision about a submit and what follows from it.
pub(super) struct HandledSubmit {
    pub(super) decision: Decision,
    /// The id as the response contains it; empty when there is none.
    pub(super) id: String,
    pub(super) receipts: Vec<(Instant, PendingReceipt)>,
    pub(super) mo_reply: Vec<(Instant, MoPart)>,
}

/// The state of a link when a submit arrives.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkFacts {
    pub(super) link: u64,
    pub(super) unanswered: u32,
    pub(super) receipts_full: bool,
}

/// Decides about a submit and records it. `frame` is the PDU as received.
pub(super) fn handle(
    frame: &Frame,
    submit_sm: &SubmitSm<'_>,
    facts: LinkFacts,
    context: &mut LinkContext<'_>,
) -> HandledSubmit {
    let octets = submit_sm.text();
    let has_header = submit_sm.esm_class & esm_class::UDHI != 0;
    let (part, text) = text::split_header(has_header, &octets);
    let part = part.or_else(|| part_in_tlvs(submit_sm));
    let decision = context.plan.next(&SubmitView {
        destination: submit_sm.destination.value,
        data_coding: submit_sm.data_coding,
        text,
        registered_delivery: submit_sm.registered_delivery,
        unanswered: facts.unanswered,
        at: context.at,
        receipts_full: facts.receipts_full,
    });
    let (id, receipts) = match decision.response {
        PlannedResponse::Accept { id, .. } | PlannedResponse::Withhold { id, .. } => {
            let receipts = receipts_of(submit_sm, id, facts.link, &decision, context);
            (context.plan.ids().in_response(id), receipts)
        }
        PlannedResponse::Reject(_)
        | PlannedResponse::Nack(_)
        | PlannedResponse::Ignore
        | PlannedResponse::Crash => (String::new(), Vec::new()),
    };
    let message = fingerprint(submit_sm.destination.value, part, text);
    let order = context.log.next_order();
    context.log.count_submit(response_kind(decision.response), message);
    match decision.excess {
        Some(Excess::Window) => context.log.counts().window_violations += 1,
        Some(Excess::Rate) => context.log.counts().rate_violations += 1,
        None => {}
    }
    if context.log.keeps_submits() {
        let entry = ReceivedSubmit {
            order,
            at: context.at,
            link: facts.link,
            text: text::decode(submit_sm.data_coding, context.plan.script().default_alphabet, text),
            part,
            header: octets[..octets.len() - text.len()].to_vec(),
            octets: text.to_vec(),
            response: recorded_response(decision.response, &id),
            ..fields_of(frame, submit_sm)
        };
        context.log.keep_submit(entry);
    }
    let mo_reply = mo_reply_of(submit_sm, part, &decision, context);
    HandledSubmit { decision, id, receipts, mo_reply }
}

/// Returns the recipient's reply: to the last part of a message, so that a long message gets one reply.
fn mo_reply_of(
    submit_sm: &SubmitSm<'_>,
    part: Option<PartNumber>,
    decision: &Decision,
    context: &LinkContext<'_>,
) -> Vec<(Instant, MoPart)> {
    let (Some(reply), PlannedResponse::Accept { id, .. } | PlannedResponse::Withhold { id, .. }) =
        (&decision.mo_reply, decision.response)
    else {
        return Vec::new();
    };
    if part.is_some_and(|part| part.sequence != part.total) {
        return Vec::new();
    }
    let words = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let (handset, mut sender) = (words(submit_sm.destination.value), words(submit_sm.source.value));
    if let Some(number) = &context.plan.script().reply_number_for_names
        && sender.bytes().any(|byte| byte.is_ascii_alphabetic())
    {
        number.trim_start_matches('+').clone_into(&mut sender);
    }
    let due = context.now + decision.delay + reply.after;
    let parts = MoText::new(&handset, &sender, &reply.text).numbered(id).parts();
    parts.into_iter().map(|part| (due, part)).collect()
}

/// Returns the record entry with the fields of the PDU; all other fields are empty.
fn fields_of(frame: &Frame, submit_sm: &SubmitSm<'_>) -> ReceivedSubmit {
    let words = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let SubmitSm { source, destination, .. } = submit_sm;
    ReceivedSubmit {
        order: 0,
        at: Duration::ZERO,
        link: 0,
        sequence: frame.header.sequence,
        service_type: words(submit_sm.service_type),
        source: words(source.value),
        source_kind: (source.ton, source.npi),
        destination: words(destination.value),
        destination_kind: (destination.ton, destination.npi),
        text: String::new(),
        part: None,
        data_coding: submit_sm.data_coding,
        esm_class: submit_sm.esm_class,
        protocol_id: submit_sm.protocol_id,
        priority: submit_sm.priority_flag,
        registered_delivery: submit_sm.registered_delivery,
        validity_period: words(submit_sm.validity_period),
        schedule_delivery_time: words(submit_sm.schedule_delivery_time),
        header: Vec::new(),
        octets: Vec::new(),
        in_payload: submit_sm.short_message.is_empty() && submit_sm.tlvs.get(Tag::MESSAGE_PAYLOAD).is_some(),
        tlvs: submit_sm.tlvs.iter().map(|tlv| (tlv.tag.0, tlv.value.to_vec())).collect(),
        pdu: frame.bytes().to_vec(),
        response: RecordedResponse::None,
    }
}

/// Reads concatenation from TLVs; all three are required (SMPP v3.4 §5.3.2.22).
fn part_in_tlvs(submit_sm: &SubmitSm<'_>) -> Option<PartNumber> {
    if submit_sm.tlvs.is_empty() {
        return None;
    }
    Some(PartNumber {
        reference: submit_sm.tlvs.get_u16(Tag::SAR_MSG_REF_NUM)?,
        total: submit_sm.tlvs.get_u8(Tag::SAR_TOTAL_SEGMENTS)?,
        sequence: submit_sm.tlvs.get_u8(Tag::SAR_SEGMENT_SEQNUM)?,
    })
}

fn response_kind(response: PlannedResponse) -> ResponseKind {
    match response {
        PlannedResponse::Accept { .. } | PlannedResponse::Withhold { .. } => ResponseKind::Accepted,
        PlannedResponse::Reject(_) | PlannedResponse::Nack(_) => ResponseKind::Rejected,
        PlannedResponse::Ignore | PlannedResponse::Crash => ResponseKind::None,
    }
}

fn recorded_response(response: PlannedResponse, id: &str) -> RecordedResponse {
    match response {
        PlannedResponse::Accept { .. } => RecordedResponse::Accepted { id: id.to_owned() },
        PlannedResponse::Withhold { .. } => RecordedResponse::Withheld { id: id.to_owned() },
        PlannedResponse::Reject(status) => RecordedResponse::Rejected(status),
        PlannedResponse::Nack(status) => RecordedResponse::Nacked(status),
        PlannedResponse::Ignore | PlannedResponse::Crash => RecordedResponse::None,
    }
}

fn receipts_of(
    submit_sm: &SubmitSm<'_>,
    id: u64,
    link: u64,
    decision: &Decision,
    context: &mut LinkContext<'_>,
) -> Vec<(Instant, PendingReceipt)> {
    let script = &decision.receipts;
    let enroute = script.enroute_after.map(|delay| (delay, Outcome::Enroute));
    let last = script.outcome.map(|outcome| (script.after, outcome));
    if enroute.is_none() && last.is_none() {
        return Vec::new();
    }
    let id = if script.unknown_id { context.plan.unknown_id() } else { id };
    let receipt = |outcome: Outcome, malformed: bool| PendingReceipt {
        id,
        ids: context.plan.ids().clone(),
        format: decision.receipt_format.clone(),
        outcome,
        error_code: if outcome.is_final() { script.error_code } else { 0 },
        message_source: StoredAddress::new(&submit_sm.source),
        message_destination: StoredAddress::new(&submit_sm.destination),
        submitted: context.date,
        user_message_reference: submit_sm.tlvs.get_u16(Tag::USER_MESSAGE_REFERENCE),
        link,
        via: script.via,
        malformed,
    };
    // Counted from the response, so that a slow response is not overtaken by its receipt.
    let due = |delay: Duration| context.now + decision.delay + delay;
    let each = [enroute, last].into_iter().flatten();
    each.flat_map(|(delay, outcome)| {
        let malformed = script.malformed_first.then(|| (due(delay), receipt(outcome, true)));
        let copies = std::iter::repeat_n((due(delay), receipt(outcome, false)), usize::from(script.copies));
        malformed.into_iter().chain(copies)
    })
    .collect()
}
