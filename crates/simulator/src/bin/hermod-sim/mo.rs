//! What handsets send through `hermod-sim carrier`: messages named in flags, and lines of standard input.

use clap::Args;
use hermod_simulator::carrier::Carrier;
use tokio::sync::mpsc;

use crate::values;

/// Characters of a text, as many as the API takes.
const TEXT_CHARS_MAX: usize = 1_600;
/// ByteStream of an address (SMPP v3.4 section 5.2.9).
const ADDRESS_BYTES_MAX: usize = 20;

#[derive(Args)]
#[command(next_help_heading = "Messages from handsets")]
pub(crate) struct MoFlags {
    /// Send this message from a handset as soon as a link can take it; may be given more than once
    #[arg(long, value_name = "FROM:TO:TEXT", value_parser = mo)]
    mo: Vec<Mo>,
    /// Send each line of standard input, written FROM:TO:TEXT, as a message from a handset
    #[arg(long)]
    mo_lines: bool,
}

#[derive(Clone)]
pub(crate) struct Mo {
    from: String,
    to: String,
    text: String,
}

/// `+4915112345678:12345:STOP`. The text may have colons.
fn mo(text: &str) -> Result<Mo, String> {
    let mut fields = text.splitn(3, ':').map(str::to_owned);
    let (Some(from), Some(to), Some(text)) = (fields.next(), fields.next(), fields.next()) else {
        return Err(
            "a message from a handset is written FROM:TO:TEXT, as in +4915112345678:12345:STOP".to_owned()
        );
    };
    let address = |name: &str, value: &str| {
        let good = !value.is_empty() && value.len() <= ADDRESS_BYTES_MAX && value.is_ascii();
        if good { Ok(()) } else { Err(format!("{name} has 1 to {ADDRESS_BYTES_MAX} ASCII characters")) }
    };
    address("FROM", &from)?;
    address("TO", &to)?;
    if text.chars().count() > TEXT_CHARS_MAX {
        return Err(format!("TEXT has {TEXT_CHARS_MAX} characters at most"));
    }
    Ok(Mo { from, to, text })
}

impl MoFlags {
    /// Sends what the flags name, then what comes in lines. Never ends by itself: the carrier serves on.
    pub(crate) async fn send(&self, carrier: &Carrier) {
        for message in &self.mo {
            send(carrier, message);
        }
        if self.mo_lines {
            let mut lines = standard_input();
            while let Some(line) = lines.recv().await {
                match mo(&line) {
                    Ok(message) => send(carrier, &message),
                    Err(sentence) => values::say_on_stderr(&format!("hermod-sim: {sentence}")),
                }
            }
        }
        std::future::pending().await
    }
}

/// Lines as they come. The thread that reads them ends with the process: nothing can wake it from a read.
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

fn send(carrier: &Carrier, Mo { from, to, text }: &Mo) {
    if let Err(sentence) = carrier.send_mo(from, to, text) {
        values::say_on_stderr(&format!("hermod-sim: {sentence}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_is_two_addresses_and_a_text_that_may_have_colons() {
        let read = mo("+4915112345678:12345:at 10:30").map(|mo| (mo.from, mo.to, mo.text));
        assert_eq!(read, Ok(("+4915112345678".to_owned(), "12345".to_owned(), "at 10:30".to_owned())));
        for wrong in ["", "1:2", ":2:x", "1::x", "1:222222222222222222222:x", "é:2:x"] {
            assert!(mo(wrong).is_err(), "{wrong}");
        }
        assert!(mo(&format!("1:2:{}", "x".repeat(1_601))).is_err());
    }
}
