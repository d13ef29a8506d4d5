//! Delivery statistics by carrier, country and network; receipts that matched no part.

use crate::carrier::use_cases::find_carrier;
use crate::delivery::views::{
    DeliveriesQuery, DeliveriesView, DeliveryView, IdsHintView, ParkedReceiptView, ReceiptsQuery,
    ResponseIdView, UnmatchedReceiptsView,
};
use crate::find::carrier_name;
use crate::input::{invalid, one_of};
use crate::refusal::OperatorRefusal;
use crate::views::paging::Limit;
use hermod_domain::carrier::{IdConversion, RemoteKey};
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::numbers::{Country, Network};
use hermod_domain::time::Day;
use hermod_gateway::gateway::Gateway;
use hermod_store::{AssignedId, DeliveryFigures, ParkedReceipt};
use std::collections::{BTreeMap, HashSet};

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
pub async fn list_deliveries(
    gateway: &Gateway,
    query: DeliveriesQuery,
) -> Result<DeliveriesView, OperatorRefusal> {
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
) -> Result<UnmatchedReceiptsView, OperatorRefusal> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::lifecycle::DeliveryOutcome;
    use hermod_domain::time::Timestamp;

    #[test]
    fn unmatched_receipts_hint_names_the_missing_conversion() {
        let remote = |text: &str| RemoteId::from_text(text).unwrap();
        let receipt = |text: &str| ParkedReceipt {
            remote: remote(text),
            verdict: DeliveryOutcome::Delivered,
            err: 0,
            word: None,
            source: None,
            at: Timestamp::EPOCH,
            ambiguous: false,
        };
        let answers = ["1B", "1C"].map(|text| AssignedId { remote: remote(text), at: Timestamp::EPOCH });
        let hint = |ids, texts: &[&str]| {
            let parked: Vec<_> = texts.iter().map(|text| receipt(text)).collect();
            super::hint(ids, &parked, &answers)
        };
        assert_eq!(hint(IdConversion::None, &["27", "28", "99"]), Some((IdConversion::HexToDecimal, 2)));
        assert_eq!(hint(IdConversion::HexToDecimal, &["27"]), None);
        assert_eq!(hint(IdConversion::None, &["x"]), None);
    }
}
