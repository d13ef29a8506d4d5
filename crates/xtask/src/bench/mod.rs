//! Benchmarks: the real binaries as separate processes on the loopback, each figure beside a reference from the same
//! run, because a figure alone says more about the machine than about us.

mod binds;
mod gateway;
mod http;
mod process;
mod queue;
mod smpp;
mod webhooks;

use std::time::{Duration, Instant};

use clap::Subcommand;

use crate::shell::{self, Failure, Outcome};

#[derive(Subcommand)]
pub(crate) enum Bench {
    /// POST /sms end to end beside an empty endpoint with the same client
    ///
    /// Every message counted is accepted, charged, at the carrier, and its receipt recorded. Prints the rate, the
    /// reference's rate, their ratio, latency, CPU and bytes written per message, and memory; audits the store.
    Http(http::Options),
    /// Messages waiting for a carrier that is away: memory while they wait, order and time when it returns
    Queue(queue::Options),
    /// submit_sm end to end beside an echo with the same client
    ///
    /// Every message counted is accepted, charged, at the carrier, and its receipt delivered back to the bind. Prints
    /// the rate, the reference's rate, their ratio, latencies of answers and receipts, CPU and bytes written per
    /// message, and memory; audits the store and compares the carrier's record.
    Smpp(smpp::Options),
    /// Customers who are bound and do nothing: memory of each, and CPU
    Binds(binds::Options),
    /// Reports posted to healthy endpoints while a hundred dead ones have long queues
    ///
    /// Prints the time from sending a message to the post, as the receiver measures it, CPU, bytes and memory.
    Webhooks(webhooks::Options),
}

pub(crate) fn run(bench: &Bench) -> Outcome {
    build()?;
    match bench {
        Bench::Http(options) => http::run(options),
        Bench::Queue(options) => queue::run(options),
        Bench::Smpp(options) => smpp::run(options),
        Bench::Binds(options) => binds::run(options),
        Bench::Webhooks(options) => webhooks::run(options),
    }
}

fn build() -> Outcome {
    let packages = ["build", "--profile", "dist", "--package", "hermod", "--package", "hermod-simulator"];
    shell::run(shell::command("cargo", &packages))
}

fn failure(what: impl std::fmt::Display) -> Failure {
    Failure(what.to_string())
}

/// How busy the machine was with other things; a figure without it is hard to judge.
fn load_average() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// Lets real time pass while another process works.
fn pause(wait: Duration) {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    std::thread::sleep(wait);
}

/// When a measurement began.
fn start_watch() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    Instant::now()
}
