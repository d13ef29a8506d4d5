//! `hermod links`: how carriers and the links to them are doing now.

use super::desk::Desk;
use super::place::{Absent, Place};
use crate::ending::{Ended, Failure};
use crate::paint::Paint;
use crate::show::Align::{Left, Right};
use crate::show::{self, Table};
use clap::Args;
use hermod_gateway::clock::Clock;
use serde::Deserialize;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod links
  hermod links --carrier acme
  hermod links --watch

RATE is what a link may send now of what it may when all is well, OUT what is sent and not answered
of its window, PARTS/S what it sent in the last ten seconds. ERRORS, RECEIPTS (of accepted parts)
and UNMATCHED (receipts that found no part) count since the gateway started. WAITING is what waits
for the carrier. hermod alarms says what somebody should look into.";

/// How often --watch looks.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const CLEAR: &str = "\x1b[2J\x1b[H";

/// See how carriers and the links to them are doing
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Links {
    /// Only this carrier
    #[arg(long, value_name = "NAME")]
    carrier: Option<String>,
    /// Look every second until stopped
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Deserialize)]
struct Seen {
    at: String,
    items: Vec<Carrier>,
}

#[derive(Deserialize)]
struct Carrier {
    carrier: String,
    health: String,
    stopped: Option<Stopped>,
    queue: Queue,
    last_ten_minutes: Traffic,
    tracing_until: Option<String>,
    links: Vec<Link>,
}

#[derive(Deserialize)]
struct Stopped {
    since: String,
    why: String,
}

#[derive(Deserialize)]
struct Queue {
    waiting: u64,
    oldest_for_s: Option<u64>,
}

#[derive(Deserialize)]
struct Traffic {
    unmatched: u64,
    error_ratio: Option<f64>,
    receipt_ratio: Option<f64>,
}

#[derive(Deserialize)]
struct Link {
    number: u8,
    direction: String,
    state: String,
    for_s: u64,
    next_attempt_in_s: Option<u64>,
    window: u32,
    out: u32,
    rate: u32,
    full_rate: u32,
    parts_per_second: f64,
    totals: Traffic,
    last_error: Option<LastError>,
}

#[derive(Deserialize)]
struct LastError {
    at: String,
    text: String,
}

impl Links {
    pub(crate) fn run(self) -> Ended {
        let Links { carrier, watch, place } = self;
        place.work(Absent::Refuse, async move |desk| {
            if !watch {
                return look(desk, carrier.as_deref(), "").await;
            }
            let clock = Clock::real();
            let clear = if desk.json { "" } else { CLEAR };
            loop {
                look(desk, carrier.as_deref(), clear).await?;
                clock.sleep(LOOK_EVERY).await;
            }
        })
    }
}

async fn look(desk: &Desk, carrier: Option<&str>, before: &str) -> Ended {
    let answer = desk.get("/links").await?;
    if desk.json {
        return show::say_raw(&answer.body);
    }
    let Seen { at, items } = answer.read_as().map_err(Failure::failed)?;
    let wanted = |seen: &&Carrier| carrier.is_none_or(|carrier| seen.carrier == carrier);
    let items: Vec<&Carrier> = items.iter().filter(wanted).collect();
    show::say(&format!("{before}{}", told(&at, &items, Paint::for_output())))
}

fn told(at: &str, carriers: &[&Carrier], paint: Paint) -> String {
    let mut table = Table::new(&[
        ("carrier", Left),
        ("health", Left),
        ("waiting", Right),
        ("link", Left),
        ("state", Left),
        ("for", Right),
        ("rate", Right),
        ("out", Right),
        ("parts/s", Right),
        ("errors", Right),
        ("receipts", Right),
        ("unmatched", Right),
    ]);
    for seen in carriers {
        let Traffic { unmatched, error_ratio, receipt_ratio } = &seen.last_ten_minutes;
        let whole = [seen.carrier.clone(), seen.health.clone(), seen.queue.waiting.to_string()];
        if seen.links.is_empty() {
            let figures = [percent(*error_ratio), percent(*receipt_ratio), unmatched.to_string()];
            let none = std::iter::repeat_n(String::new(), 6);
            table.row(whole.into_iter().chain(none).chain(figures));
            continue;
        }
        let blank = std::iter::repeat([String::new(), String::new(), String::new()]);
        for (carrier, link) in std::iter::once(whole).chain(blank).zip(&seen.links) {
            table.row(carrier.into_iter().chain(row(link)));
        }
    }
    let mut text = table.text("There are no carriers yet.");
    for seen in carriers {
        text.push_str(&notes(seen, paint));
    }
    text.push_str(&format!("\nAs of {at}.\n"));
    text
}

fn row(link: &Link) -> [String; 9] {
    let half = match link.direction.as_str() {
        "sends" => " tx",
        "receives" => " rx",
        _ => "",
    };
    let receives_only = link.direction == "receives";
    let sending = |text: String| if receives_only { String::new() } else { text };
    [
        format!("{}{half}", link.number),
        link.state.clone(),
        age(link.for_s),
        sending(format!("{}/{}", link.rate, link.full_rate)),
        sending(format!("{}/{}", link.out, link.window)),
        sending(format!("{:.1}", link.parts_per_second)),
        percent(link.totals.error_ratio),
        percent(link.totals.receipt_ratio),
        link.totals.unmatched.to_string(),
    ]
}

/// What does not fit into a table: why it is stopped, what went wrong last, what has waited long.
fn notes(seen: &Carrier, paint: Paint) -> String {
    let name = show::safe(&seen.carrier);
    let mut text = String::new();
    if let Some(Stopped { since, why }) = &seen.stopped {
        let line = format!("{name} is stopped since {since}: {}", show::safe(why));
        text.push_str(&format!("\n{}\n    hermod carrier resume {name}\n", paint.red(&line)));
    }
    for link in &seen.links {
        let next = link.next_attempt_in_s.map(|s| format!("; tries again in {}", age(s))).unwrap_or_default();
        match &link.last_error {
            // What went wrong before it was bound is history.
            Some(LastError { at, text: error }) if link.state != "bound" => {
                let line = format!("{name} {}: {} ({at}){next}", link.number, show::safe(error));
                text.push_str(&format!("\n{}\n", paint.yellow(&line)));
            }
            _ => {}
        }
    }
    if let (Some(oldest), true) = (seen.queue.oldest_for_s, seen.queue.waiting > 0) {
        text.push_str(&format!("\n{name}: the oldest has waited for {}\n", age(oldest)));
    }
    if let Some(until) = &seen.tracing_until {
        text.push_str(&format!("\n{name} is traced until {until}: hermod carrier trace {name}\n"));
    }
    text
}

pub(super) fn percent(ratio: Option<f64>) -> String {
    ratio.map(|ratio| format!("{:.1}%", ratio * 100.0)).unwrap_or_default()
}

/// In the largest unit of which there is one.
pub(super) fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        86_400.. => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_line_up_under_their_carrier_and_what_is_wrong_stands_below() {
        let seen = r#"{"at": "2026-06-15T12:00:00Z", "items": [
            {"carrier": "acme", "health": "up", "stopped": null, "tracing_until": null,
             "queue": {"waiting": 1200, "oldest_for_s": 90}, "last_ten_minutes": {"unmatched": 0, "error_ratio": 0.5, "receipt_ratio": null},
             "links": [
                {"number": 1, "direction": "both", "state": "bound", "for_s": 7200, "next_attempt_in_s": null, "window": 10, "out": 4,
                 "rate": 50, "full_rate": 100, "parts_per_second": 12.5, "last_error": {"at": "x", "text": "old"},
                 "totals": {"unmatched": 2, "error_ratio": 0.001, "receipt_ratio": 0.98}},
                {"number": 2, "direction": "both", "state": "waiting", "for_s": 3, "next_attempt_in_s": 12, "window": 10, "out": 0,
                 "rate": 100, "full_rate": 100, "parts_per_second": 0.0, "last_error": {"at": "2026-06-15T11:59:57Z", "text": "refused\u001b"},
                 "totals": {"unmatched": 0, "error_ratio": null, "receipt_ratio": null}}]},
            {"carrier": "beta", "health": "stopped", "stopped": {"since": "2026-06-15T11:00:00Z", "why": "it said so"}, "tracing_until": null,
             "queue": {"waiting": 0, "oldest_for_s": null}, "last_ten_minutes": {"unmatched": 0, "error_ratio": null, "receipt_ratio": null}, "links": []}]}"#;
        let Seen { at, items } = serde_json::from_str(seen).unwrap();
        let expect = "\
CARRIER  HEALTH   WAITING  LINK  STATE    FOR     RATE   OUT  PARTS/S  ERRORS  RECEIPTS  UNMATCHED
acme     up          1200  1     bound     2h   50/100  4/10     12.5    0.1%     98.0%          2
                           2     waiting   3s  100/100  0/10      0.0                            0
beta     stopped        0                                                                        0

acme 2: refused\\u{1b} (2026-06-15T11:59:57Z); tries again in 12s

acme: the oldest has waited for 1m

beta is stopped since 2026-06-15T11:00:00Z: it said so
    hermod carrier resume beta

As of 2026-06-15T12:00:00Z.
";
        assert_eq!(told(&at, &items.iter().collect::<Vec<_>>(), Paint::Plain), expect);
    }
}
