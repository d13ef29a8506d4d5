//! `cargo xtask bench queue`: messages that queue for a carrier that is down, and the drain when it returns, also by a node that
//! took over. Another customer sends a few messages before and during the drain: its responses must not wait for the queue.

use std::time::Duration;

use clap::Args;

use super::Programs;
use super::bed::{Bed, each, rest};
use super::gateway::Setup;
use super::load::{Length, Load, Over, Report};
use super::{Judged, failure, float, missed, stopwatch};
use crate::gateway_files::Customer;
use crate::shell::Failure;

/// How long the other customer sends, before the drain and during it.
const BESIDE_SECONDS: u64 = 5;

#[derive(Args)]
pub(crate) struct QueueOptions {
    /// Messages in the queue
    #[arg(long, default_value_t = 1_000_000)]
    messages: u64,
    /// Fail above this much memory, in MiB
    #[arg(long, default_value_t = 300)]
    memory_mib: u64,
    /// Run on PostgreSQL
    #[arg(long)]
    on_postgres: bool,
    /// Run two nodes on PostgreSQL, and kill the one with the engine before the carrier returns
    #[arg(long)]
    takeover: bool,
    /// Messages per second that another customer sends before and during the drain
    #[arg(long, default_value_t = 200)]
    beside: u64,
    /// Fail below this many drained messages per second
    #[arg(long, default_value_t = 0.0)]
    floor: f64,
    /// Fail if one in a hundred of its responses takes more than this many times as long during the drain as before
    #[arg(long, default_value_t = 4.0)]
    slower: f64,
}

pub(super) fn run(programs: &Programs, options: &QueueOptions) -> Judged {
    let customers = ["bench", "beside"].map(Customer::new);
    let (bench, beside) = customers.split_at(1);
    let setup = Setup {
        customers: customers.to_vec(),
        on_postgres: options.on_postgres || options.takeover,
        nodes: if options.takeover { 2 } else { 1 },
        links: 3,
        ..Setup::default()
    };
    let mut bed = Bed::start(programs, setup)?;
    super::pause(Duration::from_secs(2));
    println!("idle memory          {:>9} MiB", bed.gateway().usage()?.resident_bytes >> 20);
    let load = Load {
        over: Over::Http { connections: 16, flags: &[] },
        rate: Some(options.beside),
        length: Length::Seconds(BESIDE_SECONDS),
    };
    let before = bed.load_for(beside, &load, rest)?;
    bed.end_carrier()?;
    let queued = bed.fill(bench, &Load::http(Length::Messages(options.messages)))?;
    let waiting = bed.gateway().usage()?;
    println!("{queued} messages are queued for a carrier that is down");
    println!(
        "memory while waiting {:>9} MiB, {} MiB at most",
        waiting.resident_bytes >> 20,
        waiting.resident_peak_bytes >> 20
    );
    if options.takeover {
        let took = bed.kill_engine(&beside[0])?;
        println!("taken over after     {:>9.1} s", took.as_secs_f64());
    }
    bed.start_carrier()?;
    let (rate, during) = drain(&bed, (before.accepted, queued), beside, &load)?;
    bed.wait_until_settled(during.accepted)?;
    let peak = bed.gateway().usage()?.resident_peak_bytes >> 20;
    for (when, report) in [("before", before.report()), ("during", &during)] {
        println!("{when:<20} {}", report.latencies());
    }
    println!("memory in all        {peak:>9} MiB at most");
    bed.end()?;
    let QueueOptions { memory_mib, floor, slower, .. } = *options;
    let ([_, p99_before, _], [_, p99, _]) = (before.report().response, during.response);
    let memory = missed(peak > memory_mib, || format!("{peak} MiB is above {memory_mib} MiB"));
    let rate = missed(rate < floor, || format!("{rate:.0} messages per second are below {floor:.0}"));
    let latency = missed(p99 > slower * p99_before, || {
        format!(
            "responses took {p99:.1} ms (p99), and {p99_before:.1} ms before: over {slower} times as long"
        )
    });
    Ok([memory, rate, latency].concat())
}

/// Waits until as many messages are settled as were queued, the few of the load among them. Returns how many are per second, and the
/// report of the load.
fn drain(
    bed: &Bed<'_>,
    (settled, queued): (u64, u64),
    beside: &[Customer],
    load: &Load,
) -> Result<(f64, Report), Failure> {
    let (batches, returned) = (bed.gateway().batches()?, stopwatch());
    // The links reconnect by their own schedule, which is not part of the drain.
    let first = bed.wait_until_in_all(settled + 1)?;
    let (reconnected, started) = (returned.elapsed().as_secs_f64(), stopwatch());
    let generator = bed.start_loads(&each(beside, load))?.pop().ok_or_else(|| failure("no generator"))?;
    let drained = bed.wait_until_in_all(settled + queued)? - first;
    let (took, batches) = (started.elapsed().as_secs_f64(), bed.gateway().batches()? - batches);
    let rate = float(drained) / took;
    println!("\nfirst settled        {reconnected:>9.1} s after it returned");
    println!("drained in           {took:>9.1} s from then on, {rate:.0} /s, {batches} batches");
    Ok((rate, generator.finish()?))
}
