//! The schema and its migrations. Each migration runs in one transaction together with the schema version.

use crate::error::StoreError;
use crate::sql::Error;
use crate::sql::postgres::{Session, values};
use hermod_engine::tables::TableError;
use rusqlite::ToSql;

/// Every migration, in order; the schema version is the number of those applied. A released migration is never changed.
const MIGRATIONS: &[&str] = &[include_str!("tables.sql")];

/// Creates or migrates the tables. Nodes that start together wait for each other.
pub(super) fn migrate(session: &Session, schema: &str) -> Result<(), TableError> {
    session.begin();
    let migrated = try_migrate(session, schema);
    match migrated {
        Ok(()) => session.commit(None).map_err(Error::from)?,
        Err(_) => session.roll_back().map_err(Error::from)?,
    }
    migrated
}

fn try_migrate(session: &Session, schema: &str) -> Result<(), TableError> {
    let run = |sql: &str| session.run(sql).map_err(Error::from);
    run("SELECT pg_advisory_xact_lock(hashtext('hermod migration'))")?;
    run(&format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\""))?;
    run("CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)")?;
    let found = version(session)?;
    let known = i64::try_from(MIGRATIONS.len()).expect("a handful of migrations");
    if found > known {
        return Err(StoreError::TooNew { path: "PostgreSQL".into(), found, known }.into());
    }
    for (number, migration) in (1_i64..).zip(MIGRATIONS).skip_while(|(number, _)| *number <= found) {
        run(migration)?;
        run("DELETE FROM schema_version")?;
        let number: &dyn ToSql = &number;
        session
            .execute("INSERT INTO schema_version (version) VALUES (?1)", &[number])
            .map_err(Error::from)?;
    }
    Ok(())
}

fn version(session: &Session) -> Result<i64, TableError> {
    let rows = session.query("SELECT version FROM schema_version", &[]).map_err(Error::from)?;
    rows.first().map_or(Ok(0), |row| Ok(values::get(row, 0)?))
}
