//! Customers that are bound at this moment, and ending a bind.

use crate::app::operator::refusal::OperatorRefusal;
use crate::app::operator::{account_name, find_account};
use crate::board::{BindShown, Order};
use crate::world::World;

/// Which binds are asked for; all of them where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindsAsked {
    pub system_id: Option<String>,
    pub account: Option<String>,
}

/// A bind, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindSeen {
    pub account: String,
    /// Receipts for its connection that wait, on whichever bind they go out.
    pub receipts_waiting: u64,
    pub shown: BindShown,
}

/// In the order in which they came.
pub async fn binds_seen(world: &World, asked: &BindsAsked) -> Result<Vec<BindSeen>, OperatorRefusal> {
    let account = asked.account.as_deref().map(|name| find_account(world, name)).transpose()?;
    let shown = world.binds.show(world.clock.moment()).into_iter();
    let wanted = shown.filter(|bind| {
        account.is_none_or(|account| bind.account == account)
            && asked.system_id.as_deref().is_none_or(|system_id| *bind.system_id == *system_id)
    });
    let mut seen = Vec::new();
    for shown in wanted {
        let receipts_waiting = world.store.reports_waiting(shown.connection).await?;
        seen.push(BindSeen { account: account_name(world, shown.account), receipts_waiting, shown });
    }
    Ok(seen)
}

/// Says goodbye to a bind. Its customer may bind again at once; who should not is closed.
pub fn unbind(world: &World, number: u64) -> Result<(), OperatorRefusal> {
    let bind = world.binds.find(number);
    let bind = bind.ok_or_else(|| OperatorRefusal::no_such("bind", &number.to_string()))?;
    bind.order(Order::Unbind);
    tracing::info!(system_id = %bind.system_id(), peer = %bind.peer(), bind = number, "Unbound by the operator");
    Ok(())
}
