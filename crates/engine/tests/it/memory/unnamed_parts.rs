//! Parts that carriers accepted without an id.

use super::MemoryTables;
use super::columns::{stored_message, stored_part, stored_sender};
use hermod_domain::ids::{AccountId, CarrierId};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{PartKey, TableError, UnnamedPart, UnnamedPartChange, UnnamedPartRows};

/// The row of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    account: AccountId,
    at: Timestamp,
}

impl UnnamedPartRows for MemoryTables {
    fn change_unnamed_part(&self, change: &UnnamedPartChange) -> Result<(), TableError> {
        let table = &mut self.write().unnamed;
        match change {
            UnnamedPartChange::Put(UnnamedPart { carrier, to, part, at }) => {
                table.put(stored_key(*carrier, *to, part), Row { account: part.account, at: *at });
            }
            UnnamedPartChange::Delete { carrier, to, part } => {
                table.delete(&stored_key(*carrier, *to, part));
            }
        }
        Ok(())
    }

    fn unnamed_parts(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        limit: usize,
    ) -> Result<Vec<(UnnamedPart, Sender)>, TableError> {
        let rows = self.read();
        let (of, dest) = (carrier.get(), to.number());
        let parts = rows.unnamed.range((of, dest, 0, 0)..=(of, dest, i64::MAX, u8::MAX));
        let joined = parts.filter_map(|(key, row)| Some((key, row, rows.message.get(&key.2)?)));
        let found = joined.take(limit).map(|((_, _, message, part), row, sent)| {
            let part = PartKey {
                account: row.account,
                message: stored_message(*message)?,
                part: stored_part(*part)?,
            };
            Ok((UnnamedPart { carrier, to, part, at: row.at }, stored_sender(&sent.from)?))
        });
        found.collect()
    }

    fn unnamed_part_accepted_at(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        part: &PartKey,
    ) -> Result<Option<Timestamp>, TableError> {
        Ok(self.read().unnamed.get(&stored_key(carrier, to, part)).map(|row| row.at))
    }
}

fn stored_key(carrier: CarrierId, to: Msisdn, part: &PartKey) -> (u32, u64, i64, u8) {
    (carrier.get(), to.number(), part.message.as_i64(), part.part.get())
}
