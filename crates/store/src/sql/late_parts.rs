//! SQL for late parts: parts that a carrier accepted and whose receipts have not come soon.

use crate::sql::part_rows::{COLUMNS, KEY, read, read_all};
use crate::sql::read_results::{LatePage, LatePlace};
use crate::sql::unreadable::sort_in;
use crate::sql::{Connection, params};
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{MessageKey, PartRow, Readings, TableError};

/// Late parts whose receipt is still expected, by expiry. The index `late_part_expiry` has the same condition.
const EXPIRED: &str =
    "SELECT carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at
     FROM late_part
     WHERE carrier = ?1 AND expires_at <= ?2 AND (expires_at, account, message, no) > (?3, ?4, ?5, ?6)
         AND state IN (3, 4, 5) ORDER BY expires_at, account, message, no LIMIT ?7";
/// The distinct carriers, with one seek per carrier.
const CARRIERS: &str = "WITH RECURSIVE known (carrier) AS (
         SELECT min(carrier) FROM late_part
         UNION ALL SELECT (SELECT min(carrier) FROM late_part WHERE carrier > known.carrier)
         FROM known WHERE known.carrier IS NOT NULL)
     SELECT carrier FROM known WHERE carrier IS NOT NULL";

pub(super) fn set_parts_late(connection: &Connection, key: MessageKey) -> Result<(), TableError> {
    let MessageKey { carrier, account, message } = key;
    let columns = params![carrier.get(), account.get(), message.as_i64()];
    connection
        .prepare_cached(&format!(
            "INSERT INTO late_part ({COLUMNS}) SELECT {COLUMNS} FROM part
             WHERE carrier = ?1 AND account = ?2 AND message = ?3"
        ))?
        .execute(columns)?;
    connection
        .prepare_cached("DELETE FROM part WHERE carrier = ?1 AND account = ?2 AND message = ?3")?
        .execute(columns)?;
    Ok(())
}

/// Returns the carriers that have late parts.
pub(crate) fn carriers_with_late_parts(connection: &Connection) -> Result<Vec<CarrierId>, TableError> {
    let mut statement = connection.prepare_cached(CARRIERS)?;
    let carriers = statement.query_map([], |row| row.get::<i64>(0))?.collect::<Result<Vec<_>, _>>()?;
    // A number out of range cannot be a carrier.
    Ok(carriers.into_iter().filter_map(|carrier| u32::try_from(carrier).ok()).map(CarrierId::new).collect())
}

/// Returns the late parts that expire after a time and whose receipt is still expected.
pub(super) fn late_parts_expiring_after(
    connection: &Connection,
    at: Timestamp,
) -> Result<Vec<PartRow>, TableError> {
    let mut parts = Vec::new();
    for carrier in carriers_with_late_parts(connection)? {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM late_part WHERE carrier = ?1 AND expires_at > ?2 AND state IN (3, 4, 5)"
        ))?;
        parts.extend(read_all(statement.query(params![carrier.get(), at.as_millis()])?)?);
    }
    Ok(parts)
}

/// Returns a carrier's late parts that expired at or before a time and whose receipt is still expected, after `after`.
pub(crate) fn expired_late_parts(
    connection: &Connection,
    carrier: CarrierId,
    expired_by: Timestamp,
    after: Option<LatePlace>,
    limit: u32,
) -> Result<LatePage, TableError> {
    let [expires_at, account, message, no] = after.unwrap_or([i64::MIN; 4]);
    let mut statement = connection.prepare_cached(EXPIRED)?;
    let mut rows = statement.query(params![
        carrier.get(),
        expired_by.as_millis(),
        expires_at,
        account,
        message,
        no,
        limit
    ])?;
    let (mut parts, mut read_rows, mut last) = (Readings::default(), 0, None);
    while let Some(row) = rows.next()? {
        read_rows += 1;
        last = Some([row.get(9)?, row.get(1)?, row.get(2)?, row.get(3)?]);
        sort_in(&mut parts, &row, KEY, read(&row))?;
    }
    Ok(LatePage { parts, last: last.filter(|_| read_rows == limit) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema::open_for_writing;

    #[test]
    fn expired_parts_are_found_by_the_expiry_index() {
        let folder = tempfile::TempDir::new().unwrap();
        let connection = open_for_writing(folder.path()).unwrap();
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {EXPIRED}")).unwrap();
        let steps = plan.query_map([0; 7], |row| row.get::<String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert!(steps.len() == 1 && steps[0].contains("late_part_expiry"), "{steps:?}");
    }
}
