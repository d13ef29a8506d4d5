//! `hermod binds`: which customers are bound, and ending a bind.

use super::desk::{Body, Desk};
use super::links::age;
use super::place::{Absent, Place};
use crate::client::escape;
use crate::ending::{Ended, Failure};
use crate::show::Align::{Left, Right};
use crate::show::{self, Table};
use clap::Args;
use hermod_gateway::clock::Clock;
use hyper::Method;
use serde::Deserialize;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod binds
  hermod binds --account shop --watch
  hermod binds --unbind 7

IN is how many of its requests wait for our answers, OUT how many receipts wait for its answers, of
the window it has; PER S what it submitted in the last ten seconds; WAITING the receipts that wait
for its system_id. --unbind ends one, by its
number; most customers bind again at once, so close the connection of one who should stay away:
hermod connection set NAME --closed true";

/// How often --watch looks.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const CLEAR: &str = "\x1b[2J\x1b[H";

/// See which customers are bound over SMPP; end a bind
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Binds {
    /// Only those of this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Only those of this system_id
    #[arg(long, value_name = "ID")]
    system_id: Option<String>,
    /// Look every second until stopped
    #[arg(long, conflicts_with = "unbind")]
    watch: bool,
    /// End the bind with this number
    #[arg(long, value_name = "N")]
    unbind: Option<u64>,
    #[command(flatten)]
    place: Place,
}

#[derive(Deserialize)]
struct Seen {
    at: String,
    items: Vec<Bind>,
}

#[derive(Deserialize)]
struct Bind {
    number: u64,
    system_id: String,
    account: String,
    address: String,
    #[serde(rename = "type")]
    kind: String,
    version: String,
    tls: bool,
    for_s: u64,
    window: u32,
    window_in: u32,
    window_out: u32,
    submits_per_second: f64,
    submits: u64,
    refused: u64,
    receipts: u64,
    receipts_waiting: u64,
    last_error: Option<LastError>,
}

#[derive(Deserialize)]
struct LastError {
    at: String,
    text: String,
}

impl Binds {
    pub(crate) fn run(self) -> Ended {
        let Binds { account, system_id, watch, unbind, place } = self;
        let asked = [("account", account), ("system_id", system_id)];
        let asked = asked.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", escape(&value?))));
        let path = format!("/binds?{}", asked.collect::<Vec<_>>().join("&"));
        place.work(Absent::Refuse, async move |desk| {
            if let Some(number) = unbind {
                return end(desk, number).await;
            }
            if !watch {
                return look(desk, &path, "").await;
            }
            let clock = Clock::real();
            let clear = if desk.json { "" } else { CLEAR };
            loop {
                look(desk, &path, clear).await?;
                clock.sleep(LOOK_EVERY).await;
            }
        })
    }
}

#[derive(Deserialize)]
struct Unbound {
    bind: u64,
}

async fn end(desk: &Desk, number: u64) -> Ended {
    let answer = desk.asked(Method::POST, &format!("/binds/{number}/unbind"), Body::None).await?;
    desk.tell(&answer, |Unbound { bind }: Unbound| format!("Bind {bind} is told to go.\n"))
}

async fn look(desk: &Desk, path: &str, before: &str) -> Ended {
    let answer = desk.get(path).await?;
    if desk.json {
        return show::say_raw(&answer.body);
    }
    let seen = answer.read_as().map_err(Failure::failed)?;
    show::say(&format!("{before}{}", told(&seen)))
}

fn told(Seen { at, items }: &Seen) -> String {
    let mut table = Table::new(&[
        ("bind", Right),
        ("system id", Left),
        ("account", Left),
        ("address", Left),
        ("type", Left),
        ("smpp", Left),
        ("tls", Left),
        ("for", Right),
        ("in", Right),
        ("out", Right),
        ("per s", Right),
        ("submits", Right),
        ("refused", Right),
        ("receipts", Right),
        ("waiting", Right),
    ]);
    for bind in items {
        table.row([
            bind.number.to_string(),
            bind.system_id.clone(),
            bind.account.clone(),
            bind.address.clone(),
            bind.kind.clone(),
            bind.version.clone(),
            if bind.tls { "yes".to_owned() } else { String::new() },
            age(bind.for_s),
            format!("{}/{}", bind.window_in, bind.window),
            format!("{}/{}", bind.window_out, bind.window),
            format!("{:.1}", bind.submits_per_second),
            bind.submits.to_string(),
            bind.refused.to_string(),
            bind.receipts.to_string(),
            bind.receipts_waiting.to_string(),
        ]);
    }
    let mut text = table.text("Nobody is bound.");
    for bind in items {
        if let Some(LastError { at, text: error }) = &bind.last_error {
            let who = show::safe(&bind.system_id);
            text.push_str(&format!("\n{who} {}: {} ({at})\n", bind.number, show::safe(error)));
        }
    }
    text.push_str(&format!("\nAs of {at}.\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binds_line_up_and_what_went_wrong_stands_below() {
        let seen = r#"{"at": "2026-06-15T12:00:00Z", "items": [
            {"number": 7, "system_id": "shop", "account": "shop", "address": "192.0.2.7", "type": "transceiver", "version": "3.4",
             "tls": true, "address_range": "", "since": "x", "for_s": 7200, "window": 10, "window_in": 3, "window_out": 1,
             "submits_per_second": 12.5, "submits": 4000, "refused": 2, "receipts": 3990, "receipts_waiting": 8,
             "last_error": {"at": "2026-06-15T11:59:57Z", "text": "throttled\u001b"}},
            {"number": 12, "system_id": "bakery", "account": "bakery", "address": "2001:db8::1", "type": "receiver", "version": "3.3",
             "tls": false, "address_range": "", "since": "x", "for_s": 3, "window": 50, "window_in": 0, "window_out": 0,
             "submits_per_second": 0.0, "submits": 0, "refused": 0, "receipts": 1, "receipts_waiting": 0, "last_error": null}]}"#;
        let expect = "\
BIND  SYSTEM ID  ACCOUNT  ADDRESS      TYPE         SMPP  TLS  FOR    IN   OUT  PER S  SUBMITS  REFUSED  RECEIPTS  WAITING
   7  shop       shop     192.0.2.7    transceiver  3.4   yes   2h  3/10  1/10   12.5     4000        2      3990        8
  12  bakery     bakery   2001:db8::1  receiver     3.3         3s  0/50  0/50    0.0        0        0         1        0

shop 7: throttled\\u{1b} (2026-06-15T11:59:57Z)

As of 2026-06-15T12:00:00Z.
";
        assert_eq!(told(&serde_json::from_str(seen).unwrap()), expect);
    }
}
