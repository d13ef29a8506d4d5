//! SQL for parts that a carrier accepted without a usable id.

use crate::sql::SqlTables;
use crate::sql::columns::{message_and_part, stored_number, stored_sender};
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::{AccountId, CarrierId};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{PartKey, TableError, UnnamedPart, UnnamedPartChange, UnnamedPartRows};

impl SqlTables<'_> {
    fn put_unnamed_part(&self, part: &UnnamedPart) -> Result<(), TableError> {
        let UnnamedPart { carrier, to, part: PartKey { account, message, part }, at } = part;
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO unnamed (carrier, dest, message, part, account, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                carrier.get(),
                to.number().cast_signed(),
                message.as_i64(),
                part.get(),
                account.get(),
                at.as_millis()
            ])?;
        Ok(())
    }

    fn delete_unnamed_part(&self, carrier: CarrierId, to: Msisdn, part: &PartKey) -> Result<(), TableError> {
        let PartKey { account: _, message, part } = part;
        self.connection
            .prepare_cached(
                "DELETE FROM unnamed WHERE carrier = ?1 AND dest = ?2 AND message = ?3 AND part = ?4",
            )?
            .execute(params![carrier.get(), to.number().cast_signed(), message.as_i64(), part.get()])?;
        Ok(())
    }
}

impl UnnamedPartRows for SqlTables<'_> {
    fn change_unnamed_part(&self, change: &UnnamedPartChange) -> Result<(), TableError> {
        match change {
            UnnamedPartChange::Put(part) => self.put_unnamed_part(part),
            UnnamedPartChange::Delete { carrier, to, part } => self.delete_unnamed_part(*carrier, *to, part),
        }
    }

    fn unnamed_parts(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        limit: usize,
    ) -> Result<Vec<(UnnamedPart, Sender)>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT u.message, u.part, u.account, u.at, m.source FROM unnamed u JOIN message m ON m.id = u.message
             WHERE u.carrier = ?1 AND u.dest = ?2 ORDER BY u.message LIMIT ?3",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![carrier.get(), to.number().cast_signed(), limit])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let part =
                UnnamedPart { carrier, to, part: read_key(&row)?, at: Timestamp::from_millis(row.get(3)?) };
            let from: String = row.get(4)?;
            found.push((part, stored_sender(&from)?));
        }
        Ok(found)
    }

    fn unnamed_part_accepted_at(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        part: &PartKey,
    ) -> Result<Option<Timestamp>, TableError> {
        let PartKey { account: _, message, part } = part;
        let at = self
            .connection
            .prepare_cached(
                "SELECT at FROM unnamed WHERE carrier = ?1 AND dest = ?2 AND message = ?3 AND part = ?4",
            )?
            .query_row(
                params![carrier.get(), to.number().cast_signed(), message.as_i64(), part.get()],
                |row| row.get(0),
            )
            .optional()?;
        Ok(at.map(Timestamp::from_millis))
    }
}

/// Returns the rows after one, in the order of their keys.
pub(crate) fn read_unnamed_page(
    connection: &Connection,
    after: Option<&UnnamedPart>,
    limit: usize,
) -> Result<Vec<UnnamedPart>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT message, part, account, carrier, dest, at FROM unnamed
         WHERE (carrier, dest, message, part) > (?1, ?2, ?3, ?4) ORDER BY carrier, dest, message, part LIMIT ?5",
    )?;
    let (carrier, to, message, part) =
        after.map_or((0, 0, 0, 0), |UnnamedPart { carrier, to, part, .. }| {
            (carrier.get(), to.number().cast_signed(), part.message.as_i64(), part.part.get())
        });
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![carrier, to, message, part, limit])?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        let (carrier, to) = (CarrierId::new(row.get(3)?), stored_number(row.get(4)?)?);
        page.push(UnnamedPart {
            carrier,
            to,
            part: read_key(&row)?,
            at: Timestamp::from_millis(row.get(5)?),
        });
    }
    Ok(page)
}

fn read_key(row: &Row<'_>) -> Result<PartKey, TableError> {
    let (message, part) = message_and_part(row, 0, 1)?;
    Ok(PartKey { account: AccountId::new(row.get(2)?), message, part })
}
