//! Tests of a carrier's health, its alarms, and when it is stopped.

use super::link::SentPart;
use super::link::alternative_carrier::alternative_carrier;
use super::link_group::LinkGroup;
use super::monitor::CarrierMonitor;
use crate::clock::Clock;
use crate::gateway::Gateway;
use crate::live_status::{AlarmKind, Direction, LinkSettings, LinkState, LinkStatus, QueueStatus};
use crate::secrets::{Pepper, StoreContents};
use hermod_domain::carrier::{ErrorClass, Health, IdConversion, Profile};
use hermod_domain::catalogue::{Carrier, Catalogue, Documents, RouteCarrier, RouteEntry};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId, RouteId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::prefix::Prefix;
use hermod_domain::receipt::ReceiptWords;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_smpp::CommandStatus;
use hermod_store::{LinkKind, LinkNumber, OpenOptions, ReceiptRecord, Store};
use std::sync::Arc;
use std::time::Duration;

const ACME: CarrierId = CarrierId::new(1);
const BETA: CarrierId = CarrierId::new(2);
const SECOND: Duration = Duration::from_secs(1);

/// A carrier with one link, and a clock that the test moves.
struct Stage {
    group: LinkGroup,
    link: Arc<LinkStatus>,
    clock: Clock,
    _folder: tempfile::TempDir,
}

impl Stage {
    fn with(catalogue: Catalogue) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Timestamp::from_millis(1_794_700_800_000));
        let options = OpenOptions {
            folder: folder.path().to_owned(),
            server: None,
            low_water_bytes: 0,
            in_doubt_wait: SECOND,
            record: false,
            now: clock.now(),
        };
        let store = Store::open(&options).unwrap();
        let pepper = Pepper::load_or_make(folder.path(), StoreContents::Empty).unwrap();
        let gateway = Arc::new(Gateway::new(clock.clone(), store, pepper, catalogue, SECOND));
        let state = gateway.carriers.open(ACME, "acme");
        let settings =
            LinkSettings { address: "acme.example:2775".to_owned(), tls: false, window: 10, full_rate: 10 };
        let link = state.link(1, Direction::Both, settings, clock.now());
        let group = LinkGroup::new(gateway, state, carrier());
        Stage { group, link, clock, _folder: folder }
    }

    fn bound() -> Stage {
        let stage = Stage::with(Catalogue::default());
        stage.link.enter(LinkState::Bound, stage.clock.now());
        stage.group.update_health();
        stage
    }

    fn monitor(&self) -> CarrierMonitor<'_> {
        CarrierMonitor::new(&self.group, self.clock.moment())
    }

    /// Looks every second.
    async fn pass(&self, monitor: &mut CarrierMonitor<'_>, seconds: u64) {
        for _ in 0..seconds {
            self.clock.advance(SECOND);
            monitor.check(self.clock.moment()).await.unwrap();
        }
    }

    fn refuse(&self, times: u64, class: ErrorClass, status: CommandStatus) {
        for _ in 0..times {
            self.link.refused(class);
            self.group.report_refusal(class, status);
        }
    }

    fn alarms(&self) -> Vec<String> {
        let listed = self.group.gateway.alarms.list();
        listed
            .iter()
            .map(|alarm| format!("{} {} x{}", alarm.kind.as_str(), alarm.about, alarm.count))
            .collect()
    }

    fn detail(&self, kind: AlarmKind) -> Option<String> {
        let listed = self.group.gateway.alarms.list();
        listed.into_iter().find(|alarm| alarm.kind == kind).map(|alarm| alarm.detail)
    }

    fn health(&self) -> Health {
        self.group.gateway.carriers.health(ACME)
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
        draining: None,
        tls: None,
        profile: Profile::default(),
    }
}

#[tokio::test]
async fn carrier_without_a_link_for_ten_seconds_raises_carrier_down() {
    let stage = Stage::with(Catalogue::default());
    stage.link.failed("the password is wrong".to_owned(), stage.clock.now());
    let mut monitor = stage.monitor();
    stage.pass(&mut monitor, 9).await;
    assert_eq!(stage.alarms(), [""; 0]);
    stage.pass(&mut monitor, 30).await;
    assert_eq!(stage.alarms(), ["carrier-down  x1"], "raised once");
    let expect = "no link has been bound for ten seconds: the password is wrong";
    assert_eq!(stage.detail(AlarmKind::CarrierDown).as_deref(), Some(expect));

    stage.link.enter(LinkState::Bound, stage.clock.now());
    stage.pass(&mut monitor, 1).await;
    assert_eq!((stage.alarms(), stage.health()), (vec![], Health::Up));
    stage.link.enter(LinkState::Draining, stage.clock.now());
    stage.pass(&mut monitor, 5).await;
    assert_eq!((stage.alarms(), stage.health()), (vec![], Health::Down));
    stage.pass(&mut monitor, 6).await;
    assert_eq!(stage.alarms(), ["carrier-down  x1"]);
}

/// A queue of three parts that wait for a slot.
fn waiting(since: Timestamp) -> QueueStatus {
    QueueStatus { waiting: 3, oldest: Some(since), oldest_for_slot: Some(since), ..QueueStatus::default() }
}

#[tokio::test]
async fn carrier_that_binds_and_drops_while_messages_wait_keeps_its_alarm() {
    let stage = Stage::with(Catalogue::default());
    let mut monitor = stage.monitor();
    stage.group.state.set_queue(waiting(stage.clock.now()));
    for _ in 0..20 {
        stage.link.enter(LinkState::Bound, stage.clock.now());
        stage.pass(&mut monitor, 2).await;
        stage.link.enter(LinkState::Waiting, stage.clock.now());
        stage.pass(&mut monitor, 2).await;
    }
    assert_eq!(stage.alarms(), ["carrier-down  x1"], "being bound is not enough");
    let detail = stage.detail(AlarmKind::CarrierDown);
    assert_eq!(detail.as_deref(), Some("messages wait and the carrier answered none for a minute"));
    stage.link.enter(LinkState::Bound, stage.clock.now());
    stage.link.accepted();
    stage.pass(&mut monitor, 1).await;
    assert_eq!(stage.alarms(), [""; 0]);
}

#[tokio::test]
async fn throttled_carrier_with_waiting_messages_is_poor_until_they_are_sent() {
    let stage = Stage::bound();
    let waiting = waiting(stage.clock.now());
    stage.group.state.set_queue(waiting);
    for (throttled, queue, seconds, expect) in [
        (true, waiting, 9, Health::Up),
        (true, waiting, 1, Health::Poor),
        (false, waiting, 1, Health::Up),
        (true, QueueStatus::default(), 1, Health::Up),
    ] {
        stage.link.set_rate(5, throttled);
        stage.group.state.set_queue(queue);
        stage.clock.advance(seconds * SECOND);
        stage.group.update_health();
        assert_eq!(stage.health(), expect, "throttled: {throttled}, {queue:?}");
    }
}

/// Passes on what a node with the engine and a node with the links tell each other every second.
fn exchange_notices(engine: &Stage, links: &Stage) {
    let (at_engine, at_links) = (&engine.group.gateway.carriers, &links.group.gateway.carriers);
    at_links.set_queues(&at_engine.queues());
    links.group.update_health();
    at_engine.set_elsewhere(at_links.sending(links.clock.moment(), links.clock.now()));
}

#[tokio::test]
async fn carrier_that_refuses_everything_is_poor_at_the_engine_of_another_node_while_messages_wait() {
    let (engine, links) = (Stage::with(Catalogue::default()), Stage::bound());
    let (carriers, moment) = (&engine.group.gateway.carriers, engine.clock.moment());
    links.refuse(5, ErrorClass::Temporary, CommandStatus::SYSERR);
    exchange_notices(&engine, &links);
    assert_eq!(carriers.health(ACME), Health::Up, "nothing waits");
    engine.group.state.set_queue(waiting(engine.clock.now()));
    exchange_notices(&engine, &links);
    assert_eq!((carriers.health(ACME), carriers.accepts(ACME, moment)), (Health::Poor, false));
    links.link.accepted();
    exchange_notices(&engine, &links);
    assert_eq!((carriers.health(ACME), carriers.accepts(ACME, moment)), (Health::Up, true));
    engine.group.state.set_queue(QueueStatus::default());
    exchange_notices(&engine, &links);
    assert_eq!(links.group.state.queue(), QueueStatus::default());
}

#[tokio::test]
async fn carrier_is_slow_if_it_throttles_the_links_of_all_nodes_and_their_rates_are_added() {
    let (engine, links) = (Stage::bound(), Stage::bound());
    let carriers = &engine.group.gateway.carriers;
    engine.group.state.set_queue(waiting(engine.clock.now()));
    for stage in [&engine, &links] {
        stage.clock.advance(10 * SECOND);
    }
    for (here, elsewhere, expect) in
        [(false, false, false), (true, false, false), (false, true, false), (true, true, true)]
    {
        engine.link.set_rate(5, here);
        links.link.set_rate(3, elsewhere);
        exchange_notices(&engine, &links);
        assert_eq!(carriers.is_slow(ACME, engine.clock.now()), expect, "{here} {elsewhere}");
        assert_eq!(carriers.rate_now(ACME), 8);
    }
    engine.link.enter(LinkState::Waiting, engine.clock.now());
    assert!(carriers.is_slow(ACME, engine.clock.now()), "without a link of its own");
    assert_eq!(carriers.rate_now(ACME), 3);
}

/// A receipt with an id that matches no part.
fn stray(sequence: u32) -> ReceiptRecord {
    let remote = RemoteId::from_text(&format!("27{sequence:03}")).ok();
    let verdict = DeliveryOutcome::Delivered;
    ReceiptRecord {
        sequence,
        remote,
        verdict,
        err: 0,
        word: None,
        words: ReceiptWords::default(),
        source: None,
        sender: None,
    }
}

#[tokio::test]
async fn unmatched_receipts_raise_an_alarm_until_they_match() {
    let stage = Stage::bound();
    let mut monitor = stage.monitor();
    (0..200).for_each(|_| stage.link.receipt());
    stage.link.unmatched_receipts(3);
    stage.pass(&mut monitor, 30).await;
    assert_eq!(stage.alarms(), [""; 0], "they have been matched since");

    let store = &stage.group.gateway.store;
    let port =
        store.open_link(ACME, LinkNumber(1), LinkKind::ReceivesOnly, IdConversion::None).await.unwrap();
    port.record(vec![], (0..3).map(stray).collect(), Vec::new(), 0, stage.clock.now()).await.unwrap();
    assert_eq!(port.handout().await.recorded.len(), 3);
    stage.pass(&mut monitor, 5).await;
    assert_eq!(stage.alarms(), [""; 0], "their submit_sm_resp may still come");
    stage.pass(&mut monitor, 30).await;
    assert_eq!(stage.alarms(), ["unmatched-receipts  x1"]);
    let detail = stage.detail(AlarmKind::UnmatchedReceipts).unwrap();
    let expect = "3 of 200 receipts in five minutes match no part: example id in a submit_sm_resp (none), in a receipt \"27";
    assert!(detail.starts_with(expect), "{detail}");
    (0..200).for_each(|_| stage.link.receipt());
    stage.pass(&mut monitor, 1).await;
    assert_eq!(stage.alarms(), [""; 0]);
}

#[tokio::test]
async fn carrier_with_too_many_protocol_errors_is_stopped_until_it_is_resumed() {
    let stage = Stage::bound();
    let mut monitor = stage.monitor();
    (0..30).for_each(|_| stage.link.accepted());
    stage.refuse(1, ErrorClass::ProtocolError, CommandStatus::INVESMCLASS);
    assert_eq!((stage.alarms(), stage.health()), (vec!["protocol-error 0x43 x1".to_owned()], Health::Up));
    stage.refuse(1, ErrorClass::ProtocolError, CommandStatus::INVESMCLASS);
    assert_eq!(stage.health(), Health::Stopped);
    assert_eq!(stage.alarms(), ["carrier-stopped  x1", "protocol-error 0x43 x2"]);
    let why = stage.group.state.stopped().unwrap().why;
    assert!(why.starts_with("2 of the last minute's 32 responses were protocol errors"), "{why}");
    stage.pass(&mut monitor, 300).await;
    assert_eq!(stage.health(), Health::Stopped, "it does not resume by itself");

    assert!(stage.group.gateway.carriers.resume(ACME, stage.clock.moment()));
    stage.pass(&mut monitor, 1).await;
    assert_eq!((stage.alarms(), stage.health()), (vec!["protocol-error 0x43 x2".to_owned()], Health::Up));
    stage.refuse(1, ErrorClass::ProtocolError, CommandStatus::INVESMCLASS);
    assert_eq!(stage.health(), Health::Up, "errors before the resume do not count");
}

#[test]
fn each_unknown_status_raises_one_alarm() {
    let stage = Stage::bound();
    stage.refuse(3, ErrorClass::Unknown, CommandStatus(0x0400));
    stage.refuse(1, ErrorClass::Unknown, CommandStatus(0x0401));
    stage.refuse(5, ErrorClass::Temporary, CommandStatus::SYSERR);
    stage.refuse(5, ErrorClass::RejectedRoute, CommandStatus::SUBMITFAIL);
    assert_eq!(stage.alarms(), ["unknown-status 0x400 x3", "unknown-status 0x401 x1"]);
}

#[test]
fn alternative_carrier_is_named_only_for_classes_that_may_fail_over() {
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
            fail_over_after_ms: None,
            costs: Default::default(),
        };
        let carriers = vec![(ACME, "acme".to_owned(), carrier()), (BETA, "beta".to_owned(), carrier())];
        let routes = vec![(RouteId::new(1), route)];
        Stage::with(Catalogue::build(Documents { routes, carriers, ..Documents::default() }).unwrap())
    };
    let sent = |to| SentPart {
        message: MessageId::parse("184467440737095516").unwrap(),
        part: PartNo::FIRST,
        account: AccountId::new(1),
        from: Sender::parse("ACME").unwrap(),
        to: Msisdn::parse(to).unwrap(),
        parts: 1,
        price: Money::ZERO,
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
        stage.group.gateway.carriers.set_health(BETA, health);
        for class in classes {
            let found =
                alternative_carrier(&stage.group, &sent(to), *class).map(|elsewhere| elsewhere.carrier);
            assert_eq!(found, expect, "{class:?} {health:?} {to}");
        }
    }
}
