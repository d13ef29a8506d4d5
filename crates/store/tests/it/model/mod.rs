//! Any sequence of operations leaves the store where a simple model says it should be: balances, states, keys, and who
//! is sent next, with restarts anywhere. A failure prints the shortest sequence found and writes its seed to
//! `tests/it/model/regressions`, which is tried first from then on.

mod books;

use crate::world::*;
use books::{Books, Place};
use hermod_domain::lifecycle::{DoubtPolicy, Event, RefusedFor, Verdict};
use hermod_domain::money::Money;
use hermod_store::{AcceptOutcome, Acceptance, Answer, Job, Replay};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::HashMap;
use std::time::Duration;

const CASES: u32 = 48;
/// What proptest runs when nobody says otherwise.
const UNASKED: u32 = 256;
const OPERATIONS: usize = 60;
const PAID_IN: i64 = 12 * PRICE;

#[derive(Clone, Debug)]
enum Operation {
    Accept {
        bob: bool,
        parts: u8,
        key: Option<u64>,
        resend: bool,
    },
    OpenLink,
    HasRoom(u32),
    /// One of the parts under way, and what the carrier says to it.
    Answers(prop::sample::Index, Said),
    /// A receipt for the answer of a part under way (which is then still to come), or for an id of the past.
    Receipt(prop::sample::Index, Says),
    CloseLink {
        bytes_left: bool,
    },
    Passes(Duration),
    Sweep,
    Restarts,
}

#[derive(Clone, Copy, Debug)]
enum Said {
    Accepted,
    Throttled,
    Temporary,
    Refused(RefusedFor),
    NoAnswer,
    NotSent,
}

#[derive(Clone, Copy, Debug)]
struct Says {
    verdict: Verdict,
    early: bool,
}

fn operation() -> impl Strategy<Value = Operation> {
    let said = prop_oneof![
        6 => Just(Said::Accepted),
        1 => Just(Said::Throttled),
        1 => Just(Said::Temporary),
        1 => Just(Said::Refused(RefusedFor::Destination)),
        1 => Just(Said::Refused(RefusedFor::Anything)),
        2 => Just(Said::NoAnswer),
        1 => Just(Said::NotSent),
    ];
    let verdict = prop_oneof![
        2 => Just(Verdict::Enroute),
        4 => Just(Verdict::Delivered),
        1 => Just(Verdict::Undeliverable),
        1 => Just(Verdict::Rejected),
        1 => Just(Verdict::Expired),
        1 => Just(Verdict::NoNews),
    ];
    let says = (verdict, prop::bool::weighted(0.3)).prop_map(|(verdict, early)| Says { verdict, early });
    let waits = prop_oneof![
        Just(Duration::from_millis(1)),
        Just(Duration::from_secs(6)),
        Just(Duration::from_secs(31)),
        Just(Duration::from_secs(700)),
        Just(Duration::from_secs(11 * 3600)),
        Just(Duration::from_secs(25 * 3600)),
    ];
    let key = prop::option::weighted(0.4, 0..5_u64);
    let accept = (any::<bool>(), 1..=3_u8, key, any::<bool>());
    prop_oneof![
        8 => accept.prop_map(|(bob, parts, key, resend)| Operation::Accept { bob, parts, key, resend }),
        2 => Just(Operation::OpenLink),
        4 => (1..6_u32).prop_map(Operation::HasRoom),
        12 => (any::<prop::sample::Index>(), said).prop_map(|(which, said)| Operation::Answers(which, said)),
        8 => (any::<prop::sample::Index>(), says).prop_map(|(which, says)| Operation::Receipt(which, says)),
        1 => any::<bool>().prop_map(|bytes_left| Operation::CloseLink { bytes_left }),
        4 => waits.prop_map(Operation::Passes),
        1 => Just(Operation::Sweep),
        1 => Just(Operation::Restarts),
    ]
}

/// The store and its model, side by side.
struct Pair {
    world: World,
    books: Books,
    link: Option<Link>,
    slots: u32,
    under_way: Vec<Job>,
    /// Every id a carrier gave or will give, to send receipts for.
    remotes: Vec<String>,
    claims: HashMap<Place, u32>,
}

impl Pair {
    async fn new() -> Pair {
        let world = World::with_credit(PAID_IN).await;
        world.pays_in(BOB, PAID_IN).await;
        let mut books = Books::default();
        books.balances.extend([(ALICE, PAID_IN), (BOB, PAID_IN)]);
        Pair {
            world,
            books,
            link: None,
            slots: 0,
            under_way: Vec::new(),
            remotes: Vec::new(),
            claims: HashMap::new(),
        }
    }

    async fn does(&mut self, operation: &Operation) {
        match operation {
            Operation::Accept { bob, parts, key, resend } => self.accepts(*bob, *parts, *key, *resend).await,
            Operation::OpenLink => {
                if self.link.is_none() {
                    self.link = Some(self.world.link().await);
                }
            }
            Operation::HasRoom(slots) => {
                if let Some(link) = self.at_work() {
                    link.has_room(*slots).await;
                    self.slots += slots;
                }
            }
            Operation::Answers(which, said) => {
                if self.link.is_some() && !self.under_way.is_empty() {
                    let job = self.under_way.swap_remove(which.index(self.under_way.len()));
                    self.answers(&job, *said).await;
                }
            }
            Operation::Receipt(which, says) => self.receipt(*which, *says).await,
            Operation::CloseLink { bytes_left } => self.closes(*bytes_left).await,
            Operation::Passes(wait) => {
                self.world.passes(*wait).await;
                self.books.release_due(self.world.now);
                // What expired is ended by whoever meets it first; the sweep makes that everyone.
                self.sweeps().await;
            }
            Operation::Sweep => self.sweeps().await,
            Operation::Restarts => self.restarts().await,
        }
        self.world.settles().await;
        self.takes_out().await;
        self.compares_balances().await;
    }

    /// The link, with its clock set.
    fn at_work(&mut self) -> Option<&Link> {
        let now = self.world.now;
        self.link.as_mut().map(|link| {
            link.now = now;
            &*link
        })
    }

    async fn accepts(&mut self, bob: bool, parts: u8, number: Option<u64>, resend: bool) {
        let account = if bob { BOB } else { ALICE };
        let cost = PRICE * i64::from(parts);
        let doubt = if resend { DoubtPolicy::ResendOnce } else { DoubtPolicy::NeverResend };
        // A key belongs to an account.
        let number = number.map(|number| number * 2 + u64::from(bob));
        let acceptance = Acceptance {
            account,
            parts,
            cost: Money::from_micros(cost),
            doubt,
            key: number.map(key),
            ..self.world.sms()
        };
        let outcome = self.world.store.accept(acceptance).await.expect("the store answers");
        let had = self.books.balances[&account];
        if let Some(message) = number.and_then(|number| self.books.keys.get(&number)) {
            assert_eq!(outcome, AcceptOutcome::Replay(Replay { message: *message, same_request: true }));
        } else if cost > had {
            assert_eq!(outcome, AcceptOutcome::InsufficientCredit { available: Money::from_micros(had) });
        } else {
            let AcceptOutcome::Accepted { message, balance, .. } = outcome else { panic!("{outcome:?}") };
            assert_eq!(balance.as_micros(), had - cost);
            self.books.accept(message, account, parts, cost, doubt, self.world.now);
            self.books.keys.extend(number.map(|number| (number, message)));
        }
    }

    async fn answers(&mut self, job: &Job, said: Said) {
        let (place, now) = ((job.message, job.part), self.world.now);
        let id = self.remote_of(place);
        let answered = match said {
            Said::Accepted => Answer::Accepted(remote(&id)),
            Said::Throttled => Answer::Throttled,
            Said::Temporary => Answer::Temporary { status: 8 },
            Said::Refused(about) => Answer::Refused { about, status: 11 },
            Said::NoAnswer => Answer::NoAnswer,
            Said::NotSent => Answer::NotSent,
        };
        let link = self.at_work().expect("a link");
        link.says(vec![answer(job, answered)], Vec::new()).await;
        match said {
            Said::Accepted => {
                self.books.accepted(place, &id, now);
                self.remotes.push(id);
            }
            Said::Throttled => {
                self.books.refused(place, Event::Deferred);
                // The link is to slow down: what it had room for is taken back.
                self.slots = 0;
            }
            Said::NotSent => self.books.refused(place, Event::Released),
            Said::Refused(about) => self.books.refused(place, Event::Refused(about)),
            Said::Temporary => self.books.temporary(place, now),
            Said::NoAnswer => self.books.no_answer(place, now),
        }
    }

    /// The id the carrier gives if it accepts this part now.
    fn remote_of(&self, place: Place) -> String {
        format!("{}-{}-{}", place.0, place.1, self.claims[&place])
    }

    async fn receipt(&mut self, which: prop::sample::Index, says: Says) {
        let id = if says.early && !self.under_way.is_empty() {
            let job = &self.under_way[which.index(self.under_way.len())];
            self.remote_of((job.message, job.part))
        } else if !self.remotes.is_empty() {
            self.remotes[which.index(self.remotes.len())].clone()
        } else {
            "a stranger's".to_owned()
        };
        let today = self.world.now.day();
        let Some(link) = self.at_work() else { return };
        link.says(Vec::new(), vec![receipt(7, &id, says.verdict)]).await;
        assert_eq!(link.takes().await.recorded, [7]);
        self.books.receipt(&id, says.verdict, today);
    }

    async fn closes(&mut self, bytes_left: bool) {
        if self.link.is_none() {
            return;
        }
        let said = if bytes_left { Said::NoAnswer } else { Said::NotSent };
        // Closed first, or what comes back would go out again.
        let left = self.at_work().expect("a link").closes().await.expect("it closes");
        assert!(left.is_empty(), "everything was taken out");
        for job in std::mem::take(&mut self.under_way) {
            self.answers(&job, said).await;
        }
        (self.link, self.slots) = (None, 0);
    }

    async fn sweeps(&mut self) {
        self.world.store.sweep(self.world.now).await.expect("a sweep");
        self.books.sweep(self.world.now);
    }

    async fn restarts(&mut self) {
        (self.link, self.slots) = (None, 0);
        self.world.restarts().await;
        for job in std::mem::take(&mut self.under_way) {
            self.books.no_answer((job.message, job.part), self.world.now);
        }
        self.compares_messages().await;
    }

    /// Everything that waits and has a slot is handed out, each account's in order, and nothing else is.
    async fn takes_out(&mut self) {
        let Some(link) = &self.link else { return };
        let expected = self.books.waiting().len().min(usize::try_from(self.slots).expect("few"));
        let jobs = if expected == 0 { Vec::new() } else { link.takes_jobs(expected).await };
        link.has_nothing().await;
        self.slots -= u32::try_from(jobs.len()).expect("few");
        for job in jobs {
            let place = (job.message, job.part);
            let next = self.books.waiting().into_iter().find(|(account, _)| *account == job.account);
            assert_eq!(next, Some((job.account, place)), "the first of its account");
            self.books.claimed(place);
            *self.claims.entry(place).or_default() += 1;
            self.under_way.push(job);
        }
    }

    async fn compares_balances(&self) {
        for account in [ALICE, BOB] {
            assert_eq!(self.world.balance(account).await, self.books.balances[&account], "account {account}");
        }
    }

    async fn compares_messages(&self) {
        for (id, message) in &self.books.messages {
            let record = self.world.store.message(message.account, *id).await.expect("the store answers");
            let record = record.expect("an accepted message is there");
            assert_eq!((record.state, record.dlr), self.books.shows(*id), "message {id}");
        }
        for (number, message) in &self.books.keys {
            let found = self.world.store.find_key(key(*number)).await.expect("the store answers");
            assert_eq!(found.map(|replay| replay.message), Some(*message));
        }
    }
}

/// A few, unless `PROPTEST_CASES` asks for another number.
fn cases() -> u32 {
    let asked = ProptestConfig::default().cases;
    if asked == UNASKED { CASES } else { asked }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        max_shrink_iters: 400,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_store_is_what_the_model_says(operations in prop::collection::vec(operation(), 1..OPERATIONS)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut pair = Pair::new().await;
            for operation in &operations {
                pair.does(operation).await;
            }
            pair.compares_messages().await;
            pair.world.books_are_sound();
        });
    }
}
