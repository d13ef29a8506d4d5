//! `hermod demo mo`: a phone writes to the running demo.

use super::control::{self, MoAnswer, MoOrder};
use crate::ending::{Ended, Failure};
use crate::{runtime, show};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod demo mo --from +4915112345678 --text 'Is anybody there?'
  hermod demo mo --from +4915112345678 --text STOP
  hermod demo mo --from +4915112345678 --to Hermod --text Yes

The simulated carrier sends the message as a deliver_sm, as a real one would. Without --to it goes to
the demo's own number. hermod inbound shows it to the customer; after a STOP, sending to that phone
is refused until it sends START.";

/// Characters of a text, as many as a message to a phone may have.
const TEXT_CHARS_MAX: usize = 1_600;
/// Octets of an address (SMPP v3.4 section 5.2.9), less its terminator.
const ADDRESS_BYTES_MAX: usize = 20;

/// Let a phone write to the running demo
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Mo {
    /// The phone: its number with the country code
    #[arg(long, value_name = "NUMBER")]
    from: String,
    /// Who it writes to: a number of an account, or the sender of the last message it got
    #[arg(long, value_name = "NUMBER")]
    to: Option<String>,
    /// What it says
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: String,
    /// The data folder of the running demo
    #[arg(long, value_name = "DIR", env = "HERMOD_DATA_DIR", default_value = "hermod-data")]
    data_dir: PathBuf,
}

impl Mo {
    pub(crate) fn run(self) -> Ended {
        let Mo { from, to, text, data_dir } = self;
        let digits = from.strip_prefix('+').unwrap_or(&from);
        if !(3..=15).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Failure::mend(
                "--from: a phone has a number of 3 to 15 digits, as in +4915112345678",
            ));
        }
        if let Some(to) = &to
            && (to.is_empty() || to.len() > ADDRESS_BYTES_MAX || !to.is_ascii())
        {
            return Err(Failure::mend(format!("--to has 1 to {ADDRESS_BYTES_MAX} ASCII characters")));
        }
        if text.is_empty() || text.chars().count() > TEXT_CHARS_MAX {
            return Err(Failure::mend(format!("--text has 1 to {TEXT_CHARS_MAX} characters")));
        }
        runtime::block_on(async move {
            let order = MoOrder { from, to, text };
            match control::ask(&data_dir, &order).await? {
                MoAnswer::Sent { to, parts, taken } => {
                    let parts = if parts == 1 { String::new() } else { format!(" in {parts} parts") };
                    let end = if taken { "and the gateway stored it" } else { "and waits for a link" };
                    let MoOrder { from, .. } = order;
                    show::say(&show::safe(&format!(
                        "The message from {from} to {to} was sent{parts} {end}."
                    )))?;
                    show::say("\n")
                }
                MoAnswer::Refused(sentence) => Err(Failure::failed(sentence)),
            }
        })
    }
}
