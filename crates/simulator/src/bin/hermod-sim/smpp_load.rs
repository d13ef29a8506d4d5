//! `hermod-sim smpp-load`: load over SMPP, and a table or JSON of how it went.

use std::io::{self, IsTerminal};
use std::time::Duration;

use clap::Args;
use hermod_simulator::load::live::{Live, Progress};
use hermod_simulator::load::smpp::{
    self, Binds, Bound, LoadOptions, MessageForm, Messages, Pace, Report, Run,
};

use crate::smpp_flags::{TargetFlags, allow_sockets};
use crate::{Ended, values};

/// Characters of a text that is sent with --long, unless it is told.
const LONG_TEXT_CHARS: usize = 400;
const TEXT_CHARS: usize = 20;

/// Bind, submit messages through a window, and match every receipt to its message
///
/// Flat out (the default): every bind keeps its window full. With --rate messages are due at a fixed rate whatever
/// the server does, and latency counts from the moment a message was due. Every deliver_sm is answered with status 0.
/// Ends with an error if anything went wrong: a message refused, unanswered or lost, a receipt that came twice, for
/// nobody, or not at all.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SmppLoad {
    #[command(flatten)]
    target: TargetFlags,
    /// Transceiver binds; one, unless other binds are asked for
    #[arg(long, value_name = "NUMBER")]
    transceivers: Option<u32>,
    /// Transmitter binds
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    transmitters: u32,
    /// Receiver binds
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    receivers: u32,
    /// Messages each bind may have unanswered
    #[arg(long, default_value_t = 100)]
    window: u32,
    /// Messages to send; the run ends after them or after --duration, whichever comes first
    #[arg(long)]
    messages: Option<u64>,
    /// How long to send, as in 10s or 5m
    #[arg(long, value_parser = values::duration)]
    duration: Option<Duration>,
    /// Messages due per second, over all binds
    #[arg(long, value_parser = values::rate)]
    rate: Option<f64>,
    /// First recipient
    #[arg(long, default_value = "+4915100000000")]
    to: String,
    /// Recipients in all; the run starts over with the first after them
    #[arg(long, default_value_t = 100_000_000)]
    recipients: u64,
    /// Sender: a name, a number with a plus, or a short code; left to the server if not given
    #[arg(long)]
    from: Option<String>,
    /// Characters of each text; its number is in it
    #[arg(long, value_name = "CHARS")]
    text_length: Option<usize>,
    /// Send the text in message_payload, 400 characters unless --text-length says otherwise
    #[arg(long)]
    long: bool,
    /// data_coding of each message: 0 the server's default, 8 UCS-2, as in 8 or 0xf5
    #[arg(long, default_value = "0", value_parser = octet)]
    data_coding: u8,
    /// Ask for no receipts
    #[arg(long)]
    no_receipts: bool,
    /// Number of the first message: continue where another run ended
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Wait this long for an answer
    #[arg(long, default_value = "30s", value_parser = values::duration)]
    timeout: Duration,
    /// Wait this long for receipts after the last answer
    #[arg(long, default_value = "30s", value_parser = values::duration)]
    receipt_wait: Duration,
    /// Send enquire_link after so much silence
    #[arg(long, default_value = "30s", value_parser = values::duration)]
    enquire_after: Duration,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Threads to send from; one is the lightest
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
}

const EXAMPLES: &str = "\
Examples:
  As fast as one transceiver with a window of 100 goes, for ten seconds:
    hermod-sim smpp-load --system-id ID --password PASSWORD --duration 10s

  Exactly 10000 long messages through a pair of transmitter and receiver:
    hermod-sim smpp-load --system-id ID --password PASSWORD --messages 10000 --long \\
      --transmitters 1 --receivers 1

  Latency at a steady 2000 messages a second over TLS, as JSON:
    hermod-sim smpp-load --address localhost:2776 --tls-ca server.pem --rate 2000 --duration 60s --json";

impl SmppLoad {
    pub(crate) async fn run(self) -> Ended {
        let options = self.options()?;
        let Binds { transceivers, transmitters, receivers } = options.binds;
        allow_sockets(u64::from(transceivers) + u64::from(transmitters) + u64::from(receivers))?;
        let run = smpp::start(options).await.map_err(|fault| fault.to_string())?;
        let live = run.live();
        let report = if io::stderr().is_terminal() {
            finish_with_progress(run, &live).await
        } else {
            finish(run).await
        };
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

    fn options(&self) -> Result<LoadOptions, String> {
        if self.long && self.target.speaks_3_3() {
            return Err("3.3 has no message_payload: --long needs --smpp 3.4".to_owned());
        }
        let form = MessageForm {
            recipients: (self.to.clone(), self.recipients),
            sender: self.from.clone(),
            text_chars: self.text_length.unwrap_or(if self.long { LONG_TEXT_CHARS } else { TEXT_CHARS }),
            data_coding: self.data_coding,
            payload: self.long,
            registered_delivery: u8::from(!self.no_receipts),
        };
        let messages = Messages::new(form).map_err(|refusal| refusal.to_string())?;
        let bound = Bound::new(self.messages, self.duration).map_err(|refusal| refusal.to_string())?;
        let mut options = LoadOptions::new(self.target.target()?, messages, bound);
        let alone = self.transmitters == 0 && self.receivers == 0;
        options.binds = Binds {
            transceivers: self.transceivers.unwrap_or(u32::from(alone)),
            transmitters: self.transmitters,
            receivers: self.receivers,
        };
        options.window = self.window;
        options.first = self.first;
        options.answer_wait_max = self.timeout;
        options.receipt_wait_max = self.receipt_wait;
        options.enquire_after = self.enquire_after;
        if let Some(per_second) = self.rate {
            options.pace = Pace::OpenLoop { per_second };
        }
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

/// Waits for the end; ctrl-c ends the sending, and what was measured until then is still reported.
async fn finish(run: Run) -> Report {
    let stop = run.stopper();
    let finish = run.finish();
    tokio::pin!(finish);
    tokio::select! {
        report = &mut finish => report,
        () = values::told_to_end() => {
            stop.stop();
            finish.await
        }
    }
}

async fn finish_with_progress(run: Run, live: &Live) -> Report {
    let mut progress = Progress::default();
    let mut tick = tokio::time::interval(Duration::from_millis(500));
    let finish = finish(run);
    tokio::pin!(finish);
    let report = loop {
        tokio::select! {
            report = &mut finish => break report,
            _ = tick.tick() => values::rewrite_line(&progress.line(live).to_string()),
        }
    };
    values::rewrite_line("");
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_are_decimal_or_hex() {
        assert_eq!((octet("8"), octet("0xf5")), (Ok(8), Ok(0xf5)));
        for text in ["", "256", "0x100", "f5"] {
            assert_eq!(octet(text), Err(format!("{text:?} is not an octet such as 8 or 0xf5")));
        }
    }
}
