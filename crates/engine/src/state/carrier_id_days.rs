//! The tables of carrier ids, one per UTC day, and the rules by which the id in a receipt is found in them. The newest
//! days have a filter in memory, so that a new id is written without a read.

use crate::block_filter::GrowingFilter;
use crate::ops::CarrierIdQuery;
use crate::tables::{
    CarrierIdChange, CarrierIdKey, CarrierIdRow, CarrierIds, IdAssignment, TableError, Tables,
};
use hermod_domain::carrier::{RECEIPT_WAIT_MAX_S, RemoteKey};
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Day;
use smallvec::SmallVec;
use std::hash::{DefaultHasher, Hasher};

/// Days that are kept: validity (3), the longest wait for a receipt, late receipts (3), and the day itself.
pub const DAYS_KEPT: i64 = 3 + (RECEIPT_WAIT_MAX_S / 86_400) as i64 + 3 + 1;
/// Ids with one key that are compared in a day. Most keys have one; more than this could not be distinguished.
const SAME_KEY_MAX: u32 = 64;

/// Octets of a day's filter: 8 million ids. With more ids the table is read before an id is written.
pub const FILTER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Ids of the newest day that are read at the start, in less than a second. A day with more has no filter until
/// midnight.
pub const IDS_READ_MAX: u32 = 1_000_000;
/// Days that have a filter: a response from before midnight may be recorded after one of today.
const FILTERED_DAYS: usize = 2;

/// The part that a receipt's id belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    Part(IdAssignment),
    Nothing,
    /// Several parts, and nothing decides between them.
    Ambiguous,
}

/// The result of assigning a carrier's id to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigned {
    New,
    /// The carrier gave the same id to another part on this day. It belongs to the newer part now.
    Reused,
}

/// The table of a day.
struct CarrierIdDay {
    day: Day,
    /// The filter of all its ids; none if there are too many.
    filter: Option<GrowingFilter>,
}

/// The tables of all days, newest first.
pub struct CarrierIdDays {
    days: Vec<CarrierIdDay>,
}

impl CarrierIdDays {
    /// Reads the days, and the filter of the newest.
    pub fn load(tables: &Tables<'_>) -> Result<CarrierIdDays, TableError> {
        let days = tables.read()?.carrier_id_days()?;
        let mut days: Vec<CarrierIdDay> =
            days.into_iter().rev().map(|day| CarrierIdDay { day, filter: None }).collect();
        if let Some(newest) = days.first_mut() {
            newest.filter = load_filter(tables, newest.day)?;
        }
        Ok(CarrierIdDays { days })
    }

    /// Undoes the days that the batch created or retired. Filters keep the batch's ids, which costs reads and no error.
    pub fn rolled_back(&mut self, tables: &Tables<'_>) -> Result<(), TableError> {
        let before = std::mem::take(&mut self.days);
        let mut before = before.into_iter().peekable();
        for day in tables.read()?.carrier_id_days()?.into_iter().rev() {
            while before.next_if(|known| known.day > day).is_some() {}
            let known = before.next_if(|known| known.day == day);
            self.days.push(known.unwrap_or(CarrierIdDay { day, filter: None }));
        }
        Ok(())
    }

    /// Finds the part of an id: an id written exactly so, newest day first; else ids with the same key; else ids with
    /// the converted key. A recipient that contradicts excludes an exact match while an older one fits.
    pub fn find(&self, tables: &Tables<'_>, query: &CarrierIdQuery<'_>) -> Result<Match, TableError> {
        let CarrierIdQuery { carrier, ids, remote, source } = *query;
        let key = RemoteKey::of(remote);
        let mut same_key = CarrierIds::new();
        for CarrierIdDay { day, .. } in &self.days {
            let before = same_key.len();
            tables.read()?.read_carrier_ids(*day, carrier, &key, SAME_KEY_MAX, &mut same_key)?;
            let found = same_key[before..].iter().find(|candidate| candidate.remote == *remote);
            // The newest id written exactly so, unless it went to another recipient and an older one did not.
            if let Some(found) = found.filter(|found| !contradicts(&found.assignment, source)) {
                return Ok(Match::Part(found.assignment));
            }
        }
        let written_so = same_key.iter().find(|candidate| candidate.remote == *remote);
        if let Some(found) = written_so {
            return Ok(Match::Part(found.assignment));
        }
        if !same_key.is_empty() {
            return Ok(choose(&same_key, source));
        }
        let Some(converted) = ids.key_in_response(remote) else { return Ok(Match::Nothing) };
        let mut candidates = CarrierIds::new();
        for CarrierIdDay { day, .. } in &self.days {
            tables.read()?.read_carrier_ids(*day, carrier, &converted, SAME_KEY_MAX, &mut candidates)?;
        }
        Ok(choose(&candidates, source))
    }

    /// Assigns an id to a part, in the table of the assignment's day.
    pub fn assign(
        &mut self,
        tables: &Tables<'_>,
        id: CarrierIdKey<'_>,
        assignment: IdAssignment,
    ) -> Result<Assigned, TableError> {
        let day = self.open(tables, assignment.day)?;
        let (carrier, remote) = (id.carrier, id.remote.clone());
        if day.is_new(hash(id.carrier, id.remote)) {
            tables.write(CarrierIdChange::Add { carrier, remote, assignment });
            return Ok(Assigned::New);
        }
        let before = tables.read()?.carrier_id(assignment.day, id)?;
        let Some(before) = before else {
            tables.write(CarrierIdChange::Add { carrier, remote, assignment });
            return Ok(Assigned::New);
        };
        tables.write(CarrierIdChange::Put { carrier, remote, assignment });
        Ok(if before.part == assignment.part { Assigned::New } else { Assigned::Reused })
    }

    /// Retires the days that no receipt can refer to any more, except those in `retired`, which a clock that was set
    /// back may have created again. Returns whether it retired any.
    pub fn retire_before(
        &mut self,
        tables: &Tables<'_>,
        today: Day,
        retired: &[Day],
    ) -> Result<bool, TableError> {
        let is_old =
            |known: &CarrierIdDay| known.day.get() + DAYS_KEPT < today.get() && !retired.contains(&known.day);
        let before = self.days.len();
        let old = self.days.iter().filter(|known| is_old(known));
        old.for_each(|known| tables.write(CarrierIdChange::RetireDay(known.day)));
        self.days.retain(|known| !is_old(known));
        Ok(self.days.len() < before)
    }

    /// Returns the table of a day. Creates it if there is none.
    fn open(&mut self, tables: &Tables<'_>, today: Day) -> Result<&mut CarrierIdDay, TableError> {
        let place = self.days.partition_point(|known| known.day > today);
        if self.days.get(place).is_none_or(|known| known.day != today) {
            tables.write(CarrierIdChange::CreateDay(today));
            let filter = Some(GrowingFilter::new(FILTER_BYTES_MAX));
            self.days.insert(place, CarrierIdDay { day: today, filter });
            self.days.iter_mut().skip(FILTERED_DAYS).for_each(|known| known.filter = None);
        }
        self.days.get_mut(place).ok_or_else(|| TableError::unreadable("a day of carrier ids is missing"))
    }
}

impl CarrierIdDay {
    /// Whether an id is certainly not in the table. Adds it to the filter.
    fn is_new(&mut self, hash: u64) -> bool {
        let Some(filter) = &mut self.filter else { return false };
        if filter.may_hold(hash) {
            return false;
        }
        if !filter.add(hash) {
            self.filter = None;
        }
        true
    }
}

/// Reads the filter of a day. None if the day has too many ids.
fn load_filter(tables: &Tables<'_>, day: Day) -> Result<Option<GrowingFilter>, TableError> {
    let mut filter = GrowingFilter::new(FILTER_BYTES_MAX);
    let mut is_whole = true;
    let read = tables.read()?.visit_carrier_ids(day, IDS_READ_MAX, &mut |carrier, remote| {
        is_whole &= filter.add(hash(carrier, remote));
    })?;
    Ok((is_whole && read < IDS_READ_MAX).then_some(filter))
}

fn hash(carrier: CarrierId, remote: &RemoteId) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u32(carrier.get());
    hasher.write(remote.octets());
    hasher.finish()
}

/// Chooses between ids none of which is written exactly as in the receipt: the one whose part went to the receipt's
/// number. An id that the carrier reused belongs to its newest part.
fn choose(candidates: &[CarrierIdRow], source: Option<Msisdn>) -> Match {
    let by_number = |candidate: &&CarrierIdRow| source.is_some() && candidate.assignment.to == source;
    let with_number: SmallVec<[&CarrierIdRow; 4]> = candidates.iter().filter(by_number).collect();
    let left = if with_number.is_empty() { candidates.iter().collect() } else { with_number };
    let Some(first) = left.first() else { return Match::Nothing };
    let same = |other: &&CarrierIdRow| {
        other.remote == first.remote || other.assignment.part == first.assignment.part
    };
    if left.iter().all(same) { Match::Part(first.assignment) } else { Match::Ambiguous }
}

/// Whether a receipt names another recipient than the part has. Then an older id that is written the same way may be
/// meant. Carriers add and drop prefixes, so only the last digits are compared.
pub fn contradicts(assignment: &IdAssignment, source: Option<Msisdn>) -> bool {
    const LAST_DIGITS: u64 = 10_000_000;
    match (assignment.to, source) {
        (Some(to), Some(source)) => to.number() % LAST_DIGITS != source.number() % LAST_DIGITS,
        (Some(_) | None, _) => false,
    }
}
