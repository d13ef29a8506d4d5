//! `hermod carrier receipts`: receipts that matched no part, beside the message ids of the carrier's responses.

use super::entries;
use super::list::{ListFormat, print_list};
use super::operator_client::{OperatorClient, with_query};
use crate::failure::CommandResult;
use crate::output::Align::Left;
use crate::output::{self, TextTable};
use clap::Args;
use hermod_operator::delivery::{
    IdsHintView, ParkedReceiptView, ReceiptsQuery, ResponseIdView, UnmatchedReceiptsView,
};
use hermod_operator::kind::Kind;
use hermod_operator::views::paging::Limit;

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod carrier receipts acme
  hermod carrier receipts acme --limit 5

On the left the ids of receipts that matched no part, on the right ids of the carrier's recent
responses. If they are the same numbers in another base, set the conversion: hermod carrier set
acme --ids hex-to-decimal.";

#[derive(Args)]
pub(super) struct ReceiptsArgs {
    /// The carrier
    name: String,
    /// Rows, 1 to 1000
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,
    #[command(flatten)]
    format: ListFormat,
}

impl ReceiptsArgs {
    pub(super) async fn run(self, client: &OperatorClient) -> CommandResult {
        let path = format!("{}/receipts", entries::path(Kind::Carrier, &self.name));
        let response = client.get(&with_query(&path, &ReceiptsQuery { limit: Some(self.limit) })).await?;
        let parked = |view: &UnmatchedReceiptsView| view.parked.clone();
        print_list(client, &response, self.format, parked, |view| receipts_text(&view))
    }
}

fn receipts_text(view: &UnmatchedReceiptsView) -> String {
    let UnmatchedReceiptsView { carrier, ids, hint, parked, answers, given_up } = view;
    let name = output::safe(carrier);
    let mut text = if parked.is_empty() {
        format!("{name} has no unmatched receipts.\n")
    } else {
        side_by_side(parked, answers)
    };
    text.push_str(&format!("\nids is {ids}."));
    if let Some(IdsHintView { ids, would_match }) = hint {
        text.push_str(&format!(
            " With {ids}, {would_match} of these would match: hermod carrier set {name} --ids {ids}"
        ));
    }
    text.push('\n');
    if *given_up > 0 {
        text.push_str(&format!("{given_up} receipts were discarded in the last seven days.\n"));
    }
    text
}

fn side_by_side(parked: &[ParkedReceiptView], answers: &[ResponseIdView]) -> String {
    let mut table = TextTable::new(&[
        ("receipt", Left),
        ("received", Left),
        ("says", Left),
        ("for", Left),
        ("answer", Left),
        ("given", Left),
    ]);
    for row in 0..parked.len().max(answers.len()) {
        let [id, at, says, recipient] = match parked.get(row) {
            Some(ParkedReceiptView { id, at, says, recipient, ambiguous, .. }) => {
                let says = if *ambiguous { format!("{says} (several parts)") } else { says.clone() };
                [id.clone(), at.clone(), says, recipient.as_deref().unwrap_or_default().to_owned()]
            }
            None => Default::default(),
        };
        let [response, given] = match answers.get(row) {
            Some(ResponseIdView { id, at }) => [id.clone(), at.clone()],
            None => Default::default(),
        };
        table.row([id, at, says, recipient, response, given]);
    }
    table.text("")
}
