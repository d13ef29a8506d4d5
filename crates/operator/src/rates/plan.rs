//! Compares what a sheet asks for with the costs of its carrier: what is new, raised, lowered, closed or reopened, and what an
//! operator should look at first. A cost that is in force is never changed; another one follows it.

use crate::rates::rows::{CostKey, ReadSheet, WantedRate};
use crate::rates::values::SheetDate;
use crate::rates::views::{RateChange, RateCounts};
use hermod_domain::area::Area;
use hermod_domain::catalogue::Cost;
use hermod_domain::ids::CarrierId;
use hermod_domain::money::Money;
use hermod_domain::numbers::Numbers;
use hermod_domain::prefix::Prefix;
use hermod_domain::rate_profile::{RateProfile, SheetMode};
use hermod_domain::time::Timestamp;
use std::collections::{HashMap, HashSet};

/// A change by more than this share of the cost before is a warning.
const LARGE_CHANGE_PERCENT: i128 = 50;

/// The costs of a carrier by destination, in no order.
type Stored = HashMap<CostKey, Vec<Cost>>;

/// A cost that follows another one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedRate {
    /// The line of the sheet; `None`: it is missing there.
    pub(crate) line: Option<u64>,
    pub(crate) change: RateChange,
    /// The cost that applies until then, for the same destination.
    pub(crate) before: Option<Cost>,
    pub(crate) cost: Cost,
    /// It has the name of a cost that is not in force yet, and replaces it.
    pub(crate) is_replacing: bool,
}

/// What a sheet would change.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RatePlan {
    pub(crate) planned: Vec<PlannedRate>,
    pub(crate) counts: RateCounts,
    pub(crate) warnings: Vec<String>,
}

impl PlannedRate {
    pub(crate) fn area(&self) -> Area {
        self.cost.area().unwrap_or(Area::Prefix(Prefix::ANY))
    }

    /// The time from which it applies.
    pub(crate) fn from(&self) -> Timestamp {
        started(&self.cost)
    }
}

fn key_of(cost: &Cost) -> Option<CostKey> {
    Some((cost.area()?, cost.sender_kind))
}

fn started(cost: &Cost) -> Timestamp {
    cost.from.unwrap_or(Timestamp::EPOCH)
}

/// Returns the cost that applies at a time.
fn in_force(costs: &[Cost], at: Timestamp) -> Option<&Cost> {
    let going_on =
        costs.iter().filter(|cost| started(cost) <= at && cost.until.is_none_or(|until| at < until));
    going_on.max_by_key(|cost| started(cost))
}

/// Plans a sheet against all costs of its carrier.
pub(crate) fn plan(stored: Vec<Cost>, sheet: &ReadSheet, profile: &RateProfile, now: Timestamp) -> RatePlan {
    let mut by_key: Stored = HashMap::with_capacity(stored.len());
    for cost in stored {
        if let Some(key) = key_of(&cost) {
            by_key.entry(key).or_default().push(cost);
        }
    }
    // Names have whole seconds, and nothing applies before it is stored.
    let begin = Timestamp::from_millis(now.as_millis().saturating_add(999).div_euclid(1_000) * 1_000);
    let mut planner =
        Planner { stored: by_key, profile, now, begin, plan: RatePlan::default(), noted: Noted::default() };
    planner.follow(&sheet.rates);
    if profile.mode == SheetMode::Full {
        planner.close_missing(sheet);
    }
    planner.finish()
}

/// What warnings are about.
#[derive(Default)]
struct Noted {
    large: Examples,
    zero: Examples,
    short_notice: Examples,
    past: Examples,
    planned_later: Examples,
    kind_not_listed: Examples,
    not_distinguished: Examples,
    may_be_meant: Examples,
}

/// How many there are, and the first.
#[derive(Default)]
struct Examples {
    count: usize,
    first: String,
}

impl Examples {
    fn note(&mut self, text: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = text();
        }
        self.count += 1;
    }

    fn warning(&self, one: &str, several: &str) -> Option<String> {
        match self.count {
            0 => None,
            1 => Some(format!("1 {one}: {}", self.first)),
            count => Some(format!("{count} {several}, the first: {}", self.first)),
        }
    }
}

struct Planner<'p> {
    stored: Stored,
    profile: &'p RateProfile,
    now: Timestamp,
    begin: Timestamp,
    plan: RatePlan,
    noted: Noted,
}

impl Planner<'_> {
    /// Plans the rows, those of one destination by date.
    fn follow(&mut self, rates: &[WantedRate]) {
        let mut rows: Vec<(Timestamp, i64, &WantedRate)> = Vec::with_capacity(rates.len());
        // Of several that have begun the one that began last applies.
        let mut begun: HashMap<CostKey, (i64, &WantedRate)> = HashMap::new();
        for rate in rates.iter().filter(|rate| rate.until.is_none_or(|until| until > self.begin)) {
            match rate.from {
                SheetDate::At(from) if from > self.begin => rows.push((from, 0, rate)),
                SheetDate::At(from) => {
                    let known = begun.entry(rate.key).or_insert((from.as_millis(), rate));
                    if known.0 < from.as_millis() {
                        *known = (from.as_millis(), rate);
                    }
                }
                SheetDate::AtOnce => drop(begun.insert(rate.key, (i64::MAX, rate))),
            }
        }
        rows.extend(begun.into_values().map(|(from, rate)| (self.begin, from, rate)));
        rows.sort_unstable_by_key(|(at, _, rate)| (*at, rate.line));
        for (at, from, rate) in rows {
            let is_past = at == self.begin && from != i64::MAX;
            let cost = self.cost(rate, at);
            if self.put(Some(rate.line), rate.key, cost) && is_past {
                self.noted.past.note(|| label(rate.key));
            }
        }
        self.note_later(rates);
    }

    fn cost(&self, rate: &WantedRate, at: Timestamp) -> Cost {
        let (area, sender_kind) = rate.key;
        let mut cost = Cost {
            carrier: self.profile.carrier,
            prefix: None,
            network: None,
            mcc: None,
            country: None,
            sender_kind,
            per_part: rate.per_part,
            currency: rate.currency,
            basis: self.profile.basis,
            from: Some(at),
            until: rate.until,
        };
        match area {
            Area::Prefix(prefix) => cost.prefix = Some(prefix),
            Area::Network(network) => cost.network = Some(network),
            Area::Mcc(mcc) => cost.mcc = Some(mcc),
            Area::Country(country) => cost.country = Some(country),
        }
        cost
    }

    /// Plans a cost unless it says what applies then anyhow. Returns whether it changes anything.
    fn put(&mut self, line: Option<u64>, key: CostKey, cost: Cost) -> bool {
        let at = started(&cost);
        let known = self.stored.entry(key).or_default();
        let before = in_force(known, at).cloned();
        if before.as_ref().is_some_and(|before| is_same(before, &cost)) {
            self.plan.counts.unchanged += 1;
            return false;
        }
        let change = change_of(before.as_ref(), &cost);
        let same_start = known.iter_mut().find(|known| started(known) == at);
        let is_replacing = same_start.is_some();
        match same_start {
            Some(same) => *same = cost.clone(),
            None => known.push(cost.clone()),
        }
        self.plan.counts.add(change);
        self.note(key, change, before.as_ref(), &cost);
        self.plan.planned.push(PlannedRate { line, change, before, cost, is_replacing });
        true
    }

    fn note(&mut self, key: CostKey, change: RateChange, before: Option<&Cost>, cost: &Cost) {
        let amounts = |cost: Option<&Cost>| cost.and_then(|cost| cost.per_part);
        let comparable = before.filter(|before| before.currency == cost.currency);
        if let (Some(old), Some(new)) = (amounts(comparable), cost.per_part) {
            let (old_micros, new_micros) = (i128::from(old.as_micros()), i128::from(new.as_micros()));
            if (new_micros - old_micros).abs() * 100 > old_micros * LARGE_CHANGE_PERCENT {
                self.noted.large.note(|| format!("{}, {old} to {new}", label(key)));
            }
        }
        if cost.per_part == Some(Money::ZERO) {
            self.noted.zero.note(|| label(key));
        }
        let announced = self.profile.notice().map(|notice| self.now.plus(notice));
        if change == RateChange::Raised && announced.is_some_and(|announced| started(cost) < announced) {
            self.noted.short_notice.note(|| label(key));
        }
        let is_known = match key.0 {
            Area::Network(network) => distinguished().contains(&Area::Network(network)),
            Area::Mcc(mcc) => distinguished().contains(&Area::Mcc(mcc)),
            Area::Prefix(_) | Area::Country(_) => true,
        };
        if !is_known {
            self.noted.not_distinguished.note(|| label(key));
        }
    }

    /// Notes costs that were planned before and begin after all of their destination in the sheet.
    fn note_later(&mut self, rates: &[WantedRate]) {
        let last_of = |rate: &WantedRate| match rate.from {
            SheetDate::At(from) => from.max(self.begin),
            SheetDate::AtOnce => self.begin,
        };
        let mut last: HashMap<CostKey, Timestamp> = HashMap::with_capacity(rates.len());
        for rate in rates {
            let at = last.entry(rate.key).or_insert(self.begin);
            *at = last_of(rate).max(*at);
        }
        for (key, at) in last {
            if self.stored.get(&key).is_some_and(|known| known.iter().any(|cost| started(cost) > at)) {
                self.noted.planned_later.note(|| label(key));
            }
        }
    }

    /// Closes the destinations that a full sheet does not list, from its first date on.
    fn close_missing(&mut self, sheet: &ReadSheet) {
        let listed: HashSet<CostKey> = sheet.rates.iter().map(|rate| rate.key).collect();
        if sheet.problems.iter().any(|problem| problem.may_be.is_none()) {
            self.plan.warnings.push(
                "nothing is closed for being missing: rows that cannot be read may be about any destination"
                    .to_owned(),
            );
            return;
        }
        let may_be: HashSet<Area> =
            sheet.problems.iter().flat_map(|problem| problem.may_be.iter().flatten().copied()).collect();
        let dates = sheet.rates.iter().map(|rate| match rate.from {
            SheetDate::At(from) => from.max(self.begin),
            SheetDate::AtOnce => self.begin,
        });
        let at = dates.min().unwrap_or(self.begin);
        let mut missing: Vec<CostKey> =
            self.stored.keys().filter(|key| !listed.contains(*key)).copied().collect();
        missing.sort_unstable_by_key(|key| label(*key));
        for key in missing {
            if may_be.contains(&key.0) {
                self.noted.may_be_meant.note(|| label(key));
            } else if key.1.is_some() && listed.contains(&(key.0, None)) {
                self.noted.kind_not_listed.note(|| label(key));
            } else {
                self.close(key, at);
            }
        }
    }

    /// Closes a destination at a time, and what was planned to open it later.
    fn close(&mut self, key: CostKey, at: Timestamp) {
        let known = self.stored.get(&key).map(Vec::as_slice).unwrap_or_default();
        let closed =
            |cost: &Cost, from| Cost { per_part: None, from: Some(from), until: None, ..cost.clone() };
        let now = in_force(known, at).filter(|cost| cost.per_part.is_some()).map(|cost| closed(cost, at));
        let later = known.iter().filter(|cost| started(cost) > at && cost.per_part.is_some());
        let later: Vec<Cost> = later.map(|cost| closed(cost, started(cost))).collect();
        for cost in now.into_iter().chain(later) {
            self.put(None, key, cost);
        }
    }

    fn finish(self) -> RatePlan {
        let Planner { mut plan, noted, profile, .. } = self;
        let days = profile.notice_days.unwrap_or_default();
        let warnings = [
            noted.large.warning("cost changes by more than 50 %", "costs change by more than 50 %"),
            noted.zero.warning("cost is 0", "costs are 0"),
            noted.short_notice.warning(
                &format!("raise is announced less than {days} days before"),
                &format!("raises are announced less than {days} days before"),
            ),
            noted.past.warning(
                "date is in the past, and the cost applies from now",
                "dates are in the past, and the costs apply from now",
            ),
            noted.planned_later.warning(
                "destination has a cost that was planned before and begins later; it stays",
                "destinations have costs that were planned before and begin later; they stay",
            ),
            noted.kind_not_listed.warning(
                "cost for one kind of sender is not listed beside that for any; it stays",
                "costs for one kind of sender are not listed beside those for any; they stay",
            ),
            noted.not_distinguished.warning(
                "network has no number ranges in the number data, so that no message is known to be for it",
                "networks have no number ranges in the number data, so that no message is known to be for them",
            ),
            noted.may_be_meant.warning(
                "destination is not closed, as a row that cannot be read may be about it",
                "destinations are not closed, as rows that cannot be read may be about them",
            ),
        ];
        plan.warnings.extend(warnings.into_iter().flatten());
        // The most urgent first: what is closed or raised.
        plan.planned.sort_by_key(|planned| (planned.change, planned.line));
        plan
    }
}

/// Whether a cost says what another one says.
fn is_same(before: &Cost, cost: &Cost) -> bool {
    let terms = |cost: &Cost| cost.per_part.map(|per_part| (per_part, cost.currency, cost.basis));
    before.until == cost.until && terms(before) == terms(cost)
}

fn change_of(before: Option<&Cost>, cost: &Cost) -> RateChange {
    let Some(before) = before else {
        return if cost.per_part.is_some() { RateChange::New } else { RateChange::Closed };
    };
    match (before.per_part, cost.per_part) {
        (None, Some(_)) => RateChange::Reopened,
        (_, None) => RateChange::Closed,
        (Some(old), Some(new)) if before.currency == cost.currency && old < new => RateChange::Raised,
        (Some(old), Some(new)) if before.currency == cost.currency && old > new => RateChange::Lowered,
        (Some(_), Some(_)) => RateChange::Changed,
    }
}

/// `262-01`, `262-01:alphanumeric`.
pub(crate) fn label((area, sender_kind): CostKey) -> String {
    let sender_kind = sender_kind.map(|kind| format!(":{}", kind.as_str())).unwrap_or_default();
    format!("{}{sender_kind}", Area::name(area))
}

/// Returns the networks and MCCs that the number data has numbers of.
fn distinguished() -> &'static HashSet<Area> {
    static KNOWN: std::sync::LazyLock<HashSet<Area>> = std::sync::LazyLock::new(|| {
        let examples = Numbers::examples().iter();
        examples
            .flat_map(|(destination, _)| {
                [destination.network.map(Area::Network), destination.mcc().map(Area::Mcc)]
                    .into_iter()
                    .flatten()
            })
            .collect()
    });
    &KNOWN
}

/// Returns the costs of a carrier.
pub(crate) fn costs_of(costs: impl IntoIterator<Item = Cost>, carrier: CarrierId) -> Vec<Cost> {
    costs.into_iter().filter(|cost| cost.carrier == carrier).collect()
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
