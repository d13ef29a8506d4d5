//! Idle binds: opened at a rate, held with `enquire_link`, checked and unbound. They measure what a server spends on customers
//! without traffic.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use hermod_smpp::session::{ClientConfig, CloseReason};
use hermod_smpp::{BindType, CommandStatus, Moment, SessionEvent};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinHandle;

use super::target::SmppTarget;
use crate::load::report::{Latency, latencies, latency_head, latency_row, micros};
use crate::runtime;
use crate::session_driver::SessionDriver;

/// Idle binds of a run.
pub const BINDS_MAX: u32 = 60_000;
/// Octets read at a time: idle binds receive little.
const READ_BYTES: usize = 512;
/// Time for a bind to answer the last enquire_link.
const CHECK_MAX: Duration = Duration::from_secs(15);

/// Options of a run.
#[derive(Clone)]
pub struct IdleOptions {
    pub target: SmppTarget,
    pub kind: BindType,
    pub binds: u32,
    /// Binds opened per second.
    pub per_second: f64,
    /// Binds without a response at one time.
    pub at_once: u32,
    /// Time from the connection to the bind response.
    pub bind_wait_max: Duration,
    pub enquire_after: Duration,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IdleReport {
    pub binds: u32,
    pub bound: u32,
    /// From the first connection to the last bind.
    pub binding_s: f64,
    /// From the connection to the bind response.
    pub bind: Latency,
    /// Failed binds, by reason.
    pub failures: BTreeMap<String, u64>,
    /// How long the binds were held.
    pub held_s: f64,
    /// Binds that answered the last enquire_link.
    pub alive: u32,
    /// Binds that ended early, by reason.
    pub ended: BTreeMap<String, u64>,
    /// Binds with an unbind_resp.
    pub unbound: u32,
    /// CPU time of the process.
    pub cpu_us: u64,
}

impl IdleReport {
    /// Binds that failed, were not alive at the end, or got no unbind_resp.
    pub fn errors(&self) -> u64 {
        u64::from(self.binds - self.bound)
            + u64::from(self.bound - self.alive)
            + u64::from(self.bound.saturating_sub(self.unbound))
    }
}

impl fmt::Display for IdleReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let IdleReport { binds, bound, binding_s, held_s, alive, unbound, .. } = self;
        writeln!(f, "{bound} of {binds} bound in {binding_s:.2} s, held for {held_s:.2} s")?;
        writeln!(f, "  alive      {alive:>12}")?;
        writeln!(f, "  unbound    {unbound:>12}")?;
        writeln!(f, "  errors     {:>12}", self.errors())?;
        for (why, count) in self.failures.iter().chain(&self.ended) {
            writeln!(f, "    {count:>9}  {why}")?;
        }
        latency_head(f)?;
        latency_row(f, "bind", &self.bind)
    }
}

/// What idle binds are to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Hold,
    Check,
    Leave,
}

struct Shared {
    options: IdleOptions,
    started: Instant,
    at_once: Semaphore,
    tally: Mutex<Tally>,
    progress: Notify,
}

struct Tally {
    bind: Histogram<u32>,
    bound: u32,
    last_bound: Instant,
    failures: BTreeMap<String, u64>,
    alive: u32,
    ended: BTreeMap<String, u64>,
    unbound: u32,
}

/// Running idle binds.
pub struct Idle {
    shared: Arc<Shared>,
    phase: watch::Sender<Phase>,
    binds: Vec<JoinHandle<()>>,
    cpu_before: Duration,
}

/// Starts to open the binds.
pub fn start(mut options: IdleOptions) -> Idle {
    options.binds = options.binds.clamp(1, BINDS_MAX);
    let started = runtime::now();
    let (phase, phases) = watch::channel(Phase::Hold);
    let tally = Tally {
        bind: latencies(),
        bound: 0,
        last_bound: started,
        failures: BTreeMap::new(),
        alive: 0,
        ended: BTreeMap::new(),
        unbound: 0,
    };
    let shared = Arc::new(Shared {
        started,
        at_once: Semaphore::new(options.at_once.max(1) as usize),
        tally: Mutex::new(tally),
        progress: Notify::new(),
        options,
    });
    let binds = (0..shared.options.binds)
        .map(|number| runtime::spawn(run_bind(Arc::clone(&shared), number, phases.clone())))
        .collect();
    Idle { shared, phase, binds, cpu_before: runtime::cpu_time() }
}

impl Idle {
    /// Waits until each bind is bound or has failed. Returns the number of bound ones and the time it took.
    pub async fn bound(&self) -> (u32, Duration) {
        let Shared { options, started, .. } = &*self.shared;
        self.wait_for(|tally| u64::from(tally.bound) + sum(&tally.failures) >= u64::from(options.binds))
            .await;
        let tally = self.shared.tally();
        (tally.bound, tally.last_bound - *started)
    }

    /// Holds the binds for this long, checks that each is alive, unbinds and reports.
    pub async fn hold(self, hold: Duration) -> IdleReport {
        let (bound, binding) = self.bound().await;
        let held_from = runtime::now();
        runtime::pause(hold).await;
        let held = runtime::now() - held_from;
        self.phase.send_replace(Phase::Check);
        let all_checked =
            self.wait_for(|tally| u64::from(tally.alive) + sum(&tally.ended) >= u64::from(bound));
        // Binds without an answer by then do not count as alive.
        let _ = runtime::within(CHECK_MAX, all_checked).await;
        let alive = self.shared.tally().alive;
        self.phase.send_replace(Phase::Leave);
        for bind in self.binds {
            bind.await.expect("a bind's task does not panic");
        }
        let tally = self.shared.tally();
        IdleReport {
            binds: self.shared.options.binds,
            bound,
            binding_s: binding.as_secs_f64(),
            bind: Latency::of(&tally.bind),
            failures: tally.failures.clone(),
            held_s: held.as_secs_f64(),
            alive,
            ended: tally.ended.clone(),
            unbound: tally.unbound,
            cpu_us: micros(runtime::cpu_time().saturating_sub(self.cpu_before)),
        }
    }

    async fn wait_for(&self, condition: impl Fn(&Tally) -> bool) {
        while !condition(&self.shared.tally()) {
            self.shared.progress.notified().await;
        }
    }
}

fn sum(counts: &BTreeMap<String, u64>) -> u64 {
    counts.values().sum()
}

impl Shared {
    fn tally(&self) -> std::sync::MutexGuard<'_, Tally> {
        self.tally.lock().expect("no holder of the tally panics")
    }

    fn note(&self, write: impl FnOnce(&mut Tally)) {
        write(&mut self.tally());
        self.progress.notify_one();
    }

    fn config(&self) -> ClientConfig {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let mut config = ClientConfig::standard();
        config.bind_ms = ms(self.options.bind_wait_max);
        config.limits.enquire_idle_ms = Some(ms(self.options.enquire_after));
        config.limits.read_chunk_bytes = READ_BYTES;
        config
    }
}

/// Runs one idle bind.
async fn run_bind(shared: Arc<Shared>, number: u32, phase: watch::Receiver<Phase>) {
    let Shared { options, started, at_once, .. } = &*shared;
    runtime::sleep_until(*started + Duration::from_secs_f64(f64::from(number) / options.per_second)).await;
    let permit = at_once.acquire().await.expect("the semaphore is never closed");
    let started_at = runtime::now();
    let bound = options.target.bind::<()>(options.kind, shared.config()).await;
    let now = runtime::now();
    drop(permit);
    match bound {
        Ok(driver) => {
            shared.note(|tally| {
                tally.bound += 1;
                tally.last_bound = now;
                tally.bind.saturating_record(micros(now - started_at));
            });
            hold(&shared, driver, phase).await;
        }
        Err(error) => shared.note(|tally| *tally.failures.entry(error.to_string()).or_default() += 1),
    }
}

async fn hold(shared: &Shared, mut driver: SessionDriver<()>, mut phase: watch::Receiver<Phase>) {
    // PDUs received when the check began.
    let mut checked_at = None;
    let mut end = None;
    loop {
        let moment = driver.tick(runtime::now());
        while let Some(event) = driver.session.next_event(moment) {
            if let Some(reason) = on_event(&mut driver, &event, moment) {
                end = Some(reason);
            }
        }
        if checked_at.is_some_and(|before| driver.session.counters().pdus_in > before) {
            checked_at = None;
            shared.note(|tally| tally.alive += 1);
        }
        if driver.is_over() {
            break;
        }
        tokio::select! {
            () = driver.exchange() => {}
            changed = phase.changed() => {
                let moment = driver.tick(runtime::now());
                let order = *phase.borrow_and_update();
                if changed.is_err() || order == Phase::Leave {
                    driver.session.unbind(moment);
                } else if order == Phase::Check {
                    checked_at = Some(driver.session.counters().pdus_in);
                    driver.session.probe(moment);
                }
            }
        }
    }
    shared.note(|tally| match end {
        Some(CloseReason::Unbound) => tally.unbound += 1,
        Some(reason) => *tally.ended.entry(reason.to_string()).or_default() += 1,
        None => *tally.ended.entry("ended".to_owned()).or_default() += 1,
    });
    driver.close().await;
}

/// Rejects deliveries. Returns the reason if the session ended.
fn on_event(driver: &mut SessionDriver<()>, event: &SessionEvent<()>, moment: Moment) -> Option<CloseReason> {
    match event {
        SessionEvent::Request(frame) => {
            // A session that ended in the same read accepts no response.
            let _ = driver.session.reject(frame.header, CommandStatus::X_T_APPN, moment);
            None
        }
        SessionEvent::Closed(reason) => Some(*reason),
        SessionEvent::Bound { .. }
        | SessionEvent::BindRejected(_)
        | SessionEvent::BindRequested(_)
        | SessionEvent::Notification(_)
        | SessionEvent::Response { .. }
        | SessionEvent::TimedOut { .. }
        | SessionEvent::LateResponse { .. }
        | SessionEvent::PeerUnbound
        | SessionEvent::Lost(_) => None,
    }
}
