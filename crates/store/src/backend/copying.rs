//! Copies an embedded store to a server, and audits both sides.

use crate::audit;
use crate::backend::AuditProof;
use crate::error::StoreError;
use crate::postgres::{self, Copying};
use crate::read_results::AuditReport;
use crate::server::Server;
use crate::sqlite::recovery;
use crate::store_copy::{CopyError, CopyReport, CopyStep, PepperFingerprint};
use std::path::Path;

/// Copies the store of a folder to an empty schema of a server. Fails with [`StoreError::InUse`] if a process has the folder
/// open; none can open it meanwhile.
pub(crate) fn copy_to_server(
    folder: &Path,
    server: &Server,
    pepper: PepperFingerprint,
    on_step: &mut dyn FnMut(CopyStep<'_>),
) -> Result<CopyReport, StoreError> {
    let (lock, source) = recovery::lock_completed(folder)?;
    let mut copying = Copying::begin(&source, server, pepper)?;
    copying.copy_rows(on_step)?;
    on_step(CopyStep::Comparing);
    copying.complete()?;
    let original = audit::audit(folder, AuditProof::default(), || false)?;
    let audit = audit::audit_server(&postgres::unchecked_auditor(server)?, None)?;
    if let Some(difference) = difference(&original, &audit) {
        return Err(CopyError::Differs(difference).into());
    }
    let report = CopyReport {
        place: copying.place.clone(),
        tables: copying.tables(),
        rows: copying.rows(),
        copied_before: copying.copied_before,
        audit,
    };
    copying.finish()?;
    drop(lock);
    Ok(report)
}

/// Returns how the audit of a copy differs from that of its original. The copy has no record and no pages of a file, so it may
/// have fewer violations.
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
