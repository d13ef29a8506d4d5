//! What the tables must say, kept in the simplest way: one entry per message, with the state that the lifecycle gives it.

use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::{self, DoubtPolicy, Event, Part, PartState, Progress, Step, Verdict};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{AcceptOutcome, Acceptance, DailyLimit, Replay};
use hermod_engine::tables::Place;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A message as the model knows it.
pub(super) struct Message {
    pub(super) account: AccountId,
    pub(super) carrier: CarrierId,
    pub(super) cost: i64,
    pub(super) progress: Progress,
    pub(super) doubt: DoubtPolicy,
    pub(super) expires_at: Timestamp,
    /// Its customer is to get a report when it ends.
    pub(super) wants_report: bool,
}

impl Message {
    pub(super) fn place(&self, message: MessageId) -> Place {
        Place { carrier: self.carrier, account: self.account, message }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.progress.state.is_final()
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = (Part, PartNo)> {
        self.progress.parts.iter().copied().zip(PartNo::up_to(u8::MAX))
    }

    fn waits(&self) -> bool {
        !self.has_ended() && self.progress.parts.iter().any(|part| is_waiting(*part))
    }

    /// Returns whether no part was ever given to a link.
    pub(super) fn can_be_cancelled(&self) -> bool {
        !self.has_ended() && self.progress.parts.iter().all(|part| *part == Part::WAITING)
    }
}

fn is_waiting(part: Part) -> bool {
    matches!(part.state, PartState::Queued | PartState::InDoubt)
}

/// Returns whether a later receipt for an id says more than an earlier one.
fn outdoes(later: Verdict, earlier: Verdict) -> bool {
    match earlier {
        Verdict::NoNews => true,
        Verdict::Enroute | Verdict::Accepted => later != Verdict::NoNews,
        Verdict::Delivered | Verdict::Undeliverable | Verdict::Rejected | Verdict::Expired => false,
    }
}

#[derive(Default)]
pub(super) struct Model {
    pub(super) messages: BTreeMap<MessageId, Message>,
    /// Those that have not ended.
    open: BTreeSet<MessageId>,
    pub(super) balances: BTreeMap<AccountId, i64>,
    pub(super) opted_out: BTreeSet<(AccountId, Msisdn)>,
    keys: BTreeMap<[u8; 16], (MessageId, u64)>,
    today: BTreeMap<(AccountId, Day), u64>,
    /// The parts that carriers' ids stand for.
    tied: HashMap<RemoteId, (MessageId, PartNo)>,
    /// The ids of each carrier in the order they were given.
    ids: BTreeMap<CarrierId, Vec<RemoteId>>,
    /// Receipts that came before the answer with their id.
    early: HashMap<RemoteId, Verdict>,
    /// Messages that the batch under way has changed.
    pub(super) touched: BTreeSet<MessageId>,
}

impl Model {
    pub(super) fn balance(&mut self, account: AccountId) -> &mut i64 {
        self.balances.entry(account).or_default()
    }

    /// Compares what came of a submission with what had to come of it, and notes it.
    pub(super) fn accept(&mut self, acceptance: &Acceptance, outcome: &AcceptOutcome, wants_report: bool) {
        let Acceptance { account, to, key, daily, .. } = acceptance;
        let (cost, today) = (acceptance.cost.as_micros(), (*account, acceptance.now.day()));
        let count = self.today.get(&today).copied().unwrap_or(0);
        if let Some((message, fingerprint)) = key.and_then(|key| self.keys.get(&key.digest).copied()) {
            let same_request = key.is_some_and(|key| key.fingerprint == fingerprint);
            assert_eq!(
                *outcome,
                AcceptOutcome::Replay(Replay { message, same_request }),
                "a key used before"
            );
            return;
        }
        if self.opted_out.contains(&(*account, *to)) {
            assert_eq!(*outcome, AcceptOutcome::OptedOut);
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
        let AcceptOutcome::Accepted { message, balance, .. } = outcome else {
            panic!("a message that can be paid was not accepted: {outcome:?}")
        };
        *self.balance(*account) -= cost;
        assert_eq!(balance.as_micros(), before - cost, "the balance that the customer is told");
        *self.today.entry(today).or_default() += 1;
        if let Some(key) = key {
            self.keys.insert(key.digest, (*message, key.fingerprint));
        }
        let entry = Message {
            account: *account,
            carrier: acceptance.carrier,
            cost,
            progress: Progress::queued(acceptance.parts),
            doubt: acceptance.doubt,
            expires_at: acceptance.now.plus(acceptance.validity),
            wants_report,
        };
        assert!(self.messages.insert(*message, entry).is_none(), "an id is given once");
        self.open.insert(*message);
        self.touched.insert(*message);
    }

    fn open(&self) -> impl Iterator<Item = (MessageId, &Message)> {
        self.open.iter().map(|message| (*message, &self.messages[message]))
    }

    /// Lets an event happen to a part. Nothing can happen to a message that has ended.
    pub(super) fn happens(&mut self, message: MessageId, part: PartNo, event: Event) {
        let entry = self.messages.get_mut(&message).expect("a message that was accepted");
        if entry.has_ended() {
            return;
        }
        match lifecycle::apply(&entry.progress, part, event) {
            Step::Moved(moved) => {
                entry.progress = moved.after;
                if entry.has_ended() {
                    self.open.remove(&message);
                }
                if moved.refund {
                    let (account, cost) = (entry.account, entry.cost);
                    *self.balance(account) += cost;
                }
                self.touched.insert(message);
            }
            Step::Ignored => {}
            Step::Illegal => panic!("{event:?} cannot happen to part {part} of {:?}", entry.progress),
        }
    }

    /// A carrier gave an id to a part. A receipt may have been there before it.
    pub(super) fn tie(&mut self, remote: &RemoteId, message: MessageId, part: PartNo) {
        if self.tied.insert(remote.clone(), (message, part)).is_none() {
            let carrier = self.messages[&message].carrier;
            self.ids.entry(carrier).or_default().push(remote.clone());
        }
        if let Some(verdict) = self.early.remove(remote) {
            self.happens(message, part, Event::Receipt(verdict));
        }
    }

    pub(super) fn receipt(&mut self, remote: &RemoteId, verdict: Verdict) {
        match self.tied.get(remote).copied() {
            Some((message, part)) => self.happens(message, part, Event::Receipt(verdict)),
            None => {
                let earlier = self.early.get(remote).copied();
                if earlier.is_none_or(|earlier| outdoes(verdict, earlier)) {
                    self.early.insert(remote.clone(), verdict);
                }
            }
        }
    }

    /// Returns whether a receipt for this id waits for its answer.
    pub(super) fn is_early(&self, remote: &RemoteId) -> bool {
        self.early.contains_key(remote)
    }

    /// Returns the ids that a carrier gave.
    pub(super) fn ids(&self, carrier: CarrierId) -> &[RemoteId] {
        self.ids.get(&carrier).map_or(&[], Vec::as_slice)
    }

    /// The process has died: what was being sent got no answer.
    pub(super) fn restart(&mut self) {
        let mut sending = Vec::new();
        for (message, entry) in self.open() {
            for (_, no) in entry.parts().filter(|(part, _)| part.state == PartState::Sending) {
                sending.push((message, no, entry.doubt));
            }
        }
        for (message, part, doubt) in sending {
            self.happens(message, part, Event::NoAnswer(doubt));
        }
    }

    /// Returns the parts whose time is up, with the event that this is for them: some of them at least.
    pub(super) fn lapsed(&self, now: Timestamp, catalogue: &Catalogue) -> Vec<(MessageId, PartNo, Event)> {
        let mut lapsed = Vec::new();
        for (message, entry) in self.open() {
            for (part, no) in entry.parts() {
                let overdue = entry.expires_at.plus(catalogue.receipt_wait(entry.carrier)) <= now;
                match part.state {
                    PartState::Queued | PartState::InDoubt if entry.expires_at <= now => {
                        lapsed.push((message, no, Event::ValidityEnded));
                    }
                    PartState::Sent | PartState::Presumed | PartState::Enroute if overdue => {
                        lapsed.push((message, no, Event::ReceiptOverdue));
                    }
                    _ => {}
                }
            }
        }
        lapsed
    }

    /// Parts expired without a command for it: their turn came when their validity was over. `stored`: what became of the
    /// message.
    pub(super) fn expire(&mut self, message: MessageId, stored: Option<&Progress>) {
        let parts: Vec<(Part, PartNo)> = self.messages[&message].parts().collect();
        for (part, no) in parts.into_iter().filter(|(part, _)| is_waiting(*part)) {
            if stored.is_none_or(|stored| stored.parts[no.index()] != part) {
                self.happens(message, no, Event::ValidityEnded);
            }
        }
    }

    /// Returns messages that wait and whose validity is over.
    pub(super) fn expiring(&self, now: Timestamp) -> Vec<MessageId> {
        let is_due = |entry: &Message| entry.waits() && entry.expires_at <= now;
        self.open().filter(|(_, entry)| is_due(entry)).map(|(message, _)| message).collect()
    }

    /// Returns how many parts are in this state.
    pub(super) fn count(&self, state: PartState) -> usize {
        self.open().flat_map(|(_, entry)| entry.parts()).filter(|(part, _)| part.state == state).count()
    }
}
