//! The body of a webhook event's posts.

use hermod_domain::numbers::Numbers;
use hermod_domain::receipt::ErrCode;
use hermod_domain::webhook::payload::{self, DlrPayload, InboundPayload};
use hermod_store::{DlrEvent, InboundRecord, WebhookContent};

/// Returns the JSON that is posted.
pub fn webhook_body(content: &WebhookContent) -> String {
    match content {
        WebhookContent::Dlr(event) => {
            let DlrEvent { message, connection: _, from, to, status, state, err, submitted_at, at, form } =
                event;
            let report = DlrPayload {
                message: *message,
                from,
                to: *to,
                status: *status,
                state: *state,
                err: ErrCode::new(*err),
                submitted_at: *submitted_at,
                at: *at,
            };
            payload::dlr(&report, *form, &Numbers::embedded().find(*to))
        }
        WebhookContent::Inbound(record) => {
            let InboundRecord { id: _, message: _, from, to, text, received_at } = record;
            payload::inbound(&InboundPayload { from, to, text, received_at: *received_at })
        }
    }
}
