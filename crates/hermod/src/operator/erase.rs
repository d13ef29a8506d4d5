//! `hermod erase`: forgets one phone number.

use super::desk::Body;
use super::place::{Absent, Place};
use crate::ending::Ended;
use clap::Args;
use hyper::Method;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod erase --number +4915112345678
  hermod erase --number +4915112345678 --account shop

For a person who asks to be forgotten. In every message to or from the number that has ended, the text is deleted and the
number replaced by +9990000000; held messages, conversations and the number in receipts without a message are removed. Ids,
states, times and money stay, so that every balance can still be proved. Opt-outs of the number stay: they keep customers
from writing to it again.

Messages that are still being delivered are left alone and named: run the command again when they have ended. Not reached:
copies that were made before (delete old backups), the carriers' ids of the last days (dropped after some days), what webhook
receivers answered (dropped after 30 days), and what customers and carriers hold themselves.";

/// Every message that is kept is looked at.
const ERASE_MAX: Duration = Duration::from_secs(3_600);

/// Erase a person's phone number and the texts of its messages
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Erase {
    /// The number: a plus, then 7 to 15 digits
    #[arg(long, value_name = "NUMBER")]
    number: String,
    /// Only in what this account has
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    #[command(flatten)]
    place: Place,
}

#[derive(Deserialize)]
struct Erasure {
    messages: u64,
    inbound: u64,
    others: u64,
    in_progress: u64,
    in_progress_ids: Vec<String>,
}

impl Erase {
    pub(crate) fn run(self) -> Ended {
        let Erase { number, account, place } = self;
        place.work(Absent::Refuse, async move |desk| {
            let mut wanted = json!({ "number": number });
            if let Some(account) = account {
                wanted["account"] = account.into();
            }
            let answer = desk.asked_within(Method::POST, "/erasures", Body::Json(&wanted), ERASE_MAX).await?;
            desk.tell(&answer, |erasure: Erasure| told(&erasure))
        })
    }
}

fn told(Erasure { messages, inbound, others, in_progress, in_progress_ids }: &Erasure) -> String {
    let mut text =
        format!("Erased: {messages} messages to the number, {inbound} from it, {others} other records.\n");
    if *in_progress > 0 {
        text.push_str(&format!(
            "Left alone because they are still being delivered: {in_progress}. Run this again when they have ended:\n"
        ));
        for id in in_progress_ids {
            text.push_str(&format!("  {id}\n"));
        }
    }
    text
}
