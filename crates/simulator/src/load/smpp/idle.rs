//! Binds that do nothing: opened at a pace, held for a while with an `enquire_link` now and then, asked whether they
//! are alive, and unbound. What a server spends on customers who are only there.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use hermod_smpp::session::{ClientConfig, CloseReason};
use hermod_smpp::{BindType, CommandStatus, Event, Moment};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinHandle;

use super::target::Target;
use crate::load::report::{Latency, latencies, latency_head, latency_row, micros};
use crate::runtime;
use crate::session_driver::SessionDriver;

/// Idle binds at most.
pub const BINDS_MAX: u32 = 60_000;
/// Room made for a read: what idle binds hear is short.
const READ_BYTES: usize = 512;
/// A bind that is asked whether it lives is given this long.
const CHECK_MAX: Duration = Duration::from_secs(15);

/// Binds to open and hold.
#[derive(Clone)]
pub struct IdleOptions {
    pub target: Target,
    pub kind: BindType,
    pub binds: u32,
    /// Binds opened per second.
    pub per_second: f64,
    /// Binds waiting for their answer at one time.
    pub at_once: u32,
    /// A bind is given this long from connection to answer.
    pub bind_wait_max: Duration,
    pub enquire_after: Duration,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IdleReport {
    pub binds: u32,
    pub bound: u32,
    /// From the first connection to the last bind.
    pub binding_s: f64,
    /// From connecting to the answer.
    pub bind: Latency,
    /// Binds that were not to be had, by why.
    pub faults: BTreeMap<String, u64>,
    /// How long they were held.
    pub held_s: f64,
    /// Answered when they were asked at the end.
    pub alive: u32,
    /// Ended before they were told to, by why.
    pub ended: BTreeMap<String, u64>,
    /// Unbound in good order.
    pub unbound: u32,
    /// Processor time of the whole process.
    pub cpu_us: u64,
}

impl IdleReport {
    /// Binds that were not to be had, not alive at the end, or not unbound in good order.
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
        for (why, count) in self.faults.iter().chain(&self.ended) {
            writeln!(f, "    {count:>9}  {why}")?;
        }
        latency_head(f)?;
        latency_row(f, "bind", &self.bind)
    }
}

/// What idle binds are told.
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
    news: Notify,
}

struct Tally {
    bind: Histogram<u32>,
    bound: u32,
    last_bound: Instant,
    faults: BTreeMap<String, u64>,
    alive: u32,
    ended: BTreeMap<String, u64>,
    unbound: u32,
}

/// Idle binds, opening or open.
pub struct Idle {
    shared: Arc<Shared>,
    phase: watch::Sender<Phase>,
    binds: Vec<JoinHandle<()>>,
    cpu_before: Duration,
}

/// Begins to open the binds.
pub fn start(mut options: IdleOptions) -> Idle {
    options.binds = options.binds.clamp(1, BINDS_MAX);
    let started = runtime::now();
    let (phase, told) = watch::channel(Phase::Hold);
    let tally = Tally {
        bind: latencies(),
        bound: 0,
        last_bound: started,
        faults: BTreeMap::new(),
        alive: 0,
        ended: BTreeMap::new(),
        unbound: 0,
    };
    let shared = Arc::new(Shared {
        started,
        at_once: Semaphore::new(options.at_once.max(1) as usize),
        tally: Mutex::new(tally),
        news: Notify::new(),
        options,
    });
    let binds = (0..shared.options.binds)
        .map(|number| runtime::spawn(sit(Arc::clone(&shared), number, told.clone())))
        .collect();
    Idle { shared, phase, binds, cpu_before: runtime::cpu_time() }
}

impl Idle {
    /// Waits until each bind stands or is known not to come; how many stand, and how long it took.
    pub async fn bound(&self) -> (u32, Duration) {
        let Shared { options, started, .. } = &*self.shared;
        self.wait_for(|tally| u64::from(tally.bound) + sum(&tally.faults) >= u64::from(options.binds)).await;
        let tally = self.shared.tally();
        (tally.bound, tally.last_bound - *started)
    }

    /// Holds them for so long, asks each whether it lives, unbinds, and reports.
    pub async fn hold(self, hold: Duration) -> IdleReport {
        let (bound, binding) = self.bound().await;
        let held_from = runtime::now();
        runtime::pause(hold).await;
        let held = runtime::now() - held_from;
        self.phase.send_replace(Phase::Check);
        let all_told = self.wait_for(|tally| u64::from(tally.alive) + sum(&tally.ended) >= u64::from(bound));
        // Whoever says nothing until then is not counted among the living.
        let _ = runtime::within(CHECK_MAX, all_told).await;
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
            faults: tally.faults.clone(),
            held_s: held.as_secs_f64(),
            alive,
            ended: tally.ended.clone(),
            unbound: tally.unbound,
            cpu_us: micros(runtime::cpu_time().saturating_sub(self.cpu_before)),
        }
    }

    async fn wait_for(&self, is_so: impl Fn(&Tally) -> bool) {
        while !is_so(&self.shared.tally()) {
            self.shared.news.notified().await;
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
        self.news.notify_one();
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

/// One idle bind from its connection to its end.
async fn sit(shared: Arc<Shared>, number: u32, phase: watch::Receiver<Phase>) {
    let Shared { options, started, at_once, .. } = &*shared;
    runtime::sleep_until(*started + Duration::from_secs_f64(f64::from(number) / options.per_second)).await;
    let turn = at_once.acquire().await.expect("the semaphore is never closed");
    let asked = runtime::now();
    let bound = options.target.bind::<()>(options.kind, shared.config()).await;
    let now = runtime::now();
    drop(turn);
    match bound {
        Ok(line) => {
            shared.note(|tally| {
                tally.bound += 1;
                tally.last_bound = now;
                tally.bind.saturating_record(micros(now - asked));
            });
            hold(&shared, line, phase).await;
        }
        Err(fault) => shared.note(|tally| *tally.faults.entry(fault.to_string()).or_default() += 1),
    }
}

async fn hold(shared: &Shared, mut line: SessionDriver<()>, mut phase: watch::Receiver<Phase>) {
    // What had been heard when it was asked whether it lives.
    let mut heard = None;
    let mut end = None;
    loop {
        let moment = line.tick(runtime::now());
        while let Some(event) = line.session.next_event(moment) {
            if let Some(reason) = take_event(&mut line, &event, moment) {
                end = Some(reason);
            }
        }
        if heard.is_some_and(|before| line.session.counters().pdus_in > before) {
            heard = None;
            shared.note(|tally| tally.alive += 1);
        }
        if line.is_over() {
            break;
        }
        tokio::select! {
            () = line.exchange() => {}
            changed = phase.changed() => {
                let moment = line.tick(runtime::now());
                let told = *phase.borrow_and_update();
                if changed.is_err() || told == Phase::Leave {
                    line.session.unbind(moment);
                } else if told == Phase::Check {
                    heard = Some(line.session.counters().pdus_in);
                    line.session.probe(moment);
                }
            }
        }
    }
    shared.note(|tally| match end {
        Some(CloseReason::Unbound) => tally.unbound += 1,
        Some(reason) => *tally.ended.entry(reason.to_string()).or_default() += 1,
        None => *tally.ended.entry("it ended".to_owned()).or_default() += 1,
    });
    line.close().await;
}

/// Refuses whatever is delivered, because nobody here reads it; tells how the session ended, if it did.
fn take_event(line: &mut SessionDriver<()>, event: &Event<()>, moment: Moment) -> Option<CloseReason> {
    match event {
        Event::Request(frame) => {
            // A session that ended in the same read takes no answer any more.
            let _ = line.session.refuse(frame.header, CommandStatus::X_T_APPN, moment);
            None
        }
        Event::Closed(reason) => Some(*reason),
        Event::Bound { .. }
        | Event::BindRefused(_)
        | Event::BindRequested(_)
        | Event::Notification(_)
        | Event::Answered { .. }
        | Event::TimedOut { .. }
        | Event::LateAnswer { .. }
        | Event::PeerUnbound
        | Event::Lost(_) => None,
    }
}
