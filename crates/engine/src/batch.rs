//! One transaction of the writer. Its commands run one after the other, and each sees the changes of those before it.
//! Each command decides before it writes, so a refusal writes nothing. When all commands have run, `dispatch.rs` claims
//! parts for links with free slots, and `commands::finish` writes the rows that were held back.

use crate::maps::{HashMap, HashSet};
use crate::ops::{Endpoint, Handout, Job, LinkId, Report};
use crate::state::aliases::Aliases;
use crate::state::audit_log::{AuditLogState, UnloggedPosting};
use crate::state::balances::Balances;
use crate::state::carrier_ids::CarrierIdIndex;
use crate::state::concat_references::ConcatReferences;
use crate::state::day_totals::Today;
use crate::state::deferred::Deferred;
use crate::state::delivery_figures::DeliveryStats;
use crate::state::entry_uses::EntryUses;
use crate::state::event_numbers::EventNumbers;
use crate::state::idempotency_keys::IdempotencyKeys;
use crate::state::lanes::Lanes;
use crate::state::last_ids::LastIds;
use crate::state::mo_parts::MoPartCounts;
use crate::state::opt_outs::OptOuts;
use crate::state::parked_receipts::Parked;
use crate::state::queues::Queues;
use crate::state::recent::Recent;
use crate::state::report_target::ReportTarget;
use crate::state::velocity::RecentTraffic;
use crate::steps::{MessageStep, StepKind};
use crate::tables::{
    MessageKey, PartChange, PartRow, ReportRange, StepChange, Tables, UnreadablePart, UnreadableReport,
};
use hermod_domain::audit::AuditEnd;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, IdMint, MessageId, PartNo};
use hermod_domain::lifecycle::{DoubtPolicy, MessageState, Part, PartEvent, Parts, Progress};
use hermod_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// In [`BatchResults::reports_gone`]: the connection has no report left.
pub const ALL_ROWS: u64 = u64::MAX;

/// What the engine keeps in memory between batches. All of it but the recent traffic can be rebuilt from the tables.
pub struct EngineState {
    /// The setup that decisions use: owners of numbers, webhooks, receipt times. An engine without it would decide by an empty
    /// one, so it is loaded first.
    pub catalogue: Arc<Catalogue>,
    pub mint: IdMint,
    pub lanes: Lanes,
    pub balances: Balances,
    pub today: Today,
    pub recent_traffic: RecentTraffic,
    pub opt_outs: OptOuts,
    pub aliases: Aliases,
    pub keys: IdempotencyKeys,
    pub carrier_ids: CarrierIdIndex,
    pub parked: Parked,
    pub delivery: DeliveryStats,
    pub entry_uses: EntryUses,
    pub deferred: Deferred,
    pub queues: Queues,
    pub references: ConcatReferences,
    pub mo_parts: MoPartCounts,
    /// The messages that last had an event. An entry always equals what the tables say.
    pub recent_messages: Recent<MessageId, RecentMessage>,
    /// The id of the last report that was written.
    pub last_report: u64,
    pub last_ids: LastIds,
    pub event_numbers: EventNumbers,
    pub audit_log: AuditLogState,
    /// The wait of a part in doubt before its first resend; `lifecycle::resend_wait` computes the later ones.
    pub in_doubt_wait: Duration,
    /// The time of the last batch that had one.
    pub last_time: Timestamp,
    /// Parts that could not be read when this state was loaded. The next batch sets them aside.
    pub unreadable: Vec<UnreadablePart>,
    /// An empty list whose allocation the next batch uses for its steps.
    pub spare_steps: Vec<MessageStep>,
    /// Stored parts that a batch may claim for a carrier. Twice as many as the batch accepts are always allowed, so that a backlog
    /// shrinks.
    pub stored_claims_max: u64,
    /// Set if a batch reached that limit and left slots free: another batch must run at once, also without commands.
    pub claims_left: bool,
    /// Set if a batch reached its limit of expired parts: another batch must run at once to end the rest.
    pub continue_at: Option<Timestamp>,
}

/// The progress of a message, its carrier, and where its status is reported.
#[derive(Clone)]
pub struct RecentMessage {
    pub account: AccountId,
    pub carrier: CarrierId,
    pub progress: Progress,
    pub report_target: ReportTarget,
}

/// A part accepted in this batch. Its row is written at the end of the batch, when it is known whether it was claimed
/// in the same batch, so a part that is sent at once costs one write.
pub struct FreshPart {
    pub carrier: CarrierId,
    pub account: AccountId,
    pub message: MessageId,
    pub part: PartNo,
    pub expires_at: Timestamp,
    pub doubt: DoubtPolicy,
    pub report_target: ReportTarget,
    pub now: Part,
    /// Whether its message has no other part.
    pub is_only: bool,
}

impl FreshPart {
    /// Returns what is known of its message, which has no other part.
    pub fn known(&self) -> RecentMessage {
        let FreshPart { account, carrier, now, ref report_target, .. } = *self;
        let progress = Progress::of(MessageState::Queued, Parts::from_slice(&[now]));
        RecentMessage { account, carrier, progress, report_target: report_target.clone() }
    }

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

/// Defines [`Tally`]: the counts, each with the name of its metric.
macro_rules! tally {
    ($($(#[$about:meta])* $name:ident: $metric:literal,)+) => {
        /// What happened in a batch. Added to the metrics after the commit.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Tally {
            $($(#[$about])* pub $name: u64,)+
        }

        impl Tally {
            pub const METRICS: [&'static str; [$($metric),+].len()] = [$($metric),+];

            /// Returns the counts in the order of [`Tally::METRICS`].
            pub fn counts(&self) -> [u64; Tally::METRICS.len()] {
                [$(self.$name),+]
            }
        }
    };
}

tally! {
    accepted: "hermod_messages_accepted_total",
    claimed: "hermod_parts_claimed_total",
    settled: "hermod_messages_settled_total",
    refunded: "hermod_messages_refunded_total",
    in_doubt: "hermod_parts_in_doubt_total",
    resent: "hermod_parts_resent_total",
    /// Parts in doubt that had no resend left: they count as submitted.
    unconfirmed: "hermod_parts_unconfirmed_total",
    moved: "hermod_messages_moved_total",
    receipts_parked: "hermod_receipts_parked_total",
    receipts_ambiguous: "hermod_receipts_ambiguous_total",
    receipts_rematched: "hermod_receipts_rematched_total",
    receipts_given_up: "hermod_receipts_given_up_total",
    receipts_late: "hermod_receipts_late_total",
    receipts_by_number: "hermod_receipts_matched_by_number_total",
    ids_reused: "hermod_carrier_ids_reused_total",
    illegal: "hermod_lifecycle_illegal_total",
    reports: "hermod_reports_total",
    reports_accepted: "hermod_reports_taken_total",
    reports_given_up: "hermod_reports_given_up_total",
    /// Moved to webhooks, because the connection had no receiver.
    reports_moved: "hermod_reports_moved_to_webhooks_total",
    webhooks: "hermod_webhook_events_total",
    webhooks_delivered: "hermod_webhook_delivered_total",
    webhooks_given_up: "hermod_webhook_given_up_total",
    webhooks_replayed: "hermod_webhook_replayed_total",
    webhook_attempts: "hermod_webhook_attempts_total",
    webhook_failures: "hermod_webhook_failures_total",
    texts_purged: "hermod_texts_purged_total",
    messages_purged: "hermod_messages_purged_total",
    inbound_purged: "hermod_inbound_purged_total",
    inbound: "hermod_inbound_total",
    inbound_repeated: "hermod_inbound_repeated_total",
    inbound_incomplete: "hermod_inbound_incomplete_total",
    inbound_unassigned: "hermod_inbound_unassigned_total",
    inbound_blocked: "hermod_inbound_blocked_total",
    opt_outs: "hermod_inbound_opt_outs_total",
    opt_ins: "hermod_inbound_opt_ins_total",
}

/// An event that the lifecycle does not allow in the state that the message has. It was not applied.
#[derive(Debug)]
pub struct ForbiddenEvent {
    pub message: MessageId,
    pub part: PartNo,
    pub event: PartEvent,
    pub before: Progress,
}

/// Tells whether a connection has a bind that receives reports. An input of the engine: the store tracks binds, which
/// open and close without a command.
pub trait BoundReceivers {
    /// Returns since when a connection has had no receiver, once that is longer than `RECEIVER_AWAY_MAX`.
    fn away_since(&self, connection: ConnectionId, now: Timestamp) -> Option<Timestamp>;

    /// Whether a receiver is bound now.
    fn is_bound(&self, connection: ConnectionId) -> bool;
}

/// What a batch has for others once it is durable: for links, outboxes, webhooks, alarms, the log, the record and the metrics.
#[derive(Default)]
pub struct BatchResults {
    pub handouts: HashMap<LinkId, Handout>,
    /// The reports that were written, in order. They go to the outboxes after the commit.
    pub reports: Vec<Report>,
    /// How many rows of reports were deleted, per connection; or [`ALL_ROWS`].
    pub reports_gone: Vec<(ConnectionId, u64)>,
    /// Reports whose rows could not be read, for the log.
    pub unreadable_reports: Vec<UnreadableReport>,
    /// Endpoints that have an event due. Their dispatchers are woken after the commit.
    pub woken: HashSet<Endpoint>,
    /// Parts per carrier that had no response and no resend left. The store raises an alarm after the commit.
    pub unconfirmed: HashMap<CarrierId, u64>,
    /// Ids per carrier that another part had. The store raises an alarm after the commit.
    pub reused_ids: HashMap<CarrierId, u64>,
    /// MO messages per carrier that the operator blocks, for the log.
    pub blocked_mo: HashMap<CarrierId, u64>,
    /// Messages that were set aside because a row could not be read, for the log.
    pub set_aside: Vec<UnreadablePart>,
    /// Events that the lifecycle does not allow, for the log.
    pub forbidden: Vec<ForbiddenEvent>,
    /// The steps of messages, in the order in which they happened.
    pub steps: Vec<MessageStep>,
    pub tally: Tally,
    /// The end of the audit log, if this batch has written to it.
    pub audit_log_end: Option<AuditEnd>,
}

pub struct Batch<'a> {
    pub tables: &'a Tables<'a>,
    pub state: &'a mut EngineState,
    pub receivers: &'a dyn BoundReceivers,
    /// Distinguishes the fresh parts of this batch from those of earlier batches.
    pub number: u64,
    /// The latest time that any of its commands brought.
    pub now: Timestamp,
    pub fresh: Vec<FreshPart>,
    pub results: BatchResults,
    /// Reports that customers accepted and that are still in the tables.
    pub accepted_reports: Vec<ReportRange>,
    /// How many of the steps are written to the timelines already.
    kept_steps: usize,
    pub accepted_parts: u64,
    /// Claims of parts that were accepted in earlier batches.
    pub stored_claims: u64,
    /// Postings by persons that the audit log does not have yet.
    pub unlogged_postings: Vec<UnloggedPosting>,
    /// The catalogue that was in force when the batch began.
    pub catalogue: Arc<Catalogue>,
}

impl<'a> Batch<'a> {
    pub fn new(
        tables: &'a Tables<'a>,
        state: &'a mut EngineState,
        receivers: &'a dyn BoundReceivers,
        number: u64,
    ) -> Batch<'a> {
        let steps = std::mem::take(&mut state.spare_steps);
        let catalogue = state.catalogue.clone();
        Batch {
            tables,
            state,
            receivers,
            number,
            now: Timestamp::EPOCH,
            fresh: Vec::new(),
            results: BatchResults { steps, ..BatchResults::default() },
            accepted_reports: Vec::new(),
            kept_steps: 0,
            accepted_parts: 0,
            stored_claims: 0,
            unlogged_postings: Vec::new(),
            catalogue,
        }
    }

    /// Moves the time of the batch forward to `now`, never back.
    pub fn advance_to(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
    }

    /// Writes those of the steps so far that are kept to the timelines. A command that deletes timelines calls this first, so that
    /// earlier steps of its batch are deleted with them.
    pub fn keep_steps(&mut self) {
        let new = self.results.steps.get(self.kept_steps..).unwrap_or_default();
        let kept = new.iter().filter(|step| step.kind.is_kept());
        kept.for_each(|step| self.tables.write(StepChange::Keep(step.clone())));
        self.kept_steps = self.results.steps.len();
    }

    /// Writes the rows of fresh parts. From then on the tables have them like all others.
    pub fn write_fresh(&mut self) {
        for part in self.fresh.drain(..) {
            if part.is_only && part.now == Part::QUEUED {
                // It was not claimed: a later batch claims it without a read.
                self.state.recent_messages.insert(part.message, part.known());
            }
            self.tables.write(PartChange::Add(part.row()));
        }
    }

    /// Returns the held-back row of a part that was accepted in this batch; none for any other part.
    pub fn fresh_part(&mut self, job: &Job) -> Option<&mut FreshPart> {
        let (batch, index) = job.fresh?;
        if batch == self.number { self.fresh.get_mut(index) } else { None }
    }

    /// Notes that rows of a connection's reports were deleted.
    pub fn note_reports_gone(&mut self, connection: ConnectionId, gone: u64) {
        if gone > 0 {
            self.results.reports_gone.push((connection, gone));
        }
    }

    /// Adds a step of a message.
    #[inline]
    pub fn add_step(&mut self, message: MessageId, part: PartNo, kind: StepKind) {
        let id = self.state.last_ids.next_step(self.tables);
        self.results.steps.push(MessageStep { id, message, part, at: self.now, kind });
    }
}
