//! The table of benchmarks: a row each, with its options, the runs and phases that it consists of, the columns that are measured,
//! which lines are compared, and the limits that fail it. A new benchmark is a new row.

use std::path::Path;
use std::time::Duration;

use clap::Command;

use super::figures::*;
use super::gateway::Setup;
use super::load::{Load, Over, WITH_KEYS};
use super::options::{Options, arg};
use super::phases::{Phase, Run, Stage};
use super::results::Table;
use super::{binds, failure, mute, portal, record, soak, webhooks};
use crate::gateway_files::Customer;
use crate::programs::existing;
use crate::shell::{Failure, Outcome};

pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// The help; its first paragraph is shown in the list.
    help: &'static str,
    /// One on each line, as `options::arg` reads them.
    options: &'static str,
    pub(super) plan: fn(&Options) -> Plan,
    pub(super) table: Table,
}

type Plan = Result<Vec<Run>, Failure>;

/// What most benchmarks measure.
const COSTS: Table = Table {
    columns: &[
        REACHED, CPU, POSTGRES, CARRIER, SENDER, WRITTEN, COMMITS, P50, P99, P999, DLR_P50, DLR_P99, MEMORY,
    ],
    ratio: ["", ""],
    limits: &[],
    may_fall_short: false,
};
/// Seconds of a run that is short.
const SHORT_SECONDS: u64 = 2;

pub(super) static SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "http",
        help: "POST /sms end to end, compared with an empty endpoint and the same client

Every counted message is accepted, charged, submitted to the carrier, and its receipt recorded.
The store is audited.",
        options: "seconds=20 Seconds of load; the reference is measured half as long before and after, at most 10 s each
connections=64 Connections, each with one request in flight
keys Give every message an idempotency key
floor=0.25 Fail below this ratio",
        plan: plan_http,
        table: Table {
            ratio: ["hermod", "empty"],
            limits: &["POST /sms | hermod/empty | reached /s >= floor"],
            ..COSTS
        },
    },
    Scenario {
        name: "smpp",
        help: "submit_sm end to end, compared with an echo server and the same client

Every counted message is accepted, charged, submitted to the carrier, and its receipt delivered to the bind.
The store is audited, and the carrier's record compared.",
        options: "seconds=60 Seconds of the main run; the others take a quarter of it
short Two seconds per run, to test the benchmark; no limit is checked
main-only Only the main run and its reference
floor=10000 Fail below this many messages per second in the main run",
        plan: plan_smpp,
        table: Table {
            ratio: ["hermod", "echo"],
            limits: &["one bind, window 100 | hermod | reached /s >= floor"],
            ..COSTS
        },
    },
    Scenario {
        name: "profile",
        help: "Cost and latency at offered loads from 500 to 15,000 messages per second and at saturation, over SMPP and HTTP

SMPP with one transceiver, window 100 and receipts, at saturation also with window 10; HTTP over 64 connections without webhook.
With --against another build is measured in turn, load by load.",
        options: "seconds=10 Seconds of load for each line
warm-up=2 Seconds of the same load before the measurement
rates=500,2000,5000,10000,15000,saturation Offered loads in messages per second, and `saturation`
only:smpp|http Only this protocol
against:FILE Another hermod to measure in turn with the present one, load by load
without-record Measure the present build without its record in turn, as the old one
rounds=1 Measure every line this many times, builds in turn, and show medians
svg:FILE Write a chart to this file: CPU per message and p99 over the offered load",
        plan: plan_profile,
        table: Table {
            columns: &[
                REACHED, CPU, STORE_CPU, RECORD_CPU, REST_CPU, WRITTEN, COMMITS, FSYNCS, P50, P99, P999, DLR_P50,
                DLR_P99, MEMORY,
            ],
            ratio: ["new", "old"],
            may_fall_short: true,
            ..COSTS
        },
    },
    Scenario {
        name: "nodes",
        help: "The full lifecycle over SMPP or HTTP on the embedded store, on PostgreSQL, and with three nodes on PostgreSQL

The same load in each: three customers, one generator each, every message accepted, charged, at the carrier and receipted. PostgreSQL
is started by the command and syncs to disk.",
        options: "seconds=30 Seconds of each run
short Two seconds per run, to test the benchmark; no limit is checked
rounds=1 How often one node and three nodes are measured, in turn: the speed of a machine changes while it is measured
over:smpp|http How the customers submit; by default over SMPP
window=100 Messages without a response per customer: the window of its bind, or its HTTP connections
standby Run PostgreSQL with a synchronous standby
without-record Keep no record, on one node or three: each node has its own, which all share the processors here
floor=8000 Fail below this many messages per second with one node on PostgreSQL, or if three nodes are slower than one",
        plan: plan_nodes,
        table: Table {
            ratio: ["three nodes", "one node"],
            limits: &[
                "PostgreSQL | one node | reached /s >= floor",
                "PostgreSQL | three nodes/one node | reached /s >= 1",
            ],
            ..COSTS
        },
    },
    Scenario {
        name: "stored",
        help: "The rate with ten million stored messages and idempotency keys, compared in turn with empty gateways",
        options: "messages=10000000 Messages to store, each with an idempotency key
seconds=15 Seconds of each measurement
rounds=3 Compare this many times, in turn with a gateway that is empty
floor=0.9 Fail below this ratio",
        plan: plan_stored,
        table: Table {
            ratio: ["full", "empty"],
            limits: &["one bind, window 100 | full/empty | reached /s >= floor"],
            ..COSTS
        },
    },
    Scenario {
        name: "queue",
        help: "Messages queued for a carrier that is down: memory of the queue, and the time to drain it when the carrier returns

Another customer sends a few messages before and during the drain: its responses must not wait for the queue.",
        options: "messages=1000000 Messages in the queue
memory-mib=300 Fail above this much memory, in MiB
on-postgres Run on PostgreSQL
takeover Run two nodes on PostgreSQL, and kill the one with the engine before the carrier returns
cancel Cancel the queue by command, instead of sending it
beside=200 Messages per second that another customer sends before and during the drain
floor=0 Fail below this many drained messages per second
slower=4 Fail if one in a hundred of its responses takes more than this many times as long during the drain or cancellation as before",
        plan: plan_queue,
        table: Table {
            columns: &[REACHED, P50, P99, P999],
            ratio: ["during", "before"],
            limits: &[
                "memory in all | | MiB at most <= memory-mib",
                "drained | | /s >= floor",
                "beside the queue | during/before | response p99 ms <= slower",
            ],
            ..COSTS
        },
    },
    Scenario {
        name: "mute",
        help: "Messages while the first carrier of their route accepts everything and answers nothing, and another is idle

The carrier's process is stopped: its connections stay open. The time until the receipt says how long messages wait for it. What it
had is in doubt and resent, which is the longest wait; no other message may be at both carriers.",
        options: "seconds=60 Seconds of load; the carrier is stopped after a sixth of them
rate=100 Messages per second
window=10 Window of each carrier
p99-ms=8000 Fail if one in a hundred waits longer for its receipt, in milliseconds",
        plan: plan_mute,
        table: Table {
            columns: &[REACHED, P50, P99, DLR_P50, DLR_P99],
            limits: &["beside a mute carrier | | receipt p99 ms <= p99-ms", "sent more often than once | | messages <= window"],
            ..COSTS
        },
    },
    Scenario {
        name: "record",
        help: "Queries over ten million recorded messages, how far the record is behind under load, and the cost of live watchers",
        options: "messages=10000000 Recorded messages, over 30 days in 500 accounts
folder:DIR Keep the filled record in this folder, or use one that was filled before
queries=300 Measurements of each kind of query
seconds=20 Seconds of each load
watchers=200 Live watchers
without-queries Measure the gateway only",
        plan: plan_record,
        table: Table {
            columns: &[REACHED, BEHIND, CPU, RECORD_CPU, P99, MEMORY],
            ratio: ["watched", "unwatched"],
            limits: &[
                "record | 1,000/s | behind s <= 1",
                "record | 10,000/s | behind s <= 5",
                "cost of all watchers | | % of a core <= 5",
            ],
            ..COSTS
        },
    },
    Scenario {
        name: "portal",
        help: "Every page of the portal with ten million recorded messages, the bytes of a first visit, and the send path meanwhile",
        options: "messages=10000000 Recorded messages, over 30 days in 500 accounts
visits=300 Visits of each page
seconds=20 Seconds of each load",
        plan: plan_portal,
        table: Table {
            columns: &[REACHED, CPU, P50, P99, P999],
            ratio: ["visitor", "alone"],
            limits: &[
                "slowest page | | ms p99 <= 20",
                "first visit | | KiB <= 120",
                "first visit, script | | KiB <= 40",
                "slower by the visitor | | of what is allowed <= 1",
            ],
            ..COSTS
        },
    },
    Scenario {
        name: "soak",
        help: "A constant load for ten minutes or an hour, and the memory of the gateway meanwhile

Over HTTP, over SMPP and with webhooks. The caches are filled before, as fast as the gateway accepts messages: at a constant load that
takes several minutes. Fails if the memory grows.",
        options: "minutes=10 Minutes of load
rate=900 Messages per second
warm-up=1500000 Messages before that, which fill the caches
growth=16 Fail above this growth, in bytes per message. Filters of keys and carrier ids take up to four.",
        plan: plan_soak,
        table: Table {
            limits: &[
                "growth | | bytes per message <= growth",
                "messages without webhook post | | messages <= 0",
            ],
            ..COSTS
        },
    },
    Scenario {
        name: "binds",
        help: "Idle binds: memory per bind, and CPU",
        options: "binds=10000 Idle binds
rate=500 Binds opened per second
seconds=60 How long the binds are observed, in seconds
short A thousand binds for five seconds, to test the benchmark; no limit is checked
kib-per-bind=16 Fail above this many KiB per bind",
        plan: plan_binds,
        table: Table {
            limits: &["memory for each bind | | KiB <= kib-per-bind"],
            ..COSTS
        },
    },
    Scenario {
        name: "webhooks",
        help: "Webhooks to healthy endpoints while a hundred dead ones have long queues",
        options: "rate=5000 Messages per second, of all healthy customers together
seconds=30 How long to send them, in seconds
dead=100 Customers whose endpoints are dead: a third hangs, a third fails, a third is not there
waiting=10000 Reports that wait for each of those
p99-ms=1000 Fail if one in a hundred takes longer from sending the message to the post, in milliseconds",
        plan: plan_webhooks,
        table: Table {
            limits: &[
                "accepted in time | | of what was due >= 0.99",
                "messages without webhook post | | messages <= 0",
                "sent to posted, p99 | | ms <= p99-ms",
            ],
            may_fall_short: true,
            ..COSTS
        },
    },
];

impl Scenario {
    pub(super) fn command(&self) -> Command {
        let about = self.help.lines().next().unwrap_or_default();
        Command::new(self.name).about(about).long_about(self.help).args(self.options.lines().map(arg))
    }
}

/// A run of its own of the gateway, between two of a server that stores nothing.
fn beside_reference(label: &str, reference: &'static str, over: Over, seconds: u64) -> [Run; 3] {
    let half = Load::seconds(over, (seconds / 2).clamp(1, 10));
    let loads = Load::seconds(over, seconds).alone();
    let without = || {
        let setup = Setup { nodes: 0, customers: Vec::new(), ..Setup::default() };
        Run::new(label, reference, setup, vec![Phase::Reference(half)])
    };
    [without(), Run::new(label, "hermod", Setup::default(), vec![Phase::Load("", loads)]), without()]
}

fn plan_http(options: &Options) -> Plan {
    let flags = if options.is("keys") { WITH_KEYS } else { "" };
    let over = Over::Http { connections: options.count("connections"), flags };
    Ok(beside_reference("POST /sms", "empty", over, options.count("seconds")).into())
}

fn plan_smpp(options: &Options) -> Plan {
    let seconds = if options.is("short") { SHORT_SECONDS } else { options.count("seconds") };
    let quarter = (seconds / 4).max(2);
    let runs = [
        ("one bind, window 100", Over::bind(100), seconds),
        ("one bind, window 10", Over::bind(10), quarter),
        ("four binds, window 100", Over::Smpp { binds: 4, window: 100, tls: false }, quarter),
        ("one bind over TLS", Over::Smpp { binds: 1, window: 100, tls: true }, quarter),
    ];
    let runs = runs.into_iter().take(if options.is("main-only") { 1 } else { 4 });
    Ok(runs.flat_map(|(label, over, seconds)| beside_reference(label, "echo", over, seconds)).collect())
}

/// Returns a load that a profile offers, as a rate, none for saturation, and as it is written.
fn offered(word: &str) -> Result<(Option<u64>, String), Failure> {
    match word.parse::<u64>() {
        _ if word == "saturation" => Ok((None, word.to_owned())),
        Ok(rate) if rate > 0 => Ok((Some(rate), grouped(rate))),
        _ => Err(failure(format!("{word:?} is neither a number of messages per second nor `saturation`"))),
    }
}

fn plan_profile(options: &Options) -> Plan {
    let (new, against) = (Setup::default(), options.text("against"));
    let without_record = options.is("without-record");
    let hermod = against.map(|file| existing(Path::new(file))).transpose()?;
    let old = Setup { hermod, without_record, ..new.clone() };
    let has_old = against.is_some() || without_record;
    let builds = if has_old { vec![("old", old), ("new", new)] } else { vec![("", new)] };
    let mut lines = Vec::new();
    for (word, protocol, over) in [("smpp", "SMPP", Over::bind(100)), ("http", "HTTP", Over::http(64))] {
        let is_left_out = options.text("only").is_some_and(|only| only != word);
        for rate in options.text("rates").unwrap_or_default().split(',').filter(|_| !is_left_out) {
            let (rate, label) = offered(rate)?;
            lines.push((format!("{protocol} {label}"), over, rate));
            if rate.is_none() && protocol == "SMPP" {
                lines.push((format!("{protocol} {label}, window 10"), Over::bind(10), rate));
            }
        }
    }
    let mut plan = Vec::new();
    for (label, over, rate) in lines {
        let load = |option| Load { rate, ..Load::seconds(over, options.count(option).max(1)) }.alone();
        let rounds = options.count("rounds").max(1) as usize;
        for (variant, setup) in std::iter::repeat_n(&builds, rounds).flatten() {
            // New links start slowly, and a new store grows.
            let mut phases = vec![Phase::WarmUp(load("warm-up")), Phase::Load("", load("seconds"))];
            phases.drain(..usize::from(options.count("warm-up") == 0));
            plan.push(Run::new(label.clone(), variant, setup.clone(), phases));
        }
    }
    Ok(plan)
}

fn plan_nodes(options: &Options) -> Plan {
    let customers: Vec<Customer> = (1..=3).map(|number| Customer::new(format!("bench-{number}"))).collect();
    let window = options.count("window");
    let over = if options.text("over") == Some("http") { Over::http(window) } else { Over::bind(window) };
    let seconds = if options.is("short") { SHORT_SECONDS } else { options.count("seconds") };
    let run = |label: &str, variant, on_postgres, nodes| {
        let setup = Setup {
            customers: customers.clone(),
            on_postgres,
            nodes,
            standby: options.is("standby"),
            without_record: options.is("without-record"),
            // One link for each node.
            links: 3,
            ..Setup::default()
        };
        Run::new(label, variant, setup, vec![Phase::Load("", Load::seconds(over, seconds).of(&customers))])
    };
    let mut plan = vec![run("embedded store", "one node", false, 1)];
    for round in 0..options.count("rounds").max(1) {
        let mut runs = [("one node", 1), ("three nodes", 3)];
        // Every other round the other way round, so that a machine that gets slower does not favour one of them.
        runs.rotate_left(usize::from(!round.is_multiple_of(2)));
        plan.extend(runs.map(|(variant, nodes)| run("PostgreSQL", variant, true, nodes)));
    }
    Ok(plan)
}

fn plan_stored(options: &Options) -> Plan {
    let label = "one bind, window 100";
    let fill = Load::seconds(Over::Http { connections: 64, flags: WITH_KEYS }, 20).alone();
    let load = || Load::seconds(Over::bind(100), options.count("seconds")).alone();
    let mut phases = vec![Phase::Fill(options.count("messages"), fill)];
    for _ in 0..options.count("rounds").max(1) {
        // In turn, because the machine's speed changes. A new store each time, so that it is empty.
        let empty = Run::new(label, "empty", Setup::default(), vec![Phase::Load("", load())]);
        phases.extend([Phase::Other(Box::new(empty)), Phase::Load("", load())]);
    }
    phases.push(Phase::Memory("memory of the full one"));
    Ok(vec![Run::new(label, "full", Setup::default(), phases)])
}

fn plan_queue(options: &Options) -> Plan {
    let customers = ["bench", "beside"].map(Customer::new);
    let (bench, beside) = customers.split_at(1);
    let few = Load::seconds(Over::http(16), 10).at(options.count("beside"));
    let setup = Setup {
        customers: customers.to_vec(),
        on_postgres: options.is("on-postgres") || options.is("takeover"),
        nodes: if options.is("takeover") { 2 } else { 1 },
        links: 3,
        ..Setup::default()
    };
    let mut phases = vec![
        Phase::Pause(Duration::from_secs(2)),
        Phase::Memory("memory when idle"),
        Phase::Load("before", few.of(beside)),
        Phase::EndCarrier,
        Phase::Queue(Load::messages(Over::http(64), options.count("messages")).of(bench)),
        Phase::Memory("memory while waiting"),
    ];
    if options.is("takeover") {
        phases.push(Phase::KillEngine(Load::messages(Over::http(64), 1).of(beside)));
    }
    if options.is("cancel") {
        let long = Load::seconds(Over::http(16), 30).at(options.count("beside"));
        phases.push(Phase::Cancel("during", bench[0].clone(), long.of(beside)));
        phases.extend([Phase::StartCarrier, Phase::Call(|stage| stage.bed.settle())]);
    } else {
        phases.extend([Phase::StartCarrier, Phase::Drain("during", few.of(beside))]);
    }
    phases.push(Phase::Memory("memory in all"));
    Ok(vec![Run::new("beside the queue", "", setup, phases)])
}

/// A run of one gateway that consists of phases that only this benchmark has.
fn own(label: &str, setup: Setup, phases: &[fn(&mut Stage<'_>) -> Outcome]) -> Plan {
    Ok(vec![Run::new(label, "", setup, phases.iter().copied().map(Phase::Call).collect())])
}

fn plan_record(_: &Options) -> Plan {
    let phases = &[record::measure_queries, record::measure_lag, record::measure_watchers];
    own("record", Setup { rest: Duration::ZERO, ..Setup::default() }, phases)
}

fn plan_portal(_: &Options) -> Plan {
    own("POST /sms at 1,000/s", Setup::default(), &[portal::fill, portal::measure, portal::remove_record])
}

fn plan_soak(_: &Options) -> Plan {
    let setup = Setup { customers: soak::customers(), receipt_after: "50ms", ..Setup::default() };
    own("constant load", setup, &[soak::measure])
}

fn plan_mute(_: &Options) -> Plan {
    own("beside a mute carrier", Setup::default(), &[mute::measure])
}

fn plan_binds(options: &Options) -> Plan {
    let sockets = if options.is("short") { 1_000 } else { options.count("binds") };
    own("idle binds", Setup { sockets, ..Setup::default() }, &[binds::measure])
}

fn plan_webhooks(options: &Options) -> Plan {
    let customers = webhooks::customers(options.count("dead"));
    // The dead endpoints always have work.
    let setup = Setup { customers, sockets: 10_000, rest: webhooks::LAST_POSTS, ..Setup::default() };
    own("healthy endpoints", setup, &[webhooks::fill, webhooks::measure])
}

#[cfg(test)]
#[path = "scenarios_tests.rs"]
mod tests;
