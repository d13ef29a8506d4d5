//! `hermod-sim smpp-idle`: idle binds, with a report as a table or JSON.

use std::time::Duration;

use clap::{Args, ValueEnum};
use hermod_simulator::load::smpp::idle::{self, IdleOptions};
use hermod_simulator::parse_duration;
use hermod_smpp::BindType;
use serde_json::json;

use crate::common_flags::{allow_sockets, rate};
use crate::smpp_flags::TargetFlags;
use crate::{Ended, terminal};

/// Open idle binds, hold them, check that each is alive, and unbind
///
/// Prints a line when all binds are bound, so that the server's memory can be measured, and a report at the end. Exits with an
/// error if a bind failed, was not alive at the end, or could not be unbound.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SmppIdleArgs {
    #[command(flatten)]
    target: TargetFlags,
    /// Binds to hold
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(idle::BINDS_MAX)))]
    binds: u32,
    /// Bind type
    #[arg(long, value_enum, default_value = "transceiver")]
    kind: Kind,
    /// Binds to open per second
    #[arg(long, default_value = "500", value_parser = rate)]
    rate: f64,
    /// Binds without a response at one time
    #[arg(long, default_value_t = 64, value_name = "NUMBER")]
    at_once: u32,
    /// Time to hold the binds, as in 30s or 5m
    #[arg(long, default_value = "60s", value_parser = parse_duration)]
    hold: Duration,
    /// Time to wait for a bind
    #[arg(long, default_value = "60s", value_parser = parse_duration)]
    timeout: Duration,
    /// Idle time before an enquire_link
    #[arg(long, default_value = "30s", value_parser = parse_duration)]
    enquire_after: Duration,
    /// Print JSON: one line when all binds are bound, and the report
    #[arg(long)]
    json: bool,
    /// Threads to run on
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Transceiver,
    Transmitter,
    Receiver,
}

const EXAMPLES: &str = "\
Examples:
  Ten thousand binds for two minutes, opened at 200 per second:
    hermod-sim smpp-idle --system-id ID --password PASSWORD --binds 10000 --rate 200 --hold 2m

  A thousand receivers over TLS, as JSON:
    hermod-sim smpp-idle --address localhost:2776 --tls-ca server.pem --kind receiver --json";

impl SmppIdleArgs {
    pub(crate) async fn run(self) -> Ended {
        allow_sockets(u64::from(self.binds))?;
        let idle = idle::start(IdleOptions {
            target: self.target.target()?,
            kind: match self.kind {
                Kind::Transceiver => BindType::Transceiver,
                Kind::Transmitter => BindType::Transmitter,
                Kind::Receiver => BindType::Receiver,
            },
            binds: self.binds,
            per_second: self.rate,
            at_once: self.at_once,
            bind_wait_max: self.timeout,
            enquire_after: self.enquire_after,
        });
        let (bound, took) = idle.bound().await;
        let seconds = took.as_secs_f64();
        if self.json {
            terminal::print(&json!({ "bound": bound, "binding_s": seconds }).to_string());
        } else {
            terminal::print(&format!("{bound} binds bound after {seconds:.2} s"));
        }
        let report = idle.hold(self.hold).await;
        terminal::print_report(&report, self.json);
        terminal::ended_with(report.errors())
    }
}
