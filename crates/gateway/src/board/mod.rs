//! What the running gateway knows about its surroundings at this moment, for whoever wants to look: how the carriers and
//! links are doing, and what somebody should look into. Written by the edges, read by routing, metrics and the operator.

mod alarms;
mod carriers;

pub use alarms::{Alarm, AlarmKind, Alarms};
pub use carriers::CarrierBoard;
