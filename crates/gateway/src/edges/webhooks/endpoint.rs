//! The task of one endpoint: reads what is due, posts as much at a time as the endpoint has shown that it can take, and
//! has the store write down what came of it. The rows stay where they are until then, so whatever is cut short is simply
//! posted again.

use super::Shared;
use super::client::{KEEP_ALIVE, Pool};
use super::post::{Attempt, Posted, not_posted};
use super::post_limiter::Pass;
use super::target::{Aim, NoAim};
use crate::clock::Moment;
use crate::clock::within;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::pressure::Pressure;
use hermod_store::{
    AfterAttempt, AttemptOutcome, Endpoint, EventId, SettledAttempt, StoreError, WebhookEvent, WebhookPage,
};
use std::collections::{HashSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Events read at a time, at least and at most. They are what an endpoint costs in memory.
const READ_MIN: u32 = 4;
const READ_MAX: u32 = 128;
/// Events in hand (read, under way, or not yet written down) beyond which none is read.
const HELD_MAX: usize = 256;
/// After the store could not be read or written.
const FAULT_WAIT: Duration = Duration::from_secs(1);
/// What posts under way have, to come to their end, when everything stops.
const STOP_WAIT: Duration = Duration::from_secs(2);

/// Where there is something to do at once, so that nobody is kept from the processor by it.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

type Task<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Tells an endpoint's task that there is more.
#[derive(Default)]
pub(super) struct Wakeup {
    woken: AtomicBool,
    wake: Notify,
}

impl Wakeup {
    pub(super) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    pub(super) fn was_rung(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }
}

struct Desk {
    endpoint: Endpoint,
    shared: Arc<Shared>,
    pressure: Pressure,
    aim: Option<Arc<Aim>>,
    pool: Arc<Pool>,
    /// Read and not begun.
    queue: VecDeque<WebhookEvent>,
    /// Everything in hand, which reading gives again and again.
    held: HashSet<EventId>,
    under_way: FuturesUnordered<Task<Posted>>,
    lingering: Arc<AtomicU32>,
    /// For the next post.
    entering: Option<Task<Pass>>,
    /// Not before this.
    rest_until: Moment,
    finished: Vec<SettledAttempt>,
    settling: Option<Task<Settled>>,
    /// The store could not write last time: it is left alone for a while.
    store_failed: bool,
    /// There may be more that is due.
    more: bool,
    /// When something will be due that is not yet.
    next_due: Option<Timestamp>,
    /// No post has succeeded since one failed.
    failing: bool,
}

/// A batch that the store has been given.
struct Settled {
    batch: Vec<SettledAttempt>,
    done: Result<(), StoreError>,
}

/// Serves an endpoint until there has been nothing to do for a while; says when there will be.
pub(super) async fn serve(
    endpoint: Endpoint,
    shared: Arc<Shared>,
    wakeup: Arc<Wakeup>,
    stopping: CancellationToken,
) -> Option<Timestamp> {
    let mut desk = Desk::new(endpoint, shared.clone());
    let clock = shared.world.clock.clone();
    let mut idle_until = clock.moment().plus(KEEP_ALIVE);
    while !stopping.is_cancelled() {
        desk.more |= wakeup.was_rung() || desk.is_due();
        desk.read().await;
        // One for the whole turn: what may not begin yet is what is waited for.
        let moment = clock.moment();
        desk.begin(moment);
        desk.settle();
        if !desk.is_idle() {
            idle_until = clock.moment().plus(KEEP_ALIVE);
        } else if desk.pool.is_empty() || idle_until <= clock.moment() {
            break;
        }
        let wait = desk.wait(idle_until, moment);
        tokio::select! {
            Some(posted) = desk.under_way.next() => desk.finish(posted),
            done = settled(&mut desk.settling) => desk.settled(done),
            pass = entered(&mut desk.entering) => desk.entered(pass),
            () = wakeup.wake.notified() => {}
            () = clock.sleep(wait) => {}
            () = stopping.cancelled() => {}
        }
    }
    if stopping.is_cancelled() {
        // In real time: it is about the network. What does not come to its end is posted again.
        let _ = within(STOP_WAIT, desk.come_to_an_end()).await;
    }
    shared.standings.keep(endpoint, desk.pressure);
    desk.next_due
}

async fn settled<T>(settling: &mut Option<Task<T>>) -> T {
    match settling {
        Some(task) => {
            let done = task.await;
            *settling = None;
            done
        }
        None => std::future::pending().await,
    }
}

async fn entered(entering: &mut Option<Task<Pass>>) -> Pass {
    settled(entering).await
}

impl Desk {
    fn new(endpoint: Endpoint, shared: Arc<Shared>) -> Desk {
        let failing = shared.standings.is_failing(endpoint);
        Desk {
            endpoint,
            pressure: shared.standings.of(endpoint),
            rest_until: shared.world.clock.moment(),
            shared,
            aim: None,
            pool: Arc::default(),
            queue: VecDeque::new(),
            held: HashSet::new(),
            under_way: FuturesUnordered::new(),
            lingering: Arc::default(),
            entering: None,
            finished: Vec::new(),
            settling: None,
            store_failed: false,
            more: true,
            next_due: None,
            failing,
        }
    }

    fn is_idle(&self) -> bool {
        self.held.is_empty() && !self.more
    }

    fn is_due(&self) -> bool {
        self.next_due.is_some_and(|due| due <= self.shared.world.clock.now())
    }

    /// How long nothing may happen by itself.
    fn wait(&self, idle_until: Moment, moment: Moment) -> Duration {
        let now = self.shared.world.clock.now();
        let until = |at: Moment| Duration::from_millis(at.0.saturating_sub(moment.0));
        if self.can_read() {
            return SHORTEST_WAIT;
        }
        let mut wait = until(idle_until).max(SHORTEST_WAIT);
        // What is due by now has become so since this turn began.
        if !self.more
            && let Some(due) = self.next_due
        {
            wait = wait.min(due.since(now).max(SHORTEST_WAIT));
        }
        if !self.queue.is_empty() && moment < self.rest_until {
            wait = wait.min(until(self.rest_until));
        }
        wait
    }

    fn can_read(&self) -> bool {
        let enough = usize::try_from(self.pressure.posts()).unwrap_or(0);
        self.more && self.queue.len() < enough && self.held.len() < HELD_MAX
    }

    /// Reads what is due, if there may be more and there is room for it.
    async fn read(&mut self) {
        if !self.can_read() {
            return;
        }
        let wanted = (2 * self.pressure.posts()).clamp(READ_MIN, READ_MAX);
        let limit = wanted.saturating_add(u32::try_from(self.held.len()).unwrap_or(0));
        let world = &self.shared.world;
        let now = world.clock.now();
        match world.store.take_webhooks(self.endpoint, None, now, limit).await {
            Ok(WebhookPage { events, next_due }) => {
                self.more = next_due.is_some_and(|due| due <= now);
                self.next_due = next_due;
                for event in events {
                    if self.held.insert(event.id) {
                        self.queue.push_back(event);
                    }
                }
            }
            Err(fault) => {
                tracing::error!(%fault, account = %self.endpoint.account, "Webhooks could not be read; it is tried again");
                world.clock.sleep(FAULT_WAIT).await;
            }
        }
    }

    /// Begins as many posts as may be.
    fn begin(&mut self, moment: Moment) {
        while self.may_begin(moment) {
            let Some(aim) = self.aim_now() else { return };
            if self.lingering.load(Ordering::Relaxed) > 0 {
                self.pressure.lingers();
            }
            let doubtful = self.pressure.is_doubtful();
            match self.shared.turnstile.try_enter(doubtful) {
                Some(pass) => self.post(aim, pass, doubtful),
                None => {
                    self.entering = Some(Box::pin(self.shared.turnstile.enter(doubtful)));
                    return;
                }
            }
        }
    }

    fn may_begin(&self, moment: Moment) -> bool {
        let posts = u32::try_from(self.under_way.len()).unwrap_or(u32::MAX);
        !self.queue.is_empty()
            && self.entering.is_none()
            && posts < self.pressure.posts()
            && self.finished.len() < HELD_MAX
            && self.rest_until <= moment
    }

    /// A place was free for the post that waited for it.
    fn entered(&mut self, pass: Pass) {
        let doubtful = self.pressure.is_doubtful();
        if let Some(aim) = self.aim_now() {
            self.post(aim, pass, doubtful);
        }
    }

    fn post(&mut self, aim: Arc<Aim>, pass: Pass, doubtful: bool) {
        let Some(event) = self.queue.pop_front() else { return };
        let attempt = Attempt {
            shared: self.shared.clone(),
            aim,
            pool: self.pool.clone(),
            event,
            pass,
            doubtful,
            lingering: self.lingering.clone(),
        };
        self.under_way.push(Box::pin(attempt.make()));
    }

    /// Where to, by the catalogue of this moment. Nowhere: everything read so far is settled accordingly.
    fn aim_now(&mut self) -> Option<Arc<Aim>> {
        let world = &self.shared.world;
        if let Some(aim) = self.aim.as_ref().filter(|aim| aim.holds(&world.catalogue(), self.endpoint)) {
            return Some(aim.clone());
        }
        match Aim::of(world, &self.shared.settings.rules, self.endpoint) {
            Ok(aim) => {
                if !self.aim.as_ref().is_some_and(|before| before.goes_where(&aim)) {
                    self.pool = Arc::default();
                }
                self.aim = Some(aim.clone());
                Some(aim)
            }
            Err(why) => {
                self.aim = None;
                self.settle_unposted(&why);
                None
            }
        }
    }

    fn settle_unposted(&mut self, why: &NoAim) {
        let now = self.shared.world.clock.now();
        match why {
            NoAim::NoAddress => self.recovered(),
            NoAim::Unusable(why) => self.failed(Some(&AttemptOutcome::Failed(why.clone()))),
        }
        for event in self.queue.drain(..) {
            self.finished.push(not_posted(&event, why, &self.shared.settings.schedule, now));
        }
    }

    fn finish(&mut self, posted: Posted) {
        let Posted { settled, answered, took } = posted;
        if answered {
            self.pressure.answered(took);
            self.recovered();
        } else {
            self.pressure.failed();
            self.failed(settled.attempt.as_ref().map(|attempt| &attempt.outcome));
            self.rest_until = self.shared.world.clock.moment().plus(self.pressure.breath());
        }
        self.finished.push(settled);
    }

    fn recovered(&mut self) {
        if std::mem::take(&mut self.failing) {
            self.shared.standings.recovered(self.endpoint);
        }
    }

    fn failed(&mut self, outcome: Option<&AttemptOutcome>) {
        self.failing = true;
        let world = &self.shared.world;
        let (catalogue, Endpoint { account, kind }) = (world.catalogue(), self.endpoint);
        let webhooks = catalogue.account(account).and_then(|view| view.account.webhooks.as_ref());
        let url = webhooks.and_then(|webhooks| webhooks.url(kind));
        self.shared.standings.failed(self.endpoint, url, outcome, world.clock.now());
    }

    /// Hands what is finished to the store, one batch at a time: what comes meanwhile is the next.
    fn settle(&mut self) {
        if self.settling.is_some() || self.finished.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.finished);
        let store_failed = self.store_failed;
        let world = self.shared.world.clone();
        self.settling = Some(Box::pin(async move {
            if store_failed {
                world.clock.sleep(FAULT_WAIT).await;
            }
            let done = world.store.settle_webhooks(batch.clone(), world.clock.now()).await;
            Settled { batch, done }
        }));
    }

    /// What was not written down stays in hand until it is: the receiver need not be told again.
    fn settled(&mut self, settled: Settled) {
        let Settled { mut batch, done } = settled;
        self.store_failed = done.is_err();
        if let Err(fault) = done {
            tracing::error!(
                %fault, account = %self.endpoint.account,
                "What became of webhooks could not be written down; it is tried again"
            );
            batch.append(&mut self.finished);
            self.finished = batch;
            return;
        }
        for SettledAttempt { event, next, .. } in &batch {
            self.held.remove(event);
            // It may have been replayed meanwhile, and be due.
            self.more |= *next != AfterAttempt::Delivered;
            if let AfterAttempt::RetryAt(at) = *next {
                self.next_due = Some(self.next_due.map_or(at, |due| due.min(at)));
            }
        }
    }

    /// Everything under way has its end, and everything finished is written down as soon as it is.
    async fn come_to_an_end(&mut self) {
        loop {
            self.settle();
            if self.under_way.is_empty() && self.settling.is_none() {
                return;
            }
            tokio::select! {
                Some(posted) = self.under_way.next() => self.finish(posted),
                done = settled(&mut self.settling) => self.settled(done),
            }
        }
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
