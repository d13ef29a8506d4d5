//! The live state of carriers, links and customer binds, probes, traces and alarms. Written by the
//! edges; read by routing, metrics and the operator.

mod account_traffic;
mod alarm_kind;
mod alarms;
mod bind_status;
mod binds;
mod carrier_state;
mod carriers;
mod counters;
mod credit_rejections;
mod history;
mod inbound_polls;
mod inbox;
mod key_uses;
mod link_status;
mod losses;
mod mail;
mod node_queries;
mod probes;
mod request_log;
mod slots;
mod trace;
mod traffic;
mod watched;
mod webhook_posting;
mod webhook_tests;

pub use account_traffic::{AccountTraffic, SubmittedMessages};
pub use alarm_kind::{AlarmKind, Severity};
pub use alarms::{Alarm, AlarmKey, Alarms};
pub use bind_status::{BindSnapshot, BindStatus, NewBind, Order};
pub use binds::{Binds, Full, LiveBind};
pub use carrier_state::{CarrierState, LATELY, QueueStatus, SLOW_AFTER, Stopped};
pub use carriers::{CarrierSnapshot, LiveCarriers, SendingCarrier};
pub use credit_rejections::{CreditRejection, CreditRejections};
pub use history::Recent;
pub use inbound_polls::InboundPolls;
pub use key_uses::{KeyUse, KeyUses};
pub use link_status::{Direction, LastError, LinkSettings, LinkSnapshot, LinkState, LinkStatus};
pub use losses::{LossMaking, Losses};
pub use mail::{Mail, MailQueue, MailQueueFull};
pub use node_queries::{NodeAnswer, PendingQueries, PendingQuery};
pub use probes::{NoProbe, PROBE_WAIT_MAX, Probe, ProbeLine, ProbeReport, ProbeRequest, ProbeStep, Probes};
pub use request_log::RequestLog;
pub use slots::{EXPORTS_MAX, FEEDS_MAX, NoSlot, Slot, Slots};
pub use trace::{PduDirection, TRACE_LINES_MAX, Trace, TraceLine};
pub use traffic::Traffic;
pub use watched::WatchedControls;
pub use webhook_posting::{
    EndedPosting, Failing, PostingMessage, PostingNotice, PostingOrder, WebhookPosting,
};
pub use webhook_tests::{NoTest, TestEvent, TestReport, TestRequest, WebhookTests};
