//! Compares the store with a simple model after random operations: balances, states, keys, days, and the next part to
//! send, with restarts at any point. A failure prints the shortest sequence found and writes its seed to
//! `model/mod.regressions`; later runs try it first.

mod accounts;
mod customers;
mod expected;
mod reports;
mod responses;

use crate::webhook_queue::{documents, webhooks};
use crate::world::*;
use accounts::Purse;
use expected::{Books, MessageKey};
use hermod_domain::lifecycle::{DeliveryOutcome, DoubtPolicy, PartEvent};
use hermod_domain::money::Money;
use hermod_store::{DailyLimits, Job, LedgerKind, SubmitResponse};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use reports::Heard;
use responses::{ASIDE_WAIT, Said, said};
use std::collections::HashMap;
use std::time::Duration;

const CASES: u32 = 48;
const OPERATIONS: usize = 60;
const PAID_IN: i64 = 12 * PRICE;

#[derive(Clone, Debug)]
enum Operation {
    Accept(Sent),
    Posts {
        bob: bool,
        kind: LedgerKind,
        micros: i64,
        reference: Option<u8>,
    },
    Opts {
        bob: bool,
        to: u8,
        out: bool,
    },
    OpenLink,
    HasRoom(u32),
    /// The carrier's response to one of the parts in flight.
    Answers(prop::sample::Index, Said),
    /// A receipt before the response of a part in flight, or for an earlier id.
    Receipt(prop::sample::Index, Says),
    CloseLink {
        bytes_left: bool,
    },
    /// A bind takes all reports and answers them like this.
    Hears(Heard),
    Passes(Duration),
    Sweep,
    Restarts,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    bob: bool,
    parts: u8,
    key: Option<u64>,
    doubt: DoubtPolicy,
    /// One of a few recipients.
    to: u8,
    daily: DailyLimits,
    /// `registered_delivery` of an SMPP message.
    wish: Option<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Says {
    verdict: DeliveryOutcome,
    early: bool,
}

fn operation() -> impl Strategy<Value = Operation> {
    let said = said();
    let verdict = prop_oneof![
        2 => Just(DeliveryOutcome::Enroute),
        1 => Just(DeliveryOutcome::Accepted),
        4 => Just(DeliveryOutcome::Delivered),
        1 => Just(DeliveryOutcome::Undeliverable),
        1 => Just(DeliveryOutcome::Rejected),
        1 => Just(DeliveryOutcome::Expired),
        1 => Just(DeliveryOutcome::NoChange),
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
    prop_oneof![
        8 => sent().prop_map(Operation::Accept),
        2 => post(),
        1 => (any::<bool>(), 0..3_u8, prop::bool::weighted(0.6))
            .prop_map(|(bob, to, out)| Operation::Opts { bob, to, out }),
        2 => Just(Operation::OpenLink),
        4 => (1..6_u32).prop_map(Operation::HasRoom),
        12 => (any::<prop::sample::Index>(), said).prop_map(|(which, said)| Operation::Answers(which, said)),
        8 => (any::<prop::sample::Index>(), says).prop_map(|(which, says)| Operation::Receipt(which, says)),
        1 => any::<bool>().prop_map(|bytes_left| Operation::CloseLink { bytes_left }),
        2 => prop_oneof![3 => Just(Heard::Everything), 1 => Just(Heard::NotYet)].prop_map(Operation::Hears),
        4 => waits.prop_map(Operation::Passes),
        1 => Just(Operation::Sweep),
        1 => Just(Operation::Restarts),
    ]
}

fn sent() -> impl Strategy<Value = Sent> {
    let messages = |messages_max| DailyLimits { messages_max: Some(messages_max), spend_max: None };
    let spend =
        |parts| DailyLimits { messages_max: None, spend_max: Some(Money::from_micros(PRICE * parts)) };
    let daily = prop_oneof![
        4 => Just(DailyLimits::default()),
        1 => (0..4_u64).prop_map(messages),
        1 => (0..8_i64).prop_map(spend),
    ];
    let key = prop::option::weighted(0.4, 0..5_u64);
    let wish = prop::option::of(prop::sample::select(&[0x00, 0x01, 0x02, 0x03, 0x10, 0x11][..]));
    let doubt = prop::sample::select(DoubtPolicy::ALL.to_vec());
    (any::<bool>(), 1..=3_u8, key, doubt, 0..3_u8, daily, wish).prop_map(
        |(bob, parts, key, doubt, to, daily, wish)| Sent { bob, parts, key, doubt, to, daily, wish },
    )
}

fn post() -> impl Strategy<Value = Operation> {
    let kind = prop_oneof![
        2 => Just(LedgerKind::TopUp),
        2 => Just(LedgerKind::Adjustment),
        3 => Just(LedgerKind::Invoice),
        3 => Just(LedgerKind::Payment),
        1 => Just(LedgerKind::Refund),
    ];
    let amount = (-1..4_i64).prop_map(|prices| prices * PRICE);
    (any::<bool>(), kind, amount, prop::option::weighted(0.4, 0..4_u8))
        .prop_map(|(bob, kind, micros, reference)| Operation::Posts { bob, kind, micros, reference })
}

/// The store and its model, side by side.
struct Pair {
    world: World,
    books: Books,
    link: Option<Link>,
    slots: u32,
    in_flight: Vec<Job>,
    /// Every id a carrier gave or will give, to send receipts for.
    remotes: Vec<String>,
    claims: HashMap<MessageKey, u32>,
}

impl Pair {
    async fn new() -> Pair {
        let world = World::with_credit(PAID_IN).await;
        world.pay_in(BOB, PAID_IN).await;
        world.store_setup(&documents(Some(webhooks(true, true)), |_| {})).await;
        let mut books = Books::new(world.now);
        books.purses.extend([(ALICE, Purse::with(PAID_IN)), (BOB, Purse::with(PAID_IN))]);
        Pair {
            world,
            books,
            link: None,
            slots: 0,
            in_flight: Vec::new(),
            remotes: Vec::new(),
            claims: HashMap::new(),
        }
    }

    async fn apply_operation(&mut self, operation: &Operation) {
        self.books.now = self.world.now;
        match operation {
            Operation::Accept(sent) => self.accept(sent).await,
            Operation::Posts { bob, kind, micros, reference } => {
                self.post(*bob, *kind, *micros, *reference).await;
            }
            Operation::Opts { bob, to, out } => self.opt(*bob, *to, *out).await,
            Operation::OpenLink => {
                if self.link.is_none() {
                    self.link = Some(self.world.link().await);
                }
            }
            Operation::HasRoom(slots) => {
                if let Some(link) = self.link_at_now() {
                    link.add_slots(*slots).await;
                    self.slots += slots;
                }
            }
            Operation::Answers(which, said) => {
                if self.link.is_some() && !self.in_flight.is_empty() {
                    let job = self.in_flight.swap_remove(which.index(self.in_flight.len()));
                    self.answer(&job, *said).await;
                }
            }
            Operation::Receipt(which, says) => self.receipt(*which, *says).await,
            Operation::CloseLink { bytes_left } => self.close(*bytes_left).await,
            Operation::Hears(heard) => self.receive_reports(*heard).await,
            Operation::Passes(wait) => {
                self.world.advance(*wait).await;
                self.books.now = self.world.now;
                self.books.release_due(self.world.now);
                // An expired part is ended when a link takes it or by a sweep; after a sweep all are ended.
                self.sweep().await;
            }
            Operation::Sweep => self.sweep().await,
            Operation::Restarts => self.restart().await,
        }
        self.world.flush().await;
        self.take_parts().await;
        self.compare_accounts().await;
        self.compare_reports().await;
    }

    /// Returns the link with its clock set.
    fn link_at_now(&mut self) -> Option<&Link> {
        let now = self.world.now;
        self.link.as_mut().map(|link| {
            link.now = now;
            &*link
        })
    }

    async fn answer(&mut self, job: &Job, said: Said) {
        let (place, now) = ((job.message, job.part), self.world.now);
        let id = self.remote_of(place);
        let answered = match said {
            Said::Accepted => SubmitResponse::Accepted(remote(&id)),
            Said::Throttled => SubmitResponse::Throttled,
            Said::SteppedAside => SubmitResponse::RecipientThrottled { wait: ASIDE_WAIT, sent: true },
            Said::Temporary => SubmitResponse::Temporary { status: 8, after: None },
            Said::Refused(about) => SubmitResponse::Refused { about, status: 11 },
            Said::NoAnswer => SubmitResponse::NoResponse,
            Said::NotSent => SubmitResponse::NotSent,
        };
        let link = self.link_at_now().expect("a link");
        link.respond(vec![answer(job, answered)], Vec::new()).await;
        match said {
            Said::Accepted => {
                self.books.accepted(place, &id);
                self.remotes.push(id);
            }
            Said::Throttled => {
                self.books.refused(place, PartEvent::Deferred);
                // A throttled link loses its free slots.
                self.slots = 0;
            }
            Said::SteppedAside => self.books.stepped_aside(place, now.plus(ASIDE_WAIT)),
            Said::NotSent => self.books.refused(place, PartEvent::Released),
            Said::Refused(about) => self.books.refused(place, PartEvent::Rejected(about)),
            Said::Temporary => self.books.temporary(place, now),
            Said::NoAnswer => self.books.no_answer(place, now),
        }
    }

    /// Returns the id that the carrier assigns if it accepts this part now.
    fn remote_of(&self, place: MessageKey) -> String {
        format!("{}-{}-{}", place.0, place.1, self.claims[&place])
    }

    async fn receipt(&mut self, which: prop::sample::Index, says: Says) {
        let id = if says.early && !self.in_flight.is_empty() {
            let job = &self.in_flight[which.index(self.in_flight.len())];
            self.remote_of((job.message, job.part))
        } else if !self.remotes.is_empty() {
            self.remotes[which.index(self.remotes.len())].clone()
        } else {
            "a stranger's".to_owned()
        };
        let Some(link) = self.link_at_now() else { return };
        link.respond(Vec::new(), vec![receipt(7, &id, says.verdict)]).await;
        assert_eq!(link.take_recorded().await, [7]);
        self.books.receipt(&id, says.verdict);
    }

    async fn close(&mut self, bytes_left: bool) {
        if self.link.is_none() {
            return;
        }
        let said = if bytes_left { Said::NoAnswer } else { Said::NotSent };
        // Close first, otherwise the store sends the returned parts again.
        let left = self.link_at_now().expect("a link").close().await.expect("it closes");
        assert!(left.is_empty(), "everything was taken out");
        for job in std::mem::take(&mut self.in_flight) {
            self.answer(&job, said).await;
        }
        (self.link, self.slots) = (None, 0);
    }

    async fn sweep(&mut self) {
        self.world.sweep(self.world.now).await;
        self.books.sweep(self.world.now);
        self.books.give_up(self.world.now);
    }

    async fn restart(&mut self) {
        (self.link, self.slots) = (None, 0);
        self.world.restart().await;
        for job in std::mem::take(&mut self.in_flight) {
            self.books.no_answer((job.message, job.part), self.world.now);
        }
        self.compare_messages().await;
        self.compare_days().await;
        self.compare_queue().await;
    }

    /// Takes all parts for which there are slots. They must come in order for each account, and no others.
    async fn take_parts(&mut self) {
        // The store ends a part whose validity is over when it has its turn, and the others at the sweep.
        if self.books.has_expired_part(self.world.now) {
            self.sweep().await;
        }
        let Some(link) = &self.link else { return };
        let expected = self.books.waiting().len().min(usize::try_from(self.slots).expect("few"));
        let jobs = if expected == 0 { Vec::new() } else { link.take_jobs(expected).await };
        link.assert_idle().await;
        self.slots -= u32::try_from(jobs.len()).expect("few");
        for job in jobs {
            let place = (job.message, job.part);
            let waiting = self.books.waiting();
            let next = waiting.iter().find(|(account, _)| *account == job.account);
            if next != Some(&(job.account, place)) {
                // A message that has begun is finished first, also before an older message that became due.
                let rest = waiting.iter().find(|(_, (message, _))| *message == job.message);
                let begun = self.claims.keys().any(|(message, _)| *message == job.message);
                assert!(begun && rest == Some(&(job.account, place)), "{place:?} before {next:?}");
            }
            self.books.claimed(place);
            *self.claims.entry(place).or_default() += 1;
            self.in_flight.push(job);
        }
    }

    /// Compares the writer's counts with the tables.
    async fn compare_queue(&self) {
        let counted = self.world.store.messages().queues().await.expect("the store answers");
        let counted = counted.first().map_or((0, 0), |queue| (queue.waiting, queue.in_flight));
        let count = |states: &str| {
            let query = format!("SELECT count(*) FROM part WHERE state IN ({states})");
            self.world.raw().number(&query)
        };
        assert_eq!(counted, (count("0, 2").cast_unsigned(), count("1").cast_unsigned()));
    }

    async fn compare_messages(&self) {
        for (id, message) in &self.books.messages {
            let record =
                self.world.store.messages().find(message.account, *id).await.expect("the store answers");
            let record = record.expect("an accepted message is there");
            assert_eq!((record.state, record.dlr), self.books.shows(*id), "message {id}");
        }
        for (number, message) in &self.books.keys {
            let found = self.world.store.find_key(key(*number)).await.expect("the store answers");
            assert_eq!(found.map(|replay| replay.message), Some(*message));
        }
    }
}

/// Returns the number of cases that `cargo xtask simulate --store-seeds` asks for with the variable `PROPTEST_CASES`, or `CASES`
/// without it.
fn cases(asked: Option<&str>) -> u32 {
    asked.map_or(CASES, |text| text.parse().expect("PROPTEST_CASES is a number"))
}

#[expect(clippy::disallowed_methods, reason = "cargo xtask simulate passes the number in a variable")]
fn asked_cases() -> Option<String> {
    std::env::var("PROPTEST_CASES").ok()
}

#[test]
fn number_of_cases_is_the_one_asked_for_also_if_it_is_the_default_of_proptest() {
    assert_eq!((cases(None), cases(Some("256")), cases(Some("9"))), (CASES, 256, 9));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(asked_cases().as_deref()),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        max_shrink_iters: 400,
        ..ProptestConfig::default()
    })]

    #[test]
    fn store_equals_the_model_after_random_operations(operations in prop::collection::vec(operation(), 1..OPERATIONS)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut pair = Pair::new().await;
            for operation in &operations {
                pair.apply_operation(operation).await;
            }
            pair.compare_messages().await;
            pair.compare_days().await;
            pair.compare_queue().await;
            pair.world.assert_audit_clean();
        });
    }
}
