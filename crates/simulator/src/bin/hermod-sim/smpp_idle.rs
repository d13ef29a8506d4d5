//! `hermod-sim smpp-idle`: binds that are only there, and a table or JSON of how they fared.

use std::time::Duration;

use clap::{Args, ValueEnum};
use hermod_simulator::load::smpp::idle::{self, IdleOptions};
use hermod_smpp::BindType;
use serde_json::json;

use crate::smpp_flags::{TargetFlags, allow_sockets};
use crate::{Ended, values};

/// Open idle binds, hold them for a while, see that each is alive, and unbind
///
/// Says when all stand, so that the server can be weighed meanwhile; the report comes at the end. Ends with an error
/// if a bind was not to be had, was not alive at the end, or could not be unbound.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SmppIdle {
    #[command(flatten)]
    target: TargetFlags,
    /// Binds to hold
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(idle::BINDS_MAX)))]
    binds: u32,
    /// What to bind as
    #[arg(long, value_enum, default_value = "transceiver")]
    kind: Kind,
    /// Binds to open per second
    #[arg(long, default_value = "500", value_parser = values::rate)]
    rate: f64,
    /// Binds that wait for their answer at one time
    #[arg(long, default_value_t = 64, value_name = "NUMBER")]
    at_once: u32,
    /// How long to hold them, as in 30s or 5m
    #[arg(long, default_value = "60s", value_parser = values::duration)]
    hold: Duration,
    /// Wait this long for a bind
    #[arg(long, default_value = "60s", value_parser = values::duration)]
    timeout: Duration,
    /// Send enquire_link after so much silence
    #[arg(long, default_value = "30s", value_parser = values::duration)]
    enquire_after: Duration,
    /// Print as JSON: one line when all stand, and the report
    #[arg(long)]
    json: bool,
    /// Threads to hold them on
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
  Ten thousand binds for two minutes, opened at 200 a second:
    hermod-sim smpp-idle --system-id ID --password PASSWORD --binds 10000 --rate 200 --hold 2m

  A thousand receivers over TLS, as JSON:
    hermod-sim smpp-idle --address localhost:2776 --tls-ca server.pem --kind receiver --json";

impl SmppIdle {
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
            values::say(&json!({ "bound": bound, "binding_s": seconds }).to_string());
        } else {
            values::say(&format!("{bound} binds stand after {seconds:.2} s"));
        }
        let report = idle.hold(self.hold).await;
        let printed = if self.json {
            serde_json::to_string(&report).expect("a report is JSON")
        } else {
            report.to_string().trim_end().to_owned()
        };
        values::say(&printed);
        match report.errors() {
            0 => Ok(()),
            errors => Err(format!("{errors} errors")),
        }
    }
}
