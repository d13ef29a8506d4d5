//! The work of one transaction, and what the engine remembers between transactions. Commands run one after the other, and
//! each sees what those before it did. Each decides before it writes, so that a refusal writes nothing. When all have run,
//! `dispatch.rs` gives free slots to the parts that are next, and [`Batch::finish`] writes what was held back.

use crate::maps::{HashMap, HashSet};
use crate::ops::{Endpoint, Handout, Job, LinkId, Purged, Report};
use crate::state::aliases::Aliases;
use crate::state::report_target::ReportTarget;
use crate::state::balances::Balances;
use crate::state::carrier_ids::CarrierIdIndex;
use crate::state::day_totals::Today;
use crate::state::deferred::Deferred;
use crate::state::delivery_figures::DeliveryStats;
use crate::state::event_numbers::EventNumbers;
use crate::state::idempotency_keys::IdempotencyKeys;
use crate::state::mo_parts::MoPartCounts;
use crate::state::lanes::Lanes;
use crate::state::last_ids::LastIds;
use crate::state::opt_outs::OptOuts;
use crate::state::parked_receipts::Parked;
use crate::state::queues::Queues;
use crate::state::recent::Recent;
use crate::state::concat_references::ConcatReferences;
use crate::steps::{MessageStep, StepKind};
use crate::tables::{PartChange, PartRow, MessageKey, TableError, Tables, UnreadablePart, UnreadableReport};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, IdMint, MessageId, PartNo};
use hermod_domain::lifecycle::{DoubtPolicy, Event, Part, Progress};
use hermod_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// A connection has no reports at all.
pub const ALL_ROWS: u64 = u64::MAX;

/// What the writer knows between batches. All of it can be rebuilt from the tables.
pub struct EngineState {
    pub mint: IdMint,
    pub lanes: Lanes,
    pub balances: Balances,
    pub today: Today,
    pub opt_outs: OptOuts,
    pub aliases: Aliases,
    pub keys: IdempotencyKeys,
    pub carrier_ids: CarrierIdIndex,
    pub parked: Parked,
    pub delivery: DeliveryStats,
    pub deferred: Deferred,
    pub queues: Queues,
    pub references: ConcatReferences,
    pub mo_parts: MoPartCounts,
    /// Messages that something happened to lately. Always what the tables say.
    pub recent_messages: Recent<MessageId, RecentMessage>,
    /// The id of the report that was written last.
    pub last_report: u64,
    pub last_ids: LastIds,
    pub event_numbers: EventNumbers,
    /// How long a part in doubt waits before its first resend; see `lifecycle::resend_wait` for the others.
    pub in_doubt_wait: Duration,
    /// The time that was told last.
    pub last_time: Timestamp,
    /// Parts that made no sense when the state were built, to be set aside by the next batch.
    pub unreadable: Vec<UnreadablePart>,
    /// An empty list whose room the next batch uses for its steps.
    pub spare_steps: Vec<MessageStep>,
    /// Parts that have expired are left over from a batch that ended enough of them: there is more to do, at once.
    pub continue_at: Option<Timestamp>,
}

/// Where a message stands, with which carrier, and who wants to hear of it.
#[derive(Clone)]
pub struct RecentMessage {
    pub account: AccountId,
    pub carrier: CarrierId,
    pub progress: Progress,
    pub report_target: ReportTarget,
}

/// A part accepted in this batch, whose row is written at its end, when it is known whether it was claimed at once.
pub struct FreshPart {
    pub carrier: CarrierId,
    pub account: AccountId,
    pub message: MessageId,
    pub part: PartNo,
    pub expires_at: Timestamp,
    pub doubt: DoubtPolicy,
    pub report_target: ReportTarget,
    pub now: Part,
}

impl FreshPart {
    pub fn row(&self) -> PartRow {
        PartRow {
            key: MessageKey { carrier: self.carrier, account: self.account, message: self.message },
            part: self.part,
            now: self.now,
            doubt: self.doubt,
            attempts: 0,
            due_at: None,
            expires_at: self.expires_at,
        }
    }
}

/// What happened in a batch, for the metrics. Counted only once it is committed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub accepted: u64,
    pub claimed: u64,
    pub settled: u64,
    pub refunded: u64,
    pub doubts: Doubts,
    pub moved: u64,
    pub receipts_parked: u64,
    pub receipts_ambiguous: u64,
    pub receipts_rematched: u64,
    pub receipts_given_up: u64,
    pub receipts_late: u64,
    pub receipts_by_number: u64,
    pub ids_reused: u64,
    pub illegal: u64,
    pub reports: u64,
    pub reports_accepted: u64,
    pub reports_given_up: u64,
    /// To webhooks, because nobody was there to take them.
    pub reports_moved: u64,
    pub webhooks: u64,
    pub webhooks_delivered: u64,
    pub webhooks_given_up: u64,
    pub webhooks_replayed: u64,
    pub webhook_attempts: u64,
    pub webhook_failures: u64,
    pub purged: Purged,
    pub inbound: u64,
    pub inbound_repeated: u64,
    pub inbound_incomplete: u64,
    pub inbound_unassigned: u64,
    pub opt_outs: u64,
    pub opt_ins: u64,
}

/// Parts that got no answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doubts {
    pub in_doubt: u64,
    pub resent: u64,
    /// No resend was left.
    pub unconfirmed: u64,
}

/// An event that the lifecycle forbids. It was not applied.
#[derive(Debug)]
pub struct ForbiddenEvent {
    pub message: MessageId,
    pub part: PartNo,
    pub event: Event,
    pub before: Progress,
}

/// Says whether reports can be delivered over a connection's binds. An input of the engine: the store keeps it, because
/// binds come and go without a command.
pub trait BoundReceivers {
    /// Returns since when a connection has had no receiver, once that is longer than `RECEIVER_AWAY_MAX`.
    fn away_since(&self, connection: ConnectionId, now: Timestamp) -> Option<Timestamp>;

    /// Whether a receiver is bound now.
    fn is_bound(&self, connection: ConnectionId) -> bool;
}

pub struct Batch<'a> {
    pub tables: &'a Tables<'a>,
    pub state: &'a mut EngineState,
    pub receivers: &'a dyn BoundReceivers,
    /// Tells this batch's fresh parts from those of earlier ones.
    pub number: u64,
    /// The latest time any of its operations was told.
    pub now: Timestamp,
    pub fresh: Vec<FreshPart>,
    pub handouts: HashMap<LinkId, Handout>,
    /// What customers are to be told once this is durable, in order.
    pub reports: Vec<Report>,
    /// So many rows of reports are gone, of these connections; or [`ALL_ROWS`].
    pub reports_gone: Vec<(ConnectionId, u64)>,
    /// To be logged.
    pub unreadable_reports: Vec<UnreadableReport>,
    /// Where webhook events are due once this is durable.
    pub woken: HashSet<Endpoint>,
    /// Parts that ran out of resends without an answer, per carrier. The operator is alarmed once this is durable.
    pub unconfirmed: HashMap<CarrierId, u64>,
    /// What was set aside because it makes no sense, for the log.
    pub set_aside: Vec<UnreadablePart>,
    /// Events that the lifecycle forbids, for the log.
    pub forbidden: Vec<ForbiddenEvent>,
    /// The steps of messages, in the order in which they happened.
    pub steps: Vec<MessageStep>,
    pub tally: Tally,
    /// In force when the batch began.
    pub catalogue: Arc<Catalogue>,
}

impl<'a> Batch<'a> {
    pub fn new(
        tables: &'a Tables<'a>,
        state: &'a mut EngineState,
        receivers: &'a dyn BoundReceivers,
        number: u64,
        catalogue: Arc<Catalogue>,
    ) -> Batch<'a> {
        let steps = std::mem::take(&mut state.spare_steps);
        Batch {
            tables,
            state,
            receivers,
            number,
            now: Timestamp::EPOCH,
            fresh: Vec::new(),
            handouts: HashMap::default(),
            reports: Vec::new(),
            reports_gone: Vec::new(),
            unreadable_reports: Vec::new(),
            woken: HashSet::default(),
            unconfirmed: HashMap::default(),
            set_aside: Vec::new(),
            forbidden: Vec::new(),
            steps,
            tally: Tally::default(),
            catalogue,
        }
    }

    pub fn advance_to(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
    }

    /// The last step before the commit: everything that was held back is written.
    pub fn finish(&mut self) -> Result<(), TableError> {
        self.write_fresh();
        self.write_last_event_number();
        self.state.keys.write(self.tables);
        self.state.balances.write(self.tables);
        self.state.aliases.write(self.tables);
        self.state.today.write(self.tables);
        self.tables.keep_steps(&self.steps)
    }

    /// Writes the rows that were held back. From then on the tables know these parts like any other.
    pub fn write_fresh(&mut self) {
        self.fresh.drain(..).for_each(|part| self.tables.write(PartChange::Add(part.row())));
    }

    /// The row of a part accepted in this very batch.
    pub fn fresh_part(&mut self, job: &Job) -> Option<&mut FreshPart> {
        let (batch, index) = job.fresh?;
        if batch == self.number { self.fresh.get_mut(index) } else { None }
    }

    /// Adds a step of a message.
    #[inline]
    pub fn add_step(&mut self, message: MessageId, part: PartNo, kind: StepKind) {
        let id = self.state.last_ids.next_step(self.tables);
        self.steps.push(MessageStep { id, message, part, at: self.now, kind });
    }
}
