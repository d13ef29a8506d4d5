//! `hermod-sim carrier`: a carrier to send to, its script written in flags.

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hermod_simulator::carrier::{Carrier, CarrierOptions, Counts, FirstId, Record, RecordMode, Script, Tls};
use serde_json::json;

use crate::mo::MoFlags;
use crate::script_flags::ScriptFlags;
use crate::smpp_echo::read_tls;
use crate::{Ended, values};

/// Be a carrier: take binds and messages over SMPP and send receipts, as well or badly as told
///
/// Without flags it takes everything and delivers it at once. Flags add rules; for each message the first rule that
/// applies decides, in this order: --throttle, --queue-full, --refuse, --nack, --silent, --lose-answers, --cut,
/// --unbind, --garbage, --bad-length, --stall, --mute, --chaos, and within each the counted form before --...-every.
/// A rule counts only the messages that reach it. It outlives the gateways that bind
/// to it: receipts wait for the next bind, and those not answered are sent again.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CarrierArgs {
    /// Address to listen on; port 0 takes any free one
    #[arg(long, default_value = "127.0.0.1:2775")]
    listen: SocketAddr,
    /// Decides what is left to chance
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print counts as JSON: the address first, then a line every second and one at the end
    #[arg(long)]
    json: bool,
    /// Threads to serve on
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
    /// The first id that is given; the clock decides unless this does
    #[arg(long, value_name = "NUMBER")]
    first_id: Option<u64>,
    /// Speak TLS on every link: a PEM file with the carrier's certificate
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The PEM file with its key
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// The receive buffer of every link; a small one fills soon while a link stalls
    #[arg(long, value_name = "BYTES")]
    receive_buffer: Option<u32>,
    #[command(flatten)]
    script: ScriptFlags,
    #[command(flatten)]
    mo: MoFlags,
    /// Receipts a link may have unanswered
    #[arg(long, default_value_t = 500, help_heading = "Receipts")]
    receipt_window: u32,
}

const EXAMPLES: &str = "\
Examples:
  A carrier that delivers everything after half a second:
    hermod-sim carrier --receipt-after 500ms

  A bad day: every tenth message throttled, the connection cut after every thousandth, receipts twice:
    hermod-sim carrier --throttle-every 10 --cut-every 1000 --receipt-twice

  Ids in hex in the answer and in decimal in the receipt, receipts before answers:
    hermod-sim carrier --ids hex --receipt-ids decimal --receipt-first

  Handsets write: one message now, and one for each line you type:
    hermod-sim carrier --mo +4915112345678:12345:STOP --mo-lines

  Numbers that fail, are throttled, are late or reply, by their last digits (docs/simulator.md lists them):
    hermod-sim carrier --magic-numbers

  A dead carrier that still holds the connection open:
    hermod-sim carrier --mute-after-bind

  Chaos, the same for the same seed: answers lost, links cut, receipts in other words:
    hermod-sim carrier --seed 7 --chaos lose-answer:5 --chaos refuse-0x58:50 --cut-links 1s..30s \\
      --receipts-elsewhere --receipt-wording odd-labels";

impl CarrierArgs {
    pub(crate) async fn run(self) -> Ended {
        let options = CarrierOptions {
            listen: self.listen,
            script: self.script.script(),
            seed: self.seed,
            // A carrier on the command line has nobody to ask it for texts, and may run for millions of messages.
            record: RecordMode::Compact,
            first_id: self.first_id.map_or(FirstId::Clock, FirstId::At),
            tls: self.tls()?,
            receive_buffer_bytes: self.receive_buffer,
            receipt_window: self.receipt_window,
            ..CarrierOptions::new(Script::new())
        };
        let carrier = Carrier::start(options)
            .await
            .map_err(|error| format!("cannot listen on {}: {error}", self.listen))?;
        let record = carrier.record();
        if self.json {
            values::say(&json!({ "listening": carrier.addr() }).to_string());
        } else {
            values::say(&carrier.addr().to_string());
        }
        tokio::select! {
            () = values::told_to_end() => {}
            () = report_every_second(&record, self.json) => {}
            () = self.mo.send(&carrier) => {}
        }
        carrier.stop().await;
        let counts = record.counts();
        if self.json {
            values::say(&json!(counts).to_string());
        } else {
            if io::stderr().is_terminal() {
                values::rewrite_line("");
            }
            values::say(&table(&counts));
        }
        Ok(())
    }

    fn tls(&self) -> Result<Option<Tls>, String> {
        let (Some(certificate), Some(key)) = (&self.tls_certificate, &self.tls_key) else { return Ok(None) };
        read_tls(certificate, key).map(Some)
    }
}

async fn report_every_second(record: &Record, json: bool) {
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    let is_terminal = io::stderr().is_terminal();
    let mut before = 0;
    loop {
        tick.tick().await;
        let counts = record.counts();
        if json {
            values::say(&json!(counts).to_string());
        } else if is_terminal {
            values::rewrite_line(&line(&counts, counts.submits - before));
        }
        before = counts.submits;
    }
}

fn line(counts: &Counts, per_second: u64) -> String {
    let open = counts.links_opened - counts.links_closed;
    let Counts { submits, accepted, receipts_accepted, duplicates, .. } = counts;
    format!(
        "{open} links  {per_second:>7} /s  {submits:>10} submits  {accepted:>10} taken  {receipts_accepted:>10} \
         receipts  {duplicates} duplicates"
    )
}

/// Every count on a line of its own, as JSON names it.
fn table(counts: &Counts) -> String {
    let serde_json::Value::Object(counts) = json!(counts) else { unreachable!("counts are an object") };
    let lines: Vec<String> =
        counts.iter().map(|(name, count)| format!("{name:<20}{:>12}", count.to_string())).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_every_count() {
        let table = table(&Counts { submits: 12, ..Counts::default() });
        assert!(table.contains("submits                       12\n"), "{table}");
        assert!(table.lines().count() > 15, "{table}");
    }
}
