//! The columns of every list of views.

use super::list::{CellValue as _, listed};
use super::record_notes::time;
use crate::output;
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
use serde_json::{Value, json};
use std::fmt::Display;

listed! { AuditRowView or "Nothing was changed yet.":
    number, at, by, from, account, action as "what", subject, "before and after" Left |row| audit_detail(&row.detail)
}
listed! { BindView or "No customer is bound.":
    "bind" Right |bind| on_node(bind.node.as_deref(), &bind.number), system_id, account, address, kind as "type",
    version as "smpp", "tls" Left |bind| if bind.tls { "yes".to_owned() } else { String::new() },
    "for" Right |bind| age(bind.for_s), "in" Right |bind| format!("{}/{}", bind.window_in, bind.window),
    "out" Right |bind| format!("{}/{}", bind.window_out, bind.window),
    "per s" Right |bind| format!("{:.1}", bind.submits_per_second), submits, refused, receipts, receipts_waiting as "waiting"
}
listed! { NodeView or "The store is embedded: this gateway is the only one.":
    name as "node", state, address, version, "" Left |node| if node.this { "this one".to_owned() } else { String::new() }
}
listed! { GivenUpView or "No reports were given up.":
    message_id as "message", account, system_id, stat, at as "since", given_up_at as "given up", why
}
listed! { SetAsideView or "No rows are set aside.":
    number, message_id as "message", "part" Right |row| row.part.as_ref().map(|part| part.no).cell(),
    "state" Right |row| row.part.as_ref().map(|part| part.state).cell(), account, carrier, at as "set aside", reason
}
listed! { UnassignedView or "Every message is assigned to an account.":
    message_id as "message", received_at as "received", carrier, from, to, text
}
listed! { OptOutView or "No opt-outs.": number, at as "since", source, how }
listed! { ReviewView or "No review cases in this state.":
    id, opened_at as "opened", account, from, to, seen, "rules" Left |case| case.rules.join(", ")
}
listed! { LedgerEntryView or "No ledger entries.":
    id, at, kind, "balance" Right |entry| change(entry.balance), "credit used" Right |entry| change(entry.credit_used),
    reference, note
}
listed! { EventView or "No webhook events.":
    event, kind, message_id as "message", status, at as "since", state, attempts,
    "next or end" Left |event| event.due_at.as_ref().or(event.ended_at.as_ref()).cloned().cell(), why
}
listed! { EndpointView or "No events are waiting.": kind, waiting, oldest, failed }
listed! { AttemptView or "No attempt was made yet.":
    at, "took" Right |attempt| format!("{} ms", attempt.took_ms),
    "outcome" Left |attempt| attempt.status.map_or_else(|| attempt.failure.cell(), |status| status.to_string()), answer
}
listed! { CarrierCandidateView or "":
    carrier, priority, weight, health, "cost" Right |carrier| match (&carrier.cost, &carrier.cost_currency) {
        (Some(cost), Some(currency)) => format!("{cost} {currency}"),
        // The entry closes the destination.
        _ if carrier.cost_entry.is_some() => "closed".to_owned(),
        _ => String::new(),
    },
    "margin" Right |carrier| carrier.margin.map(|margin| margin.to_string()).unwrap_or_default(),
    "decision" Left |carrier| carrier.decision.replace('-', " "), why
}
listed! { RouteCandidateView or "": route, "decision" Left |route| route.decision.replace('-', " "), why }
// A control that enforces rejects the excess; only one that watches counts it.
listed! { ControlView or "No traffic controls apply.":
    name as "control", mode, "limit" Left |control| limit(&json!(control)),
    "would have refused" Right |control| Some(control.would_have_refused).filter(|_| control.mode == "watch").cell()
}
listed! { CustomerRequestView or "No requests found.":
    id as "request", account, kind, subject, connection, state, made_at as "made", by, details
}
listed! { DeliveryView or "No carrier accepted any parts.":
    carrier, country, network, operator, sent, "delivered" Right |row| percent(row.delivery_ratio),
    "failed" Right |row| unless_zero(row.failed), "expired" Right |row| unless_zero(row.expired),
    "rejected" Right |row| unless_zero(row.rejected), "open" Right |row| unless_zero(row.open),
    "mean" Right |row| row.mean_seconds.map(|mean| format!("{mean:.1}s")).unwrap_or_default(),
    "times" Left |row| bars(&row.times.iter().map(|time| time.parts).collect::<Vec<_>>())
}
listed! { MessageView or "No messages found.":
    accepted_at as "accepted", id, account, from, "to" Left |message| message.to.as_deref().unwrap_or("(erased)").to_owned(),
    carrier, parts, state, "took" Right |message| message.took_ms.map(time).unwrap_or_default(), cost, refund
}
listed! { RequestView or "No requests found.":
    at, account, who, address, operation as "request", status, code, "took" Right |request| time(request.took_ms.into()),
    message_id as "message", "key" Left |request| if request.replay == "no" { String::new() } else { request.replay.clone() },
    reason
}

/// Returns the lines about nodes that did not answer.
pub(super) fn silent_nodes(missing: &[String]) -> String {
    missing.iter().map(|node| format!("\nNode {} did not answer.\n", output::safe(node))).collect()
}

/// Returns the number of a bind or link as it is shown and typed: `7`, or `b/7` on the node b.
pub(super) fn on_node(node: Option<&str>, number: &impl Display) -> String {
    node.map_or_else(|| number.to_string(), |node| format!("{}/{number}", output::safe(node)))
}

pub(super) fn unless_zero(count: u64) -> String {
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

/// Returns the limit of a control as text.
fn limit(entry: &Value) -> String {
    let most = |rule: &Value| format!("{} per {}", plain(&rule["most"]), plain(&rule["per"]));
    if !entry["spend_per_day"].is_null() {
        format!("spend {} per day", plain(&entry["spend_per_day"]))
    } else if !entry["messages_per_day"].is_null() {
        format!("{} messages per day", plain(&entry["messages_per_day"]))
    } else if !entry["per_recipient"].is_null() {
        format!("one number: {}", most(&entry["per_recipient"]))
    } else if !entry["per_range"].is_null() {
        format!("one range: {}", most(&entry["per_range"]))
    } else {
        let rule = &entry["per_country"];
        let except =
            rule["except"].as_array().into_iter().flatten().map(plain).collect::<Vec<_>>().join(", ");
        let but = if except.is_empty() { except } else { format!(" except {except}") };
        format!("one country{but}: {}", most(rule))
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
#[path = "tables_tests.rs"]
mod tests;
