//! Deliveries: statistics by carrier and destination, and receipts that matched no part.

use crate::find::{carrier_name, find_carrier};
use crate::http::routes::{Routes, doc};
use crate::input::{invalid, one_of};
use crate::refusal::Result;
use crate::views::masking::HandsetNumber;
use crate::views::paging::Limit;
use hermod_domain::carrier::{IdConversion, RemoteKey};
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::numbers::{Country, Network, Numbers};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::time::Day;
use hermod_gateway::config::Period;
use hermod_gateway::gateway::Gateway;
use hermod_store::{AssignedId, DELIVERY_TIMES, DeliveryFigures, ParkedReceipt};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
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
    pub recipient: Option<HandsetNumber>,
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
            recipient: source.map(|number| number.to_string().into()),
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

const DAYS_DEFAULT: i64 = 7;
const DAYS_MAX: i64 = 366;
/// Days over which discarded receipts are counted.
const LOSS_DAYS: i64 = 7;
/// Response ids that are compared for a hint.
const SAMPLE_MAX: u32 = 1_000;

/// What the figures are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupBy {
    Network,
    Country,
    Carrier,
}

impl GroupBy {
    const ALL: [GroupBy; 3] = [GroupBy::Network, GroupBy::Country, GroupBy::Carrier];

    const fn as_str(self) -> &'static str {
        match self {
            GroupBy::Network => "network",
            GroupBy::Country => "country",
            GroupBy::Carrier => "carrier",
        }
    }
}

struct Group {
    carrier: CarrierId,
    country: Option<Country>,
    network: Option<Network>,
    figures: DeliveryFigures,
}

/// Returns delivery statistics of the last days, today included, the largest group first.
pub async fn list_deliveries(gateway: &Gateway, query: DeliveriesQuery) -> Result<DeliveriesView> {
    let days = query.days.unwrap_or(DAYS_DEFAULT);
    if !(1..=DAYS_MAX).contains(&days) {
        return Err(invalid("days", format!("\"{days}\" is not a number from 1 to {DAYS_MAX}")));
    }
    let by = query.by.map(|text| one_of("by", &text, GroupBy::ALL, GroupBy::as_str)).transpose()?;
    let by = by.unwrap_or(GroupBy::Network);
    let only = query.carrier.map(|name| find_carrier(gateway, &name)).transpose()?;
    let to = gateway.clock.now().day();
    let from = Day::new(to.get() - days + 1);
    let rows = gateway.store.receipts().delivery_figures(from, to, only).await?;
    let mut groups: BTreeMap<(CarrierId, Option<String>, Option<String>), Group> = BTreeMap::new();
    for row in rows {
        let country = row.country.filter(|_| by != GroupBy::Carrier);
        let network = row.network.filter(|_| by == GroupBy::Network);
        let key = (row.carrier, country.map(|one| one.to_string()), network.map(|one| one.to_string()));
        let figures = DeliveryFigures::default();
        let group = groups.entry(key).or_insert(Group { carrier: row.carrier, country, network, figures });
        add(&mut group.figures, &row.figures);
    }
    let catalogue = gateway.catalogue();
    let items = groups.into_values().map(|Group { carrier, country, network, figures }| {
        DeliveryView::new(carrier_name(&catalogue, carrier), country, network, &figures)
    });
    let mut items: Vec<DeliveryView> = items.collect();
    items.sort_by(|one, other| other.sent.cmp(&one.sent).then(one.carrier.cmp(&other.carrier)));
    Ok(DeliveriesView { from: from.to_string(), to: to.to_string(), items })
}

fn add(sum: &mut DeliveryFigures, figures: &DeliveryFigures) {
    let DeliveryFigures { sent, delivered, failed, expired, rejected, times, time_ms } = figures;
    sum.sent += sent;
    sum.delivered += delivered;
    sum.failed += failed;
    sum.expired += expired;
    sum.rejected += rejected;
    sum.time_ms += time_ms;
    for (sum, count) in sum.times.iter_mut().zip(times) {
        *sum += count;
    }
}

/// Lists a carrier's unmatched receipts, beside the message ids of its recent responses.
pub async fn list_unmatched_receipts(
    gateway: &Gateway,
    carrier: &str,
    query: &ReceiptsQuery,
) -> Result<UnmatchedReceiptsView> {
    let limit = Limit::of(query.limit);
    let id = find_carrier(gateway, carrier)?;
    let ids = gateway.catalogue().carrier(id).map(|carrier| carrier.profile.ids).unwrap_or_default();
    let parked = gateway.store.receipts().parked(id, limit).await?;
    let mut answers = gateway.store.receipts().recent_carrier_ids(id, SAMPLE_MAX).await?;
    let today = gateway.clock.now().day();
    let losses = gateway.store.receipts().losses(Day::new(today.get() - LOSS_DAYS), today).await?;
    let of_carrier = losses.iter().filter(|loss| loss.carrier == id);
    let given_up = of_carrier.map(|loss| loss.too_old + loss.crowded_out).sum();
    let hint = hint(ids, &parked, &answers).map(|(ids, count)| IdsHintView {
        ids: ids.as_str().to_owned(),
        would_match: u64::try_from(count).unwrap_or(u64::MAX),
    });
    answers.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(UnmatchedReceiptsView {
        carrier: carrier.to_owned(),
        ids: ids.as_str().to_owned(),
        hint,
        parked: parked.into_iter().map(ParkedReceiptView::from).collect(),
        answers: answers.into_iter().map(ResponseIdView::from).collect(),
        given_up,
    })
}

/// Returns the id conversion under which most parked receipts match a response, and how many do.
fn hint(
    ids: IdConversion,
    parked: &[ParkedReceipt],
    answers: &[AssignedId],
) -> Option<(IdConversion, usize)> {
    let answered: HashSet<RemoteKey> = answers.iter().map(|tied| RemoteKey::of(&tied.remote)).collect();
    let matching = |conversion: IdConversion| {
        let fits =
            |remote: &RemoteId| conversion.key_in_response(remote).is_some_and(|key| answered.contains(&key));
        parked.iter().filter(|receipt| fits(&receipt.remote)).count()
    };
    let others = IdConversion::ALL.into_iter().filter(|other| *other != ids);
    others
        .map(|other| (other, matching(other)))
        .max_by_key(|(_, count)| *count)
        .filter(|(_, count)| *count > 0)
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Deliveries", "Delivery statistics, and receipts that matched no part.");
    routes.get(
        "/deliveries",
        list_deliveries,
        doc("listDeliveries", "Read delivery statistics", "The group with the most parts first.")
            .details("Parts by carrier, country and network: accepted, delivered, failed, open, and delivery times.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/carriers/{name}/receipts",
        list_unmatched_receipts,
        doc("listUnmatchedReceipts", "List unmatched receipts", "The latest receipt first.")
            .details("Beside the message ids of the carrier's recent responses, to compare their formats.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
