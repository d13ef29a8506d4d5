//! Erasing one phone number on request of the person it belongs to.

use super::find_account;
use crate::app::operator::OperatorRefusal;
use crate::world::World;
use hermod_domain::phone::Msisdn;
use hermod_store::Erased;

/// Erases a number in everything that has ended, of one account or of all.
pub async fn erase_number(
    world: &World,
    number: Msisdn,
    account: Option<&str>,
) -> Result<Erased, OperatorRefusal> {
    let account = account.map(|name| find_account(world, name)).transpose()?;
    let erased = world.store.erase_number(number, account).await?;
    // Without the number: it is to be forgotten.
    tracing::info!(
        messages = erased.messages,
        inbound = erased.inbound,
        others = erased.others,
        in_progress = erased.in_progress,
        "A number was erased by the operator"
    );
    Ok(erased)
}
