//! `hermod message`: everything about one message.

use super::operator_client::OperatorClient;
use super::record_notes::{behind, time};
use super::target::ClientCommand;
use crate::client::escape;
use crate::failure::{CommandResult, Failure};
use crate::output::{self, Align, TextTable, fields};
use clap::Args;
use hermod_operator::message::costs::{CarrierCostView, MessageCostsView};
use hermod_operator::message::views::{HistoryView, MessageView, StepView};
use hermod_operator::views::amount::Amount;

const EXAMPLES: &str = "\
Examples:
  hermod message 15506713804701696
  hermod message 15506713804701696 --json | jq '.timeline[] | select(.step == \"receipt\")'

The timeline counts from the acceptance: when each part was sent and by which link, what the carrier
answered, its receipts as it wrote them, failovers, resends, refunds, and each report and webhook to
the customer. A step named gap says that steps are missing, after a crash or an overload; the state and
the money are complete. hermod messages finds ids.";

/// Show everything about one message: charge, route, timeline
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MessageArgs {
    /// The message id
    #[arg(value_name = "MESSAGE_ID")]
    message: String,
}

impl ClientCommand for MessageArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let MessageArgs { message } = self;
        let response = client.get(&format!("/messages/{}", escape(&message))).await?;
        if client.json {
            return output::print_json(&response.body);
        }
        let message: MessageView = response.read_as().map_err(Failure::failed)?;
        let history: HistoryView = response.read_as().map_err(Failure::failed)?;
        output::print(&detail_text(&message, &history))
    }
}

fn detail_text(message: &MessageView, history: &HistoryView) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let money = |amount: &dyn std::fmt::Display| format!("{amount} {}", message.currency);
    let margin = history.costs.as_ref().and_then(|costs| costs.margin);
    let network = format!("{} {}", message.country, message.network).trim().to_owned();
    let status =
        [text(&message.code), if message.err == 0 { String::new() } else { format!("err {}", message.err) }];
    let about = fields(&[
        ("account", message.account.clone()),
        ("connection", message.connection.clone()),
        ("from", message.from.clone()),
        ("to", message.to.as_deref().unwrap_or("(erased)").to_owned()),
        ("network", network),
        ("state", message.state.clone()),
        ("status", status.join(" ").trim().to_owned()),
        ("accepted", message.accepted_at.clone()),
        ("ended", text(&message.ended_at)),
        ("took", message.took_ms.map(time).unwrap_or_default()),
        ("encoding", message.encoding.clone()),
        ("parts", message.parts.to_string()),
        ("price", money(&message.cost)),
        ("charged parts", history.charged_parts.to_string()),
        ("balance after", history.balance.map(|balance| money(&balance)).unwrap_or_default()),
        ("refund", message.refund.map(|refund| money(&refund)).unwrap_or_default()),
        ("due to carriers", costs_text(history.costs.as_ref())),
        ("margin", margin.map(|margin| money(&margin)).unwrap_or_default()),
        ("route", text(&history.route)),
        ("carrier", message.carrier.clone()),
        ("why", text(&history.why)),
        ("request", text(&history.request)),
    ]);
    let mut carriers = TextTable::new(&[
        ("carrier", Align::Left),
        ("cost", Align::Right),
        ("margin", Align::Right),
        ("left out", Align::Left),
    ]);
    let amount = |amount: &Option<Amount>| amount.map(|amount| amount.to_string()).unwrap_or_default();
    for one in &history.carriers {
        let excluded = text(&one.excluded).replace('-', " ");
        carriers.row([one.carrier.clone(), amount(&one.cost), amount(&one.margin), excluded]);
    }
    let compared =
        if history.carriers.is_empty() { String::new() } else { format!("{}\n", carriers.text("")) };
    let mut steps = TextTable::new(&[
        ("after", Align::Right),
        ("step", Align::Left),
        ("part", Align::Right),
        ("what", Align::Left),
    ]);
    for step in &history.timeline {
        let part = step.part.map(|part| format!("{part}/{}", message.parts)).unwrap_or_default();
        steps.row([time(step.at_ms), step.step.replace('_', " "), part, step_text(step)]);
    }
    format!(
        "Message {}\n{about}\n{compared}{}{}",
        message.id,
        steps.text("No steps."),
        behind(history.record)
    )
}

/// Returns what each carrier asks, and what is due.
fn costs_text(costs: Option<&MessageCostsView>) -> String {
    let one = |cost: &CarrierCostView| {
        let CarrierCostView { carrier, per_part, currency, basis, entry, due_parts, due } = cost;
        let due = due.map_or("not known yet".to_owned(), |due| format!("{due} {currency}"));
        let parts = due_parts.map(|parts| format!("{parts} x ")).unwrap_or_default();
        let entry = entry.as_ref().map(|entry| format!(", {entry}")).unwrap_or_default();
        let counted = if basis == "delivered" { "delivered" } else { "submitted" };
        format!("{due} ({carrier}: {parts}{per_part} {currency} per part {counted}{entry})")
    };
    let texts: Vec<String> = costs.iter().flat_map(|costs| &costs.items).map(one).collect();
    texts.join("; ")
}

/// Returns the fields of a step in one line.
pub(super) fn step_text(step: &StepView) -> String {
    let StepView { step: _, at_ms: _, part: _, .. } = step;
    let mut words: Vec<String> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            words.push(if name.is_empty() { value } else { format!("{name} {value}") });
        }
    };
    let text = |value: &Option<String>| value.clone();
    add("from", text(&step.from_carrier));
    add(if step.from_carrier.is_some() { "to" } else { "" }, text(&step.carrier));
    add("link", step.link.map(|link| link.to_string()));
    add("id", text(&step.carrier_id));
    add("", text(&step.connection));
    add("report", step.report.map(|report| report.to_string()));
    add("", text(&step.event));
    add("attempt", step.attempt.map(|attempt| attempt.to_string()));
    add("", text(&step.state));
    add("", text(&step.code));
    add("status", text(&step.status));
    add("", text(&step.words).map(|words| format!("\"{words}\"")));
    add("err", step.err.filter(|err| *err != 0).map(|err| err.to_string()));
    add("cost", step.cost.map(|cost| cost.to_string()));
    add("balance", step.balance.map(|balance| balance.to_string()));
    add("refund", step.refund.map(|refund| refund.to_string()));
    add("route", text(&step.route));
    add("parts", step.parts.map(|parts| parts.to_string()));
    add("", text(&step.encoding));
    add("took", step.took_ms.map(|ms| time(ms.into())));
    add("", text(&step.note));
    words.join(", ")
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
