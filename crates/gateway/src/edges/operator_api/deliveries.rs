//! What became of what carriers took, and receipts that found no part.

use super::answer::{Answer, fine};
use super::asked::{Asked, Named, limit};
use super::desk::Desk;
use crate::app::operator::{
    self, DELIVERY_DAYS_MAX, Deliveries, DeliveriesBy, LooseReceipts, OperatorRefusal,
};
use crate::config::Period;
use axum::extract::State;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::numbers::{Country, Numbers};
use hermod_domain::time::Timestamp;
use hermod_store::{AssignedId, DELIVERY_TIMES, DeliveryFigures, ParkedReceipt};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const DAYS_DEFAULT: i64 = 7;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeliveriesAsked {
    days: Option<String>,
    carrier: Option<String>,
    by: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Deliveries)]
pub(super) struct DeliveriesShape {
    /// The first day; days are UTC days, and a receipt counts for the day its part was taken.
    from: String,
    to: String,
    /// Those with the most parts first.
    items: Vec<DeliveryShape>,
}

/// What became of the parts that one carrier took for one place.
#[derive(Serialize, ToSchema)]
#[schema(as = DeliveryFigures)]
struct DeliveryShape {
    carrier: String,
    /// Empty where it is not known, or not told apart.
    country: String,
    country_name: &'static str,
    /// MCC and MNC.
    network: String,
    operator: &'static str,
    /// Parts the carrier took.
    sent: u64,
    delivered: u64,
    failed: u64,
    expired: u64,
    rejected: u64,
    /// No final receipt so far.
    open: u64,
    /// Delivered ones of those that came to an end.
    delivery_ratio: Option<f64>,
    /// From the carrier's answer to its receipt.
    mean_seconds: Option<f64>,
    /// How many took how long.
    times: Vec<TimeShape>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = DeliveryTime)]
struct TimeShape {
    /// At most so long, and longer than the one before; nothing for the rest.
    within: Option<String>,
    parts: u64,
}

impl DeliveryShape {
    fn of(Deliveries { carrier, country, network, figures }: Deliveries) -> DeliveryShape {
        let DeliveryFigures { sent, delivered, failed, expired, rejected, times, time_ms } = figures;
        let ended = delivered + failed + expired + rejected;
        let timed: u64 = times.iter().sum();
        let within = DELIVERY_TIMES.iter().map(|most| Some(Period(*most).to_string())).chain([None]);
        DeliveryShape {
            carrier,
            country: country.map(|country| country.to_string()).unwrap_or_default(),
            country_name: country.map_or("", Country::name),
            network: network.map(|network| network.to_string()).unwrap_or_default(),
            operator: network.map_or("", |network| Numbers::embedded().operator_of(network)),
            sent,
            delivered,
            failed,
            expired,
            rejected,
            open: sent.saturating_sub(ended),
            delivery_ratio: ratio(delivered, ended, 1_000),
            mean_seconds: ratio(time_ms / 1_000, timed, 10),
            times: within.zip(times).map(|(within, parts)| TimeShape { within, parts }).collect(),
        }
    }
}

/// To so many decimals as the scale has zeros. Figures are for people: none is as large as to lose one.
fn ratio(of: u64, all: u64, scale: u64) -> Option<f64> {
    let scaled = of.saturating_mul(scale).checked_div(all)?;
    let float = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    Some(float(scaled) / float(scale))
}

pub(super) async fn deliveries(
    State(desk): State<Arc<Desk>>,
    Asked(DeliveriesAsked { days, carrier, by }): Asked<DeliveriesAsked>,
) -> Answer {
    let days = match days {
        None => DAYS_DEFAULT,
        Some(text) => {
            text.parse().ok().filter(|days| (1..=DELIVERY_DAYS_MAX).contains(days)).ok_or_else(|| {
                let rule = format!("\"{text}\" is not a number from 1 to {DELIVERY_DAYS_MAX}");
                OperatorRefusal::InvalidField { field: "days", rule }
            })?
        }
    };
    let by = match by.as_deref() {
        None | Some("network") => DeliveriesBy::Network,
        Some("country") => DeliveriesBy::Country,
        Some("carrier") => DeliveriesBy::Carrier,
        Some(other) => {
            let rule = format!("\"{other}\" is none of network, country and carrier");
            return Err(OperatorRefusal::InvalidField { field: "by", rule });
        }
    };
    let report = operator::deliveries(&desk.world, days, carrier.as_deref(), by).await?;
    fine(&DeliveriesShape {
        from: report.from.to_string(),
        to: report.to.to_string(),
        items: report.items.into_iter().map(DeliveryShape::of).collect(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceiptsAsked {
    limit: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = LooseReceipts)]
pub(super) struct ReceiptsShape {
    carrier: String,
    /// How ids are converted now.
    ids: &'static str,
    /// Another conversion under which some of the receipts would find their parts.
    hint: Option<HintShape>,
    /// Receipts that found no part, the latest first. They are kept for 72 hours and tried again.
    parked: Vec<ParkedShape>,
    /// Ids that the carrier gave in its answers of late.
    answers: Vec<AnsweredShape>,
    /// Receipts given up in the last seven days.
    given_up: u64,
}

#[derive(Serialize, ToSchema)]
#[schema(as = IdsHint)]
struct HintShape {
    ids: &'static str,
    would_match: u64,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ParkedReceipt)]
struct ParkedShape {
    #[schema(examples("9308878062554710043"))]
    id: String,
    at: String,
    /// What it says: `delivered`, `undeliverable`, ...
    says: String,
    err: u16,
    /// Whom it is about, as far as it says.
    recipient: Option<String>,
    /// It could be about several parts.
    ambiguous: bool,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AnsweredId)]
struct AnsweredShape {
    #[schema(examples("812FC7470000001B"))]
    id: String,
    at: Option<String>,
}

impl ParkedShape {
    fn of(receipt: ParkedReceipt) -> ParkedShape {
        let ParkedReceipt { remote, verdict, err, word, source, at, ambiguous } = receipt;
        ParkedShape {
            id: remote.to_text(),
            at: at.to_iso(),
            says: word.map_or_else(|| verdict_text(verdict).to_owned(), String::from),
            err,
            recipient: source.map(|number| number.to_string()),
            ambiguous,
        }
    }
}

pub(super) async fn receipts(
    State(desk): State<Arc<Desk>>,
    Named(carrier): Named<String>,
    Asked(ReceiptsAsked { limit: most }): Asked<ReceiptsAsked>,
) -> Answer {
    let found = operator::loose_receipts(&desk.world, &carrier, limit(most.as_deref())?).await?;
    let LooseReceipts { ids, parked, answers, hint, given_up } = found;
    let answered = |AssignedId { remote, at }: AssignedId| AnsweredShape {
        id: remote.to_text(),
        at: at.map(Timestamp::to_iso),
    };
    let hint = hint.map(|(ids, count)| HintShape {
        ids: ids.as_str(),
        would_match: u64::try_from(count).unwrap_or(u64::MAX),
    });
    fine(&ReceiptsShape {
        carrier,
        ids: ids.as_str(),
        hint,
        parked: parked.into_iter().map(ParkedShape::of).collect(),
        answers: answers.into_iter().map(answered).collect(),
        given_up,
    })
}

const fn verdict_text(verdict: DeliveryOutcome) -> &'static str {
    match verdict {
        DeliveryOutcome::Enroute | DeliveryOutcome::Accepted => "enroute",
        DeliveryOutcome::Delivered => "delivered",
        DeliveryOutcome::Undeliverable => "undeliverable",
        DeliveryOutcome::Rejected => "rejected",
        DeliveryOutcome::Expired => "expired",
        DeliveryOutcome::NoChange => "unknown",
    }
}
