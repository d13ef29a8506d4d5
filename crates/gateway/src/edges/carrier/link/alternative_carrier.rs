//! Who else could take a message that a carrier did not want.

use super::Sent;
use crate::edges::carrier::link_group::Account;
use hermod_domain::carrier::ErrorClass;
use hermod_domain::numbers::Numbers;
use hermod_domain::route::Sending;
use hermod_store::TargetCarrier;

/// By the routes and the carriers' healths of the moment; nothing where another would say the same, or none is there.
/// Whether and when the message goes there is the store's business: only while no carrier has anything of it.
pub(in crate::edges::carrier) fn otherwise(
    account: &Account,
    sent: &Sent,
    class: ErrorClass,
) -> Option<TargetCarrier> {
    let put_off = match class {
        ErrorClass::Throttled | ErrorClass::Temporary | ErrorClass::NotBound => true,
        ErrorClass::RejectedRoute
        | ErrorClass::RejectedMessage
        | ErrorClass::RejectedDestination
        | ErrorClass::ProtocolError
        | ErrorClass::Unknown => false,
    };
    if !put_off && !class.another_might() {
        return None;
    }
    let world = &account.world;
    let catalogue = world.catalogue();
    let Sent { account: customer, from, to, .. } = sent;
    let sending = Sending { account: *customer, from, to: *to, destination: Numbers::embedded().find(*to) };
    let (_, route) = catalogue.routes().serving(&sending)?;
    let health = |carrier| world.carriers.health(carrier);
    let carrier = if put_off {
        route.instead_of(account.id(), *to, &health)
    } else {
        route.after_refusal_by(account.id(), *to, &health)
    }?;
    let whole = catalogue.carrier(carrier).is_some_and(|entry| entry.profile.takes_whole_messages());
    Some(TargetCarrier { carrier, whole })
}
