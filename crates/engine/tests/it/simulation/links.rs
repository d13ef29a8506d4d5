//! Commands of links: open, take parts, report responses, receipts and MO messages, and close.

use super::commands::recipient;
use super::model::Model;
use super::parts_without_id::Unnamed;
use super::receipts::TiedPart;
use super::world::{CARRIERS, IN_DOUBT_WAIT, Link, World};
use super::{mo, move_messages};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::{DeliveryOutcome, PartEvent, PartState, RejectionCause, resend_wait};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ReceiptWords;
use hermod_engine::commands::{AnyCommand, CloseLink, OpenLink};
use hermod_engine::ops::{
    Job, LinkBatch, LinkId, LinkKind, LinkNumber, ReceiptRecord, ResponseRecord, SubmitResponse,
};
use std::time::Duration;

const LINKS_MAX: usize = 3;
/// The number of newest ids from which receipts are chosen.
const NEWEST_IDS: usize = 200;

pub(super) fn open(world: &mut World) -> Option<AnyCommand> {
    if world.links.len() >= LINKS_MAX {
        return None;
    }
    let carrier = world.random.one_of(&CARRIERS);
    Some(open_to(world, carrier))
}

fn open_to(world: &mut World, carrier: CarrierId) -> AnyCommand {
    let id = LinkId(world.random.next());
    world.links.push(Link { id, carrier, under_way: Vec::new(), closing: false });
    OpenLink { carrier, link: id, number: LinkNumber(1), kind: LinkKind::Sends }.into()
}

/// Closes an idle link.
pub(super) fn close(world: &mut World) -> Option<AnyCommand> {
    let link = world.links.iter_mut().find(|link| !link.closing && link.under_way.is_empty())?;
    link.closing = true;
    Some(CloseLink { carrier: link.carrier, link: link.id }.into())
}

/// Reports the parts that a closing link got as not sent.
pub(super) fn report_unsent(world: &mut World) -> Option<AnyCommand> {
    let link = world.links.iter_mut().find(|link| link.closing && !link.under_way.is_empty())?;
    let answers = link.under_way.drain(..).map(|job| record(&job, SubmitResponse::NotSent)).collect();
    let (carrier, link) = (link.carrier, link.id);
    Some(LinkBatch { responses: answers, ..empty(world, carrier, link) }.into())
}

fn empty(world: &World, carrier: CarrierId, link: LinkId) -> LinkBatch {
    LinkBatch {
        carrier,
        ids: IdConversion::None,
        link,
        responses: Vec::new(),
        receipts: Vec::new(),
        inbound: Vec::new(),
        slots: 0,
        now: world.now,
    }
}

/// Reports responses to some parts of a link, receipts, MO messages, and free slots.
pub(super) fn report(world: &mut World) -> Option<AnyCommand> {
    let open: Vec<usize> = (0..world.links.len()).filter(|place| !world.links[*place].closing).collect();
    if open.is_empty() {
        return None;
    }
    let which = open[world.random.index(open.len())];
    let mut answers = Vec::new();
    let count = world.random.below(4);
    for _ in 0..count {
        if world.links[which].under_way.is_empty() {
            break;
        }
        let place = world.random.index(world.links[which].under_way.len());
        let job = world.links[which].under_way.swap_remove(place);
        answers.push(answer(world, &job));
    }
    let Link { carrier, id, .. } = world.links[which];
    let receipts = (0..world.random.below(3)).filter_map(|_| receipt(world, carrier)).collect();
    let inbound = if world.random.once_in(4) { vec![mo::receive_mo(world)] } else { Vec::new() };
    let slots = u32::try_from(world.random.below(5)).expect("a few");
    Some(LinkBatch { responses: answers, receipts, inbound, slots, ..empty(world, carrier, id) }.into())
}

/// Opens a link while there are too few; otherwise a link accepts all its parts.
pub(super) fn open_or_report(world: &mut World) -> AnyCommand {
    if let Some(command) = report_unsent(world) {
        return command;
    }
    world.links.retain(|link| !link.closing);
    for carrier in CARRIERS {
        if !world.links.iter().any(|link| link.carrier == carrier) {
            return open_to(world, carrier);
        }
    }
    let which = world.random.index(world.links.len());
    let Link { id, carrier, under_way, .. } = &mut world.links[which];
    let answers =
        under_way.drain(..).map(|job| record(&job, SubmitResponse::Accepted(remote_of(&job)))).collect();
    let (carrier, id) = (*carrier, *id);
    LinkBatch { responses: answers, slots: 50, ..empty(world, carrier, id) }.into()
}

fn record(job: &Job, answer: SubmitResponse) -> ResponseRecord {
    let Job { message, part, account, to, .. } = *job;
    ResponseRecord { message, part, account, to, response: answer, failover_to: None }
}

fn answer(world: &mut World, job: &Job) -> ResponseRecord {
    let wait = Duration::from_secs(world.random.below(20) + 1);
    let otherwise = world.random.once_in(2).then(|| move_messages::elsewhere(world));
    let after = (otherwise.is_some() || world.random.once_in(2)).then_some(wait);
    let about = world.random.one_of(&[RejectionCause::Destination, RejectionCause::Other]);
    let answer = match world.random.below(24) {
        0 => SubmitResponse::Throttled,
        1..=3 => SubmitResponse::Temporary { status: 0x58, after },
        4 | 5 => SubmitResponse::Refused { about, status: 0x0b },
        6 => SubmitResponse::NoResponse,
        7 => SubmitResponse::NotSent,
        8 => SubmitResponse::RecipientThrottled { wait, sent: world.random.once_in(2) },
        9 if world.random.once_in(4) => SubmitResponse::AcceptedWithoutId,
        10 if world.random.once_in(4) => SubmitResponse::Accepted(used_id(world, job)),
        _ => SubmitResponse::Accepted(remote_of(job)),
    };
    ResponseRecord { failover_to: otherwise, ..record(job, answer) }
}

/// Returns the carrier's id of a part, the same for each resend.
fn remote_of(job: &Job) -> RemoteId {
    let text = format!("{}-{}-{}", job.carrier, job.message, job.part);
    RemoteId::from_text(&text).expect("a short text")
}

/// Returns an id that the carrier assigned to another part before.
fn used_id(world: &mut World, job: &Job) -> RemoteId {
    newest_id(world, job.carrier).unwrap_or_else(|| remote_of(job))
}

fn newest_id(world: &mut World, carrier: CarrierId) -> Option<RemoteId> {
    let known = world.model.ids(carrier).len();
    if known == 0 {
        return None;
    }
    let back = world.random.index(known.min(NEWEST_IDS));
    Some(world.model.ids(carrier)[known - 1 - back].clone())
}

/// Returns a receipt of an answered part, or, seldom, of one without a response yet.
fn receipt(world: &mut World, carrier: CarrierId) -> Option<ReceiptRecord> {
    let verdict = world.random.one_of(&[
        DeliveryOutcome::Delivered,
        DeliveryOutcome::Delivered,
        DeliveryOutcome::Delivered,
        DeliveryOutcome::Enroute,
        DeliveryOutcome::Accepted,
        DeliveryOutcome::Undeliverable,
        DeliveryOutcome::Rejected,
        DeliveryOutcome::Expired,
        DeliveryOutcome::NoChange,
    ]);
    if world.random.once_in(12)
        && let Some(unnamed) = world.model.unnamed.iter().rev().find(|part| part.carrier == carrier)
    {
        let Unnamed { message, part, to, .. } = *unnamed;
        let remote = RemoteId::from_text(&format!("{carrier}-{message}-{part}")).expect("a short text");
        return Some(receipt_of(remote, verdict, Some(to)));
    }
    let links = world.links.iter().filter(|link| link.carrier == carrier);
    let under_way: Vec<RemoteId> = links.flat_map(|link| &link.under_way).map(remote_of).collect();
    let remote = if world.random.once_in(10) && !under_way.is_empty() {
        under_way[world.random.index(under_way.len())].clone()
    } else {
        newest_id(world, carrier)?
    };
    let recipients = world.model.recipients_of(&remote);
    let source = match world.random.below(20) {
        0 => Some(recipient(world)),
        1..=8 if !recipients.is_empty() => Some(world.random.one_of(&recipients)),
        _ => None,
    };
    Some(receipt_of(remote, verdict, source))
}

fn receipt_of(remote: RemoteId, verdict: DeliveryOutcome, source: Option<Msisdn>) -> ReceiptRecord {
    let remote = Some(remote);
    ReceiptRecord {
        sequence: 1,
        remote,
        verdict,
        err: 0,
        word: None,
        words: ReceiptWords::default(),
        source,
        sender: None,
    }
}

impl World {
    pub(super) fn note_link(&mut self, batch: &LinkBatch) {
        for record in &batch.responses {
            self.note_answer(batch.carrier, record);
        }
        for ReceiptRecord { remote, verdict, source, .. } in &batch.receipts {
            let remote = remote.as_ref().expect("every receipt here has an id");
            self.model.receipt(batch.carrier, remote, *verdict, *source);
        }
        batch.inbound.iter().for_each(|record| self.model.receive_mo(batch.carrier, &record.part));
    }

    fn note_answer(&mut self, carrier: CarrierId, record: &ResponseRecord) {
        let ResponseRecord { message, part, account, to, response: answer, failover_to: otherwise } = record;
        let (message, part) = (*message, *part);
        let model = &mut self.model;
        match answer {
            SubmitResponse::Accepted(remote) => {
                model.apply_event(message, part, PartEvent::Accepted);
                let tied = TiedPart { account: *account, message, part, to: Some(*to), at: model.now };
                model.tie(carrier, remote, tied);
            }
            SubmitResponse::AcceptedWithoutId => model.accepted_without_id(carrier, message, part, *to),
            SubmitResponse::Throttled => {
                model.apply_event(message, part, PartEvent::Deferred);
            }
            SubmitResponse::NotSent => {
                model.apply_event(message, part, PartEvent::Released);
            }
            SubmitResponse::Temporary { after, .. } => {
                model.temporary_error(message, part, *after, *otherwise)
            }
            SubmitResponse::RecipientThrottled { wait, sent } => {
                let event = if *sent { PartEvent::Deferred } else { PartEvent::Released };
                model.step_aside(message, part, event, *wait, *otherwise);
            }
            SubmitResponse::Refused { about, .. } => {
                model.refused(message, part, PartEvent::Rejected(*about), *otherwise)
            }
            SubmitResponse::NoResponse => model.no_answer(message, part),
        }
    }
}

impl Model {
    /// Applies a missing response: the part is in doubt and waits longer after each doubt.
    pub(super) fn no_answer(&mut self, message: MessageId, part: PartNo) {
        let Some(entry) = self.messages.get(&message).filter(|entry| !entry.has_ended()) else { return };
        let doubts = entry.progress.parts[part.index()].doubts;
        if self.apply_event(message, part, PartEvent::NoResponse(entry.doubt)) {
            let wait = resend_wait(IN_DOUBT_WAIT, doubts + 1);
            self.defer(message, part, self.now.plus(wait));
        }
    }

    /// Applies a restart: parts that were being sent are in doubt.
    pub(super) fn restart(&mut self) {
        self.velocity.clear();
        let mut sending = Vec::new();
        for (message, entry) in self.open() {
            let parts = entry.parts().filter(|(part, _)| part.state == PartState::Sending);
            sending.extend(parts.map(|(_, no)| (message, no)));
        }
        sending.into_iter().for_each(|(message, part)| self.no_answer(message, part));
    }
}
