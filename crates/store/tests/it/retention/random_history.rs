//! Random histories of sends, refunds, purges and kills: the audit passes, and no purge changes a balance.

use crate::reports::origin;
use crate::world::within;
use crate::world::*;
use hermod_domain::ids::AccountId;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::origin::Origin;
use hermod_store::{Acceptance, Inbound, Job, Retention, SubmitResponse};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::sync::Arc;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);
/// Shorter than any real retention, and longer than given-up reports are listed.
const SHORT: Retention = Retention {
    text: Duration::from_secs(7 * 86_400),
    messages: Duration::from_secs(60 * 86_400),
    idempotency_keys: Duration::from_secs(60 * 86_400),
    inbound: Duration::from_secs(30 * 86_400),
    requests: Duration::from_secs(7 * 86_400),
};

#[derive(Clone, Copy, Debug)]
enum Happens {
    Sends {
        bob: bool,
        parts: u8,
        key: Option<u64>,
        short_id: bool,
    },
    /// A link takes the queued parts and answers them like this; every second one gets a receipt.
    Carries(u32, Said),
    Receives {
        bob: bool,
    },
    Passes(Duration),
    /// A number of purge steps.
    Purges(u32),
    Restarts,
    Killed,
}

#[derive(Clone, Copy, Debug)]
enum Said {
    Delivered,
    Nothing,
    Refused,
    Silent,
}

fn happens() -> impl Strategy<Value = Happens> {
    let said = prop_oneof![
        3 => Just(Said::Delivered),
        1 => Just(Said::Nothing),
        1 => Just(Said::Refused),
        1 => Just(Said::Silent),
    ];
    let key = prop::option::of(0..20_u64);
    prop_oneof![
        8 => (any::<bool>(), 1..4_u8, key, prop::bool::weighted(0.3))
            .prop_map(|(bob, parts, key, short_id)| Happens::Sends { bob, parts, key, short_id }),
        4 => (1..6_u32, said).prop_map(|(slots, said)| Happens::Carries(slots, said)),
        2 => any::<bool>().prop_map(|bob| Happens::Receives { bob }),
        5 => prop_oneof![Just(HOUR), Just(30 * HOUR), Just(100 * HOUR), Just(700 * HOUR)].prop_map(Happens::Passes),
        5 => (1..4_u32).prop_map(Happens::Purges),
        1 => Just(Happens::Restarts),
        1 => Just(Happens::Killed),
    ]
}

struct History {
    world: World,
    named: u64,
}

fn account(bob: bool) -> AccountId {
    if bob { BOB } else { ALICE }
}

impl History {
    async fn apply_operation(&mut self, happens: Happens) {
        match happens {
            Happens::Sends { bob, parts, key: number, short_id } => {
                let origin = short_id.then(|| Arc::new(Origin { short_id, ..origin(0x11) }));
                let (account, key) = (account(bob), number.map(key));
                let acceptance = Acceptance { account, parts, key, origin, ..self.world.sms() };
                self.world.store.accept(acceptance).await.expect("the store answers");
            }
            Happens::Carries(slots, said) => self.carry(slots, said).await,
            Happens::Receives { bob } => {
                let received_at = self.world.now;
                let (from, to, text) = ("+4915112345678".to_owned(), "123".to_owned(), "hello".to_owned());
                let inbound = Inbound { account: account(bob), from, to, text, received_at };
                self.world.store.inbound().receive(inbound).await.expect("the store answers");
            }
            Happens::Passes(wait) => {
                self.world.advance(wait).await;
                self.world.sweep(self.world.now).await;
                self.world.store.delete_expired(self.world.now).await.expect("the daily work");
            }
            Happens::Purges(steps) => self.purge_all(steps).await,
            Happens::Restarts => self.world.restart().await,
            Happens::Killed => {
                self.world.flush().await;
                self.world.kill();
            }
        }
        self.world.assert_audit_clean();
    }

    async fn purge_all(&mut self, steps: u32) {
        let balances = [self.world.balance(ALICE).await, self.world.balance(BOB).await];
        for _ in 0..steps {
            self.world.store.purge(SHORT, self.world.now).await.expect("a step");
            self.world.assert_audit_clean();
        }
        assert_eq!([self.world.balance(ALICE).await, self.world.balance(BOB).await], balances);
    }

    async fn carry(&mut self, slots: u32, said: Said) {
        let link = self.world.link_with_slots(slots).await;
        self.world.flush().await;
        let mut jobs: Vec<Job> = Vec::new();
        while let Ok(handed) = within(Duration::ZERO, link.port.handout()).await {
            jobs.extend(handed.jobs);
        }
        for job in &jobs {
            self.named += 1;
            let id = format!("id{}", self.named);
            match said {
                Said::Delivered => {
                    link.accept(job, &id).await;
                    if self.named.is_multiple_of(2) {
                        link.receipt(&id, DeliveryOutcome::Delivered).await;
                    }
                }
                Said::Nothing => link.answer(job, SubmitResponse::NoResponse).await,
                Said::Refused => link.answer(job, refused(11)).await,
                Said::Silent => {}
            }
        }
        self.world.flush().await;
        link.close().await.expect("the link closes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        max_shrink_iters: 300,
        ..ProptestConfig::default()
    })]

    #[test]
    fn audit_passes_after_random_history_with_purges(history in prop::collection::vec(happens(), 10..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new().await;
            world.pay_in(BOB, 1_000_000_000).await;
            let mut told = History { world, named: 0 };
            for happens in history {
                told.apply_operation(happens).await;
            }
            // In the end every message is deleted, also those in doubt from a closed link.
            told.apply_operation(Happens::Restarts).await;
            for _ in 0..6 {
                told.apply_operation(Happens::Passes(700 * HOUR)).await;
            }
            while !told.world.store.purge(SHORT, told.world.now).await.unwrap().is_nothing() {}
            told.world.assert_audit_clean();
            let left: i64 = told.world.raw().number("SELECT count(*) FROM message");
            assert_eq!(left, 0);
        });
    }
}
