//! What can be asked of the store: each operation is one whole fact, listing everything that is written together. There
//! is no `begin` and no `commit` outside this crate.

mod delivery;
mod disk;
mod inbound;
mod money;
mod policy;
mod queue;
mod receipt;
mod report;
mod retention;
mod set_aside;
mod webhook;

pub use delivery::{DELIVERY_DAYS_KEPT, DELIVERY_ROWS_MAX, DELIVERY_TIMES, DeliveryFigures, DeliveryRow};
pub use disk::DiskSpace;
pub use inbound::{
    CONVERSATION_KEPT, HandsetMessage, HandsetRecord, Inbound, InboundRecord, JOINED_OCTETS_MAX,
    JOINING_WAIT, PART_REPEATS_KNOWN, REPEATS_KNOWN, UNFINISHED_PARTS_PER_CARRIER_MAX, UNOWNED_KEPT,
    UnownedInbound,
};
pub use money::{
    Balance, DailyLimit, DailyLimits, DayTotals, LedgerEntry, LedgerKind, LedgerRow, PostOutcome,
    PostRefusal, Statement, StatementLine,
};
pub use policy::{
    APPROVAL_LASTS, OPEN_REVIEWS_COUNTED_MAX, OpenReviews, OptOut, REVIEW_CASE_KEPT, REVIEW_CASES_OPEN_MAX,
    ReviewCase, ReviewState, Screened, Screening,
};
pub use queue::{CarrierQueue, Elsewhere, Move, WaitingMessage, WaitingPlace};
pub use receipt::Asked;
pub use receipt::{
    LATE_LINES_MAX, PARKED_KEPT, PARKED_PER_CARRIER_MAX, ParkedReceipt, REMATCH_ROWS_MAX, ReceiptFate,
    ReceiptLoss, ReceiptRecord, Recorded, Rematched, TiedId,
};

pub use report::{
    Cancelled, Delivery, ExpectedParties, GIVEN_UP_KEPT, GivenUp, GivenUpWhy, MessageNews, News, REPORT_KEPT,
    REPORTS_IN_MEMORY_MAX, Report, ReportEnds, ReportId,
};

pub use retention::{Purged, Retention};
pub use set_aside::{SetAside, SetAsideCount, StoredPart};

pub use webhook::{
    ANSWER_KEPT_BYTES_MAX, AttemptOutcome, DlrEvent, ENDPOINTS_RUNG_MAX, Endpoint, EventId,
    FAILED_PASSED_OVER_MAX, FailingEndpoint, HOOK_ATTEMPTS_KEPT, HOOKS_COUNTED_MAX, HOOKS_KEPT,
    HOOKS_TAKEN_MAX, HookAttempt, HookEvent, HookFigures, HookFilter, HookGivenUp, HookNext, HookPage,
    HookRecord, HookReplayed, HookSettled, HookStanding, HookState, HookWhat, HooksReplayed,
    RECEIVER_AWAY_MAX, REPLAYED_AT_ONCE_MAX,
};

use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::{DoubtPolicy, MessageState, RefusedFor};
use hermod_domain::money::Money;
use hermod_domain::origin::{Alias, Origin};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText, Shape};
use hermod_domain::time::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Rows a page of any list has at most, whatever was asked for.
pub const PAGE_ROWS_MAX: u32 = 1_000;

/// A text that must not be printed, where it would be: its length.
struct Hidden<'a>(&'a str);

impl fmt::Debug for Hidden<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}

/// Optional parameters as they stood in a customer's `submit_sm`. Anything can be in them, a text too.
#[derive(Clone, PartialEq, Eq)]
pub struct CustomerTlvs(pub Arc<[u8]>);

impl fmt::Debug for CustomerTlvs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} octets)", self.0.len())
    }
}

/// One bind of ours to a carrier, for as long as it lasts. Never reused within a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkId(pub u64);

/// What a link is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// It takes parts. It may bring receipts as well.
    Sends,
    /// It brings receipts and never takes a part: the receiving half of a pair.
    ReceivesOnly,
}

/// A customer's idempotency key, as the store keeps it: a digest scoped to the account, and a fingerprint of the
/// request so that a reuse with another body can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyClaim {
    pub digest: [u8; 16],
    pub fingerprint: u64,
}

/// Everything one accepted submission writes, all of it or none: the message, its parts, its charge and its key.
#[derive(Clone, Debug)]
pub struct Acceptance {
    pub account: AccountId,
    pub connection: ConnectionId,
    pub carrier: CarrierId,
    pub to: Msisdn,
    pub from: Sender,
    pub text: MessageText,
    pub encoding: Encoding,
    pub parts: u8,
    /// Its carrier takes long messages whole and splits them itself: one `submit_sm` instead of one per part.
    pub whole: bool,
    /// Optional parameters that the customer gave, to be passed on to the carrier as they are.
    pub tlvs: Option<CustomerTlvs>,
    /// How it differs from a plain text.
    pub shape: Option<Arc<Shape>>,
    /// What its customer wants to hear, if it came over SMPP.
    pub origin: Option<Arc<Origin>>,
    /// Where the handset's answer will come to, where nothing but this message says whose it is. Most need none: nobody
    /// answers to a name, and a number has an owner.
    pub reply_to: Option<Sender>,
    pub cost: Money,
    /// The account may not be charged below `minimum - credit_limit`.
    pub credit_limit: Money,
    pub minimum: Money,
    /// Refused beyond these. Only the limits that are enforced, not those that only watch.
    pub daily: DailyLimits,
    pub key: Option<KeyClaim>,
    /// What the route says about parts whose answer never comes.
    pub doubt: DoubtPolicy,
    pub validity: Duration,
    pub now: Timestamp,
}

/// How a submission ended. Anything but `Accepted` wrote nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    Accepted {
        message: MessageId,
        /// Its name where ids must be short.
        alias: Option<Alias>,
        /// Right after this message's own charge.
        balance: Money,
        /// With this message.
        today: DayTotals,
    },
    Replay(Replay),
    /// The recipient has opted out of this account's messages.
    OptedOut,
    OverDailyLimit(DailyLimit),
    /// Every short id of the account is in use.
    NoAliasFree,
    InsufficientCredit {
        /// Without the minimum that must stay.
        available: Money,
    },
}

/// The key was used before: this is what it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    pub message: MessageId,
    pub same_request: bool,
}

/// One part on its way to a carrier.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub message: MessageId,
    pub part: PartNo,
    pub parts: u8,
    pub account: AccountId,
    pub carrier: CarrierId,
    pub from: Sender,
    pub to: Msisdn,
    pub text: MessageText,
    pub encoding: Encoding,
    /// Ties the parts of one message together on the handset; rotates per sender and recipient.
    pub reference: u8,
    /// The carrier takes the whole text in one `submit_sm`: this is the only one, whatever `parts` says.
    pub whole: bool,
    /// Optional parameters that the customer gave, to be passed on as they are.
    pub tlvs: Option<CustomerTlvs>,
    /// How it differs from a plain text.
    pub shape: Option<Arc<Shape>>,
    pub expires_at: Timestamp,
    /// The batch and place its row is still to be written in. Only the writer cares.
    pub fresh: Option<(u64, usize)>,
}

impl Job {
    /// How many `submit_sm` its message is.
    pub fn submits(&self) -> u8 {
        if self.whole { 1 } else { self.parts }
    }
}

/// What a carrier said to a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Accepted(RemoteId),
    /// It took the part and gave no usable id: none, an empty one, or one of more than 64 octets.
    AcceptedWithoutId,
    /// Slow down: back to the front of the queue, and it does not count as an attempt.
    Throttled,
    /// The carrier throttles this recipient and not the link: the part waits for so long and others pass it. It does not
    /// count as an attempt. `sent`: whether bytes of it left this time.
    SteppedAside {
        wait: Duration,
        sent: bool,
    },
    /// Try again later: after so long if it says so, else on the retry schedule.
    Temporary {
        status: u32,
        after: Option<Duration>,
    },
    Refused {
        about: RefusedFor,
        status: u32,
    },
    /// The link was lost, or the carrier stayed silent, after bytes may have left.
    NoAnswer,
    /// The link was lost before any byte of it left.
    NotSent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRecord {
    pub message: MessageId,
    pub part: PartNo,
    pub account: AccountId,
    /// Whom it went to.
    pub to: Msisdn,
    pub answer: Answer,
    /// Another carrier that could take the message, should this one not want it.
    pub otherwise: Option<Elsewhere>,
}

/// Everything a link learned in one read of its socket.
#[derive(Clone, Debug)]
pub struct LinkBatch {
    pub carrier: CarrierId,
    /// How this carrier writes ids.
    pub ids: IdConversion,
    pub link: LinkId,
    pub answers: Vec<AnswerRecord>,
    pub receipts: Vec<ReceiptRecord>,
    /// What handsets sent.
    pub inbound: Vec<HandsetRecord>,
    /// How many more parts the link can take now: free window slots that also have a rate token.
    pub slots: u32,
    pub now: Timestamp,
}

impl LinkBatch {
    /// Every record on its own, and the slots last.
    pub fn into_pieces(self) -> Vec<LinkBatch> {
        let LinkBatch { carrier, ids, link, answers, receipts, inbound, slots, now } = self;
        let empty = LinkBatch {
            carrier,
            ids,
            link,
            answers: Vec::new(),
            receipts: Vec::new(),
            inbound: Vec::new(),
            slots: 0,
            now,
        };
        let mut pieces = Vec::with_capacity(answers.len() + receipts.len() + inbound.len() + 1);
        pieces.extend(answers.into_iter().map(|answer| LinkBatch { answers: vec![answer], ..empty.clone() }));
        pieces.extend(
            receipts.into_iter().map(|receipt| LinkBatch { receipts: vec![receipt], ..empty.clone() }),
        );
        pieces.extend(inbound.into_iter().map(|part| LinkBatch { inbound: vec![part], ..empty.clone() }));
        pieces.push(LinkBatch { slots, ..empty });
        pieces
    }
}

/// A message as its status record shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageRecord {
    pub id: MessageId,
    pub account: AccountId,
    pub carrier: CarrierId,
    pub from: Sender,
    pub to: Msisdn,
    pub state: MessageState,
    pub dlr: DlrCode,
    pub err: u16,
    pub parts: u8,
    pub cost: Money,
    pub settled_at: Option<Timestamp>,
}

/// One slow-changing thing (account, connection, key, carrier, price, route): a named document.
#[derive(Clone, PartialEq, Eq)]
pub struct CatalogueRow {
    pub kind: String,
    pub id: u32,
    pub name: String,
    pub body: String,
}

/// Not its body: a carrier's has a password in it.
impl fmt::Debug for CatalogueRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CatalogueRow { kind, id, name, body } = self;
        f.debug_struct("CatalogueRow")
            .field("kind", kind)
            .field("id", id)
            .field("name", name)
            .field("body", &Hidden(body))
            .finish()
    }
}

/// Everything one change of the setup writes, all of it or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogueChange {
    /// Entries that are new or replaced.
    pub put: Vec<CatalogueRow>,
    /// Entries that go, by kind and id, before anything is put: a name that becomes free can be given anew at once.
    pub remove: Vec<(String, u32)>,
    /// What new accounts begin with. One that is refused keeps everything from happening.
    pub entries: Vec<LedgerEntry>,
    /// What a provision file says of its entries, remembered for the next time it is applied.
    pub provisioned: Vec<ProvisionedRow>,
}

/// Why a change of the setup was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogueRefusal {
    Entry(PostRefusal),
    /// Another entry of this kind has this name.
    NameTaken {
        kind: String,
        name: String,
    },
}

/// What a provision file said of one entry when it was last applied. The store does not read the body.
#[derive(Clone, PartialEq, Eq)]
pub struct ProvisionedRow {
    pub kind: String,
    pub name: String,
    pub body: String,
}

/// Not its body: it may hold a password in its stored form.
impl fmt::Debug for ProvisionedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProvisionedRow { kind, name, body } = self;
        f.debug_struct("ProvisionedRow")
            .field("kind", kind)
            .field("name", name)
            .field("body", &Hidden(body))
            .finish()
    }
}
