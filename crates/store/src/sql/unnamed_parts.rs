//! SQL for parts that a carrier accepted without a usable id.

use crate::sql::columns::{message_and_part, stored_sender};
use crate::sql::{Connection, OptionalExtension, SqlTables, described, params};
use hermod_domain::ids::{AccountId, CarrierId};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{PartKey, TableError, UnnamedPart, UnnamedPartRows};

impl UnnamedPartRows for SqlTables<'_> {
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
            let (message, part) = message_and_part(&row, 0, 1)?;
            let part = PartKey { account: AccountId::new(row.get(2)?), message, part };
            let part = UnnamedPart { carrier, to, part, at: Timestamp::from_millis(row.get(3)?) };
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
        let PartKey { account, message, part } = part;
        let (to, account) = (to.number().cast_signed(), account.get());
        let at = self
            .connection
            .prepare_cached(
                "SELECT at FROM unnamed
                 WHERE carrier = ?1 AND dest = ?2 AND account = ?3 AND message = ?4 AND part = ?5",
            )?
            .query_row(params![carrier.get(), to, account, message.as_i64(), part.get()], |row| row.get(0))
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
    let (carrier, to, account, message, part) =
        after.map_or((0, 0, 0, 0, 0), |UnnamedPart { carrier, to, part, .. }| {
            let PartKey { account, message, part } = part;
            (carrier.get(), to.number().cast_signed(), account.get(), message.as_i64(), part.get())
        });
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    described::rows(
        connection,
        "WHERE (carrier, dest, account, message, part) > (?1, ?2, ?3, ?4, ?5)
         ORDER BY carrier, dest, account, message, part LIMIT ?6",
        params![carrier, to, account, message, part, limit],
    )
}
