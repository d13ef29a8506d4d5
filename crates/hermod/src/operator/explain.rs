//! `hermod route explain`: explains which route a message takes.

use super::list::table;
use super::operator_client::{OperatorClient, with_query};
use crate::failure::CommandResult;
use crate::output;
use clap::Args;
use hermod_operator::lookup::views::{CarrierCandidateView, ExplainQuery, ExplanationView, InDoubtView};

#[derive(Args)]
pub(super) struct ExplainArgs {
    /// The recipient: a plus, then the number with its country code
    number: String,
    /// The sending account [default: one that no route names]
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// The sender [default: one that no route names]
    #[arg(long, value_name = "SENDER")]
    from: Option<String>,
}

impl ExplainArgs {
    pub(super) async fn run(self, client: &OperatorClient) -> CommandResult {
        let ExplainArgs { number, account, from } = self;
        let path = with_query("/routes/explain", &ExplainQuery { to: number, account, from });
        client.print(&client.get(&path).await?, |view: ExplanationView| explanation_text(&view))
    }
}

pub(super) fn explanation_text(view: &ExplanationView) -> String {
    let mut text = format!("{}\n", output::safe(&view.sentence));
    if !view.carriers.is_empty() {
        text.push_str(&format!("\n{}", table(&view.carriers)));
    }
    if !view.routes.is_empty() {
        text.push_str(&format!("\n{}", table(&view.routes)));
    }
    if let Some(policy) = view.in_doubt {
        let resent = match policy {
            InDoubtView::Resend => "resent up to three times",
            InDoubtView::ResendOnce => "resent once",
            InDoubtView::NeverResend => "never resent",
        };
        text.push_str(&format!("\nA part without a response is {resent}; {}.\n", rejection_text(view)));
    }
    text
}

/// Says what happens to a message that the chosen carrier rejects. It moves to a later carrier of the route only, so that no message
/// cycles.
fn rejection_text(view: &ExplanationView) -> String {
    let can_send = |one: &&CarrierCandidateView| match one.health.as_deref() {
        None => true,
        Some(health) => ["up", "poor"].contains(&health),
    };
    let later = view.carriers.iter().skip_while(|one| Some(&one.carrier) != view.carrier.as_ref()).skip(1);
    match later.filter(|_| view.fail_over_refusals).find(can_send) {
        Some(next) => format!(
            "a message that the carrier rejects is offered to {}, unless its text or its number is rejected",
            output::safe(&next.carrier)
        ),
        None if view.fail_over_refusals => {
            "a carrier's reject is final: no carrier after it can send".to_owned()
        }
        None => "a carrier's reject is final".to_owned(),
    }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
