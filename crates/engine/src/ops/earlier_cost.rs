//! What carriers can bill of a message that moved to another carrier.

use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::ids::{CarrierId, MessageId};
use serde::{Deserialize, Serialize};

/// What a carrier that a message has left can bill. Only messages that were sent without a response before they moved have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierCost {
    pub message: MessageId,
    /// 1 for the first such move of the message, and so on.
    pub no: u16,
    pub carrier: CarrierId,
    /// The `submit_sm` without a response that this carrier got.
    pub submitted: u16,
    /// The submissions without a response of all parts, as they were after the move. A later carrier does not bill them.
    pub doubts: u16,
    /// What the carrier was believed to ask; none if that is not known.
    pub cost: Option<BelievedCost>,
}
