//! Finds another carrier for a message that a carrier rejected or deferred.

use super::SentPart;
use crate::app::target;
use crate::edges::carrier::link_group::LinkGroup;
use hermod_domain::carrier::ErrorClass;
use hermod_domain::message_costs::AcceptedMessage;
use hermod_domain::route::Occasion;
use hermod_store::TargetCarrier;

/// Returns the next carrier of the message's route, by the current routes and health; `None` if another carrier would
/// reject it too, or there is none. The store decides whether to move the message: only while no carrier has accepted
/// any part.
pub(in crate::edges::carrier) fn alternative_carrier(
    group: &LinkGroup,
    sent: &SentPart,
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
    if !put_off && !class.may_fail_over() {
        return None;
    }
    let gateway = &group.gateway;
    let catalogue = gateway.catalogue();
    let carriers = &gateway.carriers;
    let SentPart { account, ref from, to, parts, price, .. } = *sent;
    let message = AcceptedMessage { account, from, to, price, parts };
    let ranking = message.rank_carriers(&catalogue, Occasion::Failover, carriers, gateway.clock.now())?;
    let carrier = if put_off {
        ranking.alternative_to(group.id(), carriers)
    } else {
        ranking.next_after_rejection(group.id(), carriers)
    }?;
    Some(target(&catalogue, carrier, &message.query(), gateway.clock.now()))
}
