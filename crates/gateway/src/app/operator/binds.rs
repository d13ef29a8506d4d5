//! Customers' binds, and unbinding one.

use super::{OperatorRefusal, account_name, find_account};
use crate::author::Acting;
use crate::board::Order;
use crate::views::binds::{BindView, BindsQuery, BindsView, UnbindView};
use crate::world::World;
use serde_json::json;

/// Lists live binds, the oldest first.
pub async fn list_binds(world: &World, query: &BindsQuery) -> Result<BindsView, OperatorRefusal> {
    let account = query.account.as_deref().map(|name| find_account(world, name)).transpose()?;
    let binds = world.binds.show(world.clock.moment()).into_iter();
    let wanted = binds.filter(|bind| {
        account.is_none_or(|account| bind.account == account)
            && query.system_id.as_deref().is_none_or(|system_id| *bind.system_id == *system_id)
    });
    let now = world.clock.now();
    let mut items = Vec::new();
    for bind in wanted {
        let receipts_waiting = world.store.reports_waiting(bind.connection).await?;
        let account = account_name(world, bind.account);
        items.push(BindView::new(bind, account, receipts_waiting, now));
    }
    Ok(BindsView { at: now.to_iso(), items })
}

/// Sends unbind to a customer, which may bind again at once.
pub async fn unbind(world: &Acting, number: &str) -> Result<UnbindView, OperatorRefusal> {
    let bind = number.parse().ok().and_then(|number| world.binds.find(number));
    let bind = bind.ok_or_else(|| OperatorRefusal::no_such("bind", number))?;
    let detail = json!({ "system_id": bind.system_id().to_string(), "peer": bind.peer().to_string() });
    world.audited(None, "bind.unbind", number, &detail).note_in_audit_log().await?;
    bind.order(Order::Unbind);
    tracing::info!(system_id = %bind.system_id(), peer = %bind.peer(), bind = bind.number(), "Unbound by the operator");
    Ok(UnbindView { bind: bind.number() })
}
