//! The expected rows of the tables: one entry per message, with its state by the lifecycle.
//! The model of one capability is in the file of its name.

use super::commands::VELOCITY_MOST;
use super::coverage::Coverage;
use super::mo_model::MoModel;
use super::parts_without_id::Unnamed;
use super::receipts::{Early, TiedPart};
use super::report_channels::Receivers;
use super::report_model::ReportModel;
use super::setup::{Setup, connection_of};
use super::webhook_model::WebhookModel;
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::{
    self, Billable, DoubtPolicy, Part, PartEvent, PartState, Progress, Transition,
};
use hermod_domain::origin::{Alias, RegisteredDelivery};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_domain::traffic::VelocityLimit;
use hermod_engine::ops::{AcceptOutcome, Acceptance, DailyLimit, Duplicate, KeyClaim};
use hermod_engine::tables::MessageKey;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How the customer gets the reports of a message.
#[derive(Clone, Copy)]
pub(super) enum ReportTarget {
    /// Submitted over HTTP.
    Web,
    /// Submitted over SMPP.
    Customer { registered_delivery: RegisteredDelivery, on_transmitter: bool },
}

/// Facts about a part beside its state.
#[derive(Clone, Copy, Default)]
pub(super) struct Tries {
    /// Temporary errors.
    pub(super) attempts: u32,
    /// The due time of a deferred part.
    pub(super) due_at: Option<Timestamp>,
}

/// What a carrier that a message has left can bill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EarlierCarrier {
    pub(super) carrier: CarrierId,
    pub(super) submitted: u16,
    pub(super) cost: Option<BelievedCost>,
}

/// A message of the model.
pub(super) struct Message {
    pub(super) account: AccountId,
    pub(super) carrier: CarrierId,
    pub(super) to: Msisdn,
    pub(super) cost: i64,
    pub(super) carrier_cost: Option<BelievedCost>,
    /// Submissions to its carrier that were accepted or had no response.
    pub(super) submitted: u16,
    pub(super) billable: Option<Billable>,
    pub(super) earlier: Vec<EarlierCarrier>,
    /// The number of charged parts.
    pub(super) charged: u8,
    pub(super) progress: Progress,
    pub(super) tries: Vec<Tries>,
    pub(super) doubt: DoubtPolicy,
    pub(super) expires_at: Timestamp,
    pub(super) report_target: ReportTarget,
    pub(super) alias: Option<Alias>,
    /// Carriers that rejected it permanently.
    pub(super) refused_by: BTreeSet<CarrierId>,
    pub(super) has_failed_over: bool,
    pub(super) settled_at: Option<Timestamp>,
    /// The time at which it was reported UNKNOWN.
    pub(super) unknown_at: Option<Timestamp>,
    pub(super) has_text: bool,
    pub(super) is_erased: bool,
}

impl Message {
    pub(super) fn key(&self, message: MessageId) -> MessageKey {
        MessageKey { carrier: self.carrier, account: self.account, message }
    }

    pub(super) fn connection(&self) -> ConnectionId {
        connection_of(self.account)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.progress.state.is_final()
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = (Part, PartNo)> {
        self.progress.parts.iter().copied().zip(PartNo::up_to(u8::MAX))
    }

    pub(super) fn has_part_in(&self, states: &[PartState]) -> bool {
        !self.has_ended() && self.progress.parts.iter().any(|part| states.contains(&part.state))
    }

    /// Returns whether no part was ever given to a link.
    pub(super) fn can_be_cancelled(&self) -> bool {
        !self.has_ended() && self.progress.parts.iter().all(|part| *part == Part::QUEUED)
    }
}

pub(super) const WAITING: [PartState; 2] = [PartState::Queued, PartState::InDoubt];

pub(super) struct Model {
    setups: [Setup; 2],
    in_force: usize,
    /// The bound receivers.
    pub(super) receivers: Receivers,
    /// The time of the current batch.
    pub(super) now: Timestamp,
    pub(super) messages: BTreeMap<MessageId, Message>,
    /// Messages that have not ended.
    open: BTreeSet<MessageId>,
    /// Messages that may be queued, by the end of their validity.
    by_expiry: BTreeSet<(Timestamp, MessageId)>,
    pub(super) balances: BTreeMap<AccountId, i64>,
    /// Opt-outs with their time.
    pub(super) opted_out: BTreeMap<(AccountId, Msisdn), Timestamp>,
    pub(super) keys: BTreeMap<[u8; 16], (MessageId, u64)>,
    today: BTreeMap<(AccountId, Day), u64>,
    /// Messages that counted towards limits of recent traffic, since the engine was loaded.
    pub(super) velocity: HashMap<VelocityLimit, u32>,
    /// The parts that each carrier id stands for: one for each day, the newest first.
    pub(super) tied: HashMap<RemoteId, Vec<TiedPart>>,
    /// The ids of each carrier in the order they were given.
    pub(super) ids: BTreeMap<CarrierId, Vec<RemoteId>>,
    pub(super) early: BTreeMap<(CarrierId, Vec<u8>), Early>,
    pub(super) reports: ReportModel,
    pub(super) webhooks: WebhookModel,
    pub(super) mo: MoModel,
    /// Parts that carriers accepted without an id.
    pub(super) unnamed: Vec<Unnamed>,
    pub(super) coverage: Coverage,
    /// The purge marks of texts and records.
    pub(super) texts_purged: Option<MessageId>,
    pub(super) records_purged: Option<MessageId>,
    /// Messages that the current batch has changed.
    pub(super) touched: BTreeSet<MessageId>,
}

impl Model {
    pub(super) fn new(now: Timestamp) -> Model {
        Model {
            setups: Setup::all(),
            in_force: 0,
            receivers: Receivers::default(),
            now,
            messages: BTreeMap::new(),
            open: BTreeSet::new(),
            by_expiry: BTreeSet::new(),
            balances: BTreeMap::new(),
            opted_out: BTreeMap::new(),
            keys: BTreeMap::new(),
            today: BTreeMap::new(),
            velocity: HashMap::new(),
            tied: HashMap::new(),
            ids: BTreeMap::new(),
            early: BTreeMap::new(),
            reports: ReportModel::default(),
            webhooks: WebhookModel::default(),
            mo: MoModel::default(),
            unnamed: Vec::new(),
            coverage: Coverage::default(),
            texts_purged: None,
            records_purged: None,
            touched: BTreeSet::new(),
        }
    }

    pub(super) fn setup(&self) -> &Setup {
        &self.setups[self.in_force]
    }

    /// Puts the other setup in force.
    pub(super) fn change_setup(&mut self) {
        self.in_force = 1 - self.in_force;
    }

    pub(super) fn balance(&mut self, account: AccountId) -> &mut i64 {
        self.balances.entry(account).or_default()
    }

    /// Returns what a key stands for.
    pub(super) fn replay(&self, key: &KeyClaim) -> Option<Duplicate> {
        let (message, fingerprint) = self.keys.get(&key.digest).copied()?;
        Some(Duplicate { message, is_same_request: key.fingerprint == fingerprint })
    }

    /// Compares the outcome of a submission with the expected one, and records it.
    pub(super) fn accept(&mut self, acceptance: &Acceptance, outcome: &AcceptOutcome) {
        let Acceptance { account, to, key, daily, .. } = acceptance;
        let (cost, today) = (acceptance.cost.as_micros(), (*account, acceptance.now.day()));
        let count = self.today.get(&today).copied().unwrap_or(0);
        if let Some(replay) = key.and_then(|key| self.replay(&key)) {
            assert_eq!(*outcome, AcceptOutcome::Duplicate(replay), "a key used before");
            return;
        }
        if self.opted_out.contains_key(&(*account, *to)) {
            assert_eq!(*outcome, AcceptOutcome::OptedOut);
            return;
        }
        if self.is_over_velocity(&acceptance.velocity) {
            assert!(matches!(outcome, AcceptOutcome::OverVelocity(_)), "{outcome:?}");
            return;
        }
        if daily.messages_max.is_some_and(|most| count >= most) {
            assert_eq!(*outcome, AcceptOutcome::OverDailyLimit(DailyLimit::Messages));
            return;
        }
        let before = *self.balance(*account);
        if cost > before {
            assert!(
                matches!(outcome, AcceptOutcome::InsufficientCredit { .. }),
                "{before} of {cost}: {outcome:?}"
            );
            return;
        }
        let AcceptOutcome::Accepted { message, balance, alias, .. } = outcome else {
            panic!("a message that can be paid was not accepted: {outcome:?}")
        };
        *self.balance(*account) -= cost;
        assert_eq!(balance.as_micros(), before - cost, "the balance in the outcome");
        *self.today.entry(today).or_default() += 1;
        acceptance.velocity.iter().for_each(|limit| *self.velocity.entry(*limit).or_default() += 1);
        if let Some(key) = key {
            self.keys.insert(key.digest, (*message, key.fingerprint));
        }
        if let Some(number) = &acceptance.reply_to {
            self.mo.note_conversation(*to, number.address(), *account, acceptance.now);
        }
        let entry = new_message(acceptance, *alias);
        self.by_expiry.insert((entry.expires_at, *message));
        assert!(self.messages.insert(*message, entry).is_none(), "an id is given once");
        self.open.insert(*message);
        self.touched.insert(*message);
    }

    /// Whether one of these limits is used up.
    pub(super) fn is_over_velocity(&self, limits: &[VelocityLimit]) -> bool {
        limits.iter().any(|limit| self.velocity.get(limit).is_some_and(|count| *count >= VELOCITY_MOST))
    }

    pub(super) fn open(&self) -> impl DoubleEndedIterator<Item = (MessageId, &Message)> {
        self.open.iter().map(|message| (*message, &self.messages[message]))
    }

    /// Applies an event to a part of a message that has not ended. Returns whether it moved the part.
    pub(super) fn apply_event(&mut self, message: MessageId, part: PartNo, event: PartEvent) -> bool {
        let Some(entry) = self.messages.get_mut(&message).filter(|entry| !entry.has_ended()) else {
            return false;
        };
        let moved = match lifecycle::apply(&entry.progress, part, event) {
            Transition::Changed(moved) => moved,
            Transition::Ignored => return false,
            Transition::Illegal => panic!("{event:?} cannot happen to part {part} of {:?}", entry.progress),
        };
        let before = std::mem::replace(&mut entry.progress, moved.after.clone());
        entry.tries[part.index()].due_at = None;
        entry.submitted += u16::from(matches!(event, PartEvent::Accepted | PartEvent::NoResponse(_)));
        if entry.has_ended() {
            let count = |state| entry.progress.parts.iter().filter(|part| part.state == state).count();
            let count = |state| u16::try_from(count(state)).expect("a few parts");
            let (submitted, delivered) =
                (entry.submitted + count(PartState::Sending), count(PartState::Delivered));
            entry.billable = Some(Billable { submitted: submitted.max(delivered), delivered });
            entry.settled_at = Some(self.now);
            self.open.remove(&message);
        }
        if moved.refund {
            let (account, cost) = (entry.account, entry.cost);
            *self.balance(account) += cost;
        }
        self.touched.insert(message);
        self.expect_status_report(message, event, &before, &moved);
        true
    }

    /// Defers a part.
    pub(super) fn defer(&mut self, message: MessageId, part: PartNo, due_at: Timestamp) {
        if let Some(entry) = self.messages.get_mut(&message) {
            entry.tries[part.index()].due_at = Some(due_at);
        }
    }

    /// Returns the ids that a carrier gave.
    pub(super) fn ids(&self, carrier: CarrierId) -> &[RemoteId] {
        self.ids.get(&carrier).map_or(&[], Vec::as_slice)
    }

    /// Returns lapsed parts with their events; not necessarily all of them.
    pub(super) fn lapsed(
        &self,
        now: Timestamp,
        catalogue: &Catalogue,
    ) -> Vec<(MessageId, PartNo, PartEvent)> {
        let mut lapsed = Vec::new();
        for (message, entry) in self.open() {
            for (part, no) in entry.parts() {
                let overdue = entry.expires_at.plus(catalogue.receipt_wait(entry.carrier)) <= now;
                match part.state {
                    PartState::Queued | PartState::InDoubt if entry.expires_at <= now => {
                        lapsed.push((message, no, PartEvent::ValidityEnded));
                    }
                    PartState::Sent | PartState::Presumed | PartState::Enroute if overdue => {
                        lapsed.push((message, no, PartEvent::ReceiptOverdue));
                    }
                    _ => {}
                }
            }
        }
        lapsed
    }

    /// Expires parts whose turn came after the end of their validity. `stored` is the stored progress of the
    /// message.
    pub(super) fn expire(&mut self, message: MessageId, stored: Option<&Progress>) {
        let parts: Vec<(Part, PartNo)> = self.messages[&message].parts().collect();
        for (part, no) in parts.into_iter().filter(|(part, _)| WAITING.contains(&part.state)) {
            if stored.is_none_or(|stored| stored.parts[no.index()] != part) {
                self.apply_event(message, no, PartEvent::ValidityEnded);
            }
        }
    }

    /// Returns queued messages whose validity is over.
    pub(super) fn expiring(&mut self, now: Timestamp) -> Vec<MessageId> {
        let mut expiring = Vec::new();
        let over: Vec<_> = self.by_expiry.iter().copied().take_while(|(at, _)| *at <= now).collect();
        for (at, message) in over {
            let Some(entry) = self.messages.get(&message) else { continue };
            if entry.has_part_in(&WAITING) {
                expiring.push(message);
            } else if !entry.has_part_in(&[PartState::Sending]) {
                self.by_expiry.remove(&(at, message));
            }
        }
        expiring
    }

    /// Returns how many parts of a carrier are in one of these states.
    pub(super) fn count(&self, carrier: CarrierId, states: &[PartState]) -> usize {
        let of_carrier = self.open().filter(|(_, entry)| entry.carrier == carrier);
        of_carrier
            .flat_map(|(_, entry)| entry.parts())
            .filter(|(part, _)| states.contains(&part.state))
            .count()
    }

    /// Returns how many parts of an account wait.
    pub(super) fn waiting_parts(&self, account: AccountId) -> u64 {
        let of_account = self.open().filter(|(_, entry)| entry.account == account);
        let states = of_account.flat_map(|(_, entry)| entry.parts()).map(|(part, _)| part.state);
        let waiting = states.filter(|state| matches!(state, PartState::Queued | PartState::InDoubt));
        u64::try_from(waiting.count()).expect("a few")
    }

    /// Deletes a message whose record was purged.
    pub(super) fn forget(&mut self, message: MessageId) {
        self.messages.remove(&message);
        self.open.remove(&message);
        self.touched.remove(&message);
    }
}

fn new_message(acceptance: &Acceptance, alias: Option<Alias>) -> Message {
    let submits = if acceptance.whole { 1 } else { acceptance.parts };
    let origin = acceptance.origin.as_ref();
    Message {
        account: acceptance.account,
        carrier: acceptance.carrier,
        to: acceptance.to,
        cost: acceptance.cost.as_micros(),
        carrier_cost: acceptance.carrier_cost,
        submitted: 0,
        billable: None,
        earlier: Vec::new(),
        charged: acceptance.parts,
        progress: Progress::queued(submits),
        tries: vec![Tries::default(); usize::from(submits)],
        doubt: acceptance.doubt,
        expires_at: acceptance.now.plus(acceptance.validity),
        report_target: origin.map_or(ReportTarget::Web, |origin| ReportTarget::Customer {
            registered_delivery: origin.registered_delivery,
            on_transmitter: origin.on_transmitter,
        }),
        alias,
        refused_by: BTreeSet::new(),
        has_failed_over: false,
        settled_at: None,
        unknown_at: None,
        has_text: true,
        is_erased: false,
    }
}
