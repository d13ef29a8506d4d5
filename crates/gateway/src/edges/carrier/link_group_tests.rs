//! What is told about a carrier: its health, its alarms, and when it is stopped.

use super::link::Sent;
use super::link::alternative_carrier::otherwise;
use super::link_group::Account;
use super::monitor::Overseer;
use crate::board::{AlarmKind, Direction, LinkFigures, LinkSettings, LinkState, QueueSeen};
use crate::clock::Clock;
use crate::secrets::{Pepper, StoreContents};
use crate::world::World;
use hermod_domain::carrier::{ErrorClass, Health, IdConversion, Profile};
use hermod_domain::catalogue::{Carrier, Catalogue, Documents, RouteCarrier, RouteEntry};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId, RouteId};
use hermod_domain::lifecycle::Verdict;
use hermod_domain::phone::Msisdn;
use hermod_domain::prefix::Prefix;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_smpp::CommandStatus;
use hermod_store::{LinkKind, OpenOptions, ReceiptRecord, Store};
use std::sync::Arc;
use std::time::Duration;

const ACME: CarrierId = CarrierId::new(1);
const BETA: CarrierId = CarrierId::new(2);
const SECOND: Duration = Duration::from_secs(1);

/// A carrier with one link, and a clock that the test moves.
struct Stage {
    account: Account,
    link: Arc<LinkFigures>,
    clock: Clock,
    _folder: tempfile::TempDir,
}

impl Stage {
    fn with(catalogue: Catalogue) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Timestamp::from_millis(1_794_700_800_000));
        let options = OpenOptions {
            folder: folder.path().to_owned(),
            low_water_bytes: 0,
            in_doubt_wait: SECOND,
            now: clock.now(),
        };
        let store = Store::open(&options).unwrap();
        let pepper = Pepper::load_or_make(folder.path(), StoreContents::Empty).unwrap();
        let world = Arc::new(World::new(clock.clone(), store, pepper, catalogue, SECOND));
        let state = world.carriers.open(ACME, "acme");
        let settings =
            LinkSettings { address: "acme.example:2775".to_owned(), tls: false, window: 10, full_rate: 10 };
        let link = state.link(1, Direction::Both, settings, clock.now());
        let account = Account::new(world, state, carrier());
        Stage { account, link, clock, _folder: folder }
    }

    fn bound() -> Stage {
        let stage = Stage::with(Catalogue::default());
        stage.link.enter(LinkState::Bound, stage.clock.now());
        stage.account.judge();
        stage
    }

    fn overseer(&self) -> Overseer<'_> {
        Overseer::new(&self.account, self.clock.moment())
    }

    /// Looks every second.
    async fn pass(&self, overseer: &mut Overseer<'_>, seconds: u64) {
        for _ in 0..seconds {
            self.clock.advance(SECOND);
            overseer.look(self.clock.moment()).await.unwrap();
        }
    }

    fn refuse(&self, times: u64, class: ErrorClass, status: CommandStatus) {
        for _ in 0..times {
            self.link.refused(class);
            self.account.look_into(class, status);
        }
    }

    fn alarms(&self) -> Vec<String> {
        let listed = self.account.world.alarms.list();
        listed
            .iter()
            .map(|alarm| format!("{} {} x{}", alarm.kind.as_str(), alarm.about, alarm.count))
            .collect()
    }

    fn detail(&self, kind: AlarmKind) -> Option<String> {
        let listed = self.account.world.alarms.list();
        listed.into_iter().find(|alarm| alarm.kind == kind).map(|alarm| alarm.detail)
    }

    fn health(&self) -> Health {
        self.account.world.carriers.health(ACME)
    }
}

fn carrier() -> Carrier {
    Carrier {
        address: "acme.example:2775".to_owned(),
        system_id: "hermod".to_owned(),
        password: String::new(),
        system_type: String::new(),
        window: 10,
        parts_per_second: 10,
        response_timeout_ms: 60_000,
        enquire_link_ms: 30_000,
        disabled: false,
        tls: None,
        profile: Profile::default(),
    }
}

#[tokio::test]
async fn a_carrier_without_a_link_for_a_minute_needs_somebody() {
    let stage = Stage::with(Catalogue::default());
    stage.link.failed("the password is wrong".to_owned(), stage.clock.now());
    let mut overseer = stage.overseer();
    stage.pass(&mut overseer, 59).await;
    assert_eq!(stage.alarms(), [""; 0]);
    stage.pass(&mut overseer, 30).await;
    assert_eq!(stage.alarms(), ["carrier-down  x1"], "told once");
    let expect = "no link has been bound for a minute: the password is wrong";
    assert_eq!(stage.detail(AlarmKind::CarrierDown).as_deref(), Some(expect));

    stage.link.enter(LinkState::Bound, stage.clock.now());
    stage.pass(&mut overseer, 1).await;
    assert_eq!((stage.alarms(), stage.health()), (vec![], Health::Up));
    stage.link.enter(LinkState::Draining, stage.clock.now());
    stage.pass(&mut overseer, 30).await;
    assert_eq!((stage.alarms(), stage.health()), (vec![], Health::Down));
    stage.pass(&mut overseer, 31).await;
    assert_eq!(stage.alarms(), ["carrier-down  x1"]);
}

#[tokio::test]
async fn carrier_that_binds_and_drops_while_messages_wait_keeps_its_alarm() {
    let stage = Stage::with(Catalogue::default());
    let mut overseer = stage.overseer();
    stage.account.state.set_queue(QueueSeen { waiting: 3, oldest: Some(stage.clock.now()) });
    for _ in 0..20 {
        stage.link.enter(LinkState::Bound, stage.clock.now());
        stage.pass(&mut overseer, 2).await;
        stage.link.enter(LinkState::Waiting, stage.clock.now());
        stage.pass(&mut overseer, 2).await;
    }
    assert_eq!(stage.alarms(), ["carrier-down  x1"], "being bound is not enough");
    let detail = stage.detail(AlarmKind::CarrierDown);
    assert_eq!(detail.as_deref(), Some("messages wait and none was answered for a minute"));
    stage.link.enter(LinkState::Bound, stage.clock.now());
    stage.link.accepted();
    stage.pass(&mut overseer, 1).await;
    assert_eq!(stage.alarms(), [""; 0]);
}

#[tokio::test]
async fn carrier_that_throttles_while_messages_wait_does_poorly_until_they_are_sent() {
    let stage = Stage::bound();
    let waiting = QueueSeen { waiting: 3, oldest: Some(stage.clock.now()) };
    stage.account.state.set_queue(waiting);
    for (throttled, queue, seconds, expect) in [
        (true, waiting, 9, Health::Up),
        (true, waiting, 1, Health::Poor),
        (false, waiting, 1, Health::Up),
        (true, QueueSeen::default(), 1, Health::Up),
    ] {
        stage.link.set_rate(5, throttled);
        stage.account.state.set_queue(queue);
        stage.clock.advance(seconds * SECOND);
        stage.account.judge();
        assert_eq!(stage.health(), expect, "throttled: {throttled}, {queue:?}");
    }
}

/// A receipt with an id that nobody gave.
fn stray(sequence: u32) -> ReceiptRecord {
    let remote = RemoteId::from_text(&format!("27{sequence:03}")).ok();
    let verdict = Verdict::Delivered;
    ReceiptRecord { sequence, remote, verdict, err: 0, word: None, source: None, sender: None }
}

#[tokio::test]
async fn receipts_that_match_nothing_are_told_until_they_match() {
    let stage = Stage::bound();
    let mut overseer = stage.overseer();
    (0..200).for_each(|_| stage.link.receipt());
    stage.link.unmatched_receipts(3);
    stage.pass(&mut overseer, 30).await;
    assert_eq!(stage.alarms(), [""; 0], "they have found their answers since");

    let store = &stage.account.world.store;
    let port = store.open_link(ACME, LinkKind::ReceivesOnly, IdConversion::None).await.unwrap();
    port.record(vec![], (0..3).map(stray).collect(), Vec::new(), 0, stage.clock.now()).await.unwrap();
    assert_eq!(port.handout().await.recorded.len(), 3);
    stage.pass(&mut overseer, 5).await;
    assert_eq!(stage.alarms(), [""; 0], "their answers may still come");
    stage.pass(&mut overseer, 30).await;
    assert_eq!(stage.alarms(), ["unmatched-receipts  x1"]);
    let detail = stage.detail(AlarmKind::UnmatchedReceipts).unwrap();
    let expect =
        "3 of the 200 receipts of five minutes match nothing: an answer gives the id (none), a receipt \"27";
    assert!(detail.starts_with(expect), "{detail}");
    (0..200).for_each(|_| stage.link.receipt());
    stage.pass(&mut overseer, 1).await;
    assert_eq!(stage.alarms(), [""; 0]);
}

#[tokio::test]
async fn a_carrier_that_finds_us_wrong_too_often_is_stopped_until_it_is_resumed() {
    let stage = Stage::bound();
    let mut overseer = stage.overseer();
    (0..30).for_each(|_| stage.link.accepted());
    stage.refuse(1, ErrorClass::ProtocolError, CommandStatus::INVESMCLASS);
    assert_eq!((stage.alarms(), stage.health()), (vec!["protocol-error 0x43 x1".to_owned()], Health::Up));
    stage.refuse(1, ErrorClass::ProtocolError, CommandStatus::INVESMCLASS);
    assert_eq!(stage.health(), Health::Stopped);
    assert_eq!(stage.alarms(), ["carrier-stopped  x1", "protocol-error 0x43 x2"]);
    let why = stage.account.state.stopped().unwrap().why;
    assert!(why.starts_with("2 of the last minute's 32 answers said that we are wrong"), "{why}");
    stage.pass(&mut overseer, 300).await;
    assert_eq!(stage.health(), Health::Stopped, "it does not come back by itself");

    assert!(stage.account.world.carriers.resume(ACME, stage.clock.moment()));
    stage.pass(&mut overseer, 1).await;
    assert_eq!((stage.alarms(), stage.health()), (vec!["protocol-error 0x43 x2".to_owned()], Health::Up));
    stage.refuse(1, ErrorClass::ProtocolError, CommandStatus::INVESMCLASS);
    assert_eq!(stage.health(), Health::Up, "what was before is not held against it");
}

#[test]
fn a_number_that_nobody_knows_is_one_alarm_each() {
    let stage = Stage::bound();
    stage.refuse(3, ErrorClass::Unknown, CommandStatus(0x0400));
    stage.refuse(1, ErrorClass::Unknown, CommandStatus(0x0401));
    stage.refuse(5, ErrorClass::Temporary, CommandStatus::SYSERR);
    stage.refuse(5, ErrorClass::RejectedRoute, CommandStatus::SUBMITFAIL);
    assert_eq!(stage.alarms(), ["unknown-status 0x400 x3", "unknown-status 0x401 x1"]);
}

#[test]
fn another_carrier_is_named_where_it_might_do_better() {
    let carriers =
        [(1, ACME), (2, BETA)].map(|(priority, carrier)| RouteCarrier { carrier, priority, weight: 1 });
    let route = |fail_over_refusals| {
        let route = RouteEntry {
            account: None,
            sender: None,
            prefix: Some(Prefix::parse("49").unwrap()),
            network: None,
            mcc: None,
            country: None,
            carriers: carriers.to_vec(),
            in_doubt: None,
            fail_over_refusals,
        };
        let carriers = vec![(ACME, "acme".to_owned(), carrier()), (BETA, "beta".to_owned(), carrier())];
        let routes = vec![(RouteId::new(1), route)];
        Stage::with(Catalogue::build(Documents { routes, carriers, ..Documents::default() }).unwrap())
    };
    let sent = |to| Sent {
        message: MessageId::parse("184467440737095516").unwrap(),
        part: PartNo::FIRST,
        account: AccountId::new(1),
        from: Sender::parse("ACME").unwrap(),
        to: Msisdn::parse(to).unwrap(),
    };
    use ErrorClass::{
        NotBound, ProtocolError, RejectedDestination, RejectedMessage, RejectedRoute, Temporary, Throttled,
        Unknown,
    };
    let (willing, unwilling) = (route(true), route(false));
    for (stage, health, to, classes, expect) in [
        (
            &willing,
            Health::Up,
            "+4915112345678",
            &[Throttled, Temporary, NotBound, RejectedRoute, Unknown, ProtocolError][..],
            Some(BETA),
        ),
        (&willing, Health::Up, "+4915112345678", &[RejectedMessage, RejectedDestination], None),
        (&willing, Health::Down, "+4915112345678", &ErrorClass::ALL, None),
        (&willing, Health::Up, "+447911123456", &ErrorClass::ALL, None),
        (&unwilling, Health::Up, "+4915112345678", &[Temporary, NotBound], Some(BETA)),
        (&unwilling, Health::Up, "+4915112345678", &[RejectedRoute, Unknown, ProtocolError], None),
    ] {
        stage.account.world.carriers.set_health(BETA, health);
        for class in classes {
            let found = otherwise(&stage.account, &sent(to), *class).map(|elsewhere| elsewhere.carrier);
            assert_eq!(found, expect, "{class:?} {health:?} {to}");
        }
    }
}
