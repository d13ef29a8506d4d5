//! One submit_sm: what it says, what the plan does with it, the receipts it will get, and its line in the record.

use std::time::{Duration, Instant};

use hermod_smpp::{Frame, SubmitSm, Tag, esm_class};

use super::context::LinkContext;
use super::mo::{MoPart, MoText};
use super::outcome::Outcome;
use super::plan::{Decision, Excess, Response, SubmitView};
use super::receipt::{Receipt, StoredAddress};
use super::record::{ResponseKind, Submit, SubmitResponse, fingerprint};
use super::text::{self, Part};

/// What was decided about a submit.
pub(super) struct Decided {
    pub(super) behaviour: Decision,
    /// The id as the answer gives it; empty when there is none.
    pub(super) id: String,
    pub(super) receipts: Vec<(Instant, Receipt)>,
    /// What the handset sends back, and when.
    pub(super) said: Vec<(Instant, MoPart)>,
}

/// How a link stands when a submit comes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances {
    pub(super) link: u64,
    pub(super) unanswered: u32,
    pub(super) receipts_full: bool,
}

/// Decides about a submit and writes it down. `frame` is how it came.
pub(super) fn decide(
    frame: &Frame,
    submit_sm: &SubmitSm<'_>,
    around: Circumstances,
    context: &mut LinkContext<'_>,
) -> Decided {
    let octets = submit_sm.text();
    let has_header = submit_sm.esm_class & esm_class::UDHI != 0;
    let (part, text) = text::split_header(has_header, &octets);
    let part = part.or_else(|| part_in_tlvs(submit_sm));
    let behaviour = context.plan.next(&SubmitView {
        destination: submit_sm.destination.value,
        data_coding: submit_sm.data_coding,
        text,
        registered_delivery: submit_sm.registered_delivery,
        unanswered: around.unanswered,
        at: context.at,
        receipts_full: around.receipts_full,
    });
    let (id, receipts) = match behaviour.reply {
        Response::Accept { id, .. } | Response::Withhold { id, .. } => {
            let receipts = receipts_of(submit_sm, id, around.link, &behaviour, context);
            (context.plan.ids().in_answer(id), receipts)
        }
        Response::Reject(_) | Response::Nack(_) | Response::Silence | Response::Crash => {
            (String::new(), Vec::new())
        }
    };
    let message = fingerprint(submit_sm.destination.value, part, text);
    let order = context.log.next_order();
    context.log.count_submit(answer_kind(behaviour.reply), message);
    match behaviour.excess {
        Some(Excess::Window) => context.log.counts().window_violations += 1,
        Some(Excess::Rate) => context.log.counts().rate_violations += 1,
        None => {}
    }
    if context.log.wants_submits() {
        let entry = Submit {
            order,
            at: context.at,
            link: around.link,
            text: text::decode(submit_sm.data_coding, context.plan.script().alphabet, text),
            part,
            header: octets[..octets.len() - text.len()].to_vec(),
            octets: text.to_vec(),
            answer: answer(behaviour.reply, &id),
            ..as_it_came(frame, submit_sm)
        };
        context.log.keep_submit(entry);
    }
    let said = said_of(submit_sm, part, &behaviour, context);
    Decided { behaviour, id, receipts, said }
}

/// What the handset answers: to the last part of a message, so that a long one has one reply.
fn said_of(
    submit_sm: &SubmitSm<'_>,
    part: Option<Part>,
    behaviour: &Decision,
    context: &LinkContext<'_>,
) -> Vec<(Instant, MoPart)> {
    let (Some(reply), Response::Accept { id, .. } | Response::Withhold { id, .. }) =
        (&behaviour.mo_reply, behaviour.reply)
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
        sender.clone_from(number);
    }
    let due = context.now + behaviour.delay + reply.after;
    let parts = MoText::new(&handset, &sender, &reply.text).numbered(id).parts();
    parts.into_iter().map(|part| (due, part)).collect()
}

/// What the PDU itself says; everything else is left empty.
fn as_it_came(frame: &Frame, submit_sm: &SubmitSm<'_>) -> Submit {
    let words = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let SubmitSm { source, destination, .. } = submit_sm;
    Submit {
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
        answer: SubmitResponse::Silent,
    }
}

/// The place of a part told in TLVs instead of a header; all three have to be there (SMPP v3.4 §5.3.2.22).
fn part_in_tlvs(submit_sm: &SubmitSm<'_>) -> Option<Part> {
    if submit_sm.tlvs.is_empty() {
        return None;
    }
    Some(Part {
        reference: submit_sm.tlvs.get_u16(Tag::SAR_MSG_REF_NUM)?,
        total: submit_sm.tlvs.get_u8(Tag::SAR_TOTAL_SEGMENTS)?,
        sequence: submit_sm.tlvs.get_u8(Tag::SAR_SEGMENT_SEQNUM)?,
    })
}

fn answer_kind(reply: Response) -> ResponseKind {
    match reply {
        Response::Accept { .. } | Response::Withhold { .. } => ResponseKind::Accepted,
        Response::Reject(_) | Response::Nack(_) => ResponseKind::Refused,
        Response::Silence | Response::Crash => ResponseKind::Silent,
    }
}

fn answer(reply: Response, id: &str) -> SubmitResponse {
    match reply {
        Response::Accept { .. } => SubmitResponse::Accepted { id: id.to_owned() },
        Response::Withhold { .. } => SubmitResponse::Withheld { id: id.to_owned() },
        Response::Reject(status) => SubmitResponse::Refused(status),
        Response::Nack(status) => SubmitResponse::Nacked(status),
        Response::Silence | Response::Crash => SubmitResponse::Silent,
    }
}

fn receipts_of(
    submit_sm: &SubmitSm<'_>,
    id: u64,
    link: u64,
    behaviour: &Decision,
    context: &mut LinkContext<'_>,
) -> Vec<(Instant, Receipt)> {
    let script = &behaviour.receipts;
    let enroute = script.enroute_after.map(|delay| (delay, Outcome::Enroute));
    if enroute.is_none() && script.outcome.is_none() {
        return Vec::new();
    }
    let id = if script.unknown_id { context.plan.unknown_id() } else { id };
    let receipt = |outcome: Outcome, malformed: bool| Receipt {
        id,
        ids: context.plan.ids().clone(),
        wording: behaviour.wording.clone(),
        outcome,
        error_code: if outcome.is_final() { script.error_code } else { 0 },
        message_source: StoredAddress::keep(&submit_sm.source),
        message_destination: StoredAddress::keep(&submit_sm.destination),
        submitted: context.wall,
        user_message_reference: submit_sm.tlvs.get_u16(Tag::USER_MESSAGE_REFERENCE),
        link,
        way: script.way,
        malformed,
    };
    // Counted from the answer: a slow answer does not make its receipt overtake it.
    let due = |delay: Duration| context.now + behaviour.delay + delay;
    let each = [enroute, script.outcome].into_iter().flatten();
    each.flat_map(|(delay, outcome)| {
        let malformed = script.malformed_first.then(|| (due(delay), receipt(outcome, true)));
        let copies = std::iter::repeat_n((due(delay), receipt(outcome, false)), usize::from(script.copies));
        malformed.into_iter().chain(copies)
    })
    .collect()
}
