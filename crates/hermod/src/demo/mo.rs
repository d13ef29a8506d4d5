//! `hermod demo mo`: sends an MO message to the running demo.

use super::control::{self, MoRequest, MoResponse};
use crate::failure::{CommandResult, Failure};
use crate::{output, runtime};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod demo mo --from +4915112345678 --text 'Where is my parcel?'
  hermod demo mo --from +4915112345678 --text STOP
  hermod demo mo --from +4915112345678 --to Hermod --text Yes

The simulated carrier sends the message as a deliver_sm. Without --to it goes to the demo's own number.
The customer reads it with hermod inbound. After a STOP, messages to that phone are rejected until it
sends START.";

/// Characters of a text: the limit of the HTTP API.
const TEXT_CHARS_MAX: usize = 1_600;
/// Octets of an address (SMPP v3.4 section 5.2.9), less its terminator.
const ADDRESS_BYTES_MAX: usize = 20;

/// Send an MO message to the running demo
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MoArgs {
    /// Number of the phone, with its country code
    #[arg(long, value_name = "NUMBER")]
    from: String,
    /// Destination: a number of an account, or the sender of the last message to the phone
    #[arg(long, value_name = "NUMBER")]
    to: Option<String>,
    /// Text of the message
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: String,
    /// Data folder of the running demo
    #[arg(long, value_name = "DIR", env = "HERMOD_DATA_DIR", default_value = "hermod-data")]
    data_dir: PathBuf,
}

impl MoArgs {
    pub(crate) fn run(self) -> CommandResult {
        let MoArgs { from, to, text, data_dir } = self;
        let digits = from.strip_prefix('+').unwrap_or(&from);
        if !(3..=15).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Failure::usage("--from must be a number of 3 to 15 digits, as in +4915112345678"));
        }
        if let Some(to) = &to
            && (to.is_empty() || to.len() > ADDRESS_BYTES_MAX || !to.is_ascii())
        {
            return Err(Failure::usage(format!("--to must have 1 to {ADDRESS_BYTES_MAX} ASCII characters")));
        }
        if text.is_empty() || text.chars().count() > TEXT_CHARS_MAX {
            return Err(Failure::usage(format!("--text must have 1 to {TEXT_CHARS_MAX} characters")));
        }
        runtime::block_on(async move {
            let request = MoRequest { from, to, text };
            match control::send(&data_dir, &request).await? {
                MoResponse::Sent { to, parts, stored } => {
                    let parts = if parts == 1 { String::new() } else { format!(" in {parts} parts") };
                    let end = if stored { "and the gateway stored it" } else { "and waits for a link" };
                    let MoRequest { from, .. } = request;
                    output::print(&output::safe(&format!(
                        "The message from {from} to {to} was sent{parts} {end}."
                    )))?;
                    output::print("\n")
                }
                MoResponse::Rejected(sentence) => Err(Failure::failed(sentence)),
            }
        })
    }
}
