//! Which part a carrier's id belongs to. An id is stored as the carrier wrote it, under a key that is equal for the
//! forms in which carriers write one id in responses and receipts (`hermod_domain::carrier::RemoteKey`).
//!
//! A day's table is dropped as a whole, in steps, when no receipt can refer to it: its messages were final or reported
//! UNKNOWN within validity plus the wait for a receipt, and late receipts are matched for 72 hours more.

use crate::maps::HashSet;
use crate::ops::CarrierIdQuery;
use crate::state::carrier_id_days::{Assigned, AssignedOn, CarrierIdDays, DaysRead, Match, contradicts};
use crate::state::recent::Recent;
use crate::tables::{CarrierIdChange, CarrierIdKey, IdAssignment, TableError, Tables};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Day;

/// An id that was assigned lately.
struct RecentId {
    assignment: IdAssignment,
    /// The id as the carrier wrote it, if that is not the key.
    raw: Option<Box<[u8]>>,
    /// Another id with the same key, or this id for another part, was assigned lately: only the tables decide.
    shared: bool,
}

/// All carrier ids, with the latest in memory: most receipts follow soon after the response.
pub struct CarrierIdIndex {
    days: CarrierIdDays,
    recent: Recent<(CarrierId, RemoteKey), RecentId>,
}

impl CarrierIdIndex {
    pub fn load(tables: &Tables<'_>) -> Result<CarrierIdIndex, TableError> {
        Ok(CarrierIdIndex { days: CarrierIdDays::load(tables)?, recent: Recent::default() })
    }

    /// Undoes what the batch changed.
    pub fn rolled_back(&mut self, tables: &Tables<'_>) -> Result<(), TableError> {
        self.recent.clear();
        self.days.rolled_back(tables)
    }

    /// Finds the part of an id: the exact id, else one with the same key, else one with the converted key.
    pub fn find(&self, tables: &Tables<'_>, query: &CarrierIdQuery<'_>) -> Result<Match, TableError> {
        match self.find_recent(query) {
            Some(assignment) => Ok(Match::Part(assignment)),
            None => self.days.find(tables, query),
        }
    }

    /// Reads together what assigning these ids and finding these receipts' parts will read. Returns the parts that the receipts may
    /// be about.
    pub fn read_ahead(
        &self,
        tables: &Tables<'_>,
        assigned: &[AssignedOn<'_>],
        receipts: &[CarrierIdQuery<'_>],
    ) -> Result<Vec<(CarrierId, IdAssignment)>, TableError> {
        self.days.read_assigned_ahead(tables, assigned)?;
        let (mut found, mut unknown) = (Vec::new(), Vec::new());
        for query in receipts {
            match self.find_recent(query) {
                Some(assignment) => found.push((query.carrier, assignment)),
                None => unknown.push((query, (query.carrier, RemoteKey::of(query.remote)))),
            }
        }
        if unknown.is_empty() {
            return Ok(found);
        }
        // Ids that responses of this batch bring are in memory when their receipts are looked at.
        let new: HashSet<_> = assigned.iter().map(|id| (id.carrier, RemoteKey::of(id.remote))).collect();
        unknown.retain(|(_, key)| !new.contains(key));
        let keys = unknown.iter().map(|(_, key)| key.clone()).collect();
        let rows = self.days.read_ahead(tables, distinct(keys), DaysRead::UntilFound)?;
        let known: HashSet<_> =
            rows.iter().map(|(carrier, row)| (*carrier, RemoteKey::of(&row.remote))).collect();
        unknown.retain(|(_, key)| !known.contains(key));
        let converted = |query: &CarrierIdQuery<'_>| {
            query.ids.key_in_response(query.remote).map(|key| (query.carrier, key))
        };
        let keys = unknown.iter().filter_map(|(query, _)| converted(query)).collect();
        let others = self.days.read_ahead(tables, distinct(keys), DaysRead::All)?;
        found.extend(rows.into_iter().chain(others).map(|(carrier, row)| (carrier, row.assignment)));
        Ok(found)
    }

    /// Finds the part without reading the tables. Where an older id could be meant too, only a matching recipient
    /// decides; otherwise returns none, and the tables are read.
    fn find_recent(&self, query: &CarrierIdQuery<'_>) -> Option<IdAssignment> {
        let CarrierIdQuery { carrier, ids, remote, source } = *query;
        let place = (carrier, RemoteKey::of(remote));
        if let Some(hit) = self.recent.get(&place) {
            let written_so = hit.raw.as_deref().unwrap_or(place.1.octets()) == remote.octets();
            let is_meant = match source {
                _ if hit.shared => false,
                _ if !written_so => hit.matches_number(source),
                Some(_) => !contradicts(&hit.assignment, source),
                None => !self.days.may_be_on_day_before(hit.assignment.day, carrier, remote),
            };
            return is_meant.then_some(hit.assignment);
        }
        let hit = self.recent.get(&(carrier, ids.key_in_response(remote)?))?;
        hit.matches_number(source).then_some(hit.assignment)
    }

    /// Assigns an id to a part. In the usual case this is a single insert.
    pub fn assign(
        &mut self,
        tables: &Tables<'_>,
        carrier: CarrierId,
        remote: &RemoteId,
        assignment: IdAssignment,
    ) -> Result<Assigned, TableError> {
        let key = RemoteKey::of(remote);
        let assigned = self.days.assign(tables, CarrierIdKey { carrier, key: &key, remote }, assignment)?;
        let raw = (key.octets() != remote.octets()).then(|| remote.octets().into());
        let place = (carrier, key);
        let is_other = |before: &RecentId| {
            before.shared || before.raw != raw || before.assignment.part != assignment.part
        };
        let shared = assigned == Assigned::Reused || self.recent.get(&place).is_some_and(is_other);
        self.recent.insert(place, RecentId { assignment, raw, shared });
        Ok(assigned)
    }

    /// Runs one step of deleting old days, and returns how many rows it changed. The first step of a day retires its
    /// table: no receipt reads it from then on. The next steps delete its ids, at most `limit` each, and the last one
    /// drops it.
    pub fn purge_days(&mut self, tables: &Tables<'_>, today: Day, limit: u32) -> Result<u64, TableError> {
        let retired = tables.read()?.retired_carrier_id_days()?;
        if self.days.retire_before(tables, today, &retired)? {
            self.recent.clear();
            return Ok(1);
        }
        let Some(day) = retired.first() else { return Ok(0) };
        let day = *day;
        let deleted = tables.read()?.count_retired_carrier_ids(day, limit)?;
        tables.write(CarrierIdChange::DeleteRetired { day, limit });
        if deleted < limit {
            tables.write(CarrierIdChange::DropRetiredDay(day));
        }
        // Dropping the table counts as a change too.
        Ok(u64::from(deleted).max(1))
    }
}

impl RecentId {
    /// Whether this id is certainly meant, because its part went to the receipt's number and no other id has its key.
    fn matches_number(&self, source: Option<Msisdn>) -> bool {
        !self.shared && source.is_some() && self.assignment.to == source
    }
}

fn distinct(mut keys: Vec<(CarrierId, RemoteKey)>) -> Vec<(CarrierId, RemoteKey)> {
    keys.sort_unstable();
    keys.dedup();
    keys
}
