//! Benchmarks: the real binaries as separate processes on the loopback, each figure beside a reference from the same
//! run, because figures depend on the machine.

mod bed;
mod binds;
mod end_to_end;
mod gateway;
mod load;
mod metrics;
mod nodes;
mod portal;
mod process;
mod profile;
mod queue;
mod record;
mod soak;
mod stored;
mod webhooks;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::programs::{Binaries, existing};
use crate::shell::{Failure, Outcome, pause, stopwatch};

#[derive(Args)]
pub(crate) struct Benchmark {
    #[command(flatten)]
    programs: ProgramFlags,
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// POST /sms end to end, compared with an empty endpoint and the same client
    ///
    /// Every counted message is accepted, charged, submitted to the carrier, and its receipt recorded. Prints the rate, the
    /// reference's rate, their ratio, latency, CPU and bytes written per message, and memory; audits the store.
    Http(end_to_end::HttpOptions),
    /// Cost and latency at offered loads from 500 to 15,000 messages per second and at saturation, over SMPP and HTTP
    ///
    /// For each load: CPU of the gateway per message, in the store's threads and in the others, bytes written, commits and
    /// fsyncs per message, percentiles of responses and receipts, and memory; audits the store. With --against another build
    /// is measured in turn, load by load.
    Profile(profile::ProfileOptions),
    /// The full lifecycle over SMPP or HTTP on the embedded store, on PostgreSQL, and with three nodes on PostgreSQL
    ///
    /// The same load in each: three customers, one generator each, every message accepted, charged, at the carrier and
    /// receipted. PostgreSQL is started by the command and syncs to disk. Prints the rate and the CPU per message of gateways,
    /// PostgreSQL, generators and carrier; audits the store and compares the carrier's record.
    Nodes(nodes::NodesOptions),
    /// Every page of the portal with ten million recorded messages, the bytes of a first visit, and the send path meanwhile
    Portal(portal::PortalOptions),
    /// Messages queued for a carrier that is down: memory of the queue, and the time to drain it when the carrier returns
    Queue(queue::QueueOptions),
    /// Queries over ten million recorded messages, how far the record is behind under load, and the cost of live watchers
    Record(record::RecordOptions),
    /// submit_sm end to end, compared with an echo server and the same client
    ///
    /// Every counted message is accepted, charged, submitted to the carrier, and its receipt delivered to the bind. Prints
    /// the rate, the reference's rate, their ratio, latencies of responses and receipts, CPU and bytes written per
    /// message, and memory; audits the store and compares the carrier's record.
    Smpp(end_to_end::SmppOptions),
    /// A constant load for ten minutes or an hour, and the memory of the gateway meanwhile
    ///
    /// The caches are filled before. Fails if the memory grows.
    Soak(soak::SoakOptions),
    /// The rate with ten million stored messages and idempotency keys, compared in turn with empty gateways
    Stored(stored::StoredOptions),
    /// Idle binds: memory per bind, and CPU
    Binds(binds::BindsOptions),
    /// Webhooks to healthy endpoints while a hundred dead ones have long queues
    ///
    /// Prints the time from sending a message to the post, as the receiver measures it, CPU, bytes and memory.
    Webhooks(webhooks::WebhooksOptions),
}

#[derive(Args)]
pub(crate) struct ProgramFlags {
    /// Measure this hermod instead of building one
    #[arg(long, global = true, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Use this hermod-sim; by default the one beside --binary
    #[arg(long, global = true, value_name = "FILE")]
    simulator: Option<PathBuf>,
}

/// The programs under test.
#[derive(Clone)]
struct Programs {
    hermod: PathBuf,
    simulator: PathBuf,
    /// Whether the gateway keeps no record.
    without_record: bool,
}

impl Programs {
    /// The same simulator with another build of the gateway.
    fn with_gateway(&self, hermod: &Path) -> Result<Programs, Failure> {
        Ok(Programs { hermod: existing(hermod)?, ..self.clone() })
    }

    /// The same programs, with a gateway that keeps no record.
    fn without_record(&self) -> Programs {
        Programs { without_record: true, ..self.clone() }
    }
}

/// The limits that a benchmark missed, each as a sentence.
type Judged = Result<Vec<String>, Failure>;

pub(crate) fn run(benchmark: &Benchmark) -> Outcome {
    let ProgramFlags { binary, simulator } = &benchmark.programs;
    let Binaries { hermod, simulator } = Binaries::find(binary.as_deref(), simulator.as_deref(), "dist")?;
    let programs = &Programs { hermod, simulator, without_record: false };
    println!("load average before: {}", load_average());
    let missed = match &benchmark.bench {
        Bench::Http(options) => end_to_end::run_http(programs, options),
        Bench::Profile(options) => profile::run(programs, options),
        Bench::Nodes(options) => nodes::run(programs, options),
        Bench::Portal(options) => portal::run(programs, options),
        Bench::Queue(options) => queue::run(programs, options),
        Bench::Record(options) => record::run(programs, options),
        Bench::Smpp(options) => end_to_end::run_smpp(programs, options),
        Bench::Soak(options) => soak::run(programs, options),
        Bench::Stored(options) => stored::run(programs, options),
        Bench::Binds(options) => binds::run(programs, options),
        Bench::Webhooks(options) => webhooks::run(programs, options),
    }?;
    println!("load average after:  {}", load_average());
    if missed.is_empty() { Ok(()) } else { Err(failure(missed.join("; "))) }
}

/// Returns the sentence if a limit was missed.
fn missed(is_missed: bool, sentence: impl FnOnce() -> String) -> Vec<String> {
    is_missed.then(sentence).into_iter().collect()
}

fn failure(what: impl std::fmt::Display) -> Failure {
    Failure(what.to_string())
}

/// The load of the machine by other processes, which figures depend on.
fn load_average() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

#[expect(clippy::cast_precision_loss, reason = "figures with a few digits")]
fn float(number: u64) -> f64 {
    number as f64
}

fn ms(us: u64) -> f64 {
    float(us) / 1000.0
}

/// Returns the middle one, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (half, last) = (values.len() / 2, values.len().checked_sub(1)?);
    Some(f64::midpoint(values[half], values[last - half]))
}
