//! Delivery statistics by carrier, country and network; receipts that matched no part.

use crate::views::paging::Limit;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::numbers::{Country, Network, Numbers};
use hermod_gateway::config::Period;
use hermod_store::{AssignedId, DELIVERY_TIMES, DeliveryFigures, ParkedReceipt};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct DeliveriesQuery {
    /// The number of UTC days, today included.
    #[param(minimum = 1, maximum = 366, default = 7)]
    pub days: Option<i64>,
    /// Only this carrier.
    pub carrier: Option<String>,
    /// `network`, `country` or `carrier`: what the figures are grouped by.
    #[param(pattern = "^(network|country|carrier)$", default = "network")]
    pub by: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeliveriesView {
    /// The first UTC day. A receipt counts for the day on which its part was accepted.
    pub from: String,
    pub to: String,
    /// The group with the most parts first.
    pub items: Vec<DeliveryView>,
}

/// The parts that one carrier accepted for one network, country or in all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryView {
    pub carrier: String,
    /// Empty if unknown or not grouped by.
    pub country: String,
    pub country_name: String,
    /// MCC and MNC.
    pub network: String,
    pub operator: String,
    /// Parts that the carrier accepted.
    pub sent: u64,
    pub delivered: u64,
    pub failed: u64,
    pub expired: u64,
    pub rejected: u64,
    /// Without a final receipt.
    pub open: u64,
    /// Delivered parts among those with a final receipt.
    pub delivery_ratio: Option<f64>,
    /// From submit_sm_resp to the receipt.
    pub mean_seconds: Option<f64>,
    /// Delivered parts by delivery time.
    pub times: Vec<DeliveryTimeView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeliveryTimeView {
    /// The upper bound of this range; null for the last range, which has none.
    pub within: Option<String>,
    pub parts: u64,
}

impl DeliveryView {
    pub fn new(
        carrier: String,
        country: Option<Country>,
        network: Option<Network>,
        figures: &DeliveryFigures,
    ) -> DeliveryView {
        let DeliveryFigures { sent, delivered, failed, expired, rejected, times, time_ms } = *figures;
        let ended = delivered + failed + expired + rejected;
        let timed: u64 = times.iter().sum();
        let within = DELIVERY_TIMES.iter().map(|most| Some(Period(*most).to_string())).chain([None]);
        let operator = network.map(|network| Numbers::embedded().operator_of(network));
        DeliveryView {
            carrier,
            country: country.map(|country| country.to_string()).unwrap_or_default(),
            country_name: country.map_or("", Country::name).to_owned(),
            network: network.map(|network| network.to_string()).unwrap_or_default(),
            operator: operator.unwrap_or_default().to_owned(),
            sent,
            delivered,
            failed,
            expired,
            rejected,
            open: sent.saturating_sub(ended),
            delivery_ratio: ratio(delivered, ended, 1_000),
            mean_seconds: ratio(time_ms / 1_000, timed, 10),
            times: within.zip(times).map(|(within, parts)| DeliveryTimeView { within, parts }).collect(),
        }
    }
}

/// Returns `of / all`, rounded down to as many decimals as `scale` has zeros.
fn ratio(of: u64, all: u64, scale: u64) -> Option<f64> {
    let scaled = of.saturating_mul(scale).checked_div(all)?;
    let float = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    Some(float(scaled) / float(scale))
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct ReceiptsQuery {
    /// How many receipts and ids at most.
    pub limit: Option<Limit>,
}

/// A carrier's unmatched receipts, beside the message ids of its recent responses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnmatchedReceiptsView {
    pub carrier: String,
    /// The current id conversion.
    pub ids: String,
    /// Another id conversion under which some of the receipts match.
    pub hint: Option<IdsHintView>,
    /// The latest first. Unmatched receipts are kept for 72 hours and tried again.
    pub parked: Vec<ParkedReceiptView>,
    /// Message ids of the carrier's recent submit_sm_resp.
    pub answers: Vec<ResponseIdView>,
    /// Receipts discarded in the last seven days.
    pub given_up: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IdsHintView {
    pub ids: String,
    pub would_match: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ParkedReceiptView {
    #[schema(examples("9308878062554710043"))]
    pub id: String,
    pub at: String,
    /// The status in the receipt: `delivered`, `undeliverable`, ...
    pub says: String,
    pub err: u16,
    /// The recipient, if the receipt has it.
    pub recipient: Option<String>,
    /// Whether it matches several parts.
    pub ambiguous: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResponseIdView {
    #[schema(examples("812FC7470000001B"))]
    pub id: String,
    pub at: String,
}

impl From<ParkedReceipt> for ParkedReceiptView {
    fn from(receipt: ParkedReceipt) -> ParkedReceiptView {
        let ParkedReceipt { remote, verdict, err, word, source, at, ambiguous } = receipt;
        ParkedReceiptView {
            id: remote.to_text(),
            at: at.to_iso(),
            says: word.map_or_else(|| status_text(verdict).to_owned(), String::from),
            err,
            recipient: source.map(|number| number.to_string()),
            ambiguous,
        }
    }
}

impl From<AssignedId> for ResponseIdView {
    fn from(AssignedId { remote, at }: AssignedId) -> ResponseIdView {
        ResponseIdView { id: remote.to_text(), at: at.to_iso() }
    }
}

const fn status_text(verdict: DeliveryOutcome) -> &'static str {
    match verdict {
        DeliveryOutcome::Enroute | DeliveryOutcome::Accepted => "enroute",
        DeliveryOutcome::Delivered => "delivered",
        DeliveryOutcome::Undeliverable => "undeliverable",
        DeliveryOutcome::Rejected => "rejected",
        DeliveryOutcome::Expired => "expired",
        DeliveryOutcome::NoChange => "unknown",
    }
}
