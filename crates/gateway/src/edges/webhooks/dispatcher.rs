//! Which endpoints have something to do: they are told of by the store, or their time has come. Each then has a task of its
//! own until nothing is left to do for a while.

use super::Shared;
use super::endpoint::{self, Wakeup};
use crate::workers::Workers;
use hermod_domain::time::Timestamp;
use hermod_store::Endpoint;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often all that waits is looked through: for what was not told of, and should the wall clock have been set.
const LOOK: Duration = Duration::from_secs(60);
/// The longest sleep, for the same reason.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// How often it is looked at which endpoints have failed for so long that it is an alarm.
const JUDGE: Duration = SLEEP_MAX;
/// Endpoints whose tasks have ended and that were not looked at yet.
const ENDED_MAX: usize = 256;

struct Dispatcher {
    shared: Arc<Shared>,
    workers: Workers,
    /// Those that have a task.
    served: HashMap<Endpoint, Arc<Wakeup>>,
    /// Those that will have one.
    due: BTreeSet<(Timestamp, Endpoint)>,
    ended: mpsc::Sender<(Endpoint, Option<Timestamp>)>,
}

pub(super) async fn serve(shared: Arc<Shared>, workers: Workers) {
    let (ended, mut endings) = mpsc::channel(ENDED_MAX);
    let (clock, stopping) = (shared.world.clock.clone(), workers.stopping());
    let mut dispatcher = Dispatcher { shared, workers, served: HashMap::new(), due: BTreeSet::new(), ended };
    let mut look_at = clock.moment();
    dispatcher.remember_failing().await;
    let mut judge_at = clock.moment();
    loop {
        if judge_at <= clock.moment() {
            dispatcher.shared.standings.judge(&dispatcher.shared.world);
            judge_at = clock.moment().plus(JUDGE);
        }
        if look_at <= clock.moment() {
            dispatcher.look().await;
            look_at = clock.moment().plus(LOOK);
        }
        dispatcher.start_due();
        tokio::select! {
            woken = dispatcher.shared.world.store.woken_endpoints() => {
                woken.into_iter().for_each(|endpoint| dispatcher.wake(endpoint));
            }
            Some((endpoint, next_due)) = endings.recv() => dispatcher.end(endpoint, next_due),
            () = clock.sleep(dispatcher.sleep()) => {}
            () = stopping.cancelled() => return,
        }
    }
}

impl Dispatcher {
    /// Endpoints that were failing before this start are failing until they answer.
    async fn remember_failing(&self) {
        match self.shared.world.store.failing_endpoints().await {
            Ok(failing) => self.shared.standings.start_with(failing),
            Err(fault) => tracing::error!(%fault, "Which webhooks were failing could not be read"),
        }
    }

    /// Finds everything that waits.
    async fn look(&mut self) {
        match self.shared.world.store.webhooks_waiting().await {
            Ok(waiting) => {
                // What is served knows better.
                let served = &self.served;
                self.due = waiting
                    .into_iter()
                    .filter(|(endpoint, _)| !served.contains_key(endpoint))
                    .map(|(endpoint, due)| (due, endpoint))
                    .collect();
            }
            Err(fault) => tracing::error!(%fault, "What webhooks wait could not be read; it is tried again"),
        }
    }

    fn sleep(&self) -> Duration {
        let now = self.shared.world.clock.now();
        self.due.first().map_or(SLEEP_MAX, |(due, _)| due.since(now).min(SLEEP_MAX))
    }

    fn start_due(&mut self) {
        let now = self.shared.world.clock.now();
        while let Some((due, endpoint)) = self.due.first().copied()
            && due <= now
        {
            self.due.pop_first();
            self.wake(endpoint);
        }
    }

    fn wake(&mut self, endpoint: Endpoint) {
        if let Some(wakeup) = self.served.get(&endpoint) {
            wakeup.wake();
            return;
        }
        let wakeup = Arc::new(Wakeup::default());
        self.served.insert(endpoint, wakeup.clone());
        let (shared, ended, stopping) = (self.shared.clone(), self.ended.clone(), self.workers.stopping());
        let name = format!("webhooks/{}/{}", endpoint.account, endpoint.kind.as_str());
        self.workers.spawn_named(name, async move {
            let next_due = endpoint::serve(endpoint, shared, wakeup, stopping).await;
            // Nobody listens any more when everything is being stopped.
            let _ = ended.send((endpoint, next_due)).await;
        });
    }

    fn end(&mut self, endpoint: Endpoint, next_due: Option<Timestamp>) {
        let rung_again = self.served.remove(&endpoint).is_some_and(|wakeup| wakeup.was_rung());
        if rung_again {
            self.wake(endpoint);
        } else if let Some(due) = next_due {
            self.due.insert((due, endpoint));
        }
    }
}
