//! `hermod route explain`: explains which route a message takes.

use super::list::table;
use super::operator_client::{OperatorClient, with_query};
use crate::failure::CommandResult;
use crate::output;
use clap::Args;
use hermod_operator::lookup::views::{ExplainQuery, ExplanationView, InDoubtView};

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
        let rejected = if view.fail_over_refusals { "offered to the next one" } else { "final" };
        text.push_str(&format!(
            "\nA part without a response is {resent}; a carrier's reject is {rejected}.\n"
        ));
    }
    text
}
