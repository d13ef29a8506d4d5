//! The columns of every list of views.

use super::list::{Column, ListedView};
use super::record_notes::time;
use crate::output;
use crate::output::Align::{Left, Right};
use hermod_operator::audit_log::AuditRowView;
use hermod_operator::bind::BindView;
use hermod_operator::customer_request::views::CustomerRequestView;
use hermod_operator::delivery::DeliveryView;
use hermod_operator::inbound::{GivenUpView, UnassignedView};
use hermod_operator::lookup::views::{CarrierCandidateView, RouteCandidateView};
use hermod_operator::maintenance::SetAsideView;
use hermod_operator::message::views::MessageView;
use hermod_operator::money::views::{ControlView, LedgerEntryView};
use hermod_operator::node::NodeView;
use hermod_operator::opt_out::OptOutView;
use hermod_operator::request::RequestView;
use hermod_operator::review::ReviewView;
use hermod_operator::views::amount::Amount;
use hermod_operator::webhook::views::{AttemptView, EndpointView, EventView};
use serde_json::Value;
use std::fmt::Display;

impl ListedView for AuditRowView {
    const COLUMNS: &'static [Column<AuditRowView>] = &[
        ("number", Right, |row| row.number.to_string()),
        ("at", Left, |row| row.at.clone()),
        ("by", Left, |row| row.by.clone()),
        ("from", Left, |row| row.from.clone()),
        ("account", Left, |row| text(&row.account)),
        ("what", Left, |row| row.action.clone()),
        ("subject", Left, |row| row.subject.to_string()),
        ("before and after", Left, |row| audit_detail(&row.detail)),
    ];
    const EMPTY: &'static str = "Nothing was changed yet.";
}

/// Returns the lines about nodes that did not answer.
pub(super) fn silent_nodes(missing: &[String]) -> String {
    missing.iter().map(|node| format!("\nNode {} did not answer.\n", output::safe(node))).collect()
}

/// Returns the number of a bind or link as it is shown and typed: `7`, or `b/7` on the node b.
pub(super) fn on_node(node: Option<&str>, number: &impl Display) -> String {
    node.map_or_else(|| number.to_string(), |node| format!("{}/{number}", output::safe(node)))
}

impl ListedView for BindView {
    const COLUMNS: &'static [Column<BindView>] = &[
        ("bind", Right, |bind| on_node(bind.node.as_deref(), &bind.number)),
        ("system id", Left, |bind| bind.system_id.clone()),
        ("account", Left, |bind| bind.account.clone()),
        ("address", Left, |bind| bind.address.clone()),
        ("type", Left, |bind| bind.kind.clone()),
        ("smpp", Left, |bind| bind.version.clone()),
        ("tls", Left, |bind| if bind.tls { "yes".to_owned() } else { String::new() }),
        ("for", Right, |bind| age(bind.for_s)),
        ("in", Right, |bind| format!("{}/{}", bind.window_in, bind.window)),
        ("out", Right, |bind| format!("{}/{}", bind.window_out, bind.window)),
        ("per s", Right, |bind| format!("{:.1}", bind.submits_per_second)),
        ("submits", Right, |bind| bind.submits.to_string()),
        ("refused", Right, |bind| bind.refused.to_string()),
        ("receipts", Right, |bind| bind.receipts.to_string()),
        ("waiting", Right, |bind| bind.receipts_waiting.to_string()),
    ];
    const EMPTY: &'static str = "No customer is bound.";
}

impl ListedView for NodeView {
    const COLUMNS: &'static [Column<NodeView>] = &[
        ("node", Left, |node| node.name.clone()),
        ("state", Left, |node| node.state.clone()),
        ("address", Left, |node| node.address.clone()),
        ("version", Left, |node| node.version.clone()),
        ("", Left, |node| if node.this { "this one".to_owned() } else { String::new() }),
    ];
    const EMPTY: &'static str = "The store is embedded: this gateway is the only one.";
}

impl ListedView for GivenUpView {
    const COLUMNS: &'static [Column<GivenUpView>] = &[
        ("message", Left, |report| report.message_id.clone()),
        ("account", Left, |report| report.account.clone()),
        ("system id", Left, |report| text(&report.system_id)),
        ("stat", Left, |report| report.stat.clone()),
        ("since", Left, |report| report.at.clone()),
        ("given up", Left, |report| report.given_up_at.clone()),
        ("why", Left, |report| report.why.clone()),
    ];
    const EMPTY: &'static str = "No reports were given up.";
}

impl ListedView for SetAsideView {
    const COLUMNS: &'static [Column<SetAsideView>] = &[
        ("number", Right, |row| row.number.to_string()),
        ("message", Left, |row| row.message_id.clone()),
        ("part", Right, |row| number(row.part.as_ref().map(|part| part.no))),
        ("state", Right, |row| number(row.part.as_ref().map(|part| part.state))),
        ("account", Right, |row| row.account.to_string()),
        ("carrier", Right, |row| row.carrier.to_string()),
        ("set aside", Left, |row| row.at.clone()),
        ("reason", Left, |row| row.reason.clone()),
    ];
    const EMPTY: &'static str = "No rows are set aside.";
}

impl ListedView for UnassignedView {
    const COLUMNS: &'static [Column<UnassignedView>] = &[
        ("message", Left, |message| message.message_id.clone()),
        ("received", Left, |message| message.received_at.clone()),
        ("carrier", Left, |message| message.carrier.clone()),
        ("from", Left, |message| message.from.to_string()),
        ("to", Left, |message| message.to.clone()),
        ("text", Left, |message| message.text.to_string()),
    ];
    const EMPTY: &'static str = "Every message is assigned to an account.";
}

impl ListedView for OptOutView {
    const COLUMNS: &'static [Column<OptOutView>] = &[
        ("number", Left, |opt_out| opt_out.number.to_string()),
        ("since", Left, |opt_out| opt_out.at.clone()),
        ("source", Left, |opt_out| opt_out.source.clone()),
        ("how", Left, |opt_out| opt_out.how.clone()),
    ];
    const EMPTY: &'static str = "No opt-outs.";
}

impl ListedView for ReviewView {
    const COLUMNS: &'static [Column<ReviewView>] = &[
        ("id", Right, |case| case.id.to_string()),
        ("opened", Left, |case| case.opened_at.clone()),
        ("account", Left, |case| case.account.clone()),
        ("from", Left, |case| case.from.clone()),
        ("to", Left, |case| case.to.to_string()),
        ("seen", Right, |case| case.seen.to_string()),
        ("rules", Left, |case| case.rules.join(", ")),
    ];
    const EMPTY: &'static str = "No review cases in this state.";
}

impl ListedView for LedgerEntryView {
    const COLUMNS: &'static [Column<LedgerEntryView>] = &[
        ("id", Right, |entry| entry.id.to_string()),
        ("at", Left, |entry| entry.at.clone()),
        ("kind", Left, |entry| entry.kind.clone()),
        ("balance", Right, |entry| change(entry.balance)),
        ("credit used", Right, |entry| change(entry.credit_used)),
        ("reference", Left, |entry| text(&entry.reference)),
        ("note", Left, |entry| entry.note.clone()),
    ];
    const EMPTY: &'static str = "No ledger entries.";
}

impl ListedView for EventView {
    const COLUMNS: &'static [Column<EventView>] = &[
        ("event", Left, |event| event.event.clone()),
        ("kind", Left, |event| event.kind.clone()),
        ("message", Left, |event| event.message_id.clone()),
        ("status", Left, |event| text(&event.status)),
        ("since", Left, |event| event.at.clone()),
        ("state", Left, |event| event.state.clone()),
        ("attempts", Right, |event| event.attempts.to_string()),
        ("next or end", Left, |event| text(event.due_at.as_ref().map_or(&event.ended_at, |_| &event.due_at))),
        ("why", Left, |event| text(&event.why)),
    ];
    const EMPTY: &'static str = "No webhook events.";
}

impl ListedView for EndpointView {
    const COLUMNS: &'static [Column<EndpointView>] = &[
        ("kind", Left, |endpoint| endpoint.kind.clone()),
        ("waiting", Right, |endpoint| endpoint.waiting.to_string()),
        ("oldest", Left, |endpoint| text(&endpoint.oldest)),
        ("failed", Right, |endpoint| endpoint.failed.to_string()),
    ];
    const EMPTY: &'static str = "No events are waiting.";
}

impl ListedView for AttemptView {
    const COLUMNS: &'static [Column<AttemptView>] = &[
        ("at", Left, |attempt| attempt.at.clone()),
        ("took", Right, |attempt| format!("{} ms", attempt.took_ms)),
        ("outcome", Left, |attempt| {
            attempt.status.map_or_else(|| text(&attempt.failure), |status| status.to_string())
        }),
        ("answer", Left, |attempt| attempt.answer.to_string()),
    ];
    const EMPTY: &'static str = "No attempt was made yet.";
}

impl ListedView for CarrierCandidateView {
    const COLUMNS: &'static [Column<CarrierCandidateView>] = &[
        ("carrier", Left, |carrier| carrier.carrier.clone()),
        ("priority", Right, |carrier| carrier.priority.to_string()),
        ("weight", Right, |carrier| carrier.weight.to_string()),
        ("health", Left, |carrier| text(&carrier.health)),
        ("decision", Left, |carrier| carrier.decision.replace('-', " ")),
        ("why", Left, |carrier| carrier.why.clone()),
    ];
    const EMPTY: &'static str = "";
}

impl ListedView for RouteCandidateView {
    const COLUMNS: &'static [Column<RouteCandidateView>] = &[
        ("route", Left, |route| route.route.clone()),
        ("decision", Left, |route| route.decision.replace('-', " ")),
        ("why", Left, |route| route.why.clone()),
    ];
    const EMPTY: &'static str = "";
}

impl ListedView for ControlView {
    const COLUMNS: &'static [Column<ControlView>] = &[
        ("control", Left, |control| control.name.clone()),
        ("mode", Left, |control| control.mode.clone()),
        ("limit", Left, super::control_limits::limit_of_view),
        // A control that enforces rejects the excess; only one that watches counts it.
        ("would have refused", Right, |control| match control.mode.as_str() {
            "watch" => control.would_have_refused.to_string(),
            _ => String::new(),
        }),
    ];
    const EMPTY: &'static str = "No traffic controls apply.";
}

impl ListedView for CustomerRequestView {
    const COLUMNS: &'static [Column<CustomerRequestView>] = &[
        ("request", Right, |request| request.id.to_string()),
        ("account", Left, |request| request.account.clone()),
        ("kind", Left, |request| request.kind.clone()),
        ("subject", Left, |request| request.subject.clone()),
        ("connection", Left, |request| text(&request.connection)),
        ("state", Left, |request| request.state.clone()),
        ("made", Left, |request| request.made_at.clone()),
        ("by", Left, |request| request.by.clone()),
        ("details", Left, |request| request.details.clone()),
    ];
    const EMPTY: &'static str = "No requests found.";
}

impl ListedView for DeliveryView {
    const COLUMNS: &'static [Column<DeliveryView>] = &[
        ("carrier", Left, |row| row.carrier.clone()),
        ("country", Left, |row| row.country.clone()),
        ("network", Left, |row| row.network.clone()),
        ("operator", Left, |row| row.operator.clone()),
        ("sent", Right, |row| row.sent.to_string()),
        ("delivered", Right, |row| percent(row.delivery_ratio)),
        ("failed", Right, |row| unless_zero(row.failed)),
        ("expired", Right, |row| unless_zero(row.expired)),
        ("rejected", Right, |row| unless_zero(row.rejected)),
        ("open", Right, |row| unless_zero(row.open)),
        ("mean", Right, |row| row.mean_seconds.map(|mean| format!("{mean:.1}s")).unwrap_or_default()),
        ("times", Left, |row| bars(&row.times.iter().map(|time| time.parts).collect::<Vec<_>>())),
    ];
    const EMPTY: &'static str = "No carrier accepted any parts.";
}

impl ListedView for MessageView {
    const COLUMNS: &'static [Column<MessageView>] = &[
        ("accepted", Left, |message| message.accepted_at.clone()),
        ("id", Left, |message| message.id.clone()),
        ("account", Left, |message| message.account.clone()),
        ("from", Left, |message| message.from.clone()),
        ("to", Left, |message| message.to.as_deref().unwrap_or("(erased)").to_owned()),
        ("carrier", Left, |message| message.carrier.clone()),
        ("parts", Right, |message| message.parts.to_string()),
        ("state", Left, |message| message.state.clone()),
        ("took", Right, |message| message.took_ms.map(time).unwrap_or_default()),
        ("cost", Right, |message| message.cost.to_string()),
        ("refund", Right, |message| message.refund.map(|refund| refund.to_string()).unwrap_or_default()),
    ];
    const EMPTY: &'static str = "No messages found.";
}

impl ListedView for RequestView {
    const COLUMNS: &'static [Column<RequestView>] = &[
        ("at", Left, |request| request.at.clone()),
        ("account", Left, |request| text(&request.account)),
        ("who", Left, |request| request.who.clone()),
        ("address", Left, |request| text(&request.address)),
        ("request", Left, |request| request.operation.clone()),
        ("status", Right, |request| request.status.to_string()),
        ("code", Left, |request| text(&request.code)),
        ("took", Right, |request| time(request.took_ms.into())),
        ("message", Left, |request| text(&request.message_id)),
        ("key", Left, |request| if request.replay == "no" { String::new() } else { request.replay.clone() }),
        ("reason", Left, |request| request.reason.clone()),
    ];
    const EMPTY: &'static str = "No requests found.";
}

fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_default()
}

fn number(value: Option<i64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn unless_zero(count: u64) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

pub(super) fn percent(ratio: Option<f64>) -> String {
    ratio.map(|ratio| format!("{:.1}%", ratio * 100.0)).unwrap_or_default()
}

/// Returns a change of money with its sign; empty for no change.
pub(super) fn change(amount: Amount) -> String {
    match amount.to_string() {
        amount if amount == "0" => String::new(),
        amount if amount.starts_with('-') => amount,
        amount => format!("+{amount}"),
    }
}

/// Returns a number of seconds in the largest unit that fits.
pub(super) fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        86_400.. => format!("{}d", seconds / 86_400),
    }
}

/// Returns one bar for each count, relative to the largest.
fn bars(counts: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let bar = |count: u64| match count {
        0 => '·',
        count => {
            let height = (u128::from(count) * 8).div_ceil(u128::from(most)).clamp(1, 8);
            BARS[usize::try_from(height).unwrap_or(8) - 1]
        }
    };
    counts.iter().map(|count| bar(*count)).collect()
}

/// Shows what changed: `revoked: false -> true`.
fn audit_detail(detail: &Value) -> String {
    let Some(fields) = detail.as_object() else { return String::new() };
    let shown = fields.iter().map(|(field, value)| match value.as_array().map(Vec::as_slice) {
        Some([Value::Null, after]) => format!("{field}: {after}"),
        Some([before, Value::Null]) => format!("{field}: {before} -> none"),
        Some([before, after]) => format!("{field}: {before} -> {after}"),
        _ => format!("{field}: {value}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "tables_tests.rs"]
mod tests;
