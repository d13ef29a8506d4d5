//! Backups of the database, erasure of a phone number, rows that were set aside, the audit log.

use crate::audit_log::views::{AuditLogQuery, AuditRowView};
use crate::author::Acting;
use crate::find::{account_name, find_account};
use crate::input::{invalid, number, time};
use crate::maintenance::views::{
    BackupRequest, BackupView, ErasureRequest, ErasureView, SetAsideQuery, SetAsideView,
};
use crate::refusal::OperatorRefusal;
use crate::views::paging::{Limit, Page};
use hermod_domain::audit::AuditFilter;
use hermod_gateway::gateway::Gateway;
use hermod_store::StoreError;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The file name of the database, as in every data folder.
const DATABASE: &str = "hermod.db";

/// Copies the database into a new folder while messages are being sent. Removes the folder on any error.
pub async fn copy_database(gateway: &Acting, request: BackupRequest) -> Result<BackupView, OperatorRefusal> {
    let folder = PathBuf::from(request.folder);
    if !folder.is_absolute() {
        return Err(invalid("folder", "must be an absolute path"));
    }
    create_private(&folder).map_err(|error| {
        invalid("folder", format!("{}: the gateway cannot create this folder: {error}", folder.display()))
    })?;
    gateway
        .audited(None, "database.copy", "database", &json!({ "folder": &folder }))
        .note_in_audit_log()
        .await?;
    match gateway.store.copy_to(&folder.join(DATABASE)).await {
        Ok(bytes) => Ok(BackupView { folder: folder.display().to_string(), bytes }),
        Err(fault) => {
            // Only an empty folder is removed.
            let _ = std::fs::remove_dir(&folder);
            Err(backup_refusal(fault))
        }
    }
}

fn backup_refusal(fault: StoreError) -> OperatorRefusal {
    match fault {
        StoreError::NoRoomForCopy { .. } | StoreError::File { .. } | StoreError::Backend(_) => {
            OperatorRefusal::BackupFailed(fault.to_string())
        }
        fault => fault.into(),
    }
}

fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

/// Erases a phone number from every message that has ended, of one account or of all.
pub async fn erase_number(gateway: &Acting, request: ErasureRequest) -> Result<ErasureView, OperatorRefusal> {
    let number = number(&request.number)?;
    let account = request.account.map(|name| find_account(gateway, &name)).transpose()?;
    // The audit log must not have the number either.
    gateway.audited(account, "number.erase", "a phone number", &Value::Null).note_in_audit_log().await?;
    let erased = gateway.store.erasures().erase_number(number, account, gateway.clock.now()).await?;
    gateway.split_messages().forget(number, account);
    // The log must not have the number.
    tracing::info!(
        messages = erased.messages,
        inbound = erased.inbound,
        others = erased.others,
        in_progress = erased.in_progress,
        "The operator erased a phone number"
    );
    Ok(erased.into())
}

/// Lists rows of the queue that could not be read, the oldest first.
pub async fn list_set_aside(
    gateway: &Gateway,
    query: SetAsideQuery,
) -> Result<Page<SetAsideView>, OperatorRefusal> {
    let limit = Limit::of(query.limit);
    let rows = gateway.store.rows_set_aside().list(query.after.map(|after| after.signed()), limit).await?;
    Ok(Page::new(rows.into_iter().map(SetAsideView::from).collect(), limit))
}

/// Lists changes, the newest first.
pub async fn list_audit_log(
    gateway: &Gateway,
    query: AuditLogQuery,
) -> Result<Page<AuditRowView>, OperatorRefusal> {
    let account = query.account.map(|name| find_account(gateway, &name)).transpose()?;
    let since = query.since.filter(|text| !text.is_empty());
    let since = since.map(|text| time("since", &text, gateway.clock.now())).transpose()?;
    let filter = AuditFilter {
        account,
        by: query.by.unwrap_or_default(),
        action: query.action.unwrap_or_default(),
        since,
    };
    let limit = Limit::of(query.limit);
    let before = query.before.map(u64::from);
    let rows = gateway.store.audit_log(filter, before, limit).await?;
    let views = rows.into_iter().map(|row| {
        let account = row.entry.account.map(|account| account_name(gateway, account));
        AuditRowView::new(row, account)
    });
    Ok(Page::new(views.collect(), limit))
}
