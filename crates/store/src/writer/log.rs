//! Log lines about a batch, written after its commit.

use crate::error::StoreError;
use hermod_domain::ids::CarrierId;
use hermod_engine::batch::ForbiddenEvent;
use hermod_engine::maps::HashMap;
use hermod_engine::steps::MessageStep;
use hermod_engine::tables::{StoredMessageKey, UnreadablePart, UnreadableReport};

/// Logs the parts that were set aside.
pub(crate) fn log_set_aside(unreadable: &[UnreadablePart]) {
    for UnreadablePart { key: StoredMessageKey { carrier, account, message }, reason } in unreadable {
        tracing::error!(
            carrier,
            account,
            message,
            reason,
            "A row is unreadable and was set aside; list it with: hermod set-aside list"
        );
    }
}

/// Logs events that the lifecycle forbids.
pub(crate) fn log_forbidden(events: &[ForbiddenEvent]) {
    for ForbiddenEvent { message, part, event, before } in events {
        tracing::error!(message.id = %message, %part, ?event, ?before, "An event was ignored that the lifecycle forbids in this state");
    }
}

/// Logs reports that cannot be read.
pub(crate) fn log_unreadable_reports(reports: Vec<UnreadableReport>) {
    for UnreadableReport { connection, report, error } in reports {
        let error = StoreError::from(error);
        tracing::error!(%error, report.id = report.0, connection.id = %connection, "A report cannot be read; it is neither moved to a webhook nor listed as given up");
    }
}

/// Logs how many MO messages were dropped because the operator blocks their handsets.
pub(crate) fn log_blocked_mo(blocked: &HashMap<CarrierId, u64>) {
    for (carrier, messages) in blocked {
        tracing::info!(carrier.id = %carrier, messages, "MO messages from blocked numbers were accepted and dropped");
    }
}

/// Logs the steps of messages, if target `hermod::steps` is enabled at TRACE.
pub(crate) fn log_steps(steps: &[MessageStep]) {
    if steps.is_empty() || !tracing::enabled!(target: "hermod::steps", tracing::Level::TRACE) {
        return;
    }
    for MessageStep { id, message, part, at, kind } in steps {
        tracing::trace!(
            target: "hermod::steps",
            step = ?kind,
            step.id = id.0,
            message.id = %message,
            %part,
            %at,
            "A step of a message"
        );
    }
}
