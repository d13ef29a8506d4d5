//! Searches of the record: what to look for, and what is found.

use crate::record::{CostSum, CostSums, DueCost, MessageCosts};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, RemoteId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::money::{Currency, Money};
use hermod_domain::numbers::{Country, Network};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::sender::Sender;
use hermod_domain::text::Encoding;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::EventId;
use std::time::Duration;

/// Whose messages a query may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Only those of one account.
    Account(AccountId),
    /// Those of all accounts. For the operator.
    All,
}

impl Scope {
    /// Whether a query with this scope may see something of an account.
    pub fn includes(self, account: AccountId) -> bool {
        match self {
            Scope::Account(own) => own == account,
            Scope::All => true,
        }
    }
}

/// The messages to look for: those that have every property that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageFilter {
    pub id: Option<MessageId>,
    pub recipient: Option<RecipientFilter>,
    pub sender: Option<Sender>,
    pub state: Option<MessageState>,
    pub country: Option<Country>,
    pub network: Option<Network>,
    pub carrier: Option<CarrierId>,
    pub connection: Option<ConnectionId>,
    /// The id that a carrier gave to a part, as the carrier wrote it.
    pub carrier_id: Option<RemoteId>,
    /// The id of the HTTP request that submitted the message.
    pub request: Option<String>,
    /// The digest of the idempotency key, which includes the account.
    pub key: Option<[u8; 16]>,
    /// A webhook event about the message.
    pub event: Option<EventId>,
    /// Accepted at this time or later.
    pub from: Option<Timestamp>,
    /// Accepted before this time.
    pub until: Option<Timestamp>,
}

/// The recipients to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecipientFilter {
    Exact(Msisdn),
    /// All numbers that begin with these digits: the country code first, without `+`.
    Prefix(String),
    /// All numbers that end with these digits.
    Suffix(String),
}

/// A message as the record lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedMessage {
    pub id: MessageId,
    pub account: AccountId,
    pub connection: ConnectionId,
    /// The carrier that has or had it last.
    pub carrier: CarrierId,
    pub from: Sender,
    /// None if it was erased.
    pub to: Option<Msisdn>,
    pub encoding: Encoding,
    pub parts: u8,
    pub cost: Money,
    pub costs: MessageCosts,
    pub state: MessageState,
    /// None until it has ended.
    pub code: Option<DlrCode>,
    pub err: u16,
    pub settled_at: Option<Timestamp>,
    pub refund: Option<Money>,
}

impl RecordedMessage {
    /// Returns what the message adds to the sums of costs: what is due to each carrier, and what the customer paid with the last
    /// one. Nothing until it has ended.
    pub(crate) fn counted_costs(&self) -> impl Iterator<Item = (DueCost, CostSum)> {
        let due = self.costs.due(self.carrier, self.parts);
        let last = due.len().saturating_sub(1);
        let paid = self.cost.checked_sub(self.refund.unwrap_or(Money::ZERO)).unwrap_or(self.cost);
        due.into_iter().enumerate().map(move |(place, due)| {
            let (messages, revenue) = if place == last { (1, paid) } else { (0, Money::ZERO) };
            (due, CostSum { messages, due: due.amount, revenue })
        })
    }

    /// Returns what remains of what the customer paid: see [`CostSums::margin`].
    pub fn margin(&self, convert: impl Fn(Money, Currency) -> Option<Money>) -> Option<Money> {
        let mut sums = CostSums::default();
        self.counted_costs().for_each(|(due, sum)| sums.add(due.cost.terms.currency, sum));
        sums.margin(convert)
    }
}

/// Limits of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Only messages with lower ids: where the last page ended.
    pub before: Option<MessageId>,
    /// Rows of the page.
    pub rows: u32,
}

/// A page of messages, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePage {
    pub rows: Vec<RecordedMessage>,
    /// Where the next page begins; none if there is no older message to look at.
    pub next: Option<MessageId>,
    /// The search ended at this time because it had looked at enough rows: older messages are on the next page, even if
    /// this one is not full.
    pub searched_to: Option<Timestamp>,
    pub status: RecordStatus,
}

/// How many messages a filter finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    Exactly(u64),
    AtLeast(u64),
}

/// A search for a text within one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextQuery {
    /// Found in any case.
    pub text: String,
    pub from: Timestamp,
    pub until: Timestamp,
}

/// The messages that a slice of a text search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPage {
    /// Newest first.
    pub rows: Vec<RecordedMessage>,
    /// Where the next slice begins; none if the search is complete.
    pub next: Option<MessageId>,
    /// The slice has looked at all texts down to this time.
    pub searched_to: Timestamp,
    /// How many texts the slice looked at.
    pub looked_at: u64,
    pub status: RecordStatus,
}

/// How far the record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordStatus {
    /// How long ago the oldest change was committed that the record does not have; zero if it has all.
    pub lag: Duration,
    /// Messages that the record still has to read from the store; zero unless it catches up.
    pub catching_up: u64,
    /// The record is switched off.
    pub is_off: bool,
    /// Why it cannot be used as usual.
    pub trouble: Option<RecordTrouble>,
}

/// Why the record cannot be used as usual. Messages are never affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordTrouble {
    /// It cannot be opened or written.
    Unusable,
    /// It was damaged and moved aside, and a new one is read from the message store.
    Rebuilding,
    /// It was not closed in an orderly way and is checked: it cannot be searched until then.
    Checking,
}
