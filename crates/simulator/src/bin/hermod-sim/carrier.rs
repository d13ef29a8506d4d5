//! `hermod-sim carrier`: a simulated carrier whose script is read from a file.

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hermod_simulator::carrier::{
    CarrierOptions, CarrierRecord, FirstId, RecordCounts, RecordMode, Script, SimulatedCarrier,
};
use hermod_simulator::parse_duration;
use serde_json::json;

use crate::common_flags::ServerTlsFlags;
use crate::mo::MoFlags;
use crate::{Ended, terminal};

/// Accept binds and messages over SMPP and send receipts, without faults or as a script says
///
/// Without a script every message is accepted and delivered at once. A script is a TOML file that makes the carrier throttle,
/// reject, lose, delay and cut; docs/simulator.md describes it. The flags below take precedence over the script. The carrier
/// outlives the gateways that bind to it: receipts wait for the next bind, and those without a response are sent again.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SimulatedCarrierArgs {
    /// Address to listen on; port 0 selects a free one
    #[arg(long, default_value = "127.0.0.1:2775")]
    listen: SocketAddr,
    /// Script file (TOML)
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Seed of all random decisions
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Accept only this system_id
    #[arg(long, requires = "password")]
    system_id: Option<String>,
    /// Password of that system_id
    #[arg(long, requires = "system_id")]
    password: Option<String>,
    /// Throttle (0x58) above this many messages per second
    #[arg(long, value_name = "TPS")]
    rate: Option<u32>,
    /// Time from the response to the receipt, as in 500ms
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    receipt_after: Option<Duration>,
    /// Send no receipts
    #[arg(long, conflicts_with = "receipt_after")]
    no_receipts: bool,
    /// Receipts without a response on one link
    #[arg(long, value_name = "NUMBER", default_value_t = 500)]
    receipt_window: u32,
    /// Give numbers that end in 5550101 to 5550109 a fixed outcome each (docs/simulator.md), after the rules of the script
    #[arg(long)]
    magic_numbers: bool,
    /// First message id; by default the time in microseconds
    #[arg(long, value_name = "NUMBER")]
    first_id: Option<u64>,
    /// Receive buffer of each connection; a small one fills quickly while a link stalls
    #[arg(long, value_name = "BYTES")]
    receive_buffer: Option<u32>,
    #[command(flatten)]
    tls: ServerTlsFlags,
    #[command(flatten)]
    mo: MoFlags,
    /// Print counts as JSON: first the address, then a line per second and a last one
    #[arg(long)]
    json: bool,
    /// Threads to serve on
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
}

const EXAMPLES: &str = "\
Examples:
  A carrier that delivers every message after half a second:
    hermod-sim carrier --receipt-after 500ms

  A carrier for one gateway, with at most 100 messages per second:
    hermod-sim carrier --system-id hermod --password secret --rate 100

  A carrier with faults, the same for the same seed:
    hermod-sim carrier --script faults.toml --seed 7

  One MO message now, and one for each line of standard input:
    hermod-sim carrier --mo +4915112345678:12345:STOP --mo-lines

  Numbers that fail, are throttled, are delayed or reply, by their last digits:
    hermod-sim carrier --magic-numbers";

impl SimulatedCarrierArgs {
    pub(crate) async fn run(self) -> Ended {
        let options = CarrierOptions {
            listen: self.listen,
            script: self.script()?,
            seed: self.seed,
            // Nothing reads the texts of this process, and it may handle millions of messages.
            record: RecordMode::Compact,
            first_id: self.first_id.map_or(FirstId::Clock, FirstId::At),
            tls: self.tls.read()?,
            receive_buffer_bytes: self.receive_buffer,
            receipt_window: self.receipt_window,
            ..CarrierOptions::new(Script::new())
        };
        let carrier = SimulatedCarrier::start(options)
            .await
            .map_err(|error| format!("cannot listen on {}: {error}", self.listen))?;
        let record = carrier.record();
        if self.json {
            terminal::print(&json!({ "listening": carrier.addr() }).to_string());
        } else {
            terminal::print(&carrier.addr().to_string());
        }
        tokio::select! {
            () = terminal::stop_signal() => {}
            () = report_every_second(&record, self.json) => {}
            () = self.mo.send(&carrier) => {}
        }
        carrier.stop().await;
        let counts = record.counts();
        if self.json {
            terminal::print(&json!(counts).to_string());
        } else {
            if io::stderr().is_terminal() {
                terminal::rewrite_line("");
            }
            terminal::print(&table(&counts));
        }
        Ok(())
    }

    /// Reads the script file and applies the flags to it.
    fn script(&self) -> Result<Script, String> {
        let mut script = self.script.as_deref().map_or(Ok(Script::new()), read_script)?;
        if let (Some(system_id), Some(password)) = (&self.system_id, &self.password) {
            script = script.credentials(system_id, password);
        }
        if let Some(rate) = self.rate {
            script = script.rate_max(rate);
        }
        if let Some(delay) = self.receipt_after {
            script = script.receipt_delay(delay);
        }
        if self.no_receipts {
            script = script.no_receipts();
        }
        if self.magic_numbers {
            script = script.magic_numbers(self.receipt_after.unwrap_or_default());
        }
        Ok(script)
    }
}

fn read_script(path: &Path) -> Result<Script, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read the script {}: {error}", path.display()))?;
    Script::from_toml(&text).map_err(|error| format!("invalid script {}: {error}", path.display()))
}

async fn report_every_second(record: &CarrierRecord, json: bool) {
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    let is_terminal = io::stderr().is_terminal();
    let mut before = 0;
    loop {
        tick.tick().await;
        let counts = record.counts();
        if json {
            terminal::print(&json!(counts).to_string());
        } else if is_terminal {
            terminal::rewrite_line(&line(&counts, counts.submits - before));
        }
        before = counts.submits;
    }
}

fn line(counts: &RecordCounts, per_second: u64) -> String {
    let open = counts.links_opened - counts.links_closed;
    let RecordCounts { submits, accepted, receipts_accepted, duplicates, .. } = counts;
    format!(
        "{open} links  {per_second:>7} /s  {submits:>10} submits  {accepted:>10} accepted  {receipts_accepted:>10} \
         receipts  {duplicates} duplicates"
    )
}

/// Returns one line per count, with the names of the JSON output.
fn table(counts: &RecordCounts) -> String {
    let serde_json::Value::Object(counts) = json!(counts) else { unreachable!("counts are an object") };
    let lines: Vec<String> =
        counts.iter().map(|(name, count)| format!("{name:<20}{:>12}", count.to_string())).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_a_line_for_every_count() {
        let table = table(&RecordCounts { submits: 12, ..RecordCounts::default() });
        assert!(table.contains("submits                       12\n"), "{table}");
        assert!(table.lines().count() > 15, "{table}");
    }
}
