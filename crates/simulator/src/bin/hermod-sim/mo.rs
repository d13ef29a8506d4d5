//! MO messages of `hermod-sim carrier`, from flags and from lines of standard input.

use clap::Args;
use hermod_simulator::carrier::SimulatedCarrier;
use tokio::sync::mpsc;

use crate::terminal;

/// Characters of a text: the limit of the HTTP API.
const TEXT_CHARS_MAX: usize = 1_600;
/// Octets of an address (SMPP v3.4 section 5.2.9).
const ADDRESS_BYTES_MAX: usize = 20;

#[derive(Args)]
#[command(next_help_heading = "MO messages")]
pub(crate) struct MoFlags {
    /// Send this MO message on the first link that may receive; can be repeated
    #[arg(long, value_name = "FROM:TO:TEXT", value_parser = parse_mo)]
    mo: Vec<MoFlag>,
    /// Send each line of standard input, written FROM:TO:TEXT, as an MO message
    #[arg(long)]
    mo_lines: bool,
}

#[derive(Clone)]
pub(crate) struct MoFlag {
    from: String,
    to: String,
    text: String,
}

/// Parses `+4915112345678:12345:STOP`. The text may contain colons.
fn parse_mo(text: &str) -> Result<MoFlag, String> {
    let mut fields = text.splitn(3, ':').map(str::to_owned);
    let (Some(from), Some(to), Some(text)) = (fields.next(), fields.next(), fields.next()) else {
        return Err("an MO message is written FROM:TO:TEXT, as in +4915112345678:12345:STOP".to_owned());
    };
    let address = |name: &str, value: &str| {
        let is_valid = !value.is_empty() && value.len() <= ADDRESS_BYTES_MAX && value.is_ascii();
        if is_valid {
            Ok(())
        } else {
            Err(format!("{name} must have 1 to {ADDRESS_BYTES_MAX} ASCII characters"))
        }
    };
    address("FROM", &from)?;
    address("TO", &to)?;
    if text.chars().count() > TEXT_CHARS_MAX {
        return Err(format!("TEXT must have at most {TEXT_CHARS_MAX} characters"));
    }
    Ok(MoFlag { from, to, text })
}

impl MoFlags {
    /// Sends the messages of the flags, then those of standard input. Never returns.
    pub(crate) async fn send(&self, carrier: &SimulatedCarrier) {
        for message in &self.mo {
            send(carrier, message);
        }
        if self.mo_lines {
            let mut lines = standard_input();
            while let Some(line) = lines.recv().await {
                match parse_mo(&line) {
                    Ok(message) => send(carrier, &message),
                    Err(sentence) => terminal::print_error(&sentence),
                }
            }
        }
        std::future::pending().await
    }
}

/// Returns the lines of standard input. The reading thread ends with the process, because a read cannot be cancelled.
fn standard_input() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn send(carrier: &SimulatedCarrier, MoFlag { from, to, text }: &MoFlag) {
    if let Err(sentence) = carrier.send_mo(from, to, text) {
        terminal::print_error(&sentence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mo_message_is_two_addresses_and_a_text_that_may_contain_colons() {
        let read = parse_mo("+4915112345678:12345:at 10:30").map(|mo| (mo.from, mo.to, mo.text));
        assert_eq!(read, Ok(("+4915112345678".to_owned(), "12345".to_owned(), "at 10:30".to_owned())));
        for wrong in ["", "1:2", ":2:x", "1::x", "1:222222222222222222222:x", "é:2:x"] {
            assert!(parse_mo(wrong).is_err(), "{wrong}");
        }
        assert!(parse_mo(&format!("1:2:{}", "x".repeat(1_601))).is_err());
    }
}
