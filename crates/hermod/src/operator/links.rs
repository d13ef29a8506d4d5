//! `hermod links`: the state of carriers and of the links to them.

use super::list::{ListFormat, print_or_watch};
use super::operator_client::OperatorClient;
use super::tables::{age, on_node, percent, silent_nodes};
use super::target::ClientCommand;
use crate::failure::CommandResult;
use crate::output::Align::{Left, Right};
use crate::output::{self, Paint, TextTable};
use clap::Args;
use hermod_operator::carrier::views::{
    CarrierView, CarriersView, LastErrorView, LinkRowView, LinkView, StoppedView,
};

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
    #[arg(long, conflicts_with = "csv")]
    watch: bool,
    #[command(flatten)]
    format: ListFormat,
}

impl ClientCommand for LinksArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let LinksArgs { carrier, watch, format } = self;
        let is_wanted = |one: &CarrierView| carrier.as_ref().is_none_or(|carrier| one.carrier == *carrier);
        let rows =
            |view: &CarriersView| view.items.iter().filter(|one| is_wanted(one)).flat_map(rows_of).collect();
        print_or_watch(client, "/links", watch, format, rows, |mut view: CarriersView| {
            view.items.retain(is_wanted);
            links_text(&view, Paint::for_output())
        })
        .await
    }
}

/// Returns a row of a CSV file for each link.
fn rows_of(carrier: &CarrierView) -> impl Iterator<Item = LinkRowView> {
    let CarrierView { carrier, health, links, .. } = carrier;
    let row = |link: &LinkView| LinkRowView {
        carrier: carrier.clone(),
        health: health.clone(),
        link: link.clone(),
    };
    links.iter().map(row)
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
#[path = "links_tests.rs"]
mod tests;
