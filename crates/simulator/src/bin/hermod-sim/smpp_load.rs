//! `hermod-sim smpp-load`: load over SMPP, with a report as a table or JSON.

use std::time::Duration;

use clap::Args;
use hermod_simulator::load::smpp::{self, BindNumbers, Bound, MessageForm, SmppLoadOptions, SmppMessages};
use hermod_simulator::parse_duration;

use crate::common_flags::{LoadFlags, allow_sockets};
use crate::smpp_flags::TargetFlags;
use crate::{Ended, terminal};

/// Characters of a text with --long, by default.
const LONG_TEXT_CHARS: usize = 400;
const TEXT_CHARS: usize = 20;

/// Bind, submit messages through a window, and match every receipt to its message
///
/// By default every bind keeps its window full. With --rate messages are due at a fixed rate, and latency counts from the due
/// time. Every deliver_sm gets status 0. Exits with an error if a message was rejected, timed out or lost, or if a receipt is
/// missing, duplicated or unknown.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SmppLoadArgs {
    #[command(flatten)]
    target: TargetFlags,
    /// Transceiver binds; by default one, or none with other binds
    #[arg(long, value_name = "NUMBER")]
    transceivers: Option<u32>,
    /// Transmitter binds
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    transmitters: u32,
    /// Receiver binds
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    receivers: u32,
    /// Messages without a response per bind
    #[arg(long, default_value_t = 100)]
    window: u32,
    /// Messages to send; the run ends after them or after --duration
    #[arg(long)]
    messages: Option<u64>,
    /// First recipient
    #[arg(long, default_value = "+4915100000000")]
    to: String,
    /// Sender: a name, a number with a plus, or a short code; by default the server's choice
    #[arg(long)]
    from: Option<String>,
    /// Characters of each text, which contains the message's number
    #[arg(long, value_name = "CHARS")]
    text_length: Option<usize>,
    /// Send the text in message_payload, by default with 400 characters
    #[arg(long)]
    long: bool,
    /// data_coding of each message, as in 8 (UCS-2) or 0xf5
    #[arg(long, default_value = "0", value_parser = octet)]
    data_coding: u8,
    /// Request no receipts
    #[arg(long)]
    no_receipts: bool,
    /// Time to wait for receipts after the last response
    #[arg(long, default_value = "30s", value_parser = parse_duration)]
    receipt_wait: Duration,
    /// Idle time before an enquire_link
    #[arg(long, default_value = "30s", value_parser = parse_duration)]
    enquire_after: Duration,
    #[command(flatten)]
    pub(crate) load: LoadFlags,
}

const EXAMPLES: &str = "\
Examples:
  As fast as one transceiver with a window of 100 allows, for ten seconds:
    hermod-sim smpp-load --system-id ID --password PASSWORD --duration 10s

  Exactly 10000 long messages over a transmitter and a receiver:
    hermod-sim smpp-load --system-id ID --password PASSWORD --messages 10000 --long \\
      --transmitters 1 --receivers 1

  Latency at 2000 messages per second over TLS, as JSON:
    hermod-sim smpp-load --address localhost:2776 --tls-ca server.pem --rate 2000 --duration 60s --json";

impl SmppLoadArgs {
    pub(crate) async fn run(self) -> Ended {
        let options = self.options()?;
        let BindNumbers { transceivers, transmitters, receivers } = options.binds;
        allow_sockets(u64::from(transceivers) + u64::from(transmitters) + u64::from(receivers))?;
        let run = smpp::start(options).await.map_err(|error| error.to_string())?;
        let live = run.live();
        let stopper = run.stopper();
        let report = terminal::finish(run.finish(), || stopper.stop(), &live).await;
        terminal::print_report(&report, self.load.json);
        terminal::ended_with(report.errors())
    }

    fn options(&self) -> Result<SmppLoadOptions, String> {
        if self.long && self.target.is_3_3() {
            return Err("SMPP 3.3 has no message_payload: --long needs --smpp 3.4".to_owned());
        }
        let form = MessageForm {
            recipients: (self.to.clone(), self.load.recipients),
            sender: self.from.clone(),
            text_chars: self.text_length.unwrap_or(if self.long { LONG_TEXT_CHARS } else { TEXT_CHARS }),
            data_coding: self.data_coding,
            payload: self.long,
            registered_delivery: u8::from(!self.no_receipts),
        };
        let messages = SmppMessages::new(form).map_err(|refusal| refusal.to_string())?;
        let bound = Bound::new(self.messages, self.load.duration).map_err(|refusal| refusal.to_string())?;
        let mut options = SmppLoadOptions::new(self.target.target()?, messages, bound);
        let alone = self.transmitters == 0 && self.receivers == 0;
        options.binds = BindNumbers {
            transceivers: self.transceivers.unwrap_or(u32::from(alone)),
            transmitters: self.transmitters,
            receivers: self.receivers,
        };
        options.window = self.window;
        options.first = self.load.first;
        options.response_wait_max = self.load.timeout;
        options.receipt_wait_max = self.receipt_wait;
        options.enquire_after = self.enquire_after;
        options.pace = self.load.pace();
        Ok(options)
    }
}

fn octet(text: &str) -> Result<u8, String> {
    let octet = match text.strip_prefix("0x") {
        Some(hex) => u8::from_str_radix(hex, 16),
        None => text.parse(),
    };
    octet.map_err(|_| format!("{text:?} is not an octet such as 8 or 0xf5"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octet_is_decimal_or_hex() {
        assert_eq!((octet("8"), octet("0xf5")), (Ok(8), Ok(0xf5)));
        for text in ["", "256", "0x100", "f5"] {
            assert_eq!(octet(text), Err(format!("{text:?} is not an octet such as 8 or 0xf5")));
        }
    }
}
