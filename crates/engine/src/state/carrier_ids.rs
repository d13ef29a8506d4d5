//! Which part a carrier's id belongs to, one table per UTC day. An id is kept as the carrier wrote it, under a key that
//! forgives what carriers do to ids between an answer and its receipt (`hermod_domain::carrier::RemoteKey`).
//!
//! A day goes as a whole, in steps: its messages were final, or reported UNKNOWN, within validity and the wait for a
//! receipt, and late receipts are matched for 72 h more.

use crate::ops::CarrierIdQuery;
use crate::state::carrier_id_days::{Assigned, CarrierIdDays, Match, contradicts};
use crate::state::recent::Recent;
use crate::tables::{CarrierIdChange, CarrierIdKey, IdAssignment, TableError, Tables};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Day;

/// An id tied lately.
struct RecentId {
    assignment: IdAssignment,
    /// What the carrier wrote, unless that is the key.
    raw: Option<Box<[u8]>>,
    /// Another id with the same key was tied lately: what was written has to be compared.
    shared: bool,
}

/// All ids that carriers gave, and those of late at hand: most receipts come soon after the answer.
pub struct CarrierIdIndex {
    days: CarrierIdDays,
    recent: Recent<(CarrierId, RemoteKey), RecentId>,
}

impl CarrierIdIndex {
    pub fn load(tables: &Tables<'_>) -> Result<CarrierIdIndex, TableError> {
        Ok(CarrierIdIndex { days: CarrierIdDays::load(tables)?, recent: Recent::default() })
    }

    /// The batch came to nothing.
    pub fn rolled_back(&mut self, tables: &Tables<'_>) -> Result<(), TableError> {
        self.recent.clear();
        self.days.rolled_back(tables)
    }

    /// Whose id this is: the very same id, else one with the same key, else one with the converted key.
    pub fn find(&self, tables: &Tables<'_>, query: &CarrierIdQuery<'_>) -> Result<Match, TableError> {
        match self.find_recent(query) {
            Some(assignment) => Ok(Match::Part(assignment)),
            None => self.days.find(tables, query),
        }
    }

    /// What can be told without a look at the tables. Where an older id could be meant as well, only the recipient can
    /// tell, and if he cannot the tables are query.
    fn find_recent(&self, query: &CarrierIdQuery<'_>) -> Option<IdAssignment> {
        let CarrierIdQuery { carrier, ids, remote, source } = *query;
        let place = (carrier, RemoteKey::of(remote));
        if let Some(hit) = self.recent.get(&place) {
            let written_so = hit.raw.as_deref().unwrap_or(place.1.octets()) == remote.octets();
            return if written_so {
                !contradicts(&hit.assignment, source)
            } else {
                hit.matches_number(source)
            }
            .then_some(hit.assignment);
        }
        let hit = self.recent.get(&(carrier, ids.key_in_response(remote)?))?;
        hit.matches_number(source).then_some(hit.assignment)
    }

    /// On the usual way this is a single insert.
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
        let shared = self.recent.get(&place).is_some_and(|before| before.shared || before.raw != raw);
        self.recent.insert(place, RecentId { assignment, raw, shared });
        Ok(assigned)
    }

    /// Does one step of deleting the days that no receipt can ask for any more, and returns how many rows it dealt with.
    /// The first step of a day retires it: from then on it is not query for. The others delete its ids, `limit` at most,
    /// and the last one drops its table.
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
        // The table itself is something too: the step was not for nothing.
        Ok(u64::from(deleted).max(1))
    }
}

impl RecentId {
    fn matches_number(&self, source: Option<Msisdn>) -> bool {
        !self.shared && source.is_some() && self.assignment.to == source
    }
}
