//! What the running gateway knows about its surroundings at this moment, for whoever wants to look: how the carriers and
//! links are doing, which customers are bound, and what somebody should look into. Written by the edges, read by routing, metrics and the operator.

mod alarms;
mod bind_figures;
mod binds;
mod carrier_state;
mod carriers;
mod history;
mod link_figures;
mod meter;
mod probes;
mod trace;
mod traffic;

pub use alarms::{Alarm, AlarmKind, Alarms};
pub use bind_figures::{BindFigures, BindShown, BoundAs, NewBind, Order};
pub use binds::{Binds, Full, LiveBind};
pub use carrier_state::{CarrierState, QueueSeen, SLOW_AFTER, Stopped};
pub use carriers::{CarrierBoard, CarrierShown};
pub use history::Recent;
pub use link_figures::{Direction, LastError, LinkFigures, LinkSettings, LinkShown, LinkState};
pub use probes::{Asked, NoProbe, PROBE_WAIT_MAX, Probe, ProbeLine, ProbeReport, ProbeStep, Probes};
pub use trace::{TRACE_LINES_MAX, Trace, TraceLine, Way};
pub use traffic::Traffic;
