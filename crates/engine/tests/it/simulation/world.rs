//! The simulated world: an engine over tables in memory, its links, and the model.

use super::commands::TEXT;
use super::model::Model;
use super::random::Random;
use super::retention::KEY_LIMITS;
use super::webhooks::Post;
use crate::memory::MemoryTables;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::CarrierId;
use hermod_domain::inbound::InboundPart;
use hermod_domain::lifecycle::PartEvent;
use hermod_domain::time::Timestamp;
use hermod_engine::batch::{Batch, BatchResults, EngineState, Tally};
use hermod_engine::commands::{self, AnyCommand, AnyOutcome};
use hermod_engine::dispatch;
use hermod_engine::maps::HashMap;
use hermod_engine::ops::{Handout, Job, LinkId, Report};
use hermod_engine::read_ahead::{self, ReadPlan};
use hermod_engine::recover;
use hermod_engine::state::deferred::Deferred;
use hermod_engine::state::idempotency_keys::{IdempotencyKeys, KeyStep};
use hermod_engine::state::lanes::Lanes;
use hermod_engine::tables::{CHANGE_ENCODING, ChangeLog, Tables, replay};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// How long a part in doubt waits before its first resend.
pub(super) const IN_DOUBT_WAIT: Duration = Duration::from_secs(5);
pub(super) const CARRIERS: [CarrierId; 2] = [CarrierId::new(1), CarrierId::new(2)];

/// Few, so that lanes spill.
const JOBS_IN_MEMORY: usize = 60;
const DEFERRED_IN_MEMORY: usize = 12;

/// A link, and the parts that it has not answered yet.
pub(super) struct Link {
    pub(super) id: LinkId,
    pub(super) carrier: CarrierId,
    pub(super) under_way: Vec<Job>,
    /// The link is closing and reports only unsent parts.
    pub(super) closing: bool,
}

/// The results of a batch.
struct Done {
    outcomes: Vec<AnyOutcome>,
    handouts: HashMap<LinkId, Handout>,
    reports: Vec<Report>,
    tally: Tally,
}

/// How a batch ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Commit,
    /// Rollback: the commands are run again one by one.
    RollBack,
    /// Crash: the changes are lost with the process.
    Crash,
}

pub(super) struct World {
    pub(super) random: Random,
    pub(super) now: Timestamp,
    pub(super) model: Model,
    pub(super) links: Vec<Link>,
    /// The next commands.
    pub(super) next_commands: VecDeque<AnyCommand>,
    /// Commands with earlier candidates, to be run later.
    pub(super) later: Vec<AnyCommand>,
    /// A merge step that was found before.
    pub(super) key_step: Option<KeyStep>,
    /// MO messages and parts that a carrier may send again.
    pub(super) brought: Vec<InboundPart>,
    /// Webhook events that are being posted.
    pub(super) posts: Vec<Post>,
    pub(super) tables: MemoryTables,
    /// The changes of the current batch.
    log: RefCell<ChangeLog>,
    /// Tables that were made from the logs of all batches. They must equal the others.
    pub(super) replayed: MemoryTables,
    pub(super) state: EngineState,
    pub(super) batches: u64,
    /// Batches after which memory is compared with a fresh load from the tables.
    pub(super) compare_every: u64,
}

/// Loads the engine's state from the tables.
fn load(tables: &Tables<'_>, catalogue: Arc<Catalogue>, seed: u64) -> EngineState {
    let mut state =
        EngineState::load(tables, catalogue, IN_DOUBT_WAIT, seed).expect("the tables can be read");
    state.keys = IdempotencyKeys::load(tables, KEY_LIMITS).expect("the tables can be read");
    // Smaller limits than a gateway has, so that runs reach them.
    state.lanes = Lanes::with_limit(JOBS_IN_MEMORY);
    state.deferred = Deferred::with_limit(DEFERRED_IN_MEMORY);
    state.load_waiting(tables).expect("the tables can be read");
    state
}

impl World {
    pub(super) fn new(seed: u64) -> World {
        let tables = MemoryTables::default();
        let now = Timestamp::from_millis(1_780_000_000_000);
        let model = Model::new(now);
        let state = load(&Tables::new(tables.clone()), model.setup().catalogue.clone(), seed);
        World {
            random: Random::new(seed),
            now,
            model,
            links: Vec::new(),
            next_commands: VecDeque::new(),
            later: Vec::new(),
            key_step: None,
            brought: Vec::new(),
            posts: Vec::new(),
            tables,
            log: RefCell::default(),
            replayed: MemoryTables::default(),
            state,
            batches: 0,
            compare_every: if seed.is_multiple_of(20) { 1 } else { 16 },
        }
    }

    /// Runs commands as one batch and compares the results with the model.
    pub(super) fn run(&mut self, commands: &[AnyCommand], end: End) {
        match end {
            End::Commit => self.commit(commands),
            End::RollBack => {
                let rooms = self.state.lanes.link_slots();
                self.execute(commands);
                self.roll_back_tables();
                self.state.lanes.restore_link_slots(rooms);
                self.state.rolled_back(&Tables::new(self.tables.clone())).expect("the tables can be read");
                commands.iter().for_each(|command| self.commit(std::slice::from_ref(command)));
            }
            End::Crash => {
                self.execute(commands);
                self.roll_back_tables();
                self.restart();
            }
        }
    }

    fn commit(&mut self, commands: &[AnyCommand]) {
        let (done, now) = self.execute(commands);
        self.commit_tables();
        self.state.committed(now);
        self.state.trim();
        self.model.now = now;
        self.compare_outcomes(commands, done);
    }

    /// Commits the batch, and replays its log.
    fn commit_tables(&self) {
        self.tables.commit();
        let mut log = self.log.borrow_mut();
        let changes = replay(CHANGE_ENCODING, log.bytes(), &self.replayed).expect("logs can be replayed");
        assert_eq!(changes, log.len());
        self.replayed.commit();
        log.clear();
    }

    fn roll_back_tables(&self) {
        self.tables.roll_back();
        self.log.borrow_mut().clear();
    }

    /// Runs commands as one batch, up to its commit. Returns the results and the time.
    fn execute(&mut self, commands: &[AnyCommand]) -> (Done, Timestamp) {
        self.batches += 1;
        let tables = Tables::with_log(self.tables.clone(), &self.log);
        self.state.catalogue = self.model.setup().catalogue.clone();
        let mut batch = Batch::new(&tables, &mut self.state, &self.model.receivers, self.batches);
        let mut plan = ReadPlan::default();
        commands.iter().for_each(|command| command.plan_reads(&mut plan));
        read_ahead::planned(&mut batch, plan).expect("what the commands need can be read");
        let outcomes = commands.iter().map(|command| {
            let command: AnyCommand = sent_to_another_node(command);
            sent_to_another_node(&command.execute(&mut batch).expect("it can be run"))
        });
        let outcomes = outcomes.collect();
        dispatch::claim_parts(&mut batch).expect("parts can be given to links");
        batch.state.delivery.write_if_due(batch.tables, batch.now).expect("figures can be written");
        commands::finish(&mut batch).expect("changes can be applied");
        assert!(batch.results.forbidden.is_empty(), "forbidden: {:?}", batch.results.forbidden);
        assert!(batch.results.set_aside.is_empty(), "set aside: {:?}", batch.results.set_aside);
        let Batch { results: BatchResults { handouts, reports, tally, .. }, now, .. } = batch;
        let handouts = handouts.into_iter().map(|(link, handout)| (link, sent_to_another_node(&handout)));
        let handouts = handouts.collect();
        (Done { outcomes, handouts, reports, tally }, now)
    }

    /// Restarts the engine from the tables.
    pub(super) fn restart(&mut self) {
        self.links.clear();
        self.next_commands.clear();
        self.later.clear();
        self.key_step = None;
        self.posts.clear();
        let seed = self.random.next();
        let tables = Tables::with_log(self.tables.clone(), &self.log);
        self.state = load(&tables, self.model.setup().catalogue.clone(), seed);
        self.batches = 0;
        let mut batch = Batch::new(&tables, &mut self.state, &self.model.receivers, 0);
        recover::mark_sending_in_doubt(&mut batch, self.now).expect("what was being sent can be read");
        commands::finish(&mut batch).expect("changes can be applied");
        let reports = std::mem::take(&mut batch.results.reports);
        drop(tables);
        self.commit_tables();
        self.state.committed(self.now);
        self.model.now = self.now;
        self.model.restart();
        self.compare(&reports);
    }

    fn compare_outcomes(&mut self, commands: &[AnyCommand], done: Done) {
        for (command, outcome) in commands.iter().zip(done.outcomes) {
            self.note(command, outcome);
        }
        let mut handouts: Vec<(LinkId, Handout)> = done.handouts.into_iter().collect();
        handouts.sort_by_key(|(link, _)| link.0);
        for (id, handout) in handouts {
            for job in &handout.jobs {
                let entry = &self.model.messages[&job.message];
                assert_eq!((entry.carrier, entry.account), (job.carrier, job.account), "{job:?}");
                assert_eq!((job.text.as_str(), job.to), (TEXT, entry.to), "{job:?}");
                assert_eq!(usize::from(job.submits()), entry.progress.parts.len(), "{job:?}");
                self.model.apply_event(job.message, job.part, PartEvent::Claimed);
            }
            match self.links.iter_mut().find(|link| link.id == id) {
                Some(link) => link.under_way.extend(handout.jobs),
                None => assert!(handout.jobs.is_empty(), "a closed link gets parts"),
            }
        }
        self.count(&done.tally);
        self.compare(&done.reports);
    }

    fn count(&mut self, tally: &Tally) {
        let coverage = &mut self.model.coverage;
        for (what, times) in [
            ("claimed", tally.claimed),
            ("settled", tally.settled),
            ("refunded", tally.refunded),
            ("in doubt", tally.in_doubt),
            ("resent", tally.resent),
            ("moved", tally.moved),
            ("receipts parked", tally.receipts_parked),
            ("receipts ambiguous", tally.receipts_ambiguous),
            ("receipts matched later", tally.receipts_rematched),
            ("receipts given up", tally.receipts_given_up),
            ("receipts late", tally.receipts_late),
            ("receipts matched by number", tally.receipts_by_number),
            ("carrier ids reused", tally.ids_reused),
            ("reports", tally.reports),
            ("reports taken", tally.reports_accepted),
            ("reports given up", tally.reports_given_up),
            ("reports moved to webhook", tally.reports_moved),
            ("webhook events", tally.webhooks),
            ("webhook delivered", tally.webhooks_delivered),
            ("webhook given up", tally.webhooks_given_up),
            ("webhook replayed", tally.webhooks_replayed),
            ("webhook attempts", tally.webhook_attempts),
            ("texts purged", tally.texts_purged),
            ("records purged", tally.messages_purged),
            ("MO purged", tally.inbound_purged),
            ("MO received", tally.inbound),
            ("MO repeated", tally.inbound_repeated),
            ("MO incomplete", tally.inbound_incomplete),
            ("MO unassigned", tally.inbound_unassigned),
            ("opt-outs by keyword", tally.opt_outs),
            ("opt-ins by keyword", tally.opt_ins),
        ] {
            coverage.count(what, times);
        }
    }

    /// Whether no part is left to send.
    pub(super) fn is_drained(&self) -> bool {
        use hermod_domain::lifecycle::PartState;
        let waiting = [PartState::Queued, PartState::InDoubt, PartState::Sending];
        CARRIERS.iter().all(|carrier| self.model.count(*carrier, &waiting) == 0)
    }
}

/// Encodes and decodes a value, as between two nodes.
fn sent_to_another_node<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let octets = postcard::to_extend(value, Vec::new()).expect("it can be encoded");
    postcard::from_bytes(&octets).expect("it can be decoded")
}
