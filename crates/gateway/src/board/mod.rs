//! The status board: the live state of carriers, links and customer binds, probes, traces and alarms. Written by the
//! edges; read by routing, metrics and the operator.

mod alarms;
mod bind_status;
mod binds;
mod carrier_state;
mod carriers;
mod counters;
mod history;
mod link_status;
mod probes;
mod trace;
mod traffic;

pub use alarms::{Alarm, AlarmKind, Alarms};
pub use bind_status::{BindSnapshot, BindStatus, BoundAs, NewBind, Order};
pub use binds::{Binds, Full, LiveBind};
pub use carrier_state::{CarrierState, QueueStatus, SLOW_AFTER, Stopped};
pub use carriers::{CarrierBoard, CarrierSnapshot};
pub use history::Recent;
pub use link_status::{Direction, LastError, LinkSettings, LinkSnapshot, LinkState, LinkStatus};
pub use probes::{NoProbe, PROBE_WAIT_MAX, Probe, ProbeLine, ProbeReport, ProbeRequest, ProbeStep, Probes};
pub use trace::{PduDirection, TRACE_LINES_MAX, Trace, TraceLine};
pub use traffic::Traffic;
