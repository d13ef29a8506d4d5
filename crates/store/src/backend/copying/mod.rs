//! Copies a store from a data folder to a server, or back. The rows are copied in steps, each one transaction of the target that
//! also stores how far the copy is, so that a copy that was stopped continues. At the end both sides are compared and audited.

mod tables;

use crate::audit;
use crate::audit::report::AuditReport;
use crate::data_folder::lock::{self, FolderLock};
use crate::error::CopyError;
use crate::error::StoreError;
use crate::postgres;
use crate::postgres::HasSession as _;
use crate::postgres::server::Server;
use crate::sql::copied_rows::{self, CopiedTable, in_transaction};
use crate::sql::pepper::{self, PepperFingerprint};
use crate::sql::read_results::StorePosition;
use crate::sql::{Connection, Error, copy_progress as progress, nodes, params};
use crate::sqlite::audit_head::AuditProof;
use crate::sqlite::{copy_target, recovery};
use hermod_engine::tables::TableError;
use std::path::Path;

/// What a copy does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStep<'a> {
    /// It copies the rows of this table. The numbers are rows of all tables.
    Rows { table: &'a str, copied: u64, total: u64 },
    /// It compares the rows of both sides and audits them.
    Comparing,
}

/// A complete copy.
#[derive(Debug)]
pub struct CopyReport {
    /// The target: a folder, or a server and its database, without the password.
    pub place: String,
    pub tables: usize,
    pub rows: u64,
    /// Rows that an earlier run had copied before it was stopped.
    pub copied_before: u64,
    /// The audit of the copy. Its violations, if any, are those of the original.
    pub audit: AuditReport,
}

/// Copies the store of a folder to an empty schema of a server. The store keeps its id and the number of its batches, by which
/// its record stays valid. Fails with [`StoreError::InUse`] if a process has the folder open; none can open it meanwhile.
pub(crate) fn copy_to_server(
    folder: &Path,
    server: &Server,
    fingerprint: PepperFingerprint,
    on_step: &mut dyn FnMut(CopyStep<'_>),
) -> Result<CopyReport, StoreError> {
    let (lock, source) = recovery::lock_completed(folder)?;
    check_pepper(&source, fingerprint, || CopyError::OtherPepperOfFolder(folder.display().to_string()))?;
    let target = Connection::from(postgres::open_copy_target(server)?);
    check_pepper(&target, fingerprint, || CopyError::OtherPepper(server.name()))?;
    let (of, place) = (nodes::store_position(&source)?, server.name());
    if !progress::is_unfinished(&target).map_err(TableError::from)? {
        if nodes::store_position(&target)?.id == of.id {
            return Err(CopyError::Complete(place).into());
        }
        tables::check_empty(&target, &place)?;
        in_transaction(&target, || {
            pepper::claim(&target, fingerprint)?;
            tables::begin(&source, &target, of)
        })?;
    }
    let mut copying = Copying::open(&source, target, of, place)?;
    copying.copy_rows(on_step)?;
    on_step(CopyStep::Comparing);
    copying.complete()?;
    let original = audit::audit(folder, AuditProof::default(), || false)?;
    let copy = audit::audit_connection(&postgres::unchecked_auditor(server)?.into(), None)?;
    let (report, target) = copying.into_report(&original, copy)?;
    end_on_server(&target)?;
    drop(lock);
    Ok(report)
}

/// Copies the store of a server to a folder without one. The copy is marked as such: it begins a history of its own when it is
/// first started. Fails with [`StoreError::InUse`] if a gateway uses the server or the folder; none can do so meanwhile.
pub(crate) fn copy_to_folder(
    server: &Server,
    folder: &Path,
    fingerprint: PepperFingerprint,
    on_step: &mut dyn FnMut(CopyStep<'_>),
) -> Result<CopyReport, StoreError> {
    lock::make_folder(folder)?;
    let lock = FolderLock::take(folder)?;
    let source = Connection::from(postgres::open_copy_source(server)?);
    check_pepper(&source, fingerprint, || CopyError::OtherPepperOfSource(server.name()))?;
    let snapshot = source.snapshot().map_err(TableError::from)?;
    let of = nodes::store_position(&source)?;
    let target = copy_target::open(folder, of, |target| {
        in_transaction(target, || {
            pepper::claim(target, fingerprint)?;
            tables::begin(&source, target, of)
        })
    })?;
    check_pepper(&target, fingerprint, || CopyError::OtherPepperOfFolder(folder.display().to_string()))?;
    let mut copying = Copying::open(&source, target, of, folder.display().to_string())?;
    copying.copy_rows(on_step)?;
    on_step(CopyStep::Comparing);
    copying.complete()?;
    let original = audit::audit_connection(&postgres::unchecked_auditor(server)?.into(), None)?;
    let copy = audit::audit_connection(&copying.target, None)?;
    let (report, target) = copying.into_report(&original, copy)?;
    drop(snapshot);
    // The lock of the copy may have been lost with its connection.
    postgres::check_unused(source.session(), server)?;
    if nodes::store_position(&source)? != of {
        return Err(CopyError::Differs("a gateway has written to the source meanwhile".to_owned()).into());
    }
    in_transaction(&target, || Ok(progress::drop_tables(&target)?))?;
    copy_target::finish(folder, target)?;
    drop(lock);
    Ok(report)
}

/// Fails if a side of a copy belongs to another pepper.
fn check_pepper(
    side: &Connection,
    fingerprint: PepperFingerprint,
    refusal: impl FnOnce() -> CopyError,
) -> Result<(), StoreError> {
    match pepper::read(side).map_err(TableError::from)? {
        Some(claimed) if claimed != fingerprint => Err(refusal().into()),
        _ => Ok(()),
    }
}

/// A copy that is being made. No gateway uses its source or its target.
struct Copying<'s> {
    source: &'s Connection,
    target: Connection,
    /// The state of the source.
    of: StorePosition,
    /// The target, for messages.
    place: String,
    tables: Vec<CopiedTable>,
    /// Rows that an earlier run had copied.
    copied_before: u64,
}

impl<'s> Copying<'s> {
    /// Continues a copy that was begun. Fails if it is of another store, or of another state of this one.
    fn open(
        source: &'s Connection,
        target: Connection,
        of: StorePosition,
        place: String,
    ) -> Result<Copying<'s>, StoreError> {
        if progress::read(&target).map_err(TableError::from)? != of {
            return Err(CopyError::OtherCopy(place).into());
        }
        let mut tables = Vec::new();
        for name in &tables::names(source)? {
            let copied = progress::rows_of(&target, name).map_err(TableError::from)?;
            tables.push(tables::describe(source, &target, name, copied)?);
        }
        let copied_before = tables.iter().map(|table| table.copied).sum();
        Ok(Copying { source, target, of, place, tables, copied_before })
    }

    /// Returns how many rows the source has.
    fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    /// Copies the rows that are not copied yet. `on_step` is called after each step, which is durable with the next one.
    fn copy_rows(&mut self, on_step: &mut dyn FnMut(CopyStep<'_>)) -> Result<(), StoreError> {
        let total = self.rows();
        let mut copied = self.copied_before;
        for table in &mut self.tables {
            let name = table.name.clone();
            copied_rows::copy_table(self.source, &self.target, table, &mut |rows| {
                copied += rows;
                on_step(CopyStep::Rows { table: &name, copied, total });
            })?;
        }
        Ok(())
    }

    /// Sets what is not copied row by row, and compares the numbers of rows and the balances of both sides.
    fn complete(&self) -> Result<(), StoreError> {
        in_transaction(&self.target, || self.set_counters())?;
        if let Connection::Postgres(_) = self.target {
            // The audit's queries need plans for tables of this size.
            let names: Vec<String> = self.tables.iter().map(|table| format!("\"{}\"", table.name)).collect();
            let analyze = format!("ANALYZE {}", names.join(", "));
            self.target.execute_batch(&analyze).map_err(TableError::from)?;
        }
        for CopiedTable { name, rows, .. } in &self.tables {
            let found = tables::count(&self.target, name)?;
            if found != *rows {
                let differs = format!("the table {name} has {found} rows instead of {rows}");
                return Err(CopyError::Differs(differs).into());
            }
        }
        if balances(self.source)? != balances(&self.target)? {
            return Err(CopyError::Differs("balances are not equal".to_owned()).into());
        }
        Ok(())
    }

    fn set_counters(&self) -> Result<(), TableError> {
        let StorePosition { id, sequence } = self.of;
        let (target, sequence) = (&self.target, sequence.cast_signed());
        if let Connection::Sqlite(_) = target {
            let update = "UPDATE writer SET store = ?1, commits = ?2, checksum = NULL, is_copy = 1";
            target.execute(update, params![id, sequence])?;
            return Ok(());
        }
        target.execute("UPDATE writer SET store = ?1, commits = ?2", params![id, sequence])?;
        let next = "SELECT setval(pg_get_serial_sequence('set_aside', 'id'), coalesce(max(id), 0) + 1, false)
             FROM set_aside";
        Ok(target.query_row(next, [], |_| Ok(()))?)
    }

    /// Returns the report of a complete copy, and its target. Fails if the audits of both sides differ.
    fn into_report(
        self,
        original: &AuditReport,
        audit: AuditReport,
    ) -> Result<(CopyReport, Connection), StoreError> {
        if let Some(difference) = difference(original, &audit) {
            return Err(CopyError::Differs(difference).into());
        }
        let (tables, rows) = (self.tables.len(), self.rows());
        let Copying { place, copied_before, target, .. } = self;
        Ok((CopyReport { place, tables, rows, copied_before, audit }, target))
    }
}

/// Lets gateways open the schema. Everything is durable when this returns.
fn end_on_server(target: &Connection) -> Result<(), TableError> {
    in_transaction(target, || {
        target.execute_batch("SET LOCAL synchronous_commit = on")?;
        Ok(progress::drop_tables(target)?)
    })
}

/// Returns the balances of all accounts, which the writer holds in memory too.
fn balances(connection: &Connection) -> Result<Vec<(i64, i64, i64)>, TableError> {
    let mut statement =
        connection.prepare("SELECT account, balance, credit_used FROM balance ORDER BY account")?;
    let rows = statement.query_map([], |row| row.try_into())?;
    Ok(rows.collect::<Result<_, Error>>()?)
}

/// Returns how the audit of a copy differs from that of its original. A side without a record or pages of a file may have fewer
/// violations; the copy must have no others.
fn difference(original: &AuditReport, copy: &AuditReport) -> Option<String> {
    let AuditReport {
        messages,
        accounts,
        open_parts,
        waiting_parts,
        resends,
        purged_before,
        record: _,
        audit_log,
        is_audit_log_checked: _,
        lacks_audit_file: _,
        violations,
    } = original;
    let figures = [
        ("messages", *messages, copy.messages),
        ("accounts", *accounts, copy.accounts),
        ("open parts", *open_parts, copy.open_parts),
        ("waiting parts", *waiting_parts, copy.waiting_parts),
        ("resends", *resends, copy.resends),
        ("rows of the audit log", audit_log.number, copy.audit_log.number),
    ];
    if let Some((name, there, here)) = figures.iter().find(|(_, there, here)| there != here) {
        return Some(format!("it has {here} {name} instead of {there}"));
    }
    if *purged_before != copy.purged_before || audit_log.hash != copy.audit_log.hash {
        return Some("its retention or its audit log is not equal".to_owned());
    }
    let is_new = |detail: &str| !violations.iter().any(|known| known.detail == detail);
    let new = copy.violations.iter().find(|violation| is_new(&violation.detail))?;
    Some(format!("only the copy violates: {}: {}", new.rule, new.detail))
}
