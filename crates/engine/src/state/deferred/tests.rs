//! Deferred parts over a table of due times: order, turns and bounded memory.

use super::*;

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at)
}

fn lane(account: u32) -> DeferredLane {
    DeferredLane { carrier: CarrierId::new(1), account: AccountId::new(account) }
}

fn due(at: i64, account: u32, message: i64) -> DuePart {
    let DeferredLane { carrier, account } = lane(account);
    let message = MessageId::from_i64(message).unwrap();
    DuePart { at: millis(at), message, part: PartNo::FIRST, carrier, account }
}

/// The deferred parts, and the table behind them.
#[derive(Default)]
struct World {
    deferred: Deferred,
    rows: BTreeSet<(DeferredLane, DueKey)>,
}

impl World {
    fn defers(&mut self, due: DuePart) {
        let DuePart { at, message, part, carrier, account } = due;
        self.rows.insert((DeferredLane { carrier, account }, DueKey { at, message, part }));
        self.deferred.push(due);
    }

    /// Returns what is released in this many turns, as account and message.
    fn releases(&mut self, now: i64, turns_max: usize) -> Vec<(u32, i64)> {
        let (mut turns, mut released) = (self.deferred.due_lanes(millis(now)), Vec::new());
        for _ in 0..turns_max {
            let Some(lane) = turns.pop_front() else { break };
            match self.deferred.next(lane, millis(now)) {
                NextDue::Part(DuePart { at, message, part, account, .. }) => {
                    assert!(self.rows.remove(&(lane, DueKey { at, message, part })), "released twice");
                    released.push((account.get(), message.as_i64()));
                }
                NextDue::Read(read) => {
                    let behind = |(of, key): &&(DeferredLane, DueKey)| *of == lane && Some(*key) > read.after;
                    let found = self.rows.iter().filter(behind).map(|(_, key)| *key);
                    self.deferred.refill(read, found.take(read.limit).collect());
                }
                NextDue::Nothing => continue,
            }
            turns.push_back(lane);
        }
        self.deferred.trim();
        released
    }

    fn is_rolled_back(&mut self) {
        self.deferred.clear();
        let lanes: BTreeSet<DeferredLane> = self.rows.iter().map(|(lane, _)| *lane).collect();
        lanes.into_iter().for_each(|lane| self.deferred.spill(lane));
    }
}

#[test]
fn deferred_parts_are_released_when_due_and_in_order() {
    let mut world = World::default();
    for (at, message) in [(30, 1), (10, 3), (20, 2), (10, 4)] {
        world.defers(due(at, 1, message));
    }
    assert_eq!(world.deferred.next_at(), Some(millis(10)));
    assert_eq!(world.releases(9, 99), []);
    assert_eq!(world.releases(20, 99), [(1, 3), (1, 4), (1, 2)]);
    assert_eq!(
        (world.deferred.next_at(), world.deferred.has_parts(CarrierId::new(1))),
        (Some(millis(30)), true)
    );
    world.deferred.clear();
    assert_eq!((world.deferred.next_at(), world.deferred.has_parts(CarrierId::new(1))), (None, false));
}

#[test]
fn fifty_thousand_deferred_parts_are_released_in_order_within_bounded_memory() {
    let mut world = World::default();
    let count = 50_000;
    let mut expected = Vec::new();
    for message in 1..=count {
        // Neither in the order of the messages nor all at different times.
        let at = message * 7_919 % 10_007 + 1;
        expected.push((at, message));
        world.defers(due(at, 1, message));
        world.deferred.trim();
        assert!(world.deferred.in_memory <= DEFERRED_IN_MEMORY_MAX);
    }
    expected.sort_unstable();
    let mut released = Vec::new();
    for (round, now) in (0..=10_010).step_by(10).enumerate() {
        if round % 100 == 50 {
            world.is_rolled_back();
        }
        let next_at = world.deferred.next_at();
        while world.deferred.next_at().is_some_and(|at| at <= millis(now)) {
            released.extend(world.releases(now, 1_000).into_iter().map(|(_, message)| message));
            assert!(world.deferred.in_memory <= DEFERRED_IN_MEMORY_MAX);
        }
        let due = expected.partition_point(|(at, _)| *at <= now);
        assert_eq!(released.len(), due, "all that is due at {now}, looked at from {next_at:?} on");
    }
    assert!(released.iter().eq(expected.iter().map(|(_, message)| message)));
    assert_eq!((world.deferred.next_at(), world.deferred.in_memory), (None, 0));
    assert!(world.deferred.lanes.is_empty());
}

#[test]
fn lanes_with_parts_due_take_turns() {
    let mut world = World::default();
    (1..=20_000).for_each(|message| world.defers(due(1, 1, message)));
    world.deferred.trim();
    (2..=4).for_each(|account| world.defers(due(9, account, 30_000 + i64::from(account))));
    // The first account is read and released alone for as long as the others are not due.
    assert_eq!(world.releases(8, 3), [(1, 1), (1, 2), (1, 3)]);
    let released: Vec<u32> = world.releases(9, 4).into_iter().map(|(account, _)| account).collect();
    assert_eq!(released, [2, 3, 4, 1]);
    // The next batch continues with the lane after the one where the last batch ended.
    (2..=4).for_each(|account| world.defers(due(9, account, 40_000 + i64::from(account))));
    assert_eq!(world.releases(9, 2), [(2, 40_002), (3, 40_003)]);
    assert_eq!(world.releases(9, 1), [(4, 40_004)]);
}

#[test]
fn many_lanes_share_the_memory() {
    let mut world = World::default();
    (1..=i64::try_from(DEFERRED_IN_MEMORY_MAX).unwrap()).for_each(|message| world.defers(due(5, 1, message)));
    for account in 2..=101 {
        (0..50).for_each(|no| world.defers(due(5, account, i64::from(account) * 100_000 + no)));
    }
    world.deferred.trim();
    assert!(world.deferred.in_memory <= DEFERRED_IN_MEMORY_MAX);
    let lane_max = DEFERRED_IN_MEMORY_MAX / 101;
    assert_eq!(world.deferred.lanes[&lane(1)].soonest.len(), lane_max, "the longest lane gives memory back");
    assert_eq!(world.deferred.lanes[&lane(2)].soonest.len(), 50);
}

#[test]
fn sooner_part_is_released_before_those_in_memory() {
    let mut world = World::default();
    (1..=20_000).for_each(|message| world.defers(due(1_000 + message, 1, message)));
    world.deferred.trim();
    world.defers(due(40_000, 1, 30_000));
    world.defers(due(7, 1, 30_001));
    assert_eq!(world.deferred.next_at(), Some(millis(7)));
    assert_eq!(world.releases(7, 99), [(1, 30_001)]);
    let released = world.releases(50_000, 99_999);
    assert_eq!((released.len(), released.last()), (20_001, Some(&(1, 30_000))));
}
