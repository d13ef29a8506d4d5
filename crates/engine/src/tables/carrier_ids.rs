//! The tables of the ids that carriers gave to parts, one per UTC day.

use crate::tables::TableError;
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The part a carrier's id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PartKey {
    pub account: AccountId,
    pub message: MessageId,
    pub part: PartNo,
}

/// The part that a carrier's id was assigned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdAssignment {
    pub part: PartKey,
    /// The recipient of the part; none once it was erased.
    pub to: Option<Msisdn>,
    /// When the carrier gave it.
    pub at: Timestamp,
    pub day: Day,
}

/// An id of a carrier.
#[derive(Clone, Copy, Debug)]
pub struct CarrierIdKey<'a> {
    pub carrier: CarrierId,
    /// The key of `remote`.
    pub key: &'a RemoteKey,
    /// The id as the carrier wrote it.
    pub remote: &'a RemoteId,
}

/// An id as the carrier wrote it, and its part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarrierIdRow {
    pub remote: RemoteId,
    pub assignment: IdAssignment,
}

/// The ids that have one key. Most keys have one id.
pub type CarrierIds = SmallVec<[CarrierIdRow; 4]>;

/// A change of the tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum CarrierIdChange {
    /// The table of a day that has none is created.
    CreateDay(Day),
    /// The table of a day is taken out of use, with all ids in it.
    RetireDay(Day),
    /// Ids of a day that was retired are deleted, any of them up to a limit.
    DeleteRetired { day: Day, limit: u32 },
    /// The table of a day that was retired is dropped.
    DropRetiredDay(Day),
    /// A row of an id that no part has yet, in the table of the assignment's day.
    Add { carrier: CarrierId, remote: RemoteId, assignment: IdAssignment },
    /// The row of an id and a part in the table of the assignment's day, in place of one that it has.
    Put { carrier: CarrierId, remote: RemoteId, assignment: IdAssignment },
}

/// Reads and writes the ids that carriers gave to parts.
pub trait CarrierIdRows {
    /// Returns how many ids a day has that was retired, counted up to a limit.
    fn count_retired_carrier_ids(&self, day: Day, limit: u32) -> Result<u32, TableError>;

    /// Applies a change.
    fn change_carrier_id(&self, change: &CarrierIdChange) -> Result<(), TableError>;

    /// Returns the days that have a table, the oldest first.
    fn carrier_id_days(&self) -> Result<Vec<Day>, TableError>;

    /// Returns the days whose tables were retired and are still there, the oldest first.
    fn retired_carrier_id_days(&self) -> Result<Vec<Day>, TableError>;

    /// Adds up to `limit` ids that a carrier gave on a day and that have this key to `found`.
    fn read_carrier_ids(
        &self,
        day: Day,
        carrier: CarrierId,
        key: &RemoteKey,
        limit: u32,
        found: &mut CarrierIds,
    ) -> Result<(), TableError>;

    /// Returns the ids that carriers gave on a day and that have one of these keys, in any order. None if there are very many, or
    /// one cannot be read: then they are read key by key.
    fn carrier_ids_with_keys(
        &self,
        day: Day,
        keys: &[(CarrierId, RemoteKey)],
    ) -> Result<Option<Vec<(CarrierId, CarrierIdRow)>>, TableError>;

    /// Calls `visit` with up to `limit` ids of a day. Returns how many there were.
    fn visit_carrier_ids(
        &self,
        day: Day,
        limit: u32,
        visit: &mut dyn FnMut(CarrierId, &RemoteId),
    ) -> Result<u32, TableError>;
}
