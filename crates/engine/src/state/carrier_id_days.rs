//! The tables of carrier ids, one per UTC day, and the rules by which the id in a receipt is found in them. The newest
//! days have a filter in memory, so that a new id is written without a read.

use crate::block_filter::GrowingFilter;
use crate::maps::HashSet;
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
/// Ids with one key that are compared in a day. Most keys have one; with more than this a receipt is ambiguous.
const SAME_KEY_MAX: u32 = 64;
const SAME_KEY_LIMIT: usize = SAME_KEY_MAX as usize;

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
    /// The carrier gave the same id to another part on this day. Both parts keep it.
    Reused,
}

/// An id that a carrier gives to a part on a day.
#[derive(Clone, Copy, Debug)]
pub struct AssignedOn<'a> {
    pub carrier: CarrierId,
    pub remote: &'a RemoteId,
    pub day: Day,
}

/// Which days are read for a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DaysRead {
    /// From the newest to the first that has the key, and the one before it.
    UntilFound,
    All,
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
    /// Reads the days, and the filter of the newest, which takes a look at each of its ids.
    pub fn load(tables: &Tables<'_>) -> Result<CarrierIdDays, TableError> {
        let mut all = CarrierIdDays::without_filters(tables)?;
        if let Some(newest) = all.days.first_mut() {
            newest.filter = load_filter(tables, newest.day)?;
        }
        Ok(all)
    }

    /// Reads the days, to find a few ids. Without a filter each search for an id reads the tables.
    pub fn without_filters(tables: &Tables<'_>) -> Result<CarrierIdDays, TableError> {
        let days = tables.read()?.carrier_id_days()?;
        let days = days.into_iter().rev().map(|day| CarrierIdDay { day, filter: None }).collect();
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
    /// the converted key. A recipient that contradicts excludes an exact match while an older one fits. A receipt without
    /// a number may mean an id of the day before too: some carriers count from 1 again at midnight.
    pub fn find(&self, tables: &Tables<'_>, query: &CarrierIdQuery<'_>) -> Result<Match, TableError> {
        let CarrierIdQuery { carrier, ids, remote, source } = *query;
        let key = RemoteKey::of(remote);
        let mut same_key = CarrierIds::new();
        let mut oldest_wanted = None;
        for CarrierIdDay { day, .. } in &self.days {
            if oldest_wanted.is_some_and(|oldest| *day < oldest) {
                break;
            }
            let before = same_key.len();
            tables.carrier_ids((*day, carrier, &key), SAME_KEY_MAX, &mut same_key)?;
            if same_key.len() - before >= SAME_KEY_LIMIT {
                return Ok(Match::Ambiguous);
            }
            let fits = |candidate: &CarrierIdRow| {
                candidate.remote == *remote && !contradicts(&candidate.assignment, source)
            };
            if oldest_wanted.is_none() && same_key[before..].iter().any(fits) {
                oldest_wanted = Some(if source.is_some() { *day } else { day_before(*day) });
            }
        }
        let written_so: Candidates<'_> =
            same_key.iter().filter(|candidate| candidate.remote == *remote).collect();
        if !written_so.is_empty() {
            return Ok(choose(&written_so, source));
        }
        if !same_key.is_empty() {
            return Ok(choose(&same_key.iter().collect::<Candidates<'_>>(), source));
        }
        let Some(converted) = ids.key_in_response(remote) else { return Ok(Match::Nothing) };
        let mut found = CarrierIds::new();
        for CarrierIdDay { day, .. } in &self.days {
            tables.carrier_ids((*day, carrier, &converted), SAME_KEY_MAX, &mut found)?;
        }
        Ok(choose(&found.iter().collect::<Candidates<'_>>(), source))
    }

    /// Whether the day before may have the same id. Without a filter it may have every id.
    pub fn may_be_on_day_before(&self, day: Day, carrier: CarrierId, remote: &RemoteId) -> bool {
        let known = self.days.iter().find(|known| known.day == day_before(day));
        let may_hold = |filter: &GrowingFilter| filter.may_hold(hash(carrier, remote));
        known.is_some_and(|known| known.filter.as_ref().is_none_or(may_hold))
    }

    /// Reads the ids with these keys together. Returns them.
    pub fn read_ahead(
        &self,
        tables: &Tables<'_>,
        mut keys: Vec<(CarrierId, RemoteKey)>,
        days: DaysRead,
    ) -> Result<Vec<(CarrierId, CarrierIdRow)>, TableError> {
        let mut all = Vec::new();
        let mut found: HashSet<(CarrierId, RemoteKey)> = HashSet::default();
        for CarrierIdDay { day, .. } in &self.days {
            if keys.is_empty() {
                break;
            }
            let rows = tables.read_ids(*day, &keys)?;
            if days == DaysRead::UntilFound {
                // The day before the one that has an id may have it too.
                keys.retain(|key| !found.contains(key));
                found.extend(rows.iter().map(|(carrier, row)| (*carrier, RemoteKey::of(&row.remote))));
            }
            all.extend(rows);
        }
        Ok(all)
    }

    /// Reads together those of these ids that [`CarrierIdDays::assign`] would read: those that the filter does not exclude.
    pub fn read_assigned_ahead(
        &self,
        tables: &Tables<'_>,
        assigned: &[AssignedOn<'_>],
    ) -> Result<(), TableError> {
        for CarrierIdDay { day, filter } in &self.days {
            let may_be_known = |id: &&AssignedOn<'_>| {
                let known = |filter: &GrowingFilter| filter.may_hold(hash(id.carrier, id.remote));
                id.day == *day && filter.as_ref().is_none_or(known)
            };
            let ids = assigned.iter().filter(may_be_known);
            let mut keys: Vec<_> = ids.map(|id| (id.carrier, RemoteKey::of(id.remote))).collect();
            // A carrier may give one id to all parts of a batch.
            keys.sort_unstable();
            keys.dedup();
            if !keys.is_empty() {
                tables.read_ids(*day, &keys)?;
            }
        }
        Ok(())
    }

    /// Assigns an id to a part, in the table of the assignment's day. Other parts that have the id keep it.
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
        let mut same_key = CarrierIds::new();
        tables.carrier_ids((assignment.day, carrier, id.key), SAME_KEY_MAX, &mut same_key)?;
        tables.write(CarrierIdChange::Put { carrier, remote, assignment });
        let mut parts = same_key.iter().filter(|row| row.remote == *id.remote).map(|row| row.assignment.part);
        let is_new = parts.clone().next().is_none() || parts.any(|part| part == assignment.part);
        Ok(if is_new { Assigned::New } else { Assigned::Reused })
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

/// Ids that a receipt may mean.
type Candidates<'a> = SmallVec<[&'a CarrierIdRow; 4]>;

/// Chooses between the parts that an id may mean: one that went to the receipt's number, else one that the number does
/// not contradict. Of several with the same id the newest is meant, but only within one account: a receipt never moves
/// to another account's message by a guess. A number that contradicts is ignored only if the id has a single part.
fn choose(candidates: &[&CarrierIdRow], source: Option<Msisdn>) -> Match {
    let narrowed = |fits: &dyn Fn(&IdAssignment) -> bool| -> Candidates<'_> {
        candidates.iter().copied().filter(|candidate| fits(&candidate.assignment)).collect()
    };
    let mut left = narrowed(&|assignment| source.is_some() && assignment.to == source);
    if left.is_empty() {
        left = narrowed(&|assignment| !contradicts(assignment, source));
    }
    let all_contradict = left.is_empty();
    if all_contradict {
        left = candidates.iter().copied().collect();
    }
    let age = |row: &&&CarrierIdRow| (row.assignment.day, row.assignment.at, row.assignment.part);
    let Some(newest) = left.iter().max_by_key(age) else { return Match::Nothing };
    let (id, part) = (&newest.remote, newest.assignment.part);
    let is_same_part = left.iter().all(|other| other.assignment.part == part);
    let is_of_same_account =
        || left.iter().all(|other| other.remote == *id && other.assignment.part.account == part.account);
    if is_same_part || (!all_contradict && is_of_same_account()) {
        Match::Part(newest.assignment)
    } else {
        Match::Ambiguous
    }
}

fn day_before(day: Day) -> Day {
    Day::new(day.get() - 1)
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
