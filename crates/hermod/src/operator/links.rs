//! `hermod links`: the state of carriers and of the links to them.

use super::list::print_or_watch;
use super::tables::{age, on_node, percent, silent_nodes};
use super::target::{MissingDir, TargetArgs};
use crate::failure::CommandResult;
use crate::output::Align::{Left, Right};
use crate::output::{self, Paint, TextTable};
use clap::Args;
use hermod_operator::carrier::views::{CarrierView, CarriersView, LastErrorView, LinkView, StoppedView};

const EXAMPLES: &str = "\
Examples:
  hermod links
  hermod links --carrier acme
  hermod links --watch

RATE is the current rate of a link out of its full rate; it is lower after the carrier throttled it.
OUT counts parts without a response, out of the window. PARTS/S is the average of the last ten
seconds. ERRORS, RECEIPTS (per accepted part) and UNMATCHED (receipts without a part) count since
the gateway started. WAITING is the queue of the carrier. hermod alarms lists what needs attention.
With several nodes the links of all of them are listed; b/1 is link 1, which node b has.";

/// Show the state of carriers and links
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LinksArgs {
    /// Only this carrier
    #[arg(long, value_name = "NAME")]
    carrier: Option<String>,
    /// Refresh every second until stopped
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    target: TargetArgs,
}

impl LinksArgs {
    pub(crate) fn run(self) -> CommandResult {
        let LinksArgs { carrier, watch, target } = self;
        target.run(MissingDir::Refuse, async move |client| {
            print_or_watch(client, "/links", watch, |mut view: CarriersView| {
                view.items.retain(|one| carrier.as_ref().is_none_or(|carrier| one.carrier == *carrier));
                links_text(&view, Paint::for_output())
            })
            .await
        })
    }
}

fn links_text(CarriersView { at, items, missing_nodes }: &CarriersView, paint: Paint) -> String {
    let mut table = TextTable::new(&[
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
    for carrier in items {
        let recent = &carrier.last_ten_minutes;
        let whole = [carrier.carrier.clone(), carrier.health.clone(), carrier.queue.waiting.to_string()];
        if carrier.links.is_empty() {
            let figures =
                [percent(recent.error_ratio), percent(recent.receipt_ratio), recent.unmatched.to_string()];
            let none = std::iter::repeat_n(String::new(), 6);
            table.row(whole.into_iter().chain(none).chain(figures));
            continue;
        }
        let blank = std::iter::repeat([String::new(), String::new(), String::new()]);
        for (cells, link) in std::iter::once(whole).chain(blank).zip(&carrier.links) {
            table.row(cells.into_iter().chain(link_cells(link)));
        }
    }
    let mut text = table.text("No carriers.");
    for carrier in items {
        text.push_str(&notes(carrier, paint));
    }
    text.push_str(&silent_nodes(missing_nodes));
    text.push_str(&format!("\nAs of {at}.\n"));
    text
}

fn link_cells(link: &LinkView) -> [String; 9] {
    let half = match link.direction.as_str() {
        "sends" => " tx",
        "receives" => " rx",
        _ => "",
    };
    let receives_only = link.direction == "receives";
    let sending = |text: String| if receives_only { String::new() } else { text };
    [
        format!("{}{half}", on_node(link.node.as_deref(), &link.number)),
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

/// Returns the lines below the table: why the carrier is stopped, the last errors, the age of the queue, the trace.
fn notes(carrier: &CarrierView, paint: Paint) -> String {
    let name = output::safe(&carrier.carrier);
    let mut text = String::new();
    if let Some(StoppedView { since, why }) = &carrier.stopped {
        let line = format!("{name} is stopped since {since}: {}", output::safe(why));
        text.push_str(&format!("\n{}\n    hermod carrier resume {name}\n", paint.red(&line)));
    }
    for link in &carrier.links {
        let next = link.next_attempt_in_s.map(|s| format!("; tries again in {}", age(s))).unwrap_or_default();
        match &link.last_error {
            // The errors of a link that is bound are over.
            Some(LastErrorView { at, text: error }) if link.state != "bound" => {
                let line = format!(
                    "{name} {}: {} ({at}){next}",
                    on_node(link.node.as_deref(), &link.number),
                    output::safe(error)
                );
                text.push_str(&format!("\n{}\n", paint.yellow(&line)));
            }
            _ => {}
        }
    }
    if let (Some(oldest), true) = (carrier.queue.oldest_for_s, carrier.queue.waiting > 0) {
        text.push_str(&format!("\n{name}: the oldest part has waited for {}\n", age(oldest)));
    }
    if let Some(until) = &carrier.tracing_until {
        text.push_str(&format!("\n{name} is traced until {until}: hermod carrier trace {name}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A traffic view in JSON.
    fn traffic(unmatched: u64, error_ratio: &str, receipt_ratio: &str) -> String {
        format!(
            r#"{{"submitted": 0, "accepted": 0, "refused": {{}}, "timed_out": 0, "receipts": 0, "inbound": 0, "unmatched_ratio": null,
                "unmatched": {unmatched}, "error_ratio": {error_ratio}, "receipt_ratio": {receipt_ratio}}}"#
        )
    }

    #[test]
    fn links_are_rows_under_their_carrier_and_problems_are_lines_below() {
        let (none, half) = (traffic(0, "null", "null"), traffic(0, "0.5", "null"));
        let totals = traffic(2, "0.001", "0.98");
        let link = r#""direction": "both", "address": "x", "tls": false, "since": "x", "next_attempt_at": null,
            "bind_attempts": 1, "window": 10, "full_rate": 100"#;
        let json = format!(
            r#"{{"at": "2026-06-15T12:00:00Z", "items": [
            {{"carrier": "acme", "health": "up", "stopped": null, "tracing_until": null,
             "queue": {{"waiting": 1200, "deferred": 0, "in_flight": 0, "oldest": null, "oldest_for_s": 90}},
             "last_minute": {none}, "last_ten_minutes": {half},
             "links": [
                {{"number": 1, {link}, "state": "bound", "for_s": 7200, "next_attempt_in_s": null, "out": 4,
                 "rate": 50, "parts_per_second": 12.5, "last_error": {{"at": "x", "text": "old"}}, "totals": {totals}}},
                {{"number": 2, {link}, "state": "waiting", "for_s": 3, "next_attempt_in_s": 12, "out": 0,
                 "rate": 100, "parts_per_second": 0.0,
                 "last_error": {{"at": "2026-06-15T11:59:57Z", "text": "refused\u001b"}}, "totals": {none}}}]}},
            {{"carrier": "beta", "health": "stopped", "stopped": {{"since": "2026-06-15T11:00:00Z", "why": "it said so"}},
             "tracing_until": null,
             "queue": {{"waiting": 0, "deferred": 0, "in_flight": 0, "oldest": null, "oldest_for_s": null}},
             "last_minute": {none}, "last_ten_minutes": {none}, "links": []}}]}}"#
        );
        let expect = "\
CARRIER  HEALTH   WAITING  LINK  STATE    FOR     RATE   OUT  PARTS/S  ERRORS  RECEIPTS  UNMATCHED
acme     up          1200  1     bound     2h   50/100  4/10     12.5    0.1%     98.0%          2
                           2     waiting   3s  100/100  0/10      0.0                            0
beta     stopped        0                                                                        0

acme 2: refused\\u{1b} (2026-06-15T11:59:57Z); tries again in 12s

acme: the oldest part has waited for 1m

beta is stopped since 2026-06-15T11:00:00Z: it said so
    hermod carrier resume beta

As of 2026-06-15T12:00:00Z.
";
        assert_eq!(links_text(&serde_json::from_str(&json).unwrap(), Paint::Plain), expect);
    }
}
