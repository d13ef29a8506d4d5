//! `hermod carrier receipts`: receipts that found no part, beside the ids they should have had.

use super::desk::Desk;
use super::entries;
use crate::ending::Ended;
use crate::show::Align::Left;
use crate::show::{self, Table};
use clap::Args;
use hermod_gateway::provision::Kind;
use serde::Deserialize;

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod carrier receipts acme
  hermod carrier receipts acme --limit 5

Left the ids of receipts that found no part, right ids that the carrier gave in its answers of late.
If those on the left look like the same numbers written differently, set ids: hermod carrier set
acme --ids hex-to-decimal.";

#[derive(Args)]
pub(super) struct Receipts {
    name: String,
    /// How many at most
    #[arg(long, value_name = "N", default_value = "20")]
    limit: u32,
}

#[derive(Deserialize)]
struct Loose {
    carrier: String,
    ids: String,
    hint: Option<Hint>,
    parked: Vec<Parked>,
    answers: Vec<Answered>,
    given_up: u64,
}

#[derive(Deserialize)]
struct Hint {
    ids: String,
    would_match: u64,
}

#[derive(Deserialize)]
struct Parked {
    id: String,
    at: String,
    says: String,
    recipient: Option<String>,
    ambiguous: bool,
}

#[derive(Deserialize)]
struct Answered {
    id: String,
    at: Option<String>,
}

impl Receipts {
    pub(super) async fn run(self, desk: &Desk) -> Ended {
        let path = entries::path(Kind::Carrier, &self.name);
        let answer = desk.get(&format!("{path}/receipts?limit={}", self.limit)).await?;
        desk.tell(&answer, |loose: Loose| told(&loose))
    }
}

fn told(loose: &Loose) -> String {
    let Loose { carrier, ids, hint, parked, answers, given_up } = loose;
    let name = show::safe(carrier);
    let mut text = if parked.is_empty() {
        format!("Every receipt of {name} found its part, or was given up.\n")
    } else {
        side_by_side(parked, answers)
    };
    text.push_str(&format!("\nids is {ids}."));
    if let Some(Hint { ids, would_match }) = hint {
        text.push_str(&format!(
            " With {ids}, {would_match} of these would match: hermod carrier set {name} --ids {ids}"
        ));
    }
    text.push('\n');
    if *given_up > 0 {
        text.push_str(&format!("{given_up} receipts were given up in the last seven days.\n"));
    }
    text
}

fn side_by_side(parked: &[Parked], answers: &[Answered]) -> String {
    let mut table = Table::new(&[
        ("receipt", Left),
        ("came", Left),
        ("says", Left),
        ("for", Left),
        ("answer", Left),
        ("given", Left),
    ]);
    for place in 0..parked.len().max(answers.len()) {
        let [id, at, says, recipient] = match parked.get(place) {
            Some(Parked { id, at, says, recipient, ambiguous }) => {
                let says = if *ambiguous { format!("{says} (several parts)") } else { says.clone() };
                [id.clone(), at.clone(), says, recipient.clone().unwrap_or_default()]
            }
            None => Default::default(),
        };
        let [answer, given] = match answers.get(place) {
            Some(Answered { id, at }) => [id.clone(), at.clone().unwrap_or_default()],
            None => Default::default(),
        };
        table.row([id, at, says, recipient, answer, given]);
    }
    table.text("")
}
