//! Script methods for receipts: when they are sent, what they say, how they are written, and over which link. Script methods
//! for MO replies of recipients.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use super::Script;
use crate::carrier::outcome::{Outcome, ReceiptLink, Receipts};
use crate::carrier::receipt_format::ReceiptFormat;
use crate::carrier::submit_filter::SubmitFilter;
use crate::duration::deserialize_duration;

builders! { Script
    /// Sets the receipts of accepted messages for which no rule of `receipts_when` matches.
    receipts(receipts: Receipts) = set receipts.default(receipts);
    receipts_when(when: SubmitFilter, receipts: Receipts) = add receipts(when, receipts);
    /// Sets the time from the response to the final receipt.
    receipt_delay(delay: Duration) = set receipts.default.after(delay);
    receipt_twice() = set receipts.default.copies(2);
    no_receipts() = call receipts(Receipts::never());
    /// Writes ids into receipts that no response contained.
    receipt_unknown_id() = set receipts.default.unknown_id(true);
    /// Sets the error code of final receipts: `err` in the text, `network_error_code` in the TLVs.
    receipt_error(code: u16) = set receipts.default.error_code(code);
    /// Sends an ENROUTE receipt before the final one.
    enroute_after(delay: Duration) = set receipts.default.enroute_after(Some(delay));
    /// Sends receipts over any link except the one of the submit.
    receipts_on_other_link() = set receipts.default.via(ReceiptLink::OtherLink);
    /// Sends receipts only after the link of the submit has ended.
    receipts_after_reconnect() = set receipts.default.via(ReceiptLink::AfterLinkEnds);
    /// Sends a truncated deliver_sm before each receipt.
    malformed_before_receipts() = set receipts.default.malformed_first(true);
    /// Sets how receipts are written where no rule of `receipt_format_when` matches.
    receipt_format(format: ReceiptFormat) = set receipt_format.default(Arc::new(format));
    receipt_format_when(when: SubmitFilter, format: ReceiptFormat) = add receipt_format(when, Arc::new(format));
    /// Replies to each accepted message that matches; once per message, also where it has several parts.
    reply_when(when: SubmitFilter, after: Duration, text: &str) =
        add replies(when, Some(MoReply { after, text: text.to_owned() }));
    /// Sends replies to messages with an alphanumeric sender to this number, because a handset cannot reply to a name.
    reply_number_for_names(number: &str) = set reply_number_for_names(Some(number.to_owned()));
}

impl Script {
    #[must_use]
    pub fn receipt_after(mut self, delay: Duration, outcome: Outcome) -> Script {
        self.receipts.default.outcome = Some(outcome);
        self.receipt_delay(delay)
    }

    /// Sends the receipt before the response.
    #[must_use]
    pub fn receipt_before_response(mut self, outcome: Outcome) -> Script {
        self.receipts.default.before_response = true;
        self.receipt_after(Duration::ZERO, outcome)
    }

    /// Sends the receipt at once and the response this much later.
    #[must_use]
    pub fn receipt_ahead_of_response(self, by: Duration, outcome: Outcome) -> Script {
        self.receipt_before_response(outcome).delay(by)
    }
}

/// A text that the recipient sends to the sender of a message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoReply {
    /// Time from the response to the submit.
    #[serde(deserialize_with = "deserialize_duration")]
    pub after: Duration,
    pub text: String,
}
