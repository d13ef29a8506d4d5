//! The audit: recomputes every balance, state and reference from the raw rows of one snapshot and compares. No stored sum is
//! trusted.

mod log_rules;
pub(crate) mod report;
mod rules;
mod setup_rules;
mod webhook_rules;

use crate::audit::report::{AuditReport, Violation};
use crate::data_folder::lock;
use crate::error::StoreError;
use crate::record::database::comparing::{self, Attached, Difference, RecordAudit};
use crate::sql::day_tables::bucket_days;
use crate::sql::{Connection, RowKey};
use crate::sql::{idempotency_keys, jobs, message_texts, parts, purging};
use crate::sqlite::audit_head::AuditProof;
use crate::sqlite::schema;
use hermod_domain::audit::{AuditEnd, AuditKey};
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use hermod_engine::erase::ERASED_NUMBER;
use hermod_engine::tables::{PurgeMark, StoredMessageKey, TableError, UnreadablePart};
use rules::{PURGED_ROWS_RULE, RULES, Rule};
use std::path::Path;
use webhook_rules::WEBHOOK_RULES;

/// Maximum number of listed violations per rule; further ones are only counted.
const LISTED_PER_RULE_MAX: usize = 20;
/// Maximum number of listed unreadable part rows.
const UNREADABLE_PARTS_LISTED_MAX: u32 = 20;
/// Virtual machine instructions of SQLite between two calls of `stop`: some tens of milliseconds.
const STEPS_PER_CHECK: i32 = 1_000_000;

/// Audits the database of a folder in one snapshot. Fails with [`StoreError::ReadTooLong`] once `stop` returns true, and with
/// [`StoreError::InUse`] if a process opens a folder that no process had open: the snapshot of a closed database would keep it
/// waiting.
pub(crate) fn audit(
    folder: &Path,
    proof: AuditProof,
    mut stop: impl FnMut() -> bool + Send + 'static,
) -> Result<AuditReport, StoreError> {
    let was_in_use = lock::is_in_use(folder)?;
    let of = folder.to_owned();
    let is_opened = move || !was_in_use && lock::is_in_use(&of).unwrap_or(false);
    let mut connection = schema::open_existing(folder)?;
    let (handler, is_waited_for) = (connection.sqlite_mut(), is_opened.clone());
    handler
        .progress_handler(STEPS_PER_CHECK, Some(move || stop() || is_waited_for()))
        .map_err(TableError::from)?;
    let record = comparing::attach(&connection, folder)?;
    let audited = read(&connection, &record, proof).map_err(|error| StoreError::from(error).or_too_long());
    match audited {
        Err(StoreError::ReadTooLong) if is_opened() => Err(StoreError::InUse(folder.to_owned())),
        audited => audited,
    }
}

/// Audits the database of a connection in one snapshot, without a record.
pub(crate) fn audit_connection(
    connection: &Connection,
    key: Option<AuditKey>,
) -> Result<AuditReport, StoreError> {
    Ok(read(connection, &Attached::None, AuditProof { key, ..AuditProof::default() })?)
}

fn read(connection: &Connection, record: &Attached, proof: AuditProof) -> Result<AuditReport, TableError> {
    let snapshot = connection.snapshot()?;
    let mut report = AuditReport {
        messages: count(&snapshot, "SELECT count(*) FROM message")?,
        accounts: count(&snapshot, "SELECT count(*) FROM balance")?,
        open_parts: count(&snapshot, "SELECT count(*) FROM open_part")?,
        waiting_parts: count(&snapshot, &waiting_parts())?,
        resends: count(&snapshot, "SELECT count(*) FROM timeline WHERE what = 'resent'")?,
        purged_before: purged_before(&snapshot)?,
        record: RecordAudit::None,
        audit_log: AuditEnd::EMPTY,
        is_audit_log_checked: proof.key.is_some(),
        lacks_audit_file: false,
        violations: Vec::new(),
    };
    for Rule { name, query } in RULES.iter().chain(WEBHOOK_RULES) {
        check(&snapshot, name, query, &mut report)?;
    }
    check(&snapshot, PURGED_ROWS_RULE, message_texts::purged_texts(&snapshot), &mut report)?;
    check_keys(&snapshot, &mut report)?;
    log_rules::check_log(&snapshot, proof, &mut report)?;
    setup_rules::check_setup(&snapshot, &mut report)?;
    for day in bucket_days(&snapshot, "remote")? {
        let query = format!(
            "SELECT 'carrier id of message ' || r.message FROM remote_{day} r LEFT JOIN message m ON m.id = r.message
             WHERE m.id IS NULL OR m.account <> r.account OR r.part NOT BETWEEN 1 AND m.parts
                 OR (r.dest <> m.dest AND r.dest <> 0 AND m.dest <> {ERASED_NUMBER})"
        );
        check(&snapshot, "every carrier id belongs to a part of its account", &query, &mut report)?;
    }
    check_parts(&snapshot, &mut report)?;
    check_pages(&snapshot, &mut report)?;
    let first_kept = purging::purged_before(&snapshot, PurgeMark::Records)?;
    report.record = compare_record(&snapshot, record, first_kept, &mut report)?;
    Ok(report)
}

/// Compares the attached record with the store. A damaged one is a violation, and stops nothing else.
fn compare_record(
    connection: &Connection,
    attached: &Attached,
    first_kept: i64,
    report: &mut AuditReport,
) -> Result<RecordAudit, TableError> {
    let error = match attached {
        Attached::None => return Ok(RecordAudit::None),
        Attached::Damaged(error) => error.to_string(),
        Attached::Yes => {
            let mut messages = Listed::new("the record has every message as the store has it");
            let (rule, mut sums) = ("the statistics have the sums of the messages", Vec::new());
            let compared = comparing::compare(connection, first_kept, &mut |difference| match difference {
                Difference::Message(detail) => messages.add(detail, report),
                Difference::Sum(detail) => sums.push(Violation { rule, detail }),
            });
            messages.end(report);
            report.violations.append(&mut sums);
            let error = match compared {
                Ok(compared) => return Ok(compared),
                Err(error) => error,
            };
            let is_unreadable = error.is_unreadable();
            let error = StoreError::from(error);
            if !is_unreadable && !error.is_file_damaged() {
                return Err(error.into());
            }
            error.to_string()
        }
    };
    report.violations.push(Violation { rule: "the record can be read", detail: error });
    Ok(RecordAudit::Unusable)
}

/// Checks that every valid idempotency key has its message, and every message at most one key.
fn check_keys(connection: &Connection, report: &mut AuditReport) -> Result<(), TableError> {
    connection.execute_batch("CREATE TEMP TABLE key_message (message INTEGER NOT NULL)")?;
    idempotency_keys::visit_valid(connection, |entry| {
        connection
            .prepare_cached("INSERT INTO key_message (message) VALUES (?1)")?
            .change(RowKey { table: "key_message", row: entry.message.as_i64() }, [entry.message.as_i64()])?;
        Ok(())
    })?;
    let query = "SELECT 'key of message ' || k.message FROM key_message k
                 LEFT JOIN message m ON m.id = k.message WHERE m.id IS NULL";
    check(connection, "every idempotency key has its message", query, report)?;
    let query = "SELECT 'message ' || message FROM key_message GROUP BY message HAVING count(*) > 1";
    check(connection, "a message has at most one idempotency key", query, report)?;
    Ok(connection.execute_batch("DROP TABLE key_message")?)
}

/// Checks that every row of a part can be read, and every part that is still to be sent as a job.
fn check_parts(connection: &Connection, report: &mut AuditReport) -> Result<(), TableError> {
    let mut unreadable = parts::unreadable(connection, true, UNREADABLE_PARTS_LISTED_MAX)?;
    jobs::find_unreadable(connection, LISTED_PER_RULE_MAX, &mut unreadable)?;
    for UnreadablePart { key: StoredMessageKey { carrier, account, message }, reason } in unreadable {
        let detail = format!("message {message} of account {account}, carrier {carrier}: {reason}");
        report.violations.push(Violation { rule: "every part is readable", detail });
    }
    Ok(())
}

fn waiting_parts() -> String {
    let waiting = [PartState::Queued, PartState::Sending, PartState::InDoubt].map(PartState::to_stored);
    format!("SELECT count(*) FROM part WHERE state IN ({}, {}, {})", waiting[0], waiting[1], waiting[2])
}

/// Runs a rule's query. Each row of its result is a violation.
fn check(
    connection: &Connection,
    rule: &'static str,
    query: &str,
    report: &mut AuditReport,
) -> Result<(), TableError> {
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    let mut found = Listed::new(rule);
    while let Some(row) = rows.next()? {
        found.add(row.get(0)?, report);
    }
    found.end(report);
    Ok(())
}

/// Lists the first violations of a rule, and counts further ones.
struct Listed {
    rule: &'static str,
    found: usize,
}

impl Listed {
    fn new(rule: &'static str) -> Listed {
        Listed { rule, found: 0 }
    }

    fn add(&mut self, detail: String, report: &mut AuditReport) {
        self.found += 1;
        if self.found <= LISTED_PER_RULE_MAX {
            report.violations.push(Violation { rule: self.rule, detail });
        }
    }

    /// Adds how many violations were not listed.
    fn end(self, report: &mut AuditReport) {
        if let Some(more) = self.found.checked_sub(LISTED_PER_RULE_MAX).filter(|more| *more > 0) {
            report.violations.push(Violation { rule: self.rule, detail: format!("and {more} more") });
        }
    }
}

/// Runs SQLite's own check of every page, the type of every value, and every index against its table. Pages have no checksums:
/// a changed byte inside a value is found only where a rule or an index contradicts it.
fn check_pages(connection: &Connection, report: &mut AuditReport) -> Result<(), TableError> {
    let Connection::Sqlite(_) = connection else { return Ok(()) };
    let mut statement = connection.prepare("PRAGMA main.integrity_check(20)")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let detail: String = row.get(0)?;
        if detail != "ok" {
            report.violations.push(Violation { rule: "the database file is intact", detail });
        }
    }
    Ok(())
}

fn purged_before(connection: &Connection) -> Result<Option<Timestamp>, TableError> {
    let first_kept = purging::purged_before(connection, PurgeMark::Records)?;
    Ok(MessageId::from_i64(first_kept).filter(|_| first_kept > 0).map(MessageId::accepted_at))
}

fn count(connection: &Connection, query: &str) -> Result<u64, TableError> {
    let number: i64 = connection.query_row(query, [], |row| row.get(0))?;
    Ok(number.cast_unsigned())
}
