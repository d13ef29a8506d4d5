//! What became of what carriers took: by carrier, country and network over some days; and receipts that found no part,
//! beside the ids they should have had.

use crate::app::operator::carriers::find_carrier;
use crate::app::operator::explain::carrier_name;
use crate::app::operator::refusal::OperatorRefusal;
use crate::world::World;
use hermod_domain::carrier::{IdConversion, RemoteKey};
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::numbers::{Country, Network};
use hermod_domain::time::Day;
use hermod_store::{AssignedId, DeliveryFigures, ParkedReceipt};
use std::collections::{BTreeMap, HashSet};

/// Days that can be asked for at once.
pub const DELIVERY_DAYS_MAX: i64 = 366;
/// Days over which receipts that were given up are counted.
const LOSS_DAYS: i64 = 7;
/// Ids of answers that are looked at for a hint.
const SAMPLE_MAX: u32 = 1_000;

/// What figures are added up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveriesBy {
    Carrier,
    Country,
    Network,
}

/// What became of the parts that one carrier took for one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deliveries {
    pub carrier: String,
    pub country: Option<Country>,
    pub network: Option<Network>,
    pub figures: DeliveryFigures,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryReport {
    pub from: Day,
    pub to: Day,
    /// Those with the most parts first.
    pub items: Vec<Deliveries>,
}

/// The last so many days, today included.
pub async fn deliveries(
    world: &World,
    days: i64,
    carrier: Option<&str>,
    by: DeliveriesBy,
) -> Result<DeliveryReport, OperatorRefusal> {
    let only = carrier.map(|name| find_carrier(world, name)).transpose()?;
    let to = world.clock.now().day();
    let from = Day::new(to.get() - days.clamp(1, DELIVERY_DAYS_MAX) + 1);
    let rows = world.store.delivery_stats(from, to, only).await?;
    let mut sums: BTreeMap<(CarrierId, Option<String>, Option<String>), Deliveries> = BTreeMap::new();
    let catalogue = world.catalogue();
    for row in rows {
        let country = row.country.filter(|_| by != DeliveriesBy::Carrier);
        let network = row.network.filter(|_| by == DeliveriesBy::Network);
        let place = (row.carrier, country.map(|one| one.to_string()), network.map(|one| one.to_string()));
        let sum = sums.entry(place).or_insert_with(|| Deliveries {
            carrier: carrier_name(&catalogue, row.carrier),
            country,
            network,
            figures: DeliveryFigures::default(),
        });
        add(&mut sum.figures, &row.figures);
    }
    let mut items: Vec<Deliveries> = sums.into_values().collect();
    items.sort_by(|one, other| {
        other.figures.sent.cmp(&one.figures.sent).then(one.carrier.cmp(&other.carrier))
    });
    Ok(DeliveryReport { from, to, items })
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

/// Receipts that found no part, and ids of answers to hold them against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LooseReceipts {
    /// How ids are converted now.
    pub ids: IdConversion,
    /// The latest first.
    pub parked: Vec<ParkedReceipt>,
    pub answers: Vec<AssignedId>,
    /// Another conversion under which some of them would match, and how many.
    pub hint: Option<(IdConversion, usize)>,
    /// Receipts that were given up in the last week.
    pub given_up: u64,
}

pub async fn loose_receipts(
    world: &World,
    carrier: &str,
    limit: u32,
) -> Result<LooseReceipts, OperatorRefusal> {
    let id = find_carrier(world, carrier)?;
    let ids = world.catalogue().carrier(id).map(|carrier| carrier.profile.ids).unwrap_or_default();
    let parked = world.store.parked(id, limit).await?;
    let mut answers = world.store.recent_carrier_ids(id, SAMPLE_MAX).await?;
    let today = world.clock.now().day();
    let losses = world.store.receipt_losses(Day::new(today.get() - LOSS_DAYS), today).await?;
    let of_carrier = losses.iter().filter(|loss| loss.carrier == id);
    let given_up = of_carrier.map(|loss| loss.too_old + loss.crowded_out).sum();
    let hint = hint(ids, &parked, &answers);
    answers.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(LooseReceipts { ids, parked, answers, hint, given_up })
}

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
    fn the_conversion_that_is_missing_is_named() {
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
        let answers = ["1B", "1C"].map(|text| AssignedId { remote: remote(text), at: None });
        let hint = |ids, texts: &[&str]| {
            let parked: Vec<_> = texts.iter().map(|text| receipt(text)).collect();
            super::hint(ids, &parked, &answers)
        };
        assert_eq!(hint(IdConversion::None, &["27", "28", "99"]), Some((IdConversion::HexToDecimal, 2)));
        assert_eq!(hint(IdConversion::HexToDecimal, &["27"]), None);
        assert_eq!(hint(IdConversion::None, &["x"]), None);
    }
}
