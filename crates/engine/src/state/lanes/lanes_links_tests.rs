//! Several links to one carrier: every message is sent over one of them, whole and in order. Examples, then random
//! traffic.

use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

const TWO: LinkId = LinkId(2);

fn long(account: u32, message: i64, parts: u8) -> Vec<Job> {
    (1..=parts).map(|part| Job { parts, ..part_of(ACME, account, message, part) }).collect()
}

impl World {
    fn with_two_links() -> World {
        let mut world = World::new();
        world.lanes.link_opened(ACME, TWO, LinkNumber(2));
        world
    }

    fn accepts_long(&mut self, account: u32, message: i64, parts: u8) {
        for job in long(account, message, parts) {
            self.accepts(job);
        }
    }

    fn comes_back_from(&mut self, link: LinkId, job: Job) {
        self.stored.insert((job.carrier, job.account, cursor(&job)), job.clone());
        self.lanes.requeue_from(Some(link), job);
    }

    /// Returns what is sent now, as `link:message.part`.
    fn sends_now(&mut self) -> String {
        let given = std::iter::from_fn(|| self.gives(ACME));
        let sent: Vec<String> =
            given.map(|(link, job)| format!("{}:{}.{}", link.0, job.message, job.part)).collect();
        sent.join(" ")
    }

    fn room(&mut self, link: LinkId, slots: u32) -> String {
        self.lanes.grant(ACME, link, slots);
        self.sends_now()
    }
}

#[test]
fn long_message_stays_on_its_link_while_others_pass_on_another() {
    let mut world = World::with_two_links();
    world.accepts_long(ALICE, 1, 4);
    world.accepts_long(ALICE, 2, 2);
    world.accepts(job(ALICE, 3));
    world.accepts(job(BOB, 4));
    assert_eq!(world.room(LINK, 2), "1:1.1 1:1.2");
    assert_eq!(world.room(TWO, 1), "2:2.1", "not the rest of the first");
    assert_eq!(world.room(TWO, 9), "2:2.2 2:3.1 2:4.1");
    assert_eq!(world.room(LINK, 9), "1:1.3 1:1.4");
    assert_eq!((world.lanes.in_memory(), world.stored.len()), (0, 0));
}

#[test]
fn link_in_the_middle_of_a_message_takes_no_other() {
    let mut world = World::with_two_links();
    world.accepts(job(BOB, 1));
    world.accepts_long(ALICE, 2, 3);
    assert_eq!(world.room(LINK, 2), "1:1.1 1:2.1");
    world.accepts(job(BOB, 3));
    assert_eq!(world.room(LINK, 1), "1:2.2", "although it is Bob's turn");
    assert_eq!(world.room(LINK, 2), "1:2.3 1:3.1");
}

#[test]
fn rest_of_a_message_moves_when_its_link_closes() {
    let mut world = World::with_two_links();
    world.accepts_long(ALICE, 1, 3);
    assert_eq!(world.room(LINK, 1), "1:1.1");
    assert_eq!(world.room(TWO, 5), "");
    world.lanes.link_closed(ACME, LINK);
    assert_eq!(world.sends_now(), "2:1.2 2:1.3");
}

#[test]
fn link_releases_a_message_whose_rest_does_not_wait() {
    let mut world = World::with_two_links();
    // Its second part waits for a later time.
    world.accepts_long(ALICE, 1, 1);
    let third = long(ALICE, 2, 3).remove(2);
    world.accepts(long(ALICE, 2, 3).remove(0));
    world.accepts(job(ALICE, 3));
    assert_eq!(world.room(LINK, 9), "1:1.1 1:2.1 1:3.1");
    world.comes_back(third);
    assert_eq!(world.room(TWO, 9), "2:2.3");
}

#[test]
fn rest_of_a_message_is_read_back() {
    let mut world = World::with_two_links();
    // As if many other lanes shared the memory: this one may hold two parts.
    world.lanes.lanes += JOBS_IN_MEMORY_MAX / 2;
    world.accepts_long(ALICE, 1, 40);
    world.accepts(job(ALICE, 2));
    assert_eq!(world.room(LINK, 1), "1:1.1");
    assert_eq!(world.room(TWO, 1), "2:2.1", "found behind the rest of the first");
    let sent = world.room(LINK, 39);
    assert_eq!(sent.split(' ').count(), 39);
    assert!(sent.starts_with("1:1.2 1:1.3 ") && sent.ends_with(" 1:1.40"), "{sent}");
}

#[test]
fn returned_parts_are_sent_first_over_their_link() {
    let mut world = World::with_two_links();
    world.accepts_long(ALICE, 1, 2);
    world.accepts_long(ALICE, 2, 2);
    assert_eq!(world.room(LINK, 3), "1:1.1 1:1.2 1:2.1");
    // The carrier throttles the first message, and the second in the middle.
    world.lanes.revoke(ACME, LINK);
    long(ALICE, 1, 2).into_iter().for_each(|job| world.comes_back_from(LINK, job));
    world.accepts(job(BOB, 3));
    assert_eq!(world.room(TWO, 9), "2:3.1", "the others wait for the first link");
    assert_eq!(world.room(LINK, 9), "1:1.1 1:1.2 1:2.2");
}

#[test]
fn single_link_takes_returned_parts_in_order_of_acceptance() {
    let mut world = World::new();
    world.accepts(job(ALICE, 1));
    world.accepts_long(ALICE, 2, 2);
    world.accepts_long(ALICE, 3, 2);
    assert_eq!(world.room(LINK, 4), "1:1.1 1:2.1 1:2.2 1:3.1");
    world.comes_back_from(LINK, long(ALICE, 2, 2).remove(1));
    world.comes_back_from(LINK, job(ALICE, 1));
    world.comes_back_from(LINK, long(ALICE, 3, 2).remove(0));
    assert_eq!(world.room(LINK, 9), "1:1.1 1:2.2 1:3.1 1:3.2");
}

#[derive(Clone, Copy, Debug)]
enum Happens {
    Accepts {
        account: u32,
        parts: u8,
    },
    Opens,
    Closes(usize),
    Room(usize, u32),
    /// A part in flight comes back from its link.
    ComesBack(usize),
    /// A part in flight waits for a later time, and then for a slot again.
    Deferred(usize),
    Due,
    Trims,
    /// A batch is rolled back: everything is read from the store again.
    RollsBack,
}

fn traffic(comes_back: u32) -> impl Strategy<Value = Vec<Happens>> {
    let happens = prop_oneof![
        8 => (1..4_u32, 1..7_u8).prop_map(|(account, parts)| Happens::Accepts { account, parts }),
        2 => Just(Happens::Opens),
        1 => (0..9_usize).prop_map(Happens::Closes),
        9 => (0..9_usize, 1..8_u32).prop_map(|(link, slots)| Happens::Room(link, slots)),
        comes_back => (0..99_usize).prop_map(Happens::ComesBack),
        comes_back => (0..99_usize).prop_map(Happens::Deferred),
        1 => Just(Happens::Due),
        1 => Just(Happens::Trims),
        1 => Just(Happens::RollsBack),
    ];
    prop::collection::vec(happens, 1..80)
}

/// Random traffic over links that open and close, with a record of what each of them was given.
struct Traffic {
    world: World,
    crowded: bool,
    messages: i64,
    opened: u64,
    open: Vec<LinkId>,
    given: HashMap<LinkId, Vec<Job>>,
    under_way: Vec<(LinkId, Job)>,
    deferred: Vec<Job>,
    /// Messages that may change links: a part of theirs waited for a time, or came back from a closed link.
    may_change: HashSet<MessageId>,
    last_link: HashMap<MessageId, LinkId>,
}

impl Traffic {
    fn new(crowded: bool) -> Traffic {
        let mut traffic = Traffic {
            world: World { lanes: Lanes::default(), stored: BTreeMap::new(), refills: 0 },
            crowded,
            messages: 0,
            opened: 0,
            open: Vec::new(),
            given: HashMap::default(),
            under_way: Vec::new(),
            deferred: Vec::new(),
            may_change: HashSet::new(),
            last_link: HashMap::default(),
        };
        traffic.crowds();
        traffic
    }

    /// Simulates other lanes, enough that each of these may hold only two parts.
    fn crowds(&mut self) {
        self.world.lanes.lanes += if self.crowded { JOBS_IN_MEMORY_MAX / 2 } else { 0 };
    }

    fn does(&mut self, happens: Happens) {
        match happens {
            Happens::Accepts { account, parts } => {
                self.messages += 1;
                self.world.accepts_long(account, self.messages, parts);
            }
            Happens::Opens => {
                self.opened += 1;
                self.open.push(LinkId(self.opened));
                self.world.lanes.link_opened(ACME, LinkId(self.opened), LinkNumber(1));
            }
            Happens::Closes(which) if !self.open.is_empty() => {
                let link = self.open.swap_remove(which % self.open.len());
                self.world.lanes.link_closed(ACME, link);
            }
            Happens::Room(which, slots) if !self.open.is_empty() => {
                self.world.lanes.grant(ACME, self.open[which % self.open.len()], slots);
            }
            Happens::ComesBack(which) if !self.under_way.is_empty() => {
                let (link, job) = self.under_way.swap_remove(which % self.under_way.len());
                if !self.open.contains(&link) {
                    self.may_change.insert(job.message);
                }
                self.world.lanes.revoke(ACME, link);
                self.world.comes_back_from(link, job);
            }
            Happens::Deferred(which) if !self.under_way.is_empty() => {
                let (_, job) = self.under_way.swap_remove(which % self.under_way.len());
                self.may_change.insert(job.message);
                self.deferred.push(job);
            }
            Happens::Due => {
                std::mem::take(&mut self.deferred).into_iter().for_each(|job| self.world.comes_back(job))
            }
            Happens::Trims => self.world.lanes.trim(),
            Happens::RollsBack => self.rolls_back(),
            Happens::Closes(_) | Happens::Room(..) | Happens::ComesBack(_) | Happens::Deferred(_) => {}
        }
        self.hands_out();
    }

    fn rolls_back(&mut self) {
        self.world.lanes.clear_lanes();
        self.crowds();
        let lanes: HashSet<_> =
            self.world.stored.keys().map(|(carrier, account, _)| (*carrier, *account)).collect();
        lanes.into_iter().for_each(|(carrier, account)| self.world.lanes.spill(carrier, account));
    }

    fn hands_out(&mut self) {
        while let Some((link, job)) = self.world.gives(ACME) {
            assert!(self.open.contains(&link), "given to a link that is closed");
            let before = self.last_link.insert(job.message, link);
            if let Some(before) = before.filter(|before| *before != link && self.open.contains(before)) {
                // A message of one part may change links.
                let free = job.parts == 1 || self.may_change.contains(&job.message);
                assert!(free, "{job:?} left over {link:?}, its message over {before:?}");
            }
            self.given.entry(link).or_default().push(job.clone());
            self.under_way.push((link, job));
        }
    }

    /// Opens a link that takes the rest. Then everything was sent, and nothing twice (`gives` checks that).
    fn ends(&mut self) {
        [Happens::Due, Happens::Opens].into_iter().for_each(|happens| self.does(happens));
        for link in self.open.clone() {
            self.world.lanes.grant(ACME, link, AMPLE);
        }
        self.hands_out();
        assert_eq!(self.world.stored.len(), 0, "everything that waited was sent");
        assert_eq!(self.world.lanes.in_memory(), 0);
    }

    /// Checks that on every link each part that is not its message's last is followed by the next one.
    fn each_message_left_whole(&self) {
        for (link, jobs) in &self.given {
            for (job, next) in jobs.iter().zip(jobs.iter().skip(1)) {
                let whole = job.part.get() == job.parts
                    || (next.message == job.message && next.part.get() == job.part.get() + 1);
                assert!(whole, "{link:?} was given {next:?} after {job:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn every_message_is_sent_whole_over_one_link(happens in traffic(0), crowded in any::<bool>()) {
        let mut traffic = Traffic::new(crowded);
        happens.into_iter().for_each(|happens| traffic.does(happens));
        traffic.ends();
        traffic.each_message_left_whole();
    }

    #[test]
    fn returned_parts_keep_their_link_and_none_is_lost(happens in traffic(6), crowded in any::<bool>()) {
        let mut traffic = Traffic::new(crowded);
        happens.into_iter().for_each(|happens| traffic.does(happens));
        traffic.ends();
    }
}
