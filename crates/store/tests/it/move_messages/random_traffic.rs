//! Random traffic over two carriers with random responses while messages move between them, with restarts at any point:
//! no part is lost or with two links at once, no illegal lifecycle event occurs, and the audit passes.

use crate::world::within;
use crate::world::*;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState, RejectionCause};
use hermod_store::{Acceptance, Handout, Job, Move, ResponseRecord, Store, SubmitResponse};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const CARRIERS: [CarrierId; 2] = [ACME, OTHER];
const PAID_IN: i64 = 1_000_000_000;

/// Counts illegal lifecycle events.
#[derive(Default)]
struct Forbidden(Arc<AtomicU64>);

impl Recorder for Forbidden {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        if key.name() == "hermod_lifecycle_illegal_total" {
            return Counter::from_arc(self.0.clone());
        }
        Counter::noop()
    }
    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }
    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

#[derive(Clone, Copy, Debug)]
enum Happens {
    Accepts {
        carrier: usize,
        parts: u8,
    },
    Room {
        carrier: usize,
        slots: u32,
    },
    Answers {
        which: usize,
        said: Said,
        elsewhere: bool,
    },
    /// Moves all messages that wait for one carrier to the other.
    Moves {
        from: usize,
    },
    Passes(u64),
    LinkLost {
        carrier: usize,
        bytes_left: bool,
    },
    Restarts,
    Killed,
}

#[derive(Clone, Copy, Debug)]
enum Said {
    Accepted,
    Throttled,
    SteppedAside,
    Temporary,
    Refused,
    NoAnswer,
}

fn happens() -> impl Strategy<Value = Happens> {
    let said = prop_oneof![
        2 => Just(Said::Accepted),
        2 => Just(Said::Throttled),
        2 => Just(Said::SteppedAside),
        9 => Just(Said::Temporary),
        2 => Just(Said::Refused),
        2 => Just(Said::NoAnswer),
    ];
    let answers = (0..99_usize, said, prop::bool::weighted(0.8));
    prop_oneof![
        2 => (0..2_usize, 1..4_u8).prop_map(|(carrier, parts)| Happens::Accepts { carrier, parts }),
        6 => (0..2_usize, 3..9_u32).prop_map(|(carrier, slots)| Happens::Room { carrier, slots }),
        14 => answers.prop_map(|(which, said, elsewhere)| Happens::Answers { which, said, elsewhere }),
        2 => (0..2_usize).prop_map(|from| Happens::Moves { from }),
        5 => prop_oneof![1 => Just(1), 4 => Just(6), 2 => Just(31), 1 => Just(700)].prop_map(Happens::Passes),
        1 => (0..2_usize, any::<bool>()).prop_map(|(carrier, bytes_left)| Happens::LinkLost { carrier, bytes_left }),
        1 => Just(Happens::Restarts),
        1 => Just(Happens::Killed),
    ]
}

struct Traffic {
    world: World,
    links: [Link; 2],
    in_flight: Vec<(usize, Job)>,
    sent: Vec<MessageId>,
    forbidden: Forbidden,
}

impl Traffic {
    async fn new() -> Traffic {
        let forbidden = Forbidden::default();
        let folder = TempDir::new().expect("a temporary folder");
        let opened =
            metrics::with_local_recorder(&forbidden, || Store::open(&options(folder.path(), noon())));
        let world = World { folder, store: opened.expect("a new store"), now: noon() };
        world.pay_in(ALICE, PAID_IN).await;
        let links = [world.link_to(ACME, 0).await, world.link_to(OTHER, 0).await];
        Traffic { world, links, in_flight: Vec::new(), sent: Vec::new(), forbidden }
    }

    async fn apply_operation(&mut self, happens: Happens) {
        self.links.iter_mut().for_each(|link| link.now = self.world.now);
        match happens {
            Happens::Accepts { carrier, parts } => {
                let acceptance = Acceptance { carrier: CARRIERS[carrier], parts, ..self.world.sms() };
                self.sent.push(self.world.send(acceptance).await);
            }
            Happens::Room { carrier, slots } => self.links[carrier].add_slots(slots).await,
            Happens::Answers { which, said, elsewhere } => {
                if !self.in_flight.is_empty() {
                    let (carrier, job) = self.in_flight.swap_remove(which % self.in_flight.len());
                    self.answer(carrier, &job, said, elsewhere).await;
                }
            }
            Happens::Moves { from } => self.move_messages(CARRIERS[from], CARRIERS[1 - from]).await,
            Happens::Passes(seconds) => self.world.advance(secs(seconds)).await,
            Happens::LinkLost { carrier, bytes_left } => self.lose_link(carrier, bytes_left).await,
            Happens::Restarts => {
                self.world.store.close().await.expect("the store closes");
                self.reopen_world(World::reopen).await;
            }
            Happens::Killed => {
                self.world.flush().await;
                self.reopen_world(World::kill).await;
            }
        }
        self.take_parts().await;
    }

    async fn answer(&self, carrier: usize, job: &Job, said: Said, elsewhere: bool) {
        let said = match said {
            Said::Accepted => SubmitResponse::Accepted(remote(&name(job))),
            Said::Throttled => SubmitResponse::Throttled,
            Said::SteppedAside => SubmitResponse::RecipientThrottled { wait: secs(5), sent: true },
            Said::Temporary => SubmitResponse::Temporary { status: 8, after: None },
            Said::Refused => SubmitResponse::Refused { about: RejectionCause::Other, status: 0x45 },
            Said::NoAnswer => SubmitResponse::NoResponse,
        };
        let otherwise = elsewhere.then_some(split(CARRIERS[1 - carrier]));
        self.links[carrier]
            .respond(vec![ResponseRecord { failover_to: otherwise, ..answer(job, said) }], Vec::new())
            .await;
    }

    async fn move_messages(&self, from: CarrierId, to: CarrierId) {
        let waiting = self.world.store.messages().waiting(from, None, 100).await.expect("the store answers");
        let moves: Vec<Move> = waiting
            .iter()
            .map(|found| Move { message: found.message, account: ALICE, from, to: split(to) })
            .collect();
        let moved =
            self.world.store.messages().reroute(moves, self.world.now).await.expect("the store answers");
        assert_eq!(moved, waiting.len());
    }

    async fn lose_link(&mut self, carrier: usize, bytes_left: bool) {
        let Handout { jobs, .. } = self.links[carrier].close().await.expect("it closes");
        let (lost, kept) =
            std::mem::take(&mut self.in_flight).into_iter().partition(|(on, _)| *on == carrier);
        self.in_flight = kept;
        let said = if bytes_left { SubmitResponse::NoResponse } else { SubmitResponse::NotSent };
        let lost: Vec<(usize, Job)> = lost;
        let lost = jobs.into_iter().chain(lost.into_iter().map(|(_, job)| job));
        self.links[carrier].respond(lost.map(|job| answer(&job, said.clone())).collect(), Vec::new()).await;
        self.links[carrier] = self.world.link_to(CARRIERS[carrier], 0).await;
    }

    async fn reopen_world(&mut self, reopen: impl FnOnce(&mut World)) {
        metrics::with_local_recorder(&self.forbidden, || reopen(&mut self.world));
        self.in_flight.clear();
        self.links = [self.world.link_to(ACME, 0).await, self.world.link_to(OTHER, 0).await];
    }

    async fn take_parts(&mut self) {
        self.world.flush().await;
        for (carrier, link) in self.links.iter().enumerate() {
            while let Ok(handout) = within(Duration::ZERO, link.port.handout()).await {
                for job in handout.jobs {
                    assert_eq!(job.carrier, link.carrier);
                    let twice =
                        |(_, other): &(usize, Job)| (other.message, other.part) == (job.message, job.part);
                    assert!(!self.in_flight.iter().any(twice), "{job:?} is already in flight");
                    self.in_flight.push((carrier, job));
                }
            }
        }
    }

    /// Both carriers accept and deliver everything that is left.
    async fn ends(&mut self) {
        for _ in 0..6 {
            for carrier in 0..2 {
                self.apply_operation(Happens::Room { carrier, slots: 1_000 }).await;
            }
            while !self.in_flight.is_empty() {
                self.apply_operation(Happens::Answers { which: 0, said: Said::Accepted, elsewhere: false })
                    .await;
            }
            self.apply_operation(Happens::Passes(700)).await;
        }
        for message in &self.sent {
            let record = self.world.record(*message).await;
            assert_ne!(record.state, MessageState::Queued, "{message} was never sent");
        }
        assert_eq!(
            self.world.balance(ALICE).await,
            PAID_IN - i64::try_from(self.sent.len()).expect("a few") * PRICE
        );
        assert_eq!(self.forbidden.0.load(Ordering::Relaxed), 0, "there were illegal lifecycle events");
        self.world.assert_audit_clean();
    }
}

/// Returns the carrier's id of a part, the same for each resend.
fn name(job: &Job) -> String {
    format!("{}-{}-{}", job.carrier, job.message, job.part)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        max_shrink_iters: 300,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_traffic_with_moves_loses_no_message_and_sends_none_twice_at_once(happens in prop::collection::vec(happens(), 20..80)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut traffic = Traffic::new().await;
            for happens in happens {
                traffic.apply_operation(happens).await;
            }
            traffic.ends().await;
        });
    }
}

#[tokio::test]
async fn receipts_of_both_carriers_match_moved_messages() {
    let mut traffic = Traffic::new().await;
    for happens in [Happens::Accepts { carrier: 0, parts: 2 }, Happens::Moves { from: 0 }] {
        traffic.apply_operation(happens).await;
    }
    traffic.apply_operation(Happens::Room { carrier: 1, slots: 2 }).await;
    for (_, job) in traffic.in_flight.clone() {
        traffic.apply_operation(Happens::Answers { which: 0, said: Said::Accepted, elsewhere: true }).await;
        // The same id at the other carrier matches no part.
        traffic.links[0].receipt(&name(&job), DeliveryOutcome::Undeliverable).await;
        traffic.links[1].receipt(&name(&job), DeliveryOutcome::Delivered).await;
    }
    traffic.world.flush().await;
    assert_eq!(traffic.world.state(traffic.sent[0]).await, MessageState::Delivered);
    traffic.world.assert_audit_clean();
}
