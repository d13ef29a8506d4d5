//! Answers and receipts in either order, within a day and over midnight.

use super::*;
use tempfile::TempDir;

const ACME: CarrierId = CarrierId::new(1);
const OTHER: CarrierId = CarrierId::new(2);
const TODAY: Day = Day::new(20_771);

struct World {
    connection: Connection,
    remotes: RemoteDays,
    _folder: TempDir,
}

impl World {
    fn new() -> World {
        let folder = TempDir::new().unwrap();
        let connection = schema::open_for_writing(folder.path()).unwrap();
        let remotes = RemoteDays::load(&connection).unwrap();
        World { connection, remotes, _folder: folder }
    }

    fn answers(&mut self, remote: &str, part: PartKey, now: Timestamp) -> String {
        match self.remotes.tie(&self.connection, now, ACME, &id(remote), part).unwrap() {
            Tied::New => "new".to_owned(),
            Tied::WithReceipt(Parked { verdict, err }) => format!("with receipt {verdict:?} {err}"),
            Tied::Reused => "reused".to_owned(),
        }
    }

    fn parks(&mut self, remote: &str, verdict: Verdict, err: u16, now: Timestamp) {
        let receipt = Parked { verdict, err };
        self.remotes.park(&self.connection, now.day(), ACME, &id(remote), receipt).unwrap();
    }

    fn finds(&self, remote: &str) -> String {
        match self.remotes.find(&self.connection, ACME, &id(remote)).unwrap() {
            None => "nothing".to_owned(),
            Some(Found::Part(part)) => format!("message {} part {}", part.message, part.part),
            Some(Found::Parked(Parked { verdict, err })) => format!("parked {verdict:?} {err}"),
        }
    }
}

fn id(text: &str) -> RemoteId {
    RemoteId::from_text(text).unwrap()
}

fn part(message: i64) -> PartKey {
    let message = MessageId::from_i64(message).unwrap();
    PartKey { account: AccountId::new(7), message, part: PartNo::FIRST }
}

fn noon() -> Timestamp {
    TODAY.start().plus(Duration::from_secs(12 * 3600))
}

fn days_later(days: i64) -> Timestamp {
    Day::new(TODAY.get() + days).start().plus(Duration::from_secs(12 * 3600))
}

#[test]
fn an_answer_ties_and_a_receipt_finds_it() {
    let mut world = World::new();
    assert_eq!(world.finds("a"), "nothing");
    assert_eq!(world.answers("a", part(5), noon()), "new");
    assert_eq!(world.finds("a"), "message 5 part 1");
    let elsewhere = world.remotes.find(&world.connection, OTHER, &id("a")).unwrap();
    assert!(elsewhere.is_none(), "an id is its carrier's own");
}

#[test]
fn ids_are_octets_not_numbers() {
    let mut world = World::new();
    for (remote, message) in [("1", 1), ("01", 2), ("a", 3), ("A", 4), ("\u{ff}", 5)] {
        assert_eq!(world.answers(remote, part(message), noon()), "new", "{remote}");
    }
    assert_eq!(world.finds("01"), "message 2 part 1");
    assert_eq!(world.finds("A"), "message 4 part 1");
    assert_eq!(world.finds("\u{ff}"), "message 5 part 1");
}

#[test]
fn a_receipt_that_came_first_waits_for_its_answer() {
    let mut world = World::new();
    world.parks("a", Verdict::Undeliverable, 12, noon());
    assert_eq!(world.finds("a"), "parked Undeliverable 12");
    assert_eq!(world.answers("a", part(5), noon()), "with receipt Undeliverable 12");
    assert_eq!(world.finds("a"), "message 5 part 1");
}

#[test]
fn of_two_receipts_that_came_first_the_first_stays_unless_it_is_replaced() {
    let mut world = World::new();
    world.parks("a", Verdict::Enroute, 0, noon());
    world.parks("a", Verdict::Delivered, 0, noon());
    assert_eq!(world.finds("a"), "parked Enroute 0");
    let later = Parked { verdict: Verdict::Delivered, err: 3 };
    world.remotes.repark(&world.connection, ACME, &id("a"), later).unwrap();
    assert_eq!(world.answers("a", part(5), noon()), "with receipt Delivered 3");
    // A tied id is nobody's parking place any more.
    world.remotes.repark(&world.connection, ACME, &id("a"), later).unwrap();
    assert_eq!(world.finds("a"), "message 5 part 1");
}

#[test]
fn every_verdict_survives_being_parked() {
    let verdicts = [
        Verdict::Enroute,
        Verdict::Delivered,
        Verdict::Undeliverable,
        Verdict::Rejected,
        Verdict::Expired,
        Verdict::NoNews,
    ];
    for verdict in verdicts {
        assert_eq!(verdict_from_stored(verdict_to_stored(verdict)).unwrap(), verdict);
    }
    assert!(verdict_from_stored(7).is_err());
}

#[test]
fn the_same_answer_twice_is_no_reuse_but_another_part_is() {
    let mut world = World::new();
    assert_eq!(world.answers("a", part(5), noon()), "new");
    assert_eq!(world.answers("a", part(5), noon()), "new");
    assert_eq!(world.answers("a", part(6), noon()), "reused");
    assert_eq!(world.finds("a"), "message 6 part 1", "the newer one has it");
}

#[test]
fn an_id_used_again_on_a_later_day_stands_for_the_newer_part() {
    let mut world = World::new();
    world.answers("a", part(5), noon());
    assert_eq!(world.answers("a", part(6), days_later(1)), "new");
    assert_eq!(world.finds("a"), "message 6 part 1");
}

#[test]
fn a_receipt_before_midnight_meets_its_answer_after_it() {
    let mut world = World::new();
    let midnight = TODAY.next().start();
    world.parks("a", Verdict::Delivered, 0, midnight.minus(Duration::from_millis(1)));
    assert_eq!(world.answers("a", part(5), midnight), "with receipt Delivered 0");
    assert_eq!(world.finds("a"), "message 5 part 1");
}

#[test]
fn an_answer_before_midnight_meets_its_receipt_days_after() {
    let mut world = World::new();
    world.answers("a", part(5), noon());
    world.answers("b", part(6), days_later(3));
    assert_eq!(world.finds("a"), "message 5 part 1");
}

#[test]
fn a_receipt_nobody_claimed_last_week_is_not_todays() {
    let mut world = World::new();
    world.parks("a", Verdict::Undeliverable, 1, noon());
    let past_midnight = Day::new(TODAY.get() + 4).start().plus(Duration::from_secs(60));
    assert_eq!(world.answers("a", part(5), past_midnight), "new");
    let mut world = World::new();
    world.parks("b", Verdict::Undeliverable, 1, noon());
    assert_eq!(world.answers("b", part(6), days_later(1)), "new", "noon is long past midnight");
}

#[test]
fn days_are_dropped_whole_once_nobody_can_ask() {
    let mut world = World::new();
    world.answers("old", part(1), noon());
    world.answers("new", part(2), days_later(DAYS_KEPT));
    let after = |days| Day::new(TODAY.get() + days);
    world.remotes.drop_before(&world.connection, after(DAYS_KEPT)).unwrap();
    assert_eq!(world.finds("old"), "message 1 part 1");
    world.remotes.drop_before(&world.connection, after(DAYS_KEPT + 1)).unwrap();
    assert_eq!(world.finds("old"), "nothing");
    assert_eq!(world.finds("new"), "message 2 part 1");
    let days = schema::bucket_days(&world.connection, TABLE).unwrap();
    assert_eq!(days, [TODAY.get() + DAYS_KEPT]);
    // Loaded again, it is the same.
    world.remotes = RemoteDays::load(&world.connection).unwrap();
    assert_eq!(world.finds("new"), "message 2 part 1");
}
