//! The ids that carriers gave to parts.

use super::columns::{stored_raw, stored_remote};
use super::{MemoryTables, Rows};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::tables::{
    CarrierIdChange, CarrierIdKey, CarrierIdRow, CarrierIdRows, CarrierIds, DayCarrierId, IdAssignment,
    PartKey, TableError,
};

/// The key of a row: the day of its table, the carrier, the key of the id, the id as it was written unless that is its
/// key, and the part. Retired days have their ids in the same table.
pub(super) type Key = (i64, u32, Vec<u8>, Vec<u8>, Option<PartKey>);

/// The row of an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    part: PartKey,
    to: Option<u64>,
    at: Timestamp,
}

impl Rows {
    #[track_caller]
    fn check_carrier_id_day(&self, day: Day) {
        assert!(self.carrier_id_day.contains_key(&day.get()), "carrier ids of {day:?} have no table");
    }

    /// Returns the ids of a day, in the order of their keys.
    fn carrier_ids_of(&self, day: Day) -> impl Iterator<Item = (&Key, &Row)> {
        let ids = self.carrier_id.range((day.get(), 0, Vec::new(), Vec::new(), None)..);
        ids.take_while(move |((of, ..), _)| *of == day.get())
    }
}

impl MemoryTables {
    fn create_carrier_id_day(&self, day: Day) -> Result<(), TableError> {
        self.write().carrier_id_day.add(day.get(), ());
        Ok(())
    }

    fn retire_carrier_id_day(&self, day: Day) -> Result<(), TableError> {
        let rows = &mut *self.write();
        rows.carrier_id_day.delete(&day.get());
        rows.retired_carrier_id_day.add(day.get(), ());
        Ok(())
    }

    fn delete_retired_carrier_ids(&self, day: Day, limit: u32) -> Result<(), TableError> {
        let rows = &mut *self.write();
        assert!(rows.retired_carrier_id_day.contains_key(&day.get()), "{day:?} is not retired");
        let keys = rows.carrier_ids_of(day).map(|(key, _)| key.clone());
        let keys = keys.take(usize::try_from(limit)?).collect();
        rows.carrier_id.delete_all(keys);
        Ok(())
    }

    fn drop_retired_carrier_id_day(&self, day: Day) -> Result<(), TableError> {
        let rows = &mut *self.write();
        rows.retired_carrier_id_day.delete(&day.get());
        rows.carrier_id.delete_where(|(of, ..), _| *of == day.get());
        Ok(())
    }

    fn add_carrier_id(
        &self,
        carrier: CarrierId,
        remote: &RemoteId,
        tie: &IdAssignment,
    ) -> Result<(), TableError> {
        let id = CarrierIdKey { carrier, key: &RemoteKey::of(remote), remote };
        let rows = &mut *self.write();
        rows.check_carrier_id_day(tie.day);
        rows.carrier_id.add(stored_key(tie, id), stored(tie));
        Ok(())
    }

    fn put_carrier_id(
        &self,
        carrier: CarrierId,
        remote: &RemoteId,
        tie: &IdAssignment,
    ) -> Result<(), TableError> {
        let id = CarrierIdKey { carrier, key: &RemoteKey::of(remote), remote };
        let rows = &mut *self.write();
        rows.check_carrier_id_day(tie.day);
        rows.carrier_id.put(stored_key(tie, id), stored(tie));
        Ok(())
    }

    /// Adds the ids of a day that have this key.
    fn rows_with_key(
        &self,
        day: Day,
        carrier: CarrierId,
        key: &RemoteKey,
        limit: u32,
        found: &mut CarrierIds,
    ) -> Result<(), TableError> {
        let rows = self.rows.borrow();
        rows.check_carrier_id_day(day);
        let first = (day.get(), carrier.get(), key.octets().to_vec(), Vec::new(), None);
        let ids = rows.carrier_id.range(first..).take_while(|((of, by, octets, ..), _)| {
            (*of, *by) == (day.get(), carrier.get()) && octets == key.octets()
        });
        for ((_, _, key, raw, _), row) in ids.take(usize::try_from(limit)?) {
            found.push(CarrierIdRow { remote: stored_remote(key, raw)?, assignment: read(day, row) });
        }
        Ok(())
    }
}

impl MemoryTables {
    pub(super) fn erase_carrier_id(&self, id: &DayCarrierId) -> Result<(), TableError> {
        let DayCarrierId { day, carrier, remote, part } = id;
        let key = RemoteKey::of(remote);
        let raw = stored_raw(key.octets(), remote);
        let place = (day.get(), carrier.get(), key.octets().to_vec(), raw, Some(*part));
        let rows = &mut *self.write();
        // It may have been rolled back since it was listed.
        if rows.carrier_id.contains_key(&place) {
            rows.carrier_id.update(&place, |row| row.to = None);
        }
        Ok(())
    }

    /// Whether a dumped row is of a day that is being deleted.
    pub(crate) fn is_retired_carrier_id(&self, row: &str) -> bool {
        !self.read().carrier_id_day.keys().any(|day| row.starts_with(&format!("({day}, ")))
    }

    /// Returns the ids of parts that went to a number.
    pub(crate) fn carrier_ids_to(&self, number: Msisdn) -> Vec<DayCarrierId> {
        let rows = self.read();
        let is_kept = |day: &i64| rows.carrier_id_day.contains_key(day);
        let to =
            rows.carrier_id.iter().filter(|((day, ..), row)| is_kept(day) && row.to == Some(number.number()));
        to.map(|((day, carrier, key, raw, _), row)| DayCarrierId {
            day: Day::new(*day),
            carrier: CarrierId::new(*carrier),
            remote: stored_remote(key, raw).expect("an id"),
            part: row.part,
        })
        .collect()
    }
}

impl CarrierIdRows for MemoryTables {
    fn count_retired_carrier_ids(&self, day: Day, limit: u32) -> Result<u32, TableError> {
        let count = self.read().carrier_ids_of(day).take(usize::try_from(limit)?).count();
        Ok(u32::try_from(count)?)
    }

    fn change_carrier_id(&self, change: &CarrierIdChange) -> Result<(), TableError> {
        match change {
            CarrierIdChange::CreateDay(day) => self.create_carrier_id_day(*day),
            CarrierIdChange::RetireDay(day) => self.retire_carrier_id_day(*day),
            CarrierIdChange::DeleteRetired { day, limit } => self.delete_retired_carrier_ids(*day, *limit),
            CarrierIdChange::DropRetiredDay(day) => self.drop_retired_carrier_id_day(*day),
            CarrierIdChange::Add { carrier, remote, assignment: tie } => {
                self.add_carrier_id(*carrier, remote, tie)
            }
            CarrierIdChange::Put { carrier, remote, assignment: tie } => {
                self.put_carrier_id(*carrier, remote, tie)
            }
        }
    }

    fn carrier_id_days(&self) -> Result<Vec<Day>, TableError> {
        Ok(self.read().carrier_id_day.keys().copied().map(Day::new).collect())
    }

    fn retired_carrier_id_days(&self) -> Result<Vec<Day>, TableError> {
        Ok(self.read().retired_carrier_id_day.keys().copied().map(Day::new).collect())
    }

    fn read_carrier_ids(
        &self,
        day: Day,
        carrier: CarrierId,
        key: &RemoteKey,
        limit: u32,
        found: &mut CarrierIds,
    ) -> Result<(), TableError> {
        self.count_read();
        self.rows_with_key(day, carrier, key, limit, found)
    }

    fn carrier_ids_with_keys(
        &self,
        day: Day,
        keys: &[(CarrierId, RemoteKey)],
    ) -> Result<Option<Vec<(CarrierId, CarrierIdRow)>>, TableError> {
        let mut all = Vec::new();
        for (carrier, key) in keys {
            let mut found = CarrierIds::new();
            self.rows_with_key(day, *carrier, key, u32::MAX, &mut found)?;
            all.extend(found.into_iter().map(|row| (*carrier, row)));
        }
        self.count_read();
        Ok(Some(all))
    }

    fn visit_carrier_ids(
        &self,
        day: Day,
        limit: u32,
        visit: &mut dyn FnMut(CarrierId, &RemoteId),
    ) -> Result<u32, TableError> {
        let rows = self.read();
        rows.check_carrier_id_day(day);
        let mut visited = 0;
        for ((_, carrier, key, raw, _), _) in rows.carrier_ids_of(day).take(usize::try_from(limit)?) {
            visit(CarrierId::new(*carrier), &stored_remote(key, raw)?);
            // What costs is the number of ids.
            self.count_read();
            visited += 1;
        }
        Ok(visited)
    }
}

fn stored_key(tie: &IdAssignment, id: CarrierIdKey<'_>) -> Key {
    let CarrierIdKey { carrier, key, remote } = id;
    let raw = stored_raw(key.octets(), remote);
    (tie.day.get(), carrier.get(), key.octets().to_vec(), raw, Some(tie.part))
}

fn stored(tie: &IdAssignment) -> Row {
    Row { part: tie.part, to: tie.to.map(Msisdn::number), at: tie.at }
}

fn read(day: Day, row: &Row) -> IdAssignment {
    IdAssignment { part: row.part, to: row.to.and_then(Msisdn::from_number), at: row.at, day }
}
