//! Starts a task for every endpoint with due events: woken by the store, or when a retry is due. The task ends when the
//! endpoint was idle for a while.

use super::Shared;
use super::endpoint::{self, Wakeup};
use crate::workers::Workers;
use hermod_domain::time::Timestamp;
use hermod_store::Endpoint;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often all waiting events are read again: for missed wake-ups, and in case the wall clock was set.
const READ_ALL_EVERY: Duration = Duration::from_secs(60);
/// The longest sleep, in case the wall clock was set.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// How often the alarms about failing endpoints are updated.
const ALARMS_EVERY: Duration = SLEEP_MAX;
/// Ended tasks that are not processed yet.
const ENDED_MAX: usize = 256;

struct Dispatcher {
    shared: Arc<Shared>,
    workers: Workers,
    /// Endpoints with a task.
    served: HashMap<Endpoint, Arc<Wakeup>>,
    /// Endpoints without a task, by their next due time.
    due: BTreeSet<(Timestamp, Endpoint)>,
    ended: mpsc::Sender<(Endpoint, Option<Timestamp>)>,
}

pub(super) async fn serve(shared: Arc<Shared>, workers: Workers) {
    let (ended, mut endings) = mpsc::channel(ENDED_MAX);
    let (clock, stopping) = (shared.world.clock.clone(), workers.stopping());
    let mut dispatcher = Dispatcher { shared, workers, served: HashMap::new(), due: BTreeSet::new(), ended };
    // Only the node with the engine posts webhooks.
    tokio::select! {
        () = dispatcher.shared.world.store.engine_came() => {}
        () = stopping.cancelled() => return,
    }
    let mut read_at = clock.moment();
    dispatcher.load_failing().await;
    let mut alarms_at = clock.moment();
    loop {
        if alarms_at <= clock.moment() {
            dispatcher.shared.statuses.update_alarms(&dispatcher.shared.world);
            alarms_at = clock.moment().plus(ALARMS_EVERY);
        }
        if read_at <= clock.moment() {
            dispatcher.read_waiting().await;
            read_at = clock.moment().plus(READ_ALL_EVERY);
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
    /// Loads the endpoints that were failing before this start.
    async fn load_failing(&self) {
        match self.shared.world.store.failing_endpoints().await {
            Ok(failing) => self.shared.statuses.load_failing(failing),
            Err(fault) => tracing::error!(%fault, "Could not read the failing webhook endpoints"),
        }
    }

    /// Reads all endpoints with waiting events.
    async fn read_waiting(&mut self) {
        match self.shared.world.store.webhooks_waiting().await {
            Ok(waiting) => {
                // A running task knows its own due time.
                let served = &self.served;
                self.due = waiting
                    .into_iter()
                    .filter(|(endpoint, _)| !served.contains_key(endpoint))
                    .map(|(endpoint, due)| (due, endpoint))
                    .collect();
            }
            Err(fault) => tracing::error!(%fault, "Could not read the waiting webhooks; retrying"),
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
            // Fails only while the gateway stops.
            let _ = ended.send((endpoint, next_due)).await;
        });
    }

    fn end(&mut self, endpoint: Endpoint, next_due: Option<Timestamp>) {
        let woken_again = self.served.remove(&endpoint).is_some_and(|wakeup| wakeup.take_wake());
        if woken_again {
            self.wake(endpoint);
        } else if let Some(due) = next_due {
            self.due.insert((due, endpoint));
        }
    }
}
