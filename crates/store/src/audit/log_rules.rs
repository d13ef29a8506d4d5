//! Checks the audit log: the chain of its rows, its sealed end in the database and in the file beside it, and that the ledger and
//! the log have the same changes of money.

use super::{Listed, check};
use crate::audit::report::{AuditReport, Violation};
use crate::sql::Connection;
use crate::sql::audit_log;
use crate::sqlite::audit_head::{self, AuditHeadFile, AuditProof};
use hermod_domain::audit::{AuditEnd, AuditKey, AuditRow, SealPlace};
use hermod_engine::tables::{SealedEnd, TableError};

const COMPLETE: &str = "the audit log is complete and unchanged";
const SAME_MONEY: &str = "every change of money by a person is in the audit log";

/// Ledger entries of persons (top-up, adjustment, invoice, payment) and rows of the log that lack each other, or differ.
const MONEY: &str = "
    SELECT 'ledger entry ' || l.id || CASE WHEN a.number IS NULL THEN ' has no row in the audit log'
        ELSE ' differs from row ' || a.number || ' of the audit log' END
    FROM ledger l LEFT JOIN audit_log a ON a.posting = l.id
    WHERE l.kind IN (1, 3, 4, 5) AND (a.number IS NULL OR a.account IS NULL OR a.account <> l.account
        OR a.posted_balance <> l.balance OR a.posted_credit <> l.credit_used)
    UNION ALL SELECT 'row ' || a.number || ' of the audit log is about ledger entry ' || a.posting || ', which is missing'
    FROM audit_log a LEFT JOIN ledger l ON l.id = a.posting AND l.kind IN (1, 3, 4, 5)
    WHERE a.posting IS NOT NULL AND l.id IS NULL";

/// Checks the log of one snapshot. Without the key, only numbers are compared.
pub(super) fn check_log(
    connection: &Connection,
    AuditProof { key, file }: AuditProof,
    report: &mut AuditReport,
) -> Result<(), TableError> {
    let in_file = key.and_then(|key| file.end(key));
    let (mut end, mut broken, mut has_end_of_file) = (AuditEnd::EMPTY, Listed::new(COMPLETE), false);
    audit_log::visit(connection, |row| {
        if !follows(end, row, key) {
            let detail = format!(
                "row {} does not follow row {}: one of them was changed, or rows between them were removed",
                row.number, end.number
            );
            broken.add(detail, report);
        }
        end = row.into();
        has_end_of_file |= in_file == Some(end);
        Ok(())
    })?;
    broken.end(report);
    report.audit_log = end;
    report.lacks_audit_file = file == AuditHeadFile::Missing && end != AuditEnd::EMPTY;
    let sealed = audit_log::sealed_end(connection)?;
    if let Some(detail) = end_fault(end, sealed, key) {
        report.violations.push(Violation { rule: COMPLETE, detail });
    }
    if let Some(detail) = file_fault(end, file, key, has_end_of_file) {
        report.violations.push(Violation { rule: COMPLETE, detail });
    }
    check(connection, SAME_MONEY, MONEY, report)
}

fn follows(end: AuditEnd, row: &AuditRow, key: Option<AuditKey>) -> bool {
    key.map_or(row.number == end.number + 1, |key| end.is_before(key, row))
}

/// Compares the last row with the sealed end in the database.
fn end_fault(last: AuditEnd, sealed: Option<SealedEnd>, key: Option<AuditKey>) -> Option<String> {
    let AuditEnd { number, .. } = last;
    let Some(SealedEnd { end, seal }) = sealed else {
        return (last != AuditEnd::EMPTY)
            .then(|| format!("the log has {number} rows, and its sealed end is missing"));
    };
    if key.is_some_and(|key| seal != end.seal(key, SealPlace::Database)) {
        return Some(
            "the sealed end in the database was changed, or was sealed with another pepper".to_owned(),
        );
    }
    (end != last).then(|| {
        format!(
            "the log ends with row {number}, its sealed end in the database is row {}: rows at its end were removed or changed",
            end.number
        )
    })
}

/// Compares the rows with the end in the file.
fn file_fault(
    last: AuditEnd,
    file: AuditHeadFile,
    key: Option<AuditKey>,
    has_end_of_file: bool,
) -> Option<String> {
    let name = audit_head::FILE_NAME;
    let key = key?;
    match (file, file.end(key)) {
        (AuditHeadFile::NotRead | AuditHeadFile::Missing, _) => None,
        (AuditHeadFile::Damaged | AuditHeadFile::Found { .. }, None) => {
            Some(format!("{name} is damaged, or was sealed with another pepper"))
        }
        (AuditHeadFile::Damaged | AuditHeadFile::Found { .. }, Some(_)) if has_end_of_file => None,
        (AuditHeadFile::Damaged | AuditHeadFile::Found { .. }, Some(end)) => Some(format!(
            "{name} says that the log had row {} with the hash {}; it ends with row {} and does not have it: rows were \
             removed or changed, or an older copy of the database was put in place",
            end.number,
            end.hash.short(),
            last.number
        )),
    }
}
