//! Loads the engine's state from the tables, at start and after a rollback.

use crate::batch::{Batch, EngineState, RecentMessage};
use crate::ops::{ResponseRecord, SubmitResponse};
use crate::progress;
use crate::read_ahead;
use crate::report;
use crate::set_aside;
use crate::state::aliases::Aliases;
use crate::state::audit_log::AuditLogState;
use crate::state::balances::Balances;
use crate::state::carrier_ids::CarrierIdIndex;
use crate::state::concat_references::ConcatReferences;
use crate::state::day_totals::Today;
use crate::state::deferred::{Deferred, DeferredLane};
use crate::state::delivery_figures::DeliveryStats;
use crate::state::entry_uses::EntryUses;
use crate::state::event_numbers::EventNumbers;
use crate::state::idempotency_keys::{IdempotencyKeys, KeyLimits};
use crate::state::lanes::{JOBS_IN_MEMORY_MAX, Lanes};
use crate::state::last_ids::LastIds;
use crate::state::mo_parts::MoPartCounts;
use crate::state::opt_outs::OptOuts;
use crate::state::parked_receipts::Parked;
use crate::state::queues::{QueueOwner, Queues};
use crate::state::recent::Recent;
use crate::state::velocity::RecentTraffic;
use crate::steps::MessageStep;
use crate::submit_response;
use crate::tables::{DueRead, LaneCounts, LaneRead, MessageKey, SendingPart, TableError, Tables};
use hermod_domain::carrier::IdConversion;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{IdMint, MessageId};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// The number of this node in message ids.
const NODE: u8 = 0;
/// The most steps that a reused list keeps room for: more than an ordinary batch has.
const SPARE_STEPS_MAX: usize = 16_384;

impl EngineState {
    /// Loads the state from the tables. `catalogue`: the setup that the tables have. No lane holds a part in memory yet.
    pub fn load(
        tables: &Tables<'_>,
        catalogue: Arc<Catalogue>,
        in_doubt_wait: Duration,
        seed: u64,
    ) -> Result<EngineState, TableError> {
        let last = tables.read()?.highest_id()?;
        let newest_day = last.map_or(Timestamp::EPOCH, MessageId::accepted_at).day();
        let mut state = EngineState {
            catalogue,
            mint: IdMint::new(NODE, last),
            lanes: Lanes::default(),
            balances: Balances::load(tables)?,
            today: Today::load(tables, newest_day)?,
            opt_outs: OptOuts::load(tables)?,
            aliases: Aliases::load(tables)?,
            keys: IdempotencyKeys::load(tables, KeyLimits::DEFAULT)?,
            carrier_ids: CarrierIdIndex::load(tables)?,
            parked: Parked::load(tables)?,
            delivery: DeliveryStats::default(),
            entry_uses: EntryUses::load(tables)?,
            deferred: Deferred::default(),
            queues: Queues::default(),
            recent_traffic: RecentTraffic::default(),
            references: ConcatReferences::new(seed),
            mo_parts: MoPartCounts::load(tables)?,
            recent_messages: Recent::default(),
            last_report: report::last_id(tables)?,
            last_ids: LastIds::load(tables)?,
            event_numbers: EventNumbers::load(tables)?,
            audit_log: AuditLogState::default(),
            in_doubt_wait,
            last_time: Timestamp::EPOCH,
            unreadable: Vec::new(),
            spare_steps: Vec::new(),
            stored_claims_max: u64::MAX,
            claims_left: false,
            continue_at: None,
        };
        state.load_waiting(tables)?;
        Ok(state)
    }

    /// Makes the changes of the batch final. To be called after its commit.
    pub fn committed(&mut self, now: Timestamp) {
        self.balances.committed();
        self.today.committed();
        self.recent_traffic.committed();
        self.aliases.committed();
        self.keys.committed();
        self.parked.committed();
        self.delivery.committed(now);
        self.entry_uses.committed();
        if now > Timestamp::EPOCH {
            self.last_time = now;
        }
    }

    /// Takes back the list of steps of a committed batch. The next batch uses its allocation.
    pub fn reuse_steps(&mut self, mut steps: Vec<MessageStep>) {
        steps.clear();
        steps.shrink_to(SPARE_STEPS_MAX);
        self.spare_steps = steps;
    }

    /// Drops parts from memory beyond the limits. Only between batches, when every part has its row.
    pub fn trim(&mut self) {
        self.lanes.trim();
        self.deferred.trim();
    }

    /// Undoes what the batch changed in memory. To be called after its rollback; the tables are read again where
    /// needed.
    pub fn rolled_back(&mut self, tables: &Tables<'_>) -> Result<(), TableError> {
        self.balances.rolled_back();
        self.today.rolled_back();
        self.recent_traffic.rolled_back();
        self.aliases.rolled_back();
        self.parked.rolled_back();
        self.delivery.rolled_back();
        self.entry_uses.rolled_back();
        self.audit_log.rolled_back();
        self.claims_left = false;
        self.continue_at = None;
        self.recent_messages.clear();
        self.keys.rolled_back();
        self.carrier_ids.rolled_back(tables)?;
        self.mo_parts = MoPartCounts::load(tables)?;
        self.last_ids = LastIds::load(tables)?;
        self.load_waiting(tables)
    }

    /// Returns when the writer must run a batch even if no command arrives.
    pub fn next_due(&self) -> Option<Timestamp> {
        let times =
            [self.deferred.next_at(), self.delivery.due_at(), self.mo_parts.next_at(), self.continue_at];
        times.into_iter().flatten().min()
    }

    /// Marks every lane that has waiting parts as spilled: slots and due times read the parts from the tables.
    pub fn load_waiting(&mut self, tables: &Tables<'_>) -> Result<(), TableError> {
        self.lanes.clear_lanes();
        self.deferred.clear();
        self.queues.clear();
        for lane in tables.read()?.lane_counts()? {
            let owner = QueueOwner { carrier: lane.carrier, account: lane.account };
            self.queues.add(owner, PartState::Queued, lane.waiting);
            self.queues.add(owner, PartState::Sending, lane.in_flight);
            if lane.for_a_slot > 0 {
                self.lanes.spill(lane.carrier, lane.account);
            }
            if lane.waiting > lane.for_a_slot {
                self.deferred.spill(DeferredLane { carrier: lane.carrier, account: lane.account });
            }
        }
        self.unreadable = tables.read()?.unreadable_deferred_parts()?;
        Ok(())
    }

    /// Returns how the state differs from one that is loaded from the tables. Empty unless there is a defect: what is
    /// in memory must equal the tables. Only between batches.
    pub fn differences(&self, tables: &Tables<'_>) -> Result<Vec<String>, TableError> {
        let fresh = EngineState::load(tables, self.catalogue.clone(), self.in_doubt_wait, 0)?;
        let mut differences = Vec::new();
        let mut compare = |what: &str, memory: &dyn Debug, stored: &dyn Debug| {
            let (memory, stored) = (format!("{memory:?}"), format!("{stored:?}"));
            if memory != stored {
                differences.push(format!("{what}: {memory} in memory, {stored} in the tables"));
            }
        };
        compare("balances", &self.balances.rows(), &fresh.balances.rows());
        compare("aliases", &self.aliases.rows(), &fresh.aliases.rows());
        compare("uses of entries", &self.entry_uses.rows(), &fresh.entry_uses.rows());
        compare("queues", &self.queues.rows(), &fresh.queues.rows());
        compare("waiting parts", &self.queues.waiting_rows(), &fresh.queues.waiting_rows());
        compare("parked receipts", &self.parked.rows(), &fresh.parked.rows());
        compare("unfinished MO messages", &self.mo_parts.rows(), &fresh.mo_parts.rows());
        for (account, totals) in fresh.today.rows() {
            compare("day totals", &self.today.of(account, totals.day), &totals);
        }
        for (message, known) in self.recent_messages.iter() {
            let RecentMessage { account, carrier, progress, .. } = known;
            let key = MessageKey { carrier: *carrier, account: *account, message: *message };
            compare("progress", &Some(progress), &progress::load(tables, key)?.as_ref());
        }
        let [counted, held] = self.lanes.counted_and_held();
        compare("lanes and their jobs, as counted and as they are", &counted, &held);
        let (counted, held) = self.deferred.counted_and_held();
        compare("deferred parts in memory, as counted and as they are", &counted, &held);
        self.find_stranded(tables, &mut differences)?;
        Ok(differences)
    }

    /// Adds waiting parts that no lane and no due time would find, among the first parts of each lane.
    fn find_stranded(&self, tables: &Tables<'_>, found: &mut Vec<String>) -> Result<(), TableError> {
        for LaneCounts { carrier, account, for_a_slot, waiting, .. } in tables.read()?.lane_counts()? {
            let (after, limit) = (None, JOBS_IN_MEMORY_MAX);
            if for_a_slot > 0 {
                let jobs = tables.read()?.waiting_jobs(LaneRead { carrier, account, after, limit })?.rows;
                let parts = jobs.iter().map(|waiting| (waiting.job.message, waiting.job.part));
                let stranded = parts.filter(|part| !self.lanes.reaches(carrier, account, *part));
                found.extend(stranded.map(|part| format!("{part:?} waits for carrier {carrier} in no lane")));
            }
            if waiting > for_a_slot {
                let lane = DeferredLane { carrier, account };
                let keys = tables.read()?.due_keys(DueRead { carrier, account, after: None, limit })?;
                let stranded = keys.into_iter().filter(|key| !self.deferred.reaches(lane, *key));
                found.extend(stranded.map(|key| format!("{key:?} for carrier {carrier} is not waited for")));
            }
        }
        Ok(())
    }
}

/// Puts every part in doubt that was being sent when the process ended. Runs once at start.
pub fn mark_sending_in_doubt(batch: &mut Batch<'_>, now: Timestamp) -> Result<(), TableError> {
    batch.advance_to(now);
    let sending = batch.tables.read()?.sending_parts()?;
    set_aside::messages(batch, sending.unreadable)?;
    read_ahead::messages(batch, sending.rows.iter().map(|part| part.key).collect())?;
    for SendingPart { key: MessageKey { carrier, account, message }, part, to } in sending.rows {
        let response = SubmitResponse::NoResponse;
        let record = ResponseRecord { message, part, account, to, response, failover_to: None };
        submit_response::apply(batch, carrier, IdConversion::None, None, &record)?;
    }
    Ok(())
}
