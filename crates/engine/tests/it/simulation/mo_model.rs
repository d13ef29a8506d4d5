//! The model of MO messages: duplicates, concatenation, the owning account, and
//! opt-out keywords.

use super::model::Model;
use super::report_channels::Telling;
use super::setup::{NumberClaim, claim};
use crate::memory::{MemoryTables, MoRow};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::inbound::InboundPart;
use hermod_domain::phone::Msisdn;
use hermod_domain::text::ConcatPart;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::ops::{
    CONCATENATION_WAIT, CONVERSATION_KEPT, Endpoint, PART_REPEATS_KNOWN, REPEATS_KNOWN,
};
use std::collections::{BTreeMap, HashMap};

/// Digits of an address that are an international number rather than a short one.
const INTERNATIONAL_DIGITS_MIN: usize = 8;

/// The content by which a duplicate is detected.
type Content = (CarrierId, String, String, Option<(u16, u8, u8)>, Option<u16>, String);

/// The key that parts of one message share.
type GroupKey = (CarrierId, String, String, u16, u8);

/// An incomplete message.
struct Group {
    parts: BTreeMap<u8, String>,
    since: Timestamp,
    /// Incomplete messages are delivered in the order in which they began.
    order: u64,
}

/// A message that has arrived.
#[derive(Clone)]
struct ReceivedMo {
    source: String,
    destination: String,
    text: String,
    missing: u8,
    at: Timestamp,
}

impl ReceivedMo {
    fn row(&self) -> MoRow {
        MoRow {
            from: shown(&self.source),
            to: shown(&self.destination),
            text: self.text.clone(),
            missing: self.missing,
            received_at: self.at,
        }
    }

    fn handset(&self) -> Msisdn {
        Msisdn::from_number(self.source.parse().expect("digits")).expect("a number")
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keyword {
    Stop,
    Start,
}

#[derive(Default)]
pub(super) struct MoModel {
    /// The time until which the same content is a duplicate.
    seen: HashMap<Content, Timestamp>,
    groups: BTreeMap<GroupKey, Group>,
    groups_begun: u64,
    /// The MO messages of each account by number.
    pub(super) received: BTreeMap<(AccountId, u64), MoRow>,
    last_number: BTreeMap<AccountId, u64>,
    /// The account that last wrote to a handset from a number, and the time.
    pub(super) conversations: BTreeMap<(Msisdn, String), (AccountId, Timestamp)>,
    unassigned: BTreeMap<MessageId, ReceivedMo>,
    expected_unassigned: Vec<ReceivedMo>,
}

impl MoModel {
    /// Records that an account wrote to a handset from a number.
    pub(super) fn note_conversation(&mut self, to: Msisdn, number: &str, account: AccountId, at: Timestamp) {
        self.conversations.insert((to, number.to_owned()), (account, at));
    }

    /// Checks that the new unassigned messages of a batch are the expected ones, in order.
    pub(super) fn find_unassigned(&mut self, tables: &MemoryTables) {
        if self.expected_unassigned.is_empty() {
            return;
        }
        let stored = tables.unassigned_messages();
        let new = stored.into_iter().filter(|(message, _)| !self.unassigned.contains_key(message));
        let new: Vec<_> = new.collect();
        assert_eq!(new.len(), self.expected_unassigned.len(), "unassigned messages");
        for ((message, row), arrived) in new.into_iter().zip(self.expected_unassigned.drain(..)) {
            assert_eq!(row, arrived.row(), "unassigned message {message}");
            self.unassigned.insert(message, arrived);
        }
    }

    /// Returns the unassigned messages.
    pub(super) fn unassigned(&self) -> BTreeMap<MessageId, MoRow> {
        self.unassigned.iter().map(|(message, arrived)| (*message, arrived.row())).collect()
    }

    pub(super) fn first_unassigned(&self) -> Option<MessageId> {
        self.unassigned.keys().next().copied()
    }

    /// Deletes at most `limit` unassigned messages before this one. Returns the count.
    pub(super) fn forget_unassigned(&mut self, before: MessageId, limit: usize) -> usize {
        let old: Vec<MessageId> = self.unassigned.range(..before).take(limit).map(|(id, _)| *id).collect();
        old.iter().for_each(|message| drop(self.unassigned.remove(message)));
        old.len()
    }

    /// Deletes the unassigned messages of a handset. Returns the count.
    pub(super) fn erase_unassigned(&mut self, number: Msisdn) -> usize {
        let count = |mo: &MoModel| mo.unassigned.len() + mo.expected_unassigned.len();
        let before = count(self);
        self.unassigned.retain(|_, arrived| arrived.handset() != number);
        self.expected_unassigned.retain(|arrived| arrived.handset() != number);
        before - count(self)
    }

    /// Deletes expired duplicate entries. Returns the count.
    pub(super) fn forget_repeats(&mut self, now: Timestamp) -> usize {
        let before = self.seen.len();
        self.seen.retain(|_, until| *until > now);
        before - self.seen.len()
    }

    /// Deletes at most `limit` of the oldest messages of an account before a time. Returns the count.
    pub(super) fn purge(&mut self, account: AccountId, before: Timestamp, limit: usize) -> u64 {
        let of_account = self.received.range((account, 0)..=(account, u64::MAX)).take(limit);
        let old = of_account.take_while(|(_, row)| row.received_at < before);
        let old: Vec<_> = old.map(|(key, _)| *key).collect();
        old.iter().for_each(|key| drop(self.received.remove(key)));
        u64::try_from(old.len()).expect("a few")
    }

    /// Whether a content is new; records it.
    fn is_new(&mut self, content: Content, now: Timestamp) -> bool {
        let known = if content.3.is_some() { PART_REPEATS_KNOWN } else { REPEATS_KNOWN };
        let is_new = self.seen.get(&content).is_none_or(|until| *until <= now);
        if is_new {
            self.seen.insert(content, now.plus(known));
        }
        is_new
    }

    fn give_number(&mut self, account: AccountId) -> u64 {
        let last = self.last_number.entry(account).or_default();
        *last += 1;
        *last
    }
}

impl Model {
    /// A carrier brings a message, or a part of one.
    pub(super) fn receive_mo(&mut self, carrier: CarrierId, part: &InboundPart) {
        let (source, destination) = (digits(&part.source.digits), digits(&part.destination.digits));
        let text = String::from_utf8(part.segment.octets.to_vec()).expect("plain letters");
        let numbers = part.concat.map(|ConcatPart { reference, total, part }| (reference, total, part));
        let content = (carrier, source.clone(), destination.clone(), numbers, part.reference, text.clone());
        let is_new = self.mo.is_new(content, self.now);
        let Some((reference, total, no)) = numbers else {
            let arrived = ReceivedMo { source, destination, text, missing: 0, at: self.now };
            if is_new {
                self.arrive(arrived);
            } else if let Some(account) = self.owner(&arrived)
                && keyword(account, &arrived) == Some(Keyword::Stop)
            {
                self.apply_keyword(account, &arrived);
            }
            return;
        };
        let key: GroupKey = (carrier, source, destination, reference, total);
        let is_lacking = self.mo.groups.get(&key).is_some_and(|group| !group.parts.contains_key(&no));
        if !is_new && !is_lacking {
            return;
        }
        if self.mo.groups.get(&key).is_some_and(|group| group.parts.contains_key(&no)) {
            self.deliver_group(&key);
        }
        self.mo.groups_begun += 1;
        let (order, since) = (self.mo.groups_begun, self.now);
        let group =
            self.mo.groups.entry(key.clone()).or_insert(Group { parts: BTreeMap::new(), since, order });
        group.parts.insert(no, text);
        if group.parts.len() == usize::from(total) {
            self.deliver_group(&key);
        }
    }

    /// Delivers what has come of messages whose other parts were waited for long enough.
    pub(super) fn deliver_unfinished(&mut self) {
        let since = self.now.minus(CONCATENATION_WAIT);
        let due = self.mo.groups.iter().filter(|(_, group)| group.since <= since);
        let mut due: Vec<_> = due.map(|(key, group)| (group.since, group.order, key.clone())).collect();
        due.sort_unstable();
        due.iter().for_each(|(.., key)| self.deliver_group(key));
    }

    fn deliver_group(&mut self, key: &GroupKey) {
        let Group { parts, since, .. } = self.mo.groups.remove(key).expect("a group that waits");
        let (_, source, destination, _, total) = key.clone();
        let missing = total - u8::try_from(parts.len()).expect("a few");
        let text = parts.into_values().collect();
        self.arrive(ReceivedMo { source, destination, text, missing, at: since });
    }

    fn arrive(&mut self, arrived: ReceivedMo) {
        match self.owner(&arrived) {
            Some(account) => drop(self.deliver(account, &arrived)),
            None => self.mo.expected_unassigned.push(arrived),
        }
    }

    /// Returns the account by number, keyword, or, for a shared number, by conversation.
    fn owner(&self, arrived: &ReceivedMo) -> Option<AccountId> {
        let ReceivedMo { destination, text, .. } = arrived;
        let otherwise = match claim(destination, text) {
            NumberClaim::Owner(account, _) => return Some(account),
            NumberClaim::Shared(otherwise) => otherwise,
            NumberClaim::Foreign => None,
        };
        let last = self.mo.conversations.get(&(arrived.handset(), destination.clone()));
        let last =
            last.filter(|(_, at)| *at >= self.now.minus(CONVERSATION_KEPT)).map(|(account, _)| *account);
        let meant = last.filter(|account| otherwise.is_none() || keyword(*account, arrived).is_some());
        meant.or(otherwise)
    }

    /// Adds a message to an account and its report or webhook event.
    fn deliver(&mut self, account: AccountId, arrived: &ReceivedMo) -> (u64, MoRow) {
        self.apply_keyword(account, arrived);
        let (number, row) = self.keep_mo(account, arrived.row());
        if let Some(connection) = self.setup().mo_connection(account) {
            self.reports.expect(connection, Telling::Mo(account, number), false);
        }
        (number, row)
    }

    /// Adds an MO message to an account.
    pub(super) fn keep_mo(&mut self, account: AccountId, row: MoRow) -> (u64, MoRow) {
        let number = self.mo.give_number(account);
        self.mo.received.insert((account, number), row.clone());
        if self.setup().has_webhook(account, WebhookKind::Inbound) {
            let endpoint = Endpoint { account, kind: WebhookKind::Inbound };
            self.webhooks.expect(endpoint, Telling::Mo(account, number));
        }
        (number, row)
    }

    /// Assigns an unassigned message to an account.
    pub(super) fn assign(&mut self, message: MessageId, account: AccountId) -> Option<(u64, MoRow)> {
        let arrived = self.mo.unassigned.remove(&message)?;
        Some(self.deliver(account, &arrived))
    }

    fn apply_keyword(&mut self, account: AccountId, arrived: &ReceivedMo) {
        let recipient = (account, arrived.handset());
        match keyword(account, arrived) {
            Some(Keyword::Stop) => {
                self.opted_out.entry(recipient).or_insert(arrived.at);
            }
            Some(Keyword::Start) if self.opted_out.get(&recipient).is_some_and(|at| *at <= arrived.at) => {
                self.opted_out.remove(&recipient);
            }
            Some(Keyword::Start) | None => {}
        }
    }
}

/// Returns the opt-out keyword of a message, with or without the account's keyword before it.
fn keyword(account: AccountId, arrived: &ReceivedMo) -> Option<Keyword> {
    let of = |text: &str| match text {
        "STOP" => Some(Keyword::Stop),
        "START" => Some(Keyword::Start),
        _ => None,
    };
    match claim(&arrived.destination, &arrived.text) {
        NumberClaim::Owner(owner, rest) if owner == account => of(rest).or_else(|| of(&arrived.text)),
        _ => of(&arrived.text),
    }
}

/// Returns the digits of an address that may have a plus.
fn digits(octets: &[u8]) -> String {
    let text = String::from_utf8(octets.to_vec()).expect("digits");
    text.trim_start_matches('+').to_owned()
}

/// Returns a number as customers see it.
fn shown(digits: &str) -> String {
    if digits.len() < INTERNATIONAL_DIGITS_MIN { digits.to_owned() } else { format!("+{digits}") }
}
