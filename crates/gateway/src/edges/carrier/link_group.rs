//! The links of one carrier: what they share (catalogue entry, rate limit, bind turns) and the alarms about the
//! carrier.

use super::backoff::BindTurns;
use super::health::{HealthInputs, health_of, must_stop};
use super::shaper::Shaper;
use super::throttled_recipients::ThrottledRecipients;
use crate::gateway::Gateway;
use crate::live_status::{AlarmKind, CarrierState};
use hermod_domain::carrier::{ErrorClass, Profile};
use hermod_domain::catalogue::Carrier;
use hermod_domain::ids::CarrierId;
use hermod_smpp::CommandStatus;
use metrics::{Counter, counter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// All links of one carrier, for one version of its catalogue entry. A changed entry makes a new group.
pub(super) struct LinkGroup {
    pub(super) gateway: Arc<Gateway>,
    pub(super) state: Arc<CarrierState>,
    pub(super) entry: Carrier,
    pub(super) shaper: Shaper,
    pub(super) limited: ThrottledRecipients,
    pub(super) turns: BindTurns,
    fields_cut: Counter,
    is_cut_logged: AtomicBool,
    is_stalled: AtomicBool,
    /// How many of the carrier's links this node has.
    links_here: AtomicU32,
}

impl LinkGroup {
    pub(super) fn new(gateway: Arc<Gateway>, state: Arc<CarrierState>, entry: Carrier) -> LinkGroup {
        let now = gateway.clock.moment();
        let Carrier { parts_per_second, profile, .. } = &entry;
        let shaper = Shaper::new(*parts_per_second, profile.links, window_of(&entry), now);
        let fields_cut = counter!("hermod_carrier_fields_cut_total", "carrier" => state.name().to_owned());
        let (turns, limited) = (BindTurns::default(), ThrottledRecipients::default());
        let is_cut_logged = AtomicBool::new(false);
        let (is_stalled, links_here) = (AtomicBool::new(false), AtomicU32::new(0));
        LinkGroup {
            gateway,
            state,
            entry,
            shaper,
            limited,
            turns,
            fields_cut,
            is_cut_logged,
            is_stalled,
            links_here,
        }
    }

    /// Counts links of this node, and gives them their share of the carrier's rate.
    pub(super) fn links_here(&self, more: i32) {
        let add = |links: u32| Some(links.saturating_add_signed(more));
        let before = self.links_here.fetch_update(Ordering::AcqRel, Ordering::Acquire, add).unwrap_or(0);
        self.shaper.set_links_here(before.saturating_add_signed(more), self.gateway.clock.moment());
    }

    pub(super) fn id(&self) -> CarrierId {
        self.state.id()
    }

    pub(super) fn name(&self) -> &str {
        self.state.name()
    }

    pub(super) fn profile(&self) -> &Profile {
        &self.entry.profile
    }

    pub(super) fn window(&self) -> u32 {
        window_of(&self.entry)
    }

    /// Returns the parts per second of one link that is not throttled.
    pub(super) fn link_rate(&self) -> u32 {
        let whole = self.entry.parts_per_second;
        self.profile().link_rate.map_or(whole, |own| own.min(whole))
    }

    pub(super) fn raise(&self, kind: AlarmKind, about: &str, detail: &str) {
        self.gateway.alarms.raise(kind, self.name(), about, detail, self.gateway.clock.now());
    }

    pub(super) fn clear(&self, kind: AlarmKind) {
        self.gateway.alarms.clear(kind, self.name());
    }

    /// Counts a deliver_sm field that was too long or unterminated and was therefore cut. Logs the first one only.
    pub(super) fn field_was_cut(&self, field: &'static str) {
        self.fields_cut.increment(1);
        if !self.is_cut_logged.swap(true, Ordering::Relaxed) {
            let carrier = self.name();
            tracing::warn!(
                carrier.name = carrier,
                field,
                "A deliver_sm has a field longer than SMPP allows; it was cut"
            );
        }
    }

    /// Clears the alarms that belong to an earlier version of the carrier's entry.
    pub(super) fn clear_all(gateway: &Gateway, carrier: &str) {
        for kind in [
            AlarmKind::BindRefused,
            AlarmKind::AlreadyBound,
            AlarmKind::BadSettings,
            AlarmKind::CarrierDown,
            AlarmKind::CarrierStalled,
            AlarmKind::CarrierStopped,
            AlarmKind::UnmatchedReceipts,
            AlarmKind::ReceiptsMissing,
        ] {
            gateway.alarms.clear(kind, carrier);
        }
    }

    /// Notes whether the carrier is stalled. Returns whether that is new.
    pub(super) fn set_stalled(&self, is_stalled: bool) -> bool {
        self.is_stalled.swap(is_stalled, Ordering::Relaxed) != is_stalled
    }

    /// Recomputes the carrier's health. To be called when a link was bound or lost, and periodically.
    pub(super) fn update_health(&self) {
        let inputs = HealthInputs {
            stopped: self.state.stopped().is_some(),
            stalled: self.is_stalled.load(Ordering::Relaxed),
            sending_links_bound: self.state.sending_links_bound(),
            slow: self.state.is_slow(self.gateway.clock.now()),
            messages_wait: self.state.queue().waiting > 0,
            recent: self.state.recent(self.gateway.clock.moment()),
        };
        self.state.set_health(health_of(&inputs));
    }

    /// Raises the alarm that a refusal of this class needs, and stops the carrier after too many protocol errors. The
    /// links of a stopped carrier stay bound and its messages wait until the operator resumes it or changes its entry.
    pub(super) fn report_refusal(&self, class: ErrorClass, status: CommandStatus) {
        match class {
            ErrorClass::Unknown => {
                let detail =
                    format!("refused a part with the unknown status {status}: classify it under \"retry\"");
                self.raise(AlarmKind::UnknownStatus, &code(status), &detail);
            }
            ErrorClass::ProtocolError => {
                let detail = format!("rejected a part as a protocol error with {status}");
                self.raise(AlarmKind::ProtocolError, &code(status), &detail);
                let minute = self.state.recent(self.gateway.clock.moment()).minute;
                if must_stop(&minute) {
                    let wrong = minute.refused_as(ErrorClass::ProtocolError);
                    let why = format!(
                        "{wrong} of the last minute's {} responses were protocol errors, the last with {status}",
                        minute.answered()
                    );
                    self.raise(AlarmKind::CarrierStopped, "", &why);
                    self.state.stop(why, self.gateway.clock.now());
                }
            }
            ErrorClass::Throttled
            | ErrorClass::Temporary
            | ErrorClass::NotBound
            | ErrorClass::RejectedRoute
            | ErrorClass::RejectedMessage
            | ErrorClass::RejectedDestination => {}
        }
    }
}

fn window_of(entry: &Carrier) -> u32 {
    u32::from(entry.window.max(1))
}

fn code(status: CommandStatus) -> String {
    format!("{:#x}", status.0)
}
