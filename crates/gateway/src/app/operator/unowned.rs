//! Messages from handsets that are nobody's: who wrote what to which number, and whose they shall be.

use crate::app::operator::refusal::OperatorRefusal;
use crate::app::operator::{account_name, find_account};
use crate::world::World;
use hermod_domain::ids::MessageId;
use hermod_store::{InboundRecord, UnassignedMo};

/// Such a message, with the name of the carrier that brought it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnownedSeen {
    pub carrier: String,
    pub message: UnassignedMo,
}

/// Oldest first, behind one of them.
pub async fn unassigned_inbound(
    world: &World,
    after: Option<MessageId>,
    limit: u32,
) -> Result<Vec<UnownedSeen>, OperatorRefusal> {
    let found = world.store.unassigned_inbound(after, limit).await?;
    let catalogue = world.catalogue();
    let carrier = |message: &UnassignedMo| {
        let known = catalogue.carriers().iter().find(|(id, ..)| *id == message.carrier);
        known.map_or_else(|| message.carrier.to_string(), |(_, name, _)| name.clone())
    };
    Ok(found.into_iter().map(|message| UnownedSeen { carrier: carrier(&message), message }).collect())
}

/// Gives one to an account, which reads it from now on and is told of it. Answers with the account's name.
pub async fn assign_inbound(
    world: &World,
    message: MessageId,
    account: &str,
) -> Result<(String, InboundRecord), OperatorRefusal> {
    let id = find_account(world, account)?;
    let given = world.store.assign_inbound(message, id, world.clock.now()).await?;
    let missing = || OperatorRefusal::NotFound(format!("no unowned message has the id {message}"));
    let record = given.ok_or_else(missing)?;
    tracing::info!(message.id = %message, account.id = %id, "An unowned message was given to an account");
    Ok((account_name(world, id), record))
}
