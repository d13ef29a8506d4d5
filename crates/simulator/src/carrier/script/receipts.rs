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

impl Script {
    /// Sets the receipts of accepted messages for which no rule of `receipts_when` matches.
    #[must_use]
    pub fn receipts(mut self, receipts: Receipts) -> Script {
        self.receipts.default = receipts;
        self
    }

    #[must_use]
    pub fn receipts_when(mut self, when: SubmitFilter, receipts: Receipts) -> Script {
        self.receipts.add(when, receipts);
        self
    }

    #[must_use]
    pub fn receipt_after(mut self, delay: Duration, outcome: Outcome) -> Script {
        self.receipts.default.outcome = Some(outcome);
        self.receipt_delay(delay)
    }

    /// Sets the time from the response to the final receipt.
    #[must_use]
    pub fn receipt_delay(mut self, delay: Duration) -> Script {
        self.receipts.default.after = delay;
        self
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

    #[must_use]
    pub fn receipt_twice(mut self) -> Script {
        self.receipts.default.copies = 2;
        self
    }

    #[must_use]
    pub fn no_receipts(self) -> Script {
        self.receipts(Receipts::never())
    }

    /// Writes ids into receipts that no response contained.
    #[must_use]
    pub fn receipt_unknown_id(mut self) -> Script {
        self.receipts.default.unknown_id = true;
        self
    }

    /// Sets the error code of final receipts: `err` in the text, `network_error_code` in the TLVs.
    #[must_use]
    pub fn receipt_error(mut self, code: u16) -> Script {
        self.receipts.default.error_code = code;
        self
    }

    /// Sends an ENROUTE receipt before the final one.
    #[must_use]
    pub fn enroute_after(mut self, delay: Duration) -> Script {
        self.receipts.default.enroute_after = Some(delay);
        self
    }

    /// Sends receipts over any link except the one of the submit.
    #[must_use]
    pub fn receipts_on_other_link(mut self) -> Script {
        self.receipts.default.via = ReceiptLink::OtherLink;
        self
    }

    /// Sends receipts only after the link of the submit has ended.
    #[must_use]
    pub fn receipts_after_reconnect(mut self) -> Script {
        self.receipts.default.via = ReceiptLink::AfterLinkEnds;
        self
    }

    /// Sends a truncated deliver_sm before each receipt.
    #[must_use]
    pub fn malformed_before_receipts(mut self) -> Script {
        self.receipts.default.malformed_first = true;
        self
    }

    /// Sets how receipts are written where no rule of `receipt_format_when` matches.
    #[must_use]
    pub fn receipt_format(mut self, format: ReceiptFormat) -> Script {
        self.receipt_format.default = Arc::new(format);
        self
    }

    #[must_use]
    pub fn receipt_format_when(mut self, when: SubmitFilter, format: ReceiptFormat) -> Script {
        self.receipt_format.add(when, Arc::new(format));
        self
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

impl Script {
    /// Replies to each accepted message that matches; once per message, also where it has several parts.
    #[must_use]
    pub fn reply_when(mut self, when: SubmitFilter, after: Duration, text: &str) -> Script {
        self.replies.add(when, Some(MoReply { after, text: text.to_owned() }));
        self
    }

    /// Sends replies to messages with an alphanumeric sender to this number, because a handset cannot reply to a name.
    #[must_use]
    pub fn reply_number_for_names(mut self, number: &str) -> Script {
        self.reply_number_for_names = Some(number.to_owned());
        self
    }
}
