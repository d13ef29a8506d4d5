//! Reads the audit log.

use super::input::time;
use super::{OperatorRefusal, account_name, find_account};
use crate::views::audit_log::{AuditLogQuery, AuditRowView};
use crate::views::paging::{Limit, Page};
use crate::world::World;
use hermod_domain::audit::AuditFilter;

/// Lists changes, the newest first.
pub async fn list_audit_log(
    world: &World,
    query: AuditLogQuery,
) -> Result<Page<AuditRowView>, OperatorRefusal> {
    let account = query.account.map(|name| find_account(world, &name)).transpose()?;
    let since = query.since.filter(|text| !text.is_empty());
    let since = since.map(|text| time("since", &text, world.clock.now())).transpose()?;
    let filter = AuditFilter {
        account,
        by: query.by.unwrap_or_default(),
        action: query.action.unwrap_or_default(),
        since,
    };
    let limit = Limit::of(query.limit);
    let before = query.before.map(u64::from);
    let rows = world.store.audit_log(filter, before, limit).await?;
    let views = rows.into_iter().map(|row| {
        let account = row.entry.account.map(|account| account_name(world, account));
        AuditRowView::new(row, account)
    });
    Ok(Page::new(views.collect(), limit))
}
