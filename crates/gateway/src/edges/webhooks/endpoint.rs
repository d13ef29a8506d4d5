//! The task of one endpoint: reads due events, posts as many concurrently as the endpoint's recent responses allow, and
//! settles them in the store. Events stay in the store until they are settled, so an interrupted post is repeated.

use super::Shared;
use super::client::{KEEP_ALIVE, Pool};
use super::post::{PostAttempt, Posted, not_posted};
use super::post_limiter::PostPermit;
use super::target::{NoTarget, Target};
use super::wakeup::EndpointWakeup;
use crate::clock::Moment;
use crate::clock::within;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::post_concurrency::PostConcurrency;
use hermod_store::{
    AfterAttempt, AttemptOutcome, Endpoint, EventId, SettledAttempt, StoreError, WebhookEvent, WebhookPage,
};
use std::collections::{HashSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Events read at a time, at least and at most. They bound the memory of an endpoint.
const READ_MIN: u32 = 4;
const READ_MAX: u32 = 128;
/// No more events are read above this many in memory: queued, being posted, or not settled yet.
const HELD_MAX: usize = 256;
/// The wait after a store error.
const FAULT_WAIT: Duration = Duration::from_secs(1);
/// Pause before events are read after the engine was not reached.
const RESUME_AFTER: Duration = Duration::from_secs(3);
/// How often to look whether the engine is reached, with events to read.
const ENGINE_POLL: Duration = Duration::from_millis(100);
/// How long posts in progress may take when the gateway stops, or another node posts to the endpoint.
const STOP_WAIT: Duration = Duration::from_secs(2);

/// The shortest wait, so that the task yields even with work to do.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// Something that a task waits for while it does other work.
type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

struct EndpointTask {
    endpoint: Endpoint,
    shared: Arc<Shared>,
    pressure: PostConcurrency,
    target: Option<Arc<Target>>,
    pool: Arc<Pool>,
    /// Events that are not posted yet.
    queue: VecDeque<WebhookEvent>,
    /// All events in memory; the store returns them again at every read.
    held: HashSet<EventId>,
    in_progress: FuturesUnordered<Pending<Posted>>,
    lingering: Arc<AtomicU32>,
    /// Waits for a permit for the next post.
    awaiting_permit: Option<Pending<PostPermit>>,
    /// No post before this time.
    rest_until: Moment,
    /// No read before this time.
    resumes_at: Moment,
    finished: Vec<SettledAttempt>,
    settling: Option<Pending<Settled>>,
    /// The last write failed: the next one waits.
    store_failed: bool,
    /// There may be more due events.
    more: bool,
    /// When the next event is due.
    next_due: Option<Timestamp>,
    /// The last post failed.
    failing: bool,
}

/// A batch that was given to the store.
struct Settled {
    batch: Vec<SettledAttempt>,
    done: Result<(), StoreError>,
}

/// Serves an endpoint until it was idle for a while. Returns when its next event is due.
pub(super) async fn serve(
    endpoint: Endpoint,
    shared: Arc<Shared>,
    wakeup: Arc<EndpointWakeup>,
) -> Option<Timestamp> {
    let mut task = EndpointTask::new(endpoint, shared.clone());
    let clock = shared.gateway.clock.clone();
    let mut idle_until = clock.moment().plus(KEEP_ALIVE);
    while !wakeup.stopping.is_cancelled() {
        task.more |= wakeup.take_wake() || task.is_due();
        task.forget_without_engine();
        task.read().await;
        // One time for the whole turn, so that `wait` covers what `begin` left out.
        let moment = clock.moment();
        task.begin(moment);
        task.settle();
        if !task.is_idle() {
            idle_until = clock.moment().plus(KEEP_ALIVE);
        } else if task.pool.is_empty() || idle_until <= clock.moment() {
            break;
        }
        let wait = task.wait(idle_until, moment);
        tokio::select! {
            Some(posted) = task.in_progress.next() => task.finish(posted),
            done = completed(&mut task.settling) => task.settled(done),
            permit = completed(&mut task.awaiting_permit) => task.on_permit(permit),
            () = wakeup.wake.notified() => {}
            () = clock.sleep(wait) => {}
            () = wakeup.stopping.cancelled() => {}
        }
    }
    if wakeup.stopping.is_cancelled() {
        // Real time, because of the network. Unfinished posts are repeated after the next start, or by another node.
        let _ = within(STOP_WAIT, task.finish_posts()).await;
        // There may be more.
        task.next_due = Some(clock.now());
    }
    shared.statuses.keep(endpoint, task.pressure);
    task.next_due
}

impl EndpointTask {
    fn new(endpoint: Endpoint, shared: Arc<Shared>) -> EndpointTask {
        let failing = shared.statuses.is_failing(endpoint);
        EndpointTask {
            endpoint,
            pressure: shared.statuses.of(endpoint),
            rest_until: shared.gateway.clock.moment(),
            resumes_at: shared.gateway.clock.moment(),
            shared,
            target: None,
            pool: Arc::default(),
            queue: VecDeque::new(),
            held: HashSet::new(),
            in_progress: FuturesUnordered::new(),
            lingering: Arc::default(),
            awaiting_permit: None,
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
        self.next_due.is_some_and(|due| due <= self.shared.gateway.clock.now())
    }

    /// Forgets the events that are not posted yet while the engine is not reached: another node may have been told to post them.
    /// When it is reached again, it has some time to say so.
    fn forget_without_engine(&mut self) {
        if !self.shared.gateway.store.can_serve() {
            self.more |= !self.queue.is_empty();
            for event in self.queue.drain(..) {
                self.held.remove(&event.id);
            }
            self.resumes_at = self.shared.gateway.clock.moment().plus(RESUME_AFTER);
        }
    }

    /// Returns how long to wait without an event.
    fn wait(&self, idle_until: Moment, moment: Moment) -> Duration {
        let now = self.shared.gateway.clock.now();
        let until = |at: Moment| Duration::from_millis(at.0.saturating_sub(moment.0));
        if self.can_read() {
            return SHORTEST_WAIT;
        }
        let mut wait = until(idle_until).max(SHORTEST_WAIT);
        if self.more && moment < self.resumes_at {
            wait = wait.min(ENGINE_POLL);
        }
        // An event may have become due since this turn began.
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
        self.more
            && self.queue.len() < enough
            && self.held.len() < HELD_MAX
            && self.resumes_at <= self.shared.gateway.clock.moment()
    }

    /// Reads due events, if there may be more and memory allows.
    async fn read(&mut self) {
        if !self.can_read() {
            return;
        }
        let wanted = (2 * self.pressure.posts()).clamp(READ_MIN, READ_MAX);
        let limit = wanted.saturating_add(u32::try_from(self.held.len()).unwrap_or(0));
        let gateway = &self.shared.gateway;
        let now = gateway.clock.now();
        match gateway.store.webhooks().take(self.endpoint, None, now, limit).await {
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
                tracing::error!(%fault, account = %self.endpoint.account, "Could not read webhooks; retrying");
                gateway.clock.sleep(FAULT_WAIT).await;
            }
        }
    }

    /// Starts as many posts as the limits allow.
    fn begin(&mut self, moment: Moment) {
        while self.may_begin(moment) {
            let Some(target) = self.current_target() else { return };
            if self.lingering.load(Ordering::Relaxed) > 0 {
                self.pressure.exceeded_wait();
            }
            let doubtful = self.pressure.is_doubtful();
            match self.shared.post_limiter.try_acquire(doubtful) {
                Some(permit) => self.post(target, permit, doubtful),
                None => {
                    self.awaiting_permit = Some(Box::pin(self.shared.post_limiter.acquire(doubtful)));
                    return;
                }
            }
        }
    }

    fn may_begin(&self, moment: Moment) -> bool {
        let posts = u32::try_from(self.in_progress.len()).unwrap_or(u32::MAX);
        !self.queue.is_empty()
            && self.awaiting_permit.is_none()
            && posts < self.pressure.posts()
            && self.finished.len() < HELD_MAX
            && self.rest_until <= moment
            && !self.shared.gateway.is_held()
    }

    /// Starts the post that waited for a permit.
    fn on_permit(&mut self, permit: PostPermit) {
        if self.shared.gateway.is_held() {
            return;
        }
        let doubtful = self.pressure.is_doubtful();
        if let Some(target) = self.current_target() {
            self.post(target, permit, doubtful);
        }
    }

    fn post(&mut self, target: Arc<Target>, permit: PostPermit, doubtful: bool) {
        let Some(event) = self.queue.pop_front() else { return };
        let attempt = PostAttempt {
            shared: self.shared.clone(),
            target,
            pool: self.pool.clone(),
            event,
            permit,
            doubtful,
            lingering: self.lingering.clone(),
        };
        self.in_progress.push(Box::pin(attempt.make()));
    }

    /// Returns the target by the current catalogue. Without one, settles all queued events as not posted.
    fn current_target(&mut self) -> Option<Arc<Target>> {
        let gateway = &self.shared.gateway;
        if let Some(target) =
            self.target.as_ref().filter(|target| target.is_current(&gateway.catalogue(), self.endpoint))
        {
            return Some(target.clone());
        }
        match Target::of(gateway, &self.shared.settings.rules, self.endpoint) {
            Ok(target) => {
                if !self.target.as_ref().is_some_and(|before| before.has_same_url(&target)) {
                    self.pool = Arc::default();
                }
                self.target = Some(target.clone());
                Some(target)
            }
            Err(why) => {
                self.target = None;
                self.settle_unposted(&why);
                None
            }
        }
    }

    fn settle_unposted(&mut self, why: &NoTarget) {
        let now = self.shared.gateway.clock.now();
        match why {
            NoTarget::NoAddress => self.recovered(),
            NoTarget::Unusable(why) => self.failed(Some(&AttemptOutcome::Failed(why.clone()))),
        }
        for event in self.queue.drain(..) {
            self.finished.push(not_posted(&event, why, &self.shared.settings.schedule, now));
        }
    }

    fn finish(&mut self, posted: Posted) {
        let Posted { settled, answered, took } = posted;
        if answered {
            self.pressure.succeeded(took);
            self.recovered();
        } else {
            self.pressure.failed();
            self.failed(settled.attempt.as_ref().map(|attempt| &attempt.outcome));
            self.rest_until = self.shared.gateway.clock.moment().plus(self.pressure.backoff());
        }
        self.finished.push(settled);
    }

    fn recovered(&mut self) {
        if std::mem::take(&mut self.failing) {
            self.shared.statuses.recovered(self.endpoint);
        }
    }

    fn failed(&mut self, outcome: Option<&AttemptOutcome>) {
        self.failing = true;
        let gateway = &self.shared.gateway;
        let (catalogue, Endpoint { account, kind }) = (gateway.catalogue(), self.endpoint);
        let webhooks = catalogue.account(account).and_then(|view| view.account.webhooks.as_ref());
        let url = webhooks.and_then(|webhooks| webhooks.url(kind));
        self.shared.statuses.failed(self.endpoint, url, outcome, gateway.clock.now());
    }

    /// Gives finished events to the store, one batch at a time.
    fn settle(&mut self) {
        if self.settling.is_some() || self.finished.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.finished);
        let store_failed = self.store_failed;
        let gateway = self.shared.gateway.clone();
        self.settling = Some(Box::pin(async move {
            if store_failed {
                gateway.clock.sleep(FAULT_WAIT).await;
            }
            let done = gateway.store.webhooks().settle(batch.clone(), gateway.clock.now()).await;
            Settled { batch, done }
        }));
    }

    /// Handles the result of a batch. A failed batch is written again later, without another post.
    fn settled(&mut self, settled: Settled) {
        let Settled { mut batch, done } = settled;
        self.store_failed = done.is_err();
        if let Err(fault) = done {
            tracing::error!(
                %fault, account = %self.endpoint.account,
                "Could not settle webhooks; retrying"
            );
            batch.append(&mut self.finished);
            self.finished = batch;
            return;
        }
        for SettledAttempt { event, next, .. } in &batch {
            self.held.remove(event);
            // It may be due again after a replay.
            self.more |= *next != AfterAttempt::Delivered;
            if let AfterAttempt::RetryAt(at) = *next {
                self.next_due = Some(self.next_due.map_or(at, |due| due.min(at)));
            }
        }
    }

    /// Waits for the posts in progress, and settles them.
    async fn finish_posts(&mut self) {
        loop {
            self.settle();
            if self.in_progress.is_empty() && self.settling.is_none() {
                return;
            }
            tokio::select! {
                Some(posted) = self.in_progress.next() => self.finish(posted),
                done = completed(&mut self.settling) => self.settled(done),
            }
        }
    }
}

/// Waits for a future to complete, and removes it. Without a future it waits for ever.
async fn completed<T>(pending: &mut Option<Pending<T>>) -> T {
    match pending {
        Some(future) => {
            let outcome = future.await;
            *pending = None;
            outcome
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
