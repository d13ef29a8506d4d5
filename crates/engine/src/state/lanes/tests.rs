//! Order, turns, spilling and slots. The table behind the lanes is a sorted map.

use super::*;
use crate::ops::LinkNumber;
use hermod_domain::ids::PartNo;
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_domain::time::Timestamp;
use std::collections::BTreeMap;
use std::ops::Bound;

const ACME: CarrierId = CarrierId::new(1);
const OTHER: CarrierId = CarrierId::new(2);
const LINK: LinkId = LinkId(1);
const ALICE: u32 = 1;
const BOB: u32 = 2;

fn part_of(carrier: CarrierId, account: u32, message: i64, part: u8) -> Job {
    Job {
        message: MessageId::from_i64(message).unwrap(),
        part: PartNo::new(part).unwrap(),
        parts: part,
        account: AccountId::new(account),
        carrier,
        from: Sender::parse("Hermod").unwrap(),
        to: Msisdn::from_number(4_915_112_345_678).unwrap(),
        text: MessageText::parse("hello").unwrap(),
        encoding: Encoding::Gsm7,
        reference: 1,
        expires_at: Timestamp::EPOCH,
        whole: false,
        tlvs: None,
        options: None,
        price: Money::ZERO,
        fresh: None,
    }
}

fn job(account: u32, message: i64) -> Job {
    part_of(ACME, account, message, 1)
}

/// More slots than any test needs.
const AMPLE: u32 = 1_000_000;

/// Lanes with a link to ACME, and a map that holds every waiting part like the table of parts.
struct World {
    lanes: Lanes,
    stored: BTreeMap<(CarrierId, AccountId, Cursor), Job>,
    refills: usize,
}

impl World {
    fn new() -> World {
        let mut lanes = Lanes::default();
        lanes.link_opened(ACME, LINK, LinkNumber(1));
        World { lanes, stored: BTreeMap::new(), refills: 0 }
    }

    /// With a link that takes everything.
    fn open() -> World {
        let mut world = World::new();
        world.lanes.grant(ACME, LINK, AMPLE);
        world
    }

    fn accepts(&mut self, job: Job) -> Placed {
        self.stored.insert((job.carrier, job.account, cursor(&job)), job.clone());
        self.lanes.enqueue(job)
    }

    fn accepts_all(&mut self, messages: impl Iterator<Item = i64>, job: impl Fn(i64) -> Job) {
        for message in messages {
            self.accepts(job(message));
        }
    }

    fn comes_back(&mut self, job: Job) {
        self.stored.insert((job.carrier, job.account, cursor(&job)), job.clone());
        self.lanes.requeue(job);
    }

    fn sends(&mut self, carrier: CarrierId) -> Option<Job> {
        self.gives(carrier).map(|(_, job)| job)
    }

    /// Returns the next part and its link. It is claimed, so it waits in the map no longer.
    fn gives(&mut self, carrier: CarrierId) -> Option<(LinkId, Job)> {
        loop {
            match self.lanes.next(carrier) {
                Next::Job(link, job) => {
                    let waiting = self.stored.remove(&(job.carrier, job.account, cursor(&job)));
                    assert!(waiting.is_some(), "sent twice: {job:?}");
                    self.lanes.use_slot(carrier, link);
                    return Some((link, *job));
                }
                Next::Refill(refill) => {
                    let jobs = self.read(refill);
                    self.refills += 1;
                    self.lanes.refill(refill, jobs);
                }
                Next::Nothing => return None,
            }
        }
    }

    fn read(&self, refill: LaneRead) -> Vec<Job> {
        let LaneRead { carrier, account, after, limit } = refill;
        let first = (MessageId::from_i64(0).unwrap(), PartNo::FIRST);
        let after = Bound::Excluded((carrier, account, after.unwrap_or(first)));
        let of_lane = self.stored.range((after, Bound::Unbounded));
        let of_lane = of_lane.take_while(|((c, a, _), _)| (*c, *a) == (carrier, account));
        of_lane.map(|(_, job)| job.clone()).take(limit).collect()
    }

    fn order_of_sending(&mut self) -> String {
        let mut sent = Vec::new();
        while let Some(job) = self.sends(ACME) {
            sent.push(format!("{}:{}.{}", job.account, job.message, job.part));
        }
        assert_eq!(self.lanes.in_memory(), 0, "nothing waits and memory is empty");
        assert_eq!(self.stored.len(), 0, "everything that waited was sent");
        sent.join(" ")
    }
}

#[test]
fn account_is_served_in_order_of_acceptance() {
    let mut world = World::open();
    for (message, part) in [(7, 1), (7, 2), (8, 1), (9, 1)] {
        world.accepts(part_of(ACME, ALICE, message, part));
    }
    assert_eq!(world.order_of_sending(), "1:7.1 1:7.2 1:8.1 1:9.1");
}

#[test]
fn accounts_take_turns_of_sixteen_parts() {
    let mut world = World::open();
    world.accepts_all(1..=40, |message| job(ALICE, message));
    world.accepts_all(100..=102, |message| job(BOB, message));
    let mut turns = Vec::new();
    while let Some(sent) = world.sends(ACME) {
        match turns.last_mut() {
            Some((account, count)) if *account == sent.account.get() => *count += 1,
            _ => turns.push((sent.account.get(), 1)),
        }
    }
    assert_eq!(turns, [(ALICE, 16), (BOB, 3), (ALICE, 24)]);
}

#[test]
fn single_message_does_not_wait_for_a_long_queue() {
    let mut world = World::open();
    world.accepts_all(1..=5_000, |message| job(ALICE, message));
    world.accepts(job(BOB, 9_999));
    let place = (1..).find(|_| world.sends(ACME).unwrap().account.get() == BOB);
    assert_eq!(place, Some(17));
}

#[test]
fn carriers_do_not_share_lanes() {
    let mut world = World::open();
    world.lanes.link_opened(OTHER, LinkId(2), LinkNumber(2));
    world.lanes.grant(OTHER, LinkId(2), AMPLE);
    world.accepts(job(ALICE, 1));
    world.accepts(part_of(OTHER, ALICE, 2, 1));
    assert_eq!(world.sends(OTHER).unwrap().message.as_i64(), 2);
    assert_eq!(world.sends(OTHER), None);
    assert_eq!(world.sends(ACME).unwrap().message.as_i64(), 1);
    assert_eq!(world.sends(CarrierId::new(77)), None);
}

#[test]
fn carrier_without_links_holds_nothing_in_memory() {
    let mut world = World::new();
    world.lanes.link_closed(ACME, LINK);
    (1..=500).for_each(|message| assert_eq!(world.accepts(job(ALICE, message)), Placed::Spilled));
    assert_eq!(world.lanes.in_memory(), 0);
    world.lanes.link_opened(ACME, LINK, LinkNumber(1));
    world.lanes.grant(ACME, LINK, AMPLE);
    // The lane is spilled: a new part must not overtake.
    assert_eq!(world.accepts(job(ALICE, 501)), Placed::Spilled);
    let sent: Vec<i64> = std::iter::from_fn(|| world.sends(ACME)).map(|job| job.message.as_i64()).collect();
    assert_eq!(sent, (1..=501).collect::<Vec<_>>());
    assert_eq!(world.accepts(job(ALICE, 502)), Placed::Memory);
}

#[test]
fn spilled_lane_is_read_back_without_overtaking_or_repeating() {
    let mut world = World::open();
    let last = i64::try_from(JOBS_IN_MEMORY_MAX).unwrap() * 2 + 10;
    for message in 1..=last {
        let placed = world.accepts(job(ALICE, message));
        let expected = if usize::try_from(message).unwrap() <= JOBS_IN_MEMORY_MAX {
            Placed::Memory
        } else {
            Placed::Spilled
        };
        assert_eq!(placed, expected, "message {message}");
    }
    let mut sent = 0;
    while let Some(job) = world.sends(ACME) {
        sent += 1;
        assert_eq!(job.message.as_i64(), sent);
        assert!(world.lanes.in_memory() <= JOBS_IN_MEMORY_MAX);
    }
    let spilled = usize::try_from(last).unwrap() - JOBS_IN_MEMORY_MAX;
    assert_eq!((sent, world.refills), (last, spilled.div_ceil(REFILL_MAX)));
}

#[test]
fn requeued_parts_are_first_in_their_old_order() {
    let mut world = World::open();
    world.accepts_all(1..=6, |message| job(ALICE, message));
    let throttled: Vec<Job> = (0..3).filter_map(|_| world.sends(ACME)).collect();
    // Responses arrive in the order of the submits.
    throttled.into_iter().for_each(|job| world.comes_back(job));
    assert_eq!(world.order_of_sending(), "1:1.1 1:2.1 1:3.1 1:4.1 1:5.1 1:6.1");
}

#[test]
fn requeue_into_a_spilled_lane_neither_repeats_nor_skips_stored_parts() {
    let mut world = World::open();
    // With many lanes each may hold only a few jobs.
    world.accepts_all(100..10_100, |account| job(u32::try_from(account).unwrap(), account));
    world.accepts_all(1..=8, |message| part_of(OTHER, ALICE, message, 1));
    world.lanes.link_opened(OTHER, LinkId(2), LinkNumber(2));
    world.lanes.grant(OTHER, LinkId(2), AMPLE);
    let mut in_flight: Vec<Job> = (0..5).filter_map(|_| world.sends(OTHER)).collect();
    assert_eq!(in_flight.len(), 5);
    world.accepts_all(9..=12, |message| part_of(OTHER, ALICE, message, 1));
    // They come back last first: the worst order for a lane that is read on from a place.
    while let Some(job) = in_flight.pop() {
        world.comes_back(job);
        world.lanes.trim();
    }
    let sent: Vec<i64> = std::iter::from_fn(|| world.sends(OTHER)).map(|job| job.message.as_i64()).collect();
    assert_eq!(sent, (1..=12).collect::<Vec<_>>());
}

#[test]
fn memory_stays_bounded_while_lanes_grow() {
    let mut world = World::open();
    let mut message = 0;
    // Early lanes take all they may; the many later ones must still find room.
    for account in 1..=2_000_u32 {
        for _ in 0..(40_000 / account).max(3) {
            message += 1;
            world.accepts(job(account, message));
        }
        world.lanes.trim();
        assert!(world.lanes.in_memory() <= JOBS_IN_MEMORY_MAX, "{} lanes", account);
    }
    let mut last_of = HashMap::default();
    let mut sent = 0;
    while let Some(job) = world.sends(ACME) {
        sent += 1;
        let before = last_of.insert(job.account, job.message);
        assert!(before.is_none_or(|before| before < job.message), "{job:?} after {before:?}");
    }
    assert_eq!(sent, message);
}

#[test]
fn trimming_after_requeues_keeps_every_part_reachable() {
    let mut world = World::open();
    world.accepts_all(1..=30_000, |message| job(ALICE, message));
    let in_flight: Vec<Job> = (0..25_000).filter_map(|_| world.sends(ACME)).collect();
    world.accepts_all(30_001..=50_000, |message| job(ALICE, message));
    in_flight.into_iter().rev().for_each(|job| world.comes_back(job));
    world.lanes.trim();
    assert!(world.lanes.in_memory() <= JOBS_IN_MEMORY_MAX);
    let sent: Vec<i64> = std::iter::from_fn(|| world.sends(ACME)).map(|job| job.message.as_i64()).collect();
    assert_eq!(sent, (1..=50_000).collect::<Vec<_>>());
}

#[test]
fn cleared_lanes_keep_slots_and_are_read_again() {
    let mut world = World::new();
    world.lanes.grant(ACME, LINK, 4);
    world.accepts_all(1..=4, |message| job(ALICE, message));
    world.lanes.clear_lanes();
    assert_eq!((world.lanes.in_memory(), world.lanes.sendable()), (0, vec![]));
    world.lanes.spill(ACME, AccountId::new(ALICE));
    assert_eq!(world.lanes.sendable(), [ACME]);
    assert_eq!(world.order_of_sending(), "1:1.1 1:2.1 1:3.1 1:4.1");
}

#[test]
fn parts_go_to_the_link_with_the_most_free_slots() {
    let mut world = World::new();
    let two = LinkId(2);
    world.lanes.link_opened(ACME, two, LinkNumber(2));
    world.accepts_all(1..=20, |message| job(ALICE, message));
    assert_eq!(world.gives(ACME), None);
    world.lanes.grant(ACME, LINK, 1);
    world.lanes.grant(ACME, two, 3);
    let given: Vec<u64> = std::iter::from_fn(|| world.gives(ACME)).map(|(link, _)| link.0).collect();
    assert_eq!(given[..2], [2, 2]);
    assert_eq!(given.iter().sum::<u64>(), 2 * 3 + 1);
    world.lanes.grant(ACME, two, 5);
    world.lanes.link_closed(ACME, two);
    assert_eq!(world.gives(ACME), None, "a closed link has no room");
    world.lanes.grant(ACME, two, 5);
    assert_eq!(world.gives(ACME), None, "nor does it get any");
}

#[test]
fn carrier_is_sendable_only_with_a_slot_and_a_waiting_part() {
    let mut world = World::new();
    assert_eq!(world.lanes.sendable(), []);
    world.accepts(job(ALICE, 1));
    assert_eq!(world.lanes.sendable(), [], "no slot was granted");
    world.lanes.grant(ACME, LINK, 1);
    assert_eq!(world.lanes.sendable(), [ACME]);
    world.lanes.use_slot(ACME, LINK);
    assert_eq!(world.lanes.sendable(), []);
}

#[test]
fn rollback_restores_link_slots() {
    let mut world = World::new();
    world.lanes.grant(ACME, LINK, 2);
    let before = world.lanes.link_slots();
    // The batch opens a link, closes the other, uses and grants slots; then it fails.
    world.lanes.link_opened(OTHER, LinkId(2), LinkNumber(2));
    world.lanes.use_slot(ACME, LINK);
    world.lanes.link_closed(ACME, LINK);
    world.lanes.restore_link_slots(before);
    world.accepts_all(1..=5, |message| job(ALICE, message));
    world.accepts(part_of(OTHER, ALICE, 6, 1));
    world.lanes.grant(OTHER, LinkId(2), 9);
    assert_eq!(world.sends(OTHER), None, "that link was never opened");
    assert_eq!(std::iter::from_fn(|| world.sends(ACME)).count(), 2);
}

#[path = "lanes_links_tests.rs"]
mod links;
