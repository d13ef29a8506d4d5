//! The expected state of the store: messages with their state by the rules of the lifecycle, accounts, keys and reports.

use super::accounts::Purse;
use crate::world::{ALICE, IN_DOUBT_WAIT, RECEIPT_WAIT, VALIDITY};
use hermod_domain::ids::{AccountId, MessageId, PartNo};
use hermod_domain::lifecycle::{
    self, DeliveryOutcome, DoubtPolicy, MessageState, PartEvent, PartState, Progress, StateChange, Transition,
};
use hermod_domain::origin::RegisteredDelivery;
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::retry::Schedule;
use hermod_domain::time::Timestamp;
use hermod_store::REPORT_KEPT;
use std::collections::{BTreeMap, HashMap};

pub(super) type MessageKey = (MessageId, PartNo);

pub(super) struct Message {
    pub account: AccountId,
    pub cost: i64,
    pub doubt: DoubtPolicy,
    pub expires_at: Timestamp,
    pub progress: Progress,
    pub dlr: DlrCode,
    /// The customer's registered_delivery; none for HTTP.
    registered_delivery: Option<RegisteredDelivery>,
    attempts: HashMap<PartNo, u32>,
    /// Due times of deferred parts.
    due: HashMap<PartNo, Timestamp>,
}

pub(super) struct Books {
    pub purses: HashMap<AccountId, Purse>,
    pub messages: BTreeMap<MessageId, Message>,
    pub keys: HashMap<u64, MessageId>,
    tied: HashMap<String, MessageKey>,
    parked: HashMap<String, DeliveryOutcome>,
    /// Reports that no bind has taken yet.
    pub owed: Vec<Owed>,
    /// Events that Alice's webhook has not received yet.
    pub posts: Vec<(MessageId, ReportStatus)>,
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owed {
    pub message: MessageId,
    pub told: ReportStatus,
    at: Timestamp,
}

impl Books {
    pub(super) fn new(now: Timestamp) -> Books {
        Books {
            purses: HashMap::new(),
            messages: BTreeMap::new(),
            keys: HashMap::new(),
            tied: HashMap::new(),
            parked: HashMap::new(),
            owed: Vec::new(),
            posts: Vec::new(),
            now,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one fact")]
    pub(super) fn accept(
        &mut self,
        id: MessageId,
        account: AccountId,
        parts: u8,
        cost: i64,
        doubt: DoubtPolicy,
        registered_delivery: Option<RegisteredDelivery>,
        now: Timestamp,
    ) {
        self.purses.entry(account).or_default().charge(cost, id.accepted_at().day());
        let message = Message {
            account,
            cost,
            doubt,
            expires_at: now.plus(VALIDITY),
            progress: Progress::queued(parts),
            dlr: DlrCode::Unknown,
            registered_delivery,
            attempts: HashMap::new(),
            due: HashMap::new(),
        };
        let earlier = self.messages.insert(id, message);
        assert!(earlier.is_none(), "an id was assigned twice");
    }

    fn state(&self, (message, part): MessageKey) -> Option<PartState> {
        let message = self.messages.get(&message)?;
        if message.progress.state.is_final() {
            return None;
        }
        message.progress.parts.get(part.index()).map(|part| part.state)
    }

    /// Returns the parts that wait for a slot, in sending order for each account.
    pub(super) fn waiting(&self) -> Vec<(AccountId, MessageKey)> {
        let mut waiting = Vec::new();
        for (id, message) in self.messages.iter().filter(|(_, message)| !message.progress.state.is_final()) {
            for part in PartNo::up_to(u8::try_from(message.progress.parts.len()).expect("few parts")) {
                let waits = matches!(self.state((*id, part)), Some(PartState::Queued | PartState::InDoubt));
                if waits && !message.due.contains_key(&part) {
                    waiting.push((message.account, (*id, part)));
                }
            }
        }
        waiting
    }

    /// Applies an event. Returns whether it moved the part.
    pub(super) fn apply(&mut self, (id, part): MessageKey, event: PartEvent) -> bool {
        let message = self.messages.get_mut(&id).expect("a message that was accepted");
        match lifecycle::apply(&message.progress, part, event) {
            Transition::Changed(moved) => {
                let told = news(event, &message.progress, &moved);
                match message.registered_delivery {
                    Some(registered_delivery) => {
                        let told = told.filter(|told| registered_delivery.asks_for(*told));
                        self.owed.extend(told.map(|told| Owed { message: id, told, at: self.now }));
                    }
                    None if message.account == ALICE => self.posts.extend(told.map(|told| (id, told))),
                    None => {}
                }
                message.progress = moved.after;
                message.dlr = moved.dlr.unwrap_or(message.dlr);
                if moved.refund {
                    self.purses.entry(message.account).or_default().balance += message.cost;
                }
                true
            }
            Transition::Ignored => false,
            Transition::Illegal => panic!("the store allowed {event:?} for {id} {part}"),
        }
    }

    pub(super) fn claimed(&mut self, place: MessageKey) {
        assert!(self.apply(place, PartEvent::Claimed));
    }

    /// Whether the message has ended and events no longer change it.
    fn is_over(&self, (id, _): MessageKey) -> bool {
        self.messages[&id].progress.state.is_final()
    }

    pub(super) fn accepted(&mut self, place: MessageKey, remote: &str) {
        if !self.is_over(place) {
            self.apply(place, PartEvent::Accepted);
        }
        self.tied.insert(remote.to_owned(), place);
        if let Some(verdict) = self.parked.remove(remote) {
            self.settle(place, verdict);
        }
    }

    pub(super) fn refused(&mut self, place: MessageKey, event: PartEvent) {
        if !self.is_over(place) {
            self.apply(place, event);
        }
    }

    pub(super) fn temporary(&mut self, place: MessageKey, now: Timestamp) {
        if self.is_over(place) || !self.apply(place, PartEvent::Deferred) {
            return;
        }
        let (id, part) = place;
        let message = self.messages.get_mut(&id).expect("a message");
        let attempts = message.attempts.entry(part).or_default();
        *attempts += 1;
        let mixed = id.as_i64().cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let jitter = u32::try_from(mixed >> 32).expect("32 bits");
        let wait = Schedule::after_temporary_error().wait(*attempts, jitter).expect("for ever");
        message.due.insert(part, now.plus(wait));
    }

    /// Defers the part without counting an attempt.
    pub(super) fn stepped_aside(&mut self, place: MessageKey, due_at: Timestamp) {
        if !self.is_over(place) && self.apply(place, PartEvent::Deferred) {
            let (id, part) = place;
            self.messages.get_mut(&id).expect("a message").due.insert(part, due_at);
        }
    }

    pub(super) fn no_answer(&mut self, place: MessageKey, now: Timestamp) {
        if self.is_over(place) {
            return;
        }
        let (id, part) = place;
        self.apply(place, PartEvent::NoResponse(self.messages[&id].doubt));
        if self.state(place) == Some(PartState::InDoubt) {
            let message = self.messages.get_mut(&id).expect("a message");
            let doubts = message.progress.parts[part.index()].doubts;
            message.due.insert(part, now.plus(lifecycle::resend_wait(IN_DOUBT_WAIT, doubts)));
        }
    }

    pub(super) fn receipt(&mut self, remote: &str, verdict: DeliveryOutcome) {
        if let Some(place) = self.tied.get(remote) {
            self.settle(*place, verdict);
            return;
        }
        match self.parked.get_mut(remote) {
            Some(earlier @ DeliveryOutcome::NoChange) => *earlier = verdict,
            Some(earlier @ (DeliveryOutcome::Enroute | DeliveryOutcome::Accepted))
                if verdict != DeliveryOutcome::NoChange =>
            {
                *earlier = verdict
            }
            Some(_) => {}
            None => drop(self.parked.insert(remote.to_owned(), verdict)),
        }
    }

    fn settle(&mut self, place: MessageKey, verdict: DeliveryOutcome) {
        if !self.is_over(place) {
            self.apply(place, PartEvent::Receipt(verdict));
        }
    }

    pub(super) fn release_due(&mut self, now: Timestamp) {
        for message in self.messages.values_mut() {
            message.due.retain(|_, due| *due > now);
        }
    }

    /// Whether a part waits whose validity has ended.
    pub(super) fn has_expired_part(&self, now: Timestamp) -> bool {
        self.waiting().iter().any(|(_, (message, _))| self.messages[message].expires_at <= now)
    }

    pub(super) fn sweep(&mut self, now: Timestamp) {
        self.now = now;
        let ids: Vec<MessageId> = self.messages.keys().copied().collect();
        for id in ids {
            let (expires_at, parts) =
                (self.messages[&id].expires_at, self.messages[&id].progress.parts.len());
            for part in PartNo::up_to(u8::try_from(parts).expect("few parts")) {
                match self.state((id, part)) {
                    Some(PartState::Queued | PartState::InDoubt) if expires_at <= now => {
                        self.apply((id, part), PartEvent::ValidityEnded);
                        self.messages.get_mut(&id).expect("a message").due.remove(&part);
                    }
                    Some(PartState::Sent | PartState::Presumed | PartState::Enroute)
                        if expires_at.plus(RECEIPT_WAIT) <= now =>
                    {
                        self.apply((id, part), PartEvent::ReceiptOverdue);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Drops reports that no bind took in time.
    pub(super) fn give_up(&mut self, now: Timestamp) {
        self.owed.retain(|owed| owed.at.plus(REPORT_KEPT) > now);
    }

    pub(super) fn shows(&self, id: MessageId) -> (MessageState, DlrCode) {
        let message = &self.messages[&id];
        (message.progress.state, message.dlr)
    }
}

/// Returns the status that an event reports to the customer.
fn news(event: PartEvent, before: &Progress, moved: &StateChange) -> Option<ReportStatus> {
    let (was, is) = (before.state, moved.after.state);
    let overdue = |progress: &Progress| progress.parts.iter().any(|part| part.state == PartState::Overdue);
    match event {
        _ if is.is_final() => moved.dlr.map(ReportStatus::Final),
        PartEvent::ReceiptOverdue => (!overdue(before)).then_some(ReportStatus::Final(DlrCode::Unknown)),
        PartEvent::Receipt(DeliveryOutcome::Accepted) if was != is && is == MessageState::Enroute => {
            Some(ReportStatus::Accepted)
        }
        _ => (was != is && is == MessageState::Enroute).then_some(ReportStatus::Enroute),
    }
}
