//! Reads the audit log.

use super::{OperatorRefusal, account_name, find_account};
use crate::views::audit_log::{AuditLogQuery, AuditRowView};
use crate::views::paging::{Limit, Page};
use crate::world::World;

/// Lists changes, the newest first.
pub async fn list_audit_log(
    world: &World,
    query: AuditLogQuery,
) -> Result<Page<AuditRowView>, OperatorRefusal> {
    let account = query.account.map(|name| find_account(world, &name)).transpose()?;
    let limit = Limit::of(query.limit);
    let before = query.before.map(u64::from);
    let rows = world.store.audit_log(account, before, limit).await?;
    let views = rows.into_iter().map(|row| {
        let account = row.entry.account.map(|account| account_name(world, account));
        AuditRowView::new(row, account)
    });
    Ok(Page::new(views.collect(), limit))
}
