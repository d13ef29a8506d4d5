//! The days that have carrier ids, and the rules by which an id in a receipt is found in them.

use crate::carrier_ids::{Match, Tied, contradicts};
use crate::ops::Asked;
use crate::tables::{CarrierIdKey, CarrierIdRow, CarrierIds, TableError, Tables, Tie};
use hermod_domain::carrier::{RECEIPT_WAIT_MAX_S, RemoteKey};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Day;
use smallvec::SmallVec;

/// Validity (3 days), the longest wait for a receipt, late receipts (3), and the day itself.
pub const DAYS_KEPT: i64 = 3 + (RECEIPT_WAIT_MAX_S / 86_400) as i64 + 3 + 1;
/// Ids with one key that are looked at in a day. Honest carriers have one; beyond that nobody could tell anyway.
const SAME_KEY_MAX: u32 = 64;

/// The days that have carrier ids, newest first.
pub struct RemoteDays {
    days: Vec<Day>,
}

impl RemoteDays {
    pub fn load(tables: &Tables<'_>) -> Result<RemoteDays, TableError> {
        let mut days = tables.read()?.carrier_id_days()?;
        days.reverse();
        Ok(RemoteDays { days })
    }

    pub fn find(&self, tables: &Tables<'_>, asked: &Asked<'_>) -> Result<Match, TableError> {
        let Asked { carrier, ids, remote, source } = *asked;
        let key = RemoteKey::of(remote);
        let mut same_key = CarrierIds::new();
        for day in &self.days {
            let before = same_key.len();
            tables.read()?.read_carrier_ids(*day, carrier, &key, SAME_KEY_MAX, &mut same_key)?;
            let found = same_key[before..].iter().find(|candidate| candidate.remote == *remote);
            // The newest id that is written just so, unless it went to somebody else and an older one did not.
            if let Some(found) = found.filter(|found| !contradicts(&found.tie, source)) {
                return Ok(Match::Part(found.tie));
            }
        }
        let written_so = same_key.iter().find(|candidate| candidate.remote == *remote);
        if let Some(found) = written_so {
            return Ok(Match::Part(found.tie));
        }
        if !same_key.is_empty() {
            return Ok(choose(&same_key, source));
        }
        let Some(converted) = ids.key_in_answer(remote) else { return Ok(Match::Nothing) };
        let mut candidates = CarrierIds::new();
        for day in &self.days {
            tables.read()?.read_carrier_ids(*day, carrier, &converted, SAME_KEY_MAX, &mut candidates)?;
        }
        Ok(choose(&candidates, source))
    }

    pub fn tie(&mut self, tables: &Tables<'_>, id: CarrierIdKey<'_>, tie: Tie) -> Result<Tied, TableError> {
        self.open(tables, tie.day)?;
        if tables.read()?.add_carrier_id(id, &tie)? {
            return Ok(Tied::New);
        }
        let mut before = CarrierIds::new();
        tables.read()?.read_carrier_ids(tie.day, id.carrier, id.key, SAME_KEY_MAX, &mut before)?;
        tables.read()?.put_carrier_id(id, &tie)?;
        let same = before.iter().any(|known| known.remote == *id.remote && known.tie.part == tie.part);
        Ok(if same { Tied::New } else { Tied::Reused })
    }

    /// Retires the days that no receipt can ask for any more, but those in `retired`: a clock that was set back may have
    /// brought such a day again. Returns whether it retired any.
    pub fn retire_before(
        &mut self,
        tables: &Tables<'_>,
        today: Day,
        retired: &[Day],
    ) -> Result<bool, TableError> {
        let is_old = |day: &Day| day.get() + DAYS_KEPT < today.get() && !retired.contains(day);
        let before = self.days.len();
        self.days
            .iter()
            .filter(|day| is_old(day))
            .try_for_each(|day| tables.read()?.retire_carrier_id_day(*day))?;
        self.days.retain(|day| !is_old(day));
        Ok(self.days.len() < before)
    }

    /// Makes sure that a day has a table.
    fn open(&mut self, tables: &Tables<'_>, today: Day) -> Result<(), TableError> {
        if self.days.contains(&today) {
            return Ok(());
        }
        tables.read()?.create_carrier_id_day(today)?;
        let place = self.days.iter().position(|known| *known < today).unwrap_or(self.days.len());
        self.days.insert(place, today);
        Ok(())
    }
}

/// Of several ids none of which is written as the receipt writes it: the one that went to the receipt's number. An id
/// that was given again stands for its newest part.
fn choose(candidates: &[CarrierIdRow], source: Option<Msisdn>) -> Match {
    let by_number = |candidate: &&CarrierIdRow| source.is_some() && candidate.tie.to == source;
    let told: SmallVec<[&CarrierIdRow; 4]> = candidates.iter().filter(by_number).collect();
    let left = if told.is_empty() { candidates.iter().collect() } else { told };
    let Some(first) = left.first() else { return Match::Nothing };
    let same = |other: &&CarrierIdRow| other.remote == first.remote || other.tie.part == first.tie.part;
    if left.iter().all(same) { Match::Part(first.tie) } else { Match::Ambiguous }
}
