//! Which part a carrier's id belongs to, one table per UTC day. An id is kept as the carrier wrote it, under a key that
//! forgives what carriers do to ids between an answer and its receipt (`hermod_domain::carrier::RemoteKey`).
//!
//! A day goes as a whole, in steps: its messages were final, or reported UNKNOWN, within validity and the wait for a
//! receipt, and late receipts are matched for 72 h more.

use crate::ops::Asked;
use crate::state::carrier_id_days::{Match, RemoteDays, Tied, contradicts};
use crate::state::recent::Recent;
use crate::tables::{CarrierIdChange, CarrierIdKey, TableError, Tables, Tie};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Day;

/// An id tied lately.
struct AtHand {
    tie: Tie,
    /// What the carrier wrote, unless that is the key.
    raw: Option<Box<[u8]>>,
    /// Another id with the same key was tied lately: what was written has to be compared.
    shared: bool,
}

/// All ids that carriers gave, and those of late at hand: most receipts come soon after the answer.
pub struct Remotes {
    days: RemoteDays,
    recent: Recent<(CarrierId, RemoteKey), AtHand>,
}

impl Remotes {
    pub fn load(tables: &Tables<'_>) -> Result<Remotes, TableError> {
        Ok(Remotes { days: RemoteDays::load(tables)?, recent: Recent::default() })
    }

    /// The batch came to nothing.
    pub fn rolled_back(&mut self, tables: &Tables<'_>) -> Result<(), TableError> {
        self.recent.clear();
        self.days.rolled_back(tables)
    }

    /// Whose id this is: the very same id, else one with the same key, else one with the converted key.
    pub fn find(&self, tables: &Tables<'_>, asked: &Asked<'_>) -> Result<Match, TableError> {
        match self.at_hand(asked) {
            Some(tie) => Ok(Match::Part(tie)),
            None => self.days.find(tables, asked),
        }
    }

    /// What can be told without a look at the tables. Where an older id could be meant as well, only the recipient can
    /// tell, and if he cannot the tables are asked.
    fn at_hand(&self, asked: &Asked<'_>) -> Option<Tie> {
        let Asked { carrier, ids, remote, source } = *asked;
        let place = (carrier, RemoteKey::of(remote));
        if let Some(hit) = self.recent.get(&place) {
            let written_so = hit.raw.as_deref().unwrap_or(place.1.octets()) == remote.octets();
            return if written_so { !contradicts(&hit.tie, source) } else { hit.tells_by_number(source) }
                .then_some(hit.tie);
        }
        let hit = self.recent.get(&(carrier, ids.key_in_answer(remote)?))?;
        hit.tells_by_number(source).then_some(hit.tie)
    }

    /// On the usual way this is a single insert.
    pub fn tie(
        &mut self,
        tables: &Tables<'_>,
        carrier: CarrierId,
        remote: &RemoteId,
        tie: Tie,
    ) -> Result<Tied, TableError> {
        let key = RemoteKey::of(remote);
        let tied = self.days.tie(tables, CarrierIdKey { carrier, key: &key, remote }, tie)?;
        let raw = (key.octets() != remote.octets()).then(|| remote.octets().into());
        let place = (carrier, key);
        let shared = self.recent.get(&place).is_some_and(|before| before.shared || before.raw != raw);
        self.recent.insert(place, AtHand { tie, raw, shared });
        Ok(tied)
    }

    /// Does one step of deleting the days that no receipt can ask for any more, and returns how many rows it dealt with.
    /// The first step of a day retires it: from then on it is not asked for. The others delete its ids, `limit` at most,
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

impl AtHand {
    fn tells_by_number(&self, source: Option<Msisdn>) -> bool {
        !self.shared && source.is_some() && self.tie.to == source
    }
}
