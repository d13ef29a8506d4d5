//! The steps of messages: their kinds, order and times, and that a rolled-back batch has none.

use crate::memory::{Dump, MemoryTables};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, PartNo, RemoteId};
use hermod_domain::lifecycle::{Billable, DeliveryOutcome, DoubtPolicy, MessageState, RejectionCause};
use hermod_domain::money::Money;
use hermod_domain::origin::{Origin, RegisteredDelivery, SmppAddress};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::{DlrCode, ReceiptWords, ReportStatus};
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_domain::time::Timestamp;
use hermod_engine::batch::{Batch, BatchResults, BoundReceivers, EngineState};
use hermod_engine::commands::{self, AnyCommand, OpenLink, PurgeRecords};
use hermod_engine::dispatch;
use hermod_engine::ops::SubmitNote;
use hermod_engine::ops::{
    Acceptance, DailyLimits, Job, LinkBatch, LinkId, LinkKind, LinkNumber, ReceiptRecord, ReportId,
    ResponseRecord, Retention, SubmitResponse, TargetCarrier,
};
use hermod_engine::read_ahead::{self, ReadPlan};
use hermod_engine::recover;
use hermod_engine::steps::{CarrierWord, MessageStep, NextResend, StepKind};
use hermod_engine::tables::{ChangeLog, Tables};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

const ACCOUNT: AccountId = AccountId::new(1);
pub(crate) const CONNECTION: ConnectionId = ConnectionId::new(1);
pub(crate) const ACME: CarrierId = CarrierId::new(1);
const OTHER: CarrierId = CarrierId::new(2);
pub(crate) const ACME_LINK: LinkId = LinkId(7);
const OTHER_LINK: LinkId = LinkId(8);
/// The number of each of them at its carrier.
const NUMBER: LinkNumber = LinkNumber(2);
const IN_DOUBT_WAIT: Duration = Duration::from_secs(5);
const NO: SubmitResponse = SubmitResponse::Refused { about: RejectionCause::Other, status: 0x45 };

struct AllBound;

impl BoundReceivers for AllBound {
    fn away_since(&self, _: ConnectionId, _: Timestamp) -> Option<Timestamp> {
        None
    }

    fn is_bound(&self, _: ConnectionId) -> bool {
        true
    }
}

/// An engine over tables in memory, with one link to each carrier.
pub(crate) struct World {
    tables: MemoryTables,
    /// The changes of the last batch.
    pub(crate) log: RefCell<ChangeLog>,
    pub(crate) state: EngineState,
    batches: u64,
    pub(crate) now: Timestamp,
    /// The jobs of the last handout.
    pub(crate) jobs: Vec<Job>,
    /// The last sequence number of a receipt.
    sequence: u32,
}

impl World {
    pub(crate) fn new() -> World {
        let tables = MemoryTables::default();
        let state = EngineState::load(&Tables::new(tables.clone()), Arc::default(), IN_DOUBT_WAIT, 1)
            .expect("empty tables");
        let now = Timestamp::from_millis(1_780_000_000_000);
        let (log, jobs) = (RefCell::default(), Vec::new());
        let mut world = World { tables, log, state, batches: 0, now, jobs, sequence: 0 };
        for (carrier, link) in [(ACME, ACME_LINK), (OTHER, OTHER_LINK)] {
            world.run(OpenLink { carrier, link, number: NUMBER, kind: LinkKind::Sends });
            world.add_slots(carrier, link);
        }
        world
    }

    /// Runs a command as one batch, up to its commit. Returns its steps.
    fn execute(&mut self, command: impl Into<AnyCommand>) -> Vec<MessageStep> {
        self.execute_all(vec![command.into()])
    }

    /// Loads the engine from the tables again, with new links.
    pub(crate) fn restart(&mut self) {
        self.state = EngineState::load(&Tables::new(self.tables.clone()), Arc::default(), IN_DOUBT_WAIT, 1)
            .expect("tables");
        for (carrier, link) in [(ACME, ACME_LINK), (OTHER, OTHER_LINK)] {
            self.run(OpenLink { carrier, link, number: NUMBER, kind: LinkKind::Sends });
        }
    }

    /// Puts the parts in doubt that were being sent before the last start.
    pub(crate) fn mark_sending_in_doubt(&mut self) {
        let tables = Tables::new(self.tables.clone());
        let mut batch = Batch::new(&tables, &mut self.state, &AllBound, 0);
        recover::mark_sending_in_doubt(&mut batch, self.now).expect("parts can be put in doubt");
        commands::finish(&mut batch).expect("changes can be applied");
    }

    pub(crate) fn tables(&self) -> Tables<'_> {
        Tables::new(self.tables.clone())
    }

    /// Returns how often a table was read.
    pub(crate) fn reads(&self) -> usize {
        self.tables.reads()
    }

    pub(crate) fn dump(&self) -> Dump {
        self.tables.dump()
    }

    /// Runs commands as one batch, up to its commit. Returns its steps.
    fn execute_all(&mut self, commands: Vec<AnyCommand>) -> Vec<MessageStep> {
        self.batches += 1;
        self.log.borrow_mut().clear();
        let tables = Tables::with_log(self.tables.clone(), &self.log);
        let mut batch = Batch::new(&tables, &mut self.state, &AllBound, self.batches);
        let mut plan = ReadPlan::default();
        commands.iter().for_each(|command| command.plan_reads(&mut plan));
        read_ahead::planned(&mut batch, plan).expect("what the commands need can be read");
        for command in commands {
            command.execute(&mut batch).expect("it can be run");
        }
        dispatch::claim_parts(&mut batch).expect("parts can be given to links");
        commands::finish(&mut batch).expect("changes can be applied");
        let BatchResults { steps, handouts, .. } = batch.results;
        self.jobs = handouts.into_values().flat_map(|handout| handout.jobs).collect();
        steps
    }

    /// Runs a command as one batch a second after the last, and commits it. Returns its steps.
    pub(crate) fn run(&mut self, command: impl Into<AnyCommand>) -> Vec<MessageStep> {
        self.run_all(vec![command.into()])
    }

    /// Runs commands as one batch a second after the last, and commits it. Returns its steps.
    pub(crate) fn run_all(&mut self, commands: Vec<AnyCommand>) -> Vec<MessageStep> {
        let steps = self.execute_all(commands);
        self.tables.commit();
        self.state.committed(self.now);
        self.now = self.now.plus(Duration::from_secs(1));
        steps
    }

    /// Returns an SMPP message that requests a final receipt.
    pub(crate) fn sms(&self) -> Acceptance {
        let origin = Origin {
            registered_delivery: RegisteredDelivery::from_octet(1),
            short_id: false,
            on_transmitter: false,
            reference: None,
            source: SmppAddress::default(),
            destination: SmppAddress::default(),
            quote: Default::default(),
        };
        Acceptance {
            account: ACCOUNT,
            connection: CONNECTION,
            carrier: ACME,
            to: Msisdn::from_number(4_915_112_345_678).expect("a number"),
            from: Sender::parse("Hermod").expect("a sender"),
            text: MessageText::parse("hello").expect("a text"),
            encoding: Encoding::Gsm7,
            parts: 1,
            whole: false,
            tlvs: None,
            options: None,
            origin: Some(Arc::new(origin)),
            reply_to: None,
            cost: Money::ZERO,
            carrier_cost: None,
            credit_limit: Money::ZERO,
            minimum: Money::ZERO,
            daily: DailyLimits::default(),
            velocity: Vec::new(),
            key: None,
            doubt: DoubtPolicy::ResendOnce,
            note: SubmitNote::default(),
            validity: Duration::from_secs(86_400),
            now: self.now,
        }
    }

    fn accept(&mut self) -> Vec<MessageStep> {
        let sms = Box::new(self.sms());
        self.run(sms)
    }

    pub(crate) fn link_batch(&self, carrier: CarrierId, link: LinkId) -> LinkBatch {
        let (answers, receipts, inbound) = (Vec::new(), Vec::new(), Vec::new());
        let ids = IdConversion::None;
        LinkBatch { carrier, ids, link, responses: answers, receipts, inbound, slots: 5, now: self.now }
    }

    fn add_slots(&mut self, carrier: CarrierId, link: LinkId) -> Vec<MessageStep> {
        self.run(self.link_batch(carrier, link))
    }

    /// Answers the last part; another carrier is offered.
    fn respond(&mut self, answer: SubmitResponse) -> Vec<MessageStep> {
        let batch = self.answer_batch(answer);
        self.run(batch)
    }

    fn answer_batch(&self, answer: SubmitResponse) -> LinkBatch {
        let job = self.jobs.first().expect("a part that was given to a link");
        let Job { message, part, account, to, carrier, .. } = *job;
        let (link, other) = if carrier == ACME { (ACME_LINK, OTHER) } else { (OTHER_LINK, ACME) };
        let otherwise = Some(TargetCarrier { carrier: other, whole: false, cost: None });
        let record = ResponseRecord { message, part, account, to, response: answer, failover_to: otherwise };
        LinkBatch { responses: vec![record], ..self.link_batch(carrier, link) }
    }

    fn receipt(&mut self, id: &str, verdict: DeliveryOutcome, word: Option<&str>) -> Vec<MessageStep> {
        let batch = self.receipt_batch(id, verdict, word);
        self.run(batch)
    }

    fn receipt_batch(&mut self, id: &str, verdict: DeliveryOutcome, word: Option<&str>) -> LinkBatch {
        self.sequence += 1;
        let (remote, word) = (Some(remote(id)), word.map(Into::into));
        let (sequence, source, sender) = (self.sequence, None, None);
        let words = words();
        let record = ReceiptRecord { sequence, remote, verdict, err: 3, word, words, source, sender };
        LinkBatch { receipts: vec![record], ..self.link_batch(ACME, ACME_LINK) }
    }
}

pub(crate) fn remote(id: &str) -> RemoteId {
    RemoteId::from_text(id).expect("an id")
}

fn kinds(steps: &[MessageStep]) -> Vec<StepKind> {
    steps.iter().map(|step| step.kind.clone()).collect()
}

/// The words of every receipt in these tests.
fn words() -> ReceiptWords {
    ReceiptWords::new(Some(b"DELIVRD"), None)
}

/// The end of a message of which its carrier can bill this many parts.
fn ended(state: MessageState, code: DlrCode, err: u16, (submitted, delivered): (u16, u16)) -> StepKind {
    StepKind::Ended { state, code, err, refund: None, billable: Billable { submitted, delivered } }
}

const ACCEPTED: StepKind = StepKind::Accepted { account: ACCOUNT, carrier: ACME, parts: 1 };
const SENT: StepKind = StepKind::Sent { carrier: ACME, link: NUMBER };

#[test]
fn ordinary_message_has_accepted_sent_answered_receipt_and_report_steps_in_order() {
    let mut world = World::new();
    let began = world.now;
    let mut steps = world.accept();
    steps.extend(world.respond(SubmitResponse::Accepted(remote("a"))));
    steps.extend(world.receipt("a", DeliveryOutcome::Delivered, None));
    let told = ReportStatus::Final(DlrCode::Delivrd);
    assert_eq!(
        kinds(&steps),
        [
            ACCEPTED,
            SENT,
            StepKind::CarrierAccepted { carrier: ACME, remote: remote("a") },
            StepKind::State(MessageState::Submitted),
            StepKind::Receipt { carrier: ACME, verdict: DeliveryOutcome::Delivered, err: 3, words: words() },
            ended(MessageState::Delivered, DlrCode::Delivrd, 3, (1, 1)),
            StepKind::Reported { connection: CONNECTION, report: ReportId(1), status: told },
        ]
    );
    let times: Vec<u64> = steps.iter().map(|step| step.at.since(began).as_secs()).collect();
    assert_eq!(times, [0, 0, 1, 1, 2, 2, 2]);
    assert!(steps.iter().all(|step| step.message == steps[0].message && step.part == PartNo::FIRST));
    assert!(steps.is_sorted_by(|one, next| one.id < next.id), "{steps:?}");
    assert!(world.tables.dump().table("timeline").is_empty(), "an ordinary message has no timeline");
}

#[test]
fn failover_after_a_rejection_has_refused_failed_over_and_sent_steps() {
    let mut world = World::new();
    world.accept();
    let steps = world.respond(NO);
    assert_eq!(
        kinds(&steps),
        [
            StepKind::Refused { carrier: ACME, status: 0x45 },
            StepKind::CarrierCost { cost: None, earlier: None },
            StepKind::FailedOver { from: ACME, to: OTHER },
            StepKind::Sent { carrier: OTHER, link: NUMBER },
        ]
    );
    assert_eq!(world.tables.dump().table("timeline").len(), 2, "only unusual steps are stored");
    let steps = world.respond(NO);
    let told = ReportStatus::Final(DlrCode::Rejectd);
    assert_eq!(
        kinds(&steps),
        [
            StepKind::Rejected { carrier: OTHER, status: 0x45 },
            ended(MessageState::Undeliverable, DlrCode::Rejectd, 10_069, (0, 0)),
            StepKind::Reported { connection: CONNECTION, report: ReportId(1), status: told },
        ]
    );
}

#[test]
fn rolled_back_batch_has_no_steps_and_its_step_ids_are_not_reused() {
    let mut world = World::new();
    world.accept();
    let refused = world.answer_batch(NO);
    let lost = world.execute(refused);
    assert_eq!(lost.len(), 4);
    world.tables.roll_back();
    world.state.rolled_back(&Tables::new(world.tables.clone())).unwrap();
    assert!(world.tables.dump().table("timeline").is_empty());
    // The same engine and a restarted one assign ids above all reserved ones.
    let next = world.accept();
    assert!(next[0].id > lost[3].id, "{next:?}");
    world.state =
        EngineState::load(&Tables::new(world.tables.clone()), Arc::default(), IN_DOUBT_WAIT, 1).unwrap();
    let after_start = world.accept();
    assert!(after_start[0].id > next.last().unwrap().id, "{after_start:?}");
}

#[test]
fn late_receipts_are_steps_up_to_the_timeline_limit() {
    let mut world = World::new();
    world.accept();
    world.respond(SubmitResponse::Accepted(remote("a")));
    world.receipt("a", DeliveryOutcome::Delivered, None);
    let mut late = Vec::new();
    for _ in 0..20 {
        late.extend(world.receipt("a", DeliveryOutcome::Expired, Some("EXPIRED")));
    }
    let word = Some(CarrierWord("EXPIRED".into()));
    let expected = StepKind::LateReceipt { verdict: DeliveryOutcome::Expired, err: 3, word };
    assert_eq!(kinds(&late), vec![expected; 10]);
    assert!(!format!("{late:?}").contains("EXPIRED"), "the receipt's text is not printed");
}

#[test]
fn late_receipt_and_purge_of_its_message_in_one_batch_leave_no_rows() {
    for receipt_is_first in [true, false] {
        let mut world = World::new();
        world.accept();
        world.respond(SubmitResponse::Accepted(remote("a")));
        world.receipt("a", DeliveryOutcome::Delivered, None);
        let keep = Duration::from_secs(400 * 86_400);
        world.now = world.now.plus(keep + Duration::from_secs(2 * 86_400));
        let keep =
            Retention { text: keep, messages: keep, idempotency_keys: keep, inbound: keep, requests: keep };
        let purge = AnyCommand::from(PurgeRecords { keep, now: world.now });
        let late = AnyCommand::from(world.receipt_batch("a", DeliveryOutcome::Expired, None));
        let commands = if receipt_is_first { vec![late, purge] } else { vec![purge, late] };
        world.execute_all(commands);
        world.tables.commit();
        let dump = world.tables.dump();
        for table in ["message", "timeline", "message_exception"] {
            assert!(dump.table(table).is_empty(), "{table}, receipt first: {receipt_is_first}");
        }
    }
}

#[test]
fn part_without_a_response_has_in_doubt_and_resent_steps() {
    let mut world = World::new();
    world.accept();
    let steps = world.respond(SubmitResponse::NoResponse);
    let next = Some(NextResend { number: 1, max: 1 });
    assert_eq!(kinds(&steps), [StepKind::InDoubt { carrier: ACME, next }]);
    world.now = world.now.plus(IN_DOUBT_WAIT);
    let released = hermod_engine::commands::ReleaseDue { now: world.now };
    assert_eq!(kinds(&world.run(released)), [StepKind::Resent { carrier: ACME, link: NUMBER, resend: 1 }]);
    let steps = world.respond(SubmitResponse::NoResponse);
    let presumed = StepKind::State(MessageState::Submitted);
    assert_eq!(kinds(&steps), [presumed, StepKind::InDoubt { carrier: ACME, next: None }]);
}
