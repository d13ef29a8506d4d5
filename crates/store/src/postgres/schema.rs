//! The schema and its migrations. All that run together are one transaction with the schema version.
//!
//! Gateways of two releases may use a schema at once, while an operator upgrades them one by one. So each migration is an
//! *expand*, which earlier releases do not notice, or a *contract*, which takes away what they use. A schema has the lowest
//! version that a release must know to use it; a contract raises it.

use crate::error::MigrationError;
use crate::error::StoreError;
use crate::postgres::schema_status::{MigrationKind, MigrationStep, SchemaStatus};
use crate::postgres::server::Server;
use crate::postgres::{Session, values};
use crate::table_sql;
use hermod_engine::tables::{CHANGES_FINGERPRINT, TableError, fingerprint};
use rusqlite::ToSql;
use std::cmp::Ordering;
use std::sync::LazyLock;

/// Every migration, in order; the schema version is the number of those applied. A released migration is never changed. An
/// expand behind a contract belongs to a later release than that contract. Until the first release the first one follows the
/// description of the tables; a release keeps its text.
static MIGRATIONS: LazyLock<[Migration; 1]> = LazyLock::new(|| {
    let sql = include_str!("tables.sql").to_owned() + &table_sql::create_in_postgres();
    [Migration { kind: MigrationKind::Expand, what: "create the tables", sql: sql.leak() }]
});

/// The comment on the table of the version: it marks a schema with these tables, as builds before the first release had others.
/// A release keeps its number.
static MADE_BY: LazyLock<String> =
    LazyLock::new(|| format!("hermod {:08x}", fingerprint(CHANGES_FINGERPRINT, MIGRATIONS[0].sql)));

/// One step from a schema version to the next.
pub(super) struct Migration {
    pub(super) kind: MigrationKind,
    /// What it does, as an imperative.
    pub(super) what: &'static str,
    pub(super) sql: &'static str,
}

/// A schema on a server, and the migrations of this release.
pub(super) struct Schema<'s> {
    session: &'s Session,
    server: &'s Server,
    migrations: &'s [Migration],
}

/// The version of a schema, and the lowest that a release must know to use it.
#[derive(Clone, Copy)]
struct Version {
    found: i64,
    compatible_from: i64,
}

impl Version {
    const NONE: Version = Version { found: 0, compatible_from: 1 };
}

/// Returns the statement by which a connection shows that a gateway of this release uses the schema: a lock that it shares
/// with others, with the version that it knows. It ends with the connection.
pub(super) fn show_gateway(server: &Server) -> String {
    show_gateway_knowing(server, &*MIGRATIONS)
}

fn show_gateway_knowing(server: &Server, migrations: &[Migration]) -> String {
    format!("SELECT pg_advisory_lock_shared({}, {});", gateways(server), count(migrations))
}

/// Returns the number that the locks of all gateways on the schema have in common.
fn gateways(server: &Server) -> String {
    format!("hashtext('hermod gateway {}')", server.schema.replace('\'', "''"))
}

fn count(migrations: &[Migration]) -> i64 {
    i64::try_from(migrations.len()).expect("a handful of migrations")
}

impl<'s> Schema<'s> {
    pub(super) fn new(session: &'s Session, server: &'s Server) -> Schema<'s> {
        Schema { session, server, migrations: &*MIGRATIONS }
    }

    /// Creates the tables, or applies the migrations that earlier releases do not notice. Nodes that start together wait for
    /// each other. Fails if this release cannot use the schema before or after that.
    pub(super) fn open(&self) -> Result<(), TableError> {
        self.migrate(MigrationKind::Expand)?;
        let status = self.status()?;
        let contract = status.pending.iter().position(|step| step.kind == MigrationKind::Contract);
        if let Some(first) = contract
            && status.pending[first..].iter().any(|step| step.kind == MigrationKind::Expand)
        {
            let MigrationStep { number, what, .. } = status.pending[first];
            return Err(StoreError::from(MigrationError::ContractPending { number, what }).into());
        }
        if status.found > status.known {
            let (found, known) = (status.found, status.known);
            tracing::info!(
                found,
                known,
                "A newer release has migrated the schema, which this one can still use"
            );
        }
        Ok(())
    }

    /// Fails with [`StoreError::UnfinishedCopy`] if a store was copied to this schema only in part.
    pub(super) fn check_complete(&self) -> Result<(), StoreError> {
        if self.session.has_unfinished_copy()? {
            return Err(StoreError::UnfinishedCopy(self.server.name()));
        }
        Ok(())
    }

    /// Fails unless the schema has exactly the version that this release knows. Changes nothing.
    pub(super) fn check_current(&self) -> Result<(), TableError> {
        let SchemaStatus { place, found, known, .. } = self.status()?;
        match found.cmp(&known) {
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(StoreError::TooNew { path: place.into(), found, known }.into()),
            Ordering::Less => Err(StoreError::TooOld { path: place.into(), found, known }.into()),
        }
    }

    /// Returns the version of the schema and what is left to migrate. Changes nothing.
    pub(super) fn status(&self) -> Result<SchemaStatus, TableError> {
        let Version { found, compatible_from } = self.version()?;
        let pending = (1_i64..).zip(self.migrations).skip_while(|(number, _)| *number <= found);
        Ok(SchemaStatus {
            place: self.place(),
            found,
            known: count(self.migrations),
            compatible_from,
            pending: pending
                .map(|(number, Migration { kind, what, .. })| MigrationStep { number, kind: *kind, what })
                .collect(),
        })
    }

    /// Applies the pending migrations up to the first that `kinds` do not allow. Returns those applied. Fails with
    /// [`StoreError::TooNew`] if this release cannot use the schema, and before a contract if a gateway is connected that does
    /// not know it.
    pub(super) fn migrate(&self, kinds: MigrationKind) -> Result<Vec<MigrationStep>, TableError> {
        self.session.begin();
        let migrated = self.try_migrate(kinds);
        match migrated {
            Ok(_) => self.session.commit(None)?,
            Err(_) => self.session.roll_back()?,
        }
        migrated
    }

    fn try_migrate(&self, kinds: MigrationKind) -> Result<Vec<MigrationStep>, TableError> {
        let run = |sql: &str| self.session.run(sql);
        run("SELECT pg_advisory_xact_lock(hashtext('hermod migration'))")?;
        run(&format!("CREATE SCHEMA IF NOT EXISTS \"{}\"", self.server.schema))?;
        let status = self.status()?;
        let (found, known) = (status.found, status.known);
        if status.compatible_from > known {
            return Err(StoreError::TooNew { path: status.place.into(), found, known }.into());
        }
        let steps = status.runnable(kinds).to_vec();
        let mut compatible_from = status.compatible_from;
        for (step, migration) in steps.iter().zip(self.migrations.iter().skip(skipped(found))) {
            if step.kind == MigrationKind::Contract {
                self.check_no_older_gateway(step.number)?;
                compatible_from = step.number;
            }
            run(migration.sql)?;
        }
        if let Some(last) = steps.last() {
            run(&format!(
                "CREATE TABLE IF NOT EXISTS store_schema (version bigint NOT NULL, compatible_from bigint NOT NULL);
                 COMMENT ON TABLE store_schema IS '{}';
                 DELETE FROM store_schema",
                *MADE_BY
            ))?;
            let values: [&dyn ToSql; 2] = [&last.number, &compatible_from];
            let insert = "INSERT INTO store_schema (version, compatible_from) VALUES (?1, ?2)";
            self.session.execute(insert, &values)?;
        }
        Ok(steps)
    }

    /// Fails if a gateway is connected that does not know this migration. One that starts meanwhile waits for this transaction.
    fn check_no_older_gateway(&self, number: i64) -> Result<(), TableError> {
        let sql = format!(
            "SELECT count(*), min(objid::bigint) FROM pg_locks
             WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid = {}::oid AND objid::bigint < ?1
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            gateways(self.server)
        );
        let rows = self.session.query(&sql, &[&number])?;
        let Some(row) = rows.first() else { return Ok(()) };
        match values::get(row, 0)? {
            0_i64 => Ok(()),
            gateways => {
                let known = values::get(row, 1)?;
                Err(StoreError::from(MigrationError::OlderGateways { gateways, known, number }).into())
            }
        }
    }

    /// Fails with [`StoreError::BeforeFirstRelease`] if an earlier build made the schema, which had another table of its version
    /// or no such comment on it.
    fn version(&self) -> Result<Version, TableError> {
        let marks =
            "SELECT to_regclass('schema_version') IS NOT NULL, to_regclass('store_schema') IS NOT NULL,
                 obj_description(to_regclass('store_schema'), 'pg_class')";
        let marks = self.session.query(marks, &[])?;
        let Some(marks) = marks.first() else { return Ok(Version::NONE) };
        let (has_older, has_table) = (values::get(marks, 0)?, values::get(marks, 1)?);
        let made_by: Option<String> = values::get(marks, 2)?;
        if has_older || has_table && made_by.as_ref() != Some(&*MADE_BY) {
            return Err(StoreError::BeforeFirstRelease(self.place().into()).into());
        }
        if !has_table {
            return Ok(Version::NONE);
        }
        let rows = self.session.query("SELECT version, compatible_from FROM store_schema", &[])?;
        rows.first().map_or(Ok(Version::NONE), |row| {
            Ok(Version { found: values::get(row, 0)?, compatible_from: values::get(row, 1)? })
        })
    }

    fn place(&self) -> String {
        format!("{}, schema {}", self.server.name(), self.server.schema)
    }
}

/// Returns how many migrations are applied already.
fn skipped(found: i64) -> usize {
    usize::try_from(found).unwrap_or(usize::MAX)
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
