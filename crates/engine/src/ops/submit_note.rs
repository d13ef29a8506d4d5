//! What the record keeps of a submission besides the message.

use hermod_domain::ids::RouteId;
use hermod_domain::route::CarrierChoice;
use serde::{Deserialize, Serialize};

/// Facts about a submission that only the record needs: no decision reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmitNote {
    /// The id of the HTTP request; none over SMPP.
    pub request: Option<Box<str>>,
    pub route: Option<RouteId>,
    /// Why the route chose its carrier.
    pub choice: CarrierChoice,
    /// The parts that the customer is charged for, if they differ from those that are sent.
    pub charged_parts: Option<u8>,
}
