//! Parts that carriers accepted without an id.

use super::MemoryTables;
use super::columns::stored_sender;
use hermod_domain::ids::CarrierId;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{PartKey, TableError, UnnamedPart, UnnamedPartRows};

impl UnnamedPartRows for MemoryTables {
    fn unnamed_parts(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        limit: usize,
    ) -> Result<Vec<(UnnamedPart, Sender)>, TableError> {
        let rows = self.read();
        let parts = rows.unnamed.values().filter(|row| (row.carrier, row.to) == (carrier, to));
        let mut joined: Vec<_> =
            parts.filter_map(|row| Some((**row, rows.message.get(&row.part.message.as_i64())?))).collect();
        joined.sort_by_key(|(row, _)| row.part.message);
        joined.into_iter().take(limit).map(|(row, sent)| Ok((row, stored_sender(&sent.from)?))).collect()
    }

    fn unnamed_part_accepted_at(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        part: &PartKey,
    ) -> Result<Option<Timestamp>, TableError> {
        Ok(self.read().unnamed.get(&(carrier, to, *part)).map(|row| row.at))
    }
}
