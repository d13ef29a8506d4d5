//! Verbs about receipts: when they come, what they say, in which words, and over which link.

use std::sync::Arc;
use std::time::Duration;

use super::Script;
use crate::carrier::outcome::{Outcome, ReceiptLink, Receipts};
use crate::carrier::receipt_format::ReceiptFormat;
use crate::carrier::submit_filter::SubmitFilter;

impl Script {
    /// The receipts of every taken message for which no `receipts_when` speaks.
    #[must_use]
    pub fn receipts(mut self, receipts: Receipts) -> Script {
        self.receipts.otherwise = receipts;
        self
    }

    #[must_use]
    pub fn receipts_when(mut self, when: SubmitFilter, receipts: Receipts) -> Script {
        self.receipts.list.push((when, receipts));
        self
    }

    #[must_use]
    pub fn receipt_after(mut self, delay: Duration, outcome: Outcome) -> Script {
        self.receipts.otherwise.outcome = Some((delay, outcome));
        self
    }

    /// The receipt overtakes the answer.
    #[must_use]
    pub fn receipt_before_response(mut self, outcome: Outcome) -> Script {
        self.receipts.otherwise.outcome = Some((Duration::ZERO, outcome));
        self.receipts.otherwise.before_response = true;
        self
    }

    /// The receipt comes at once, and its answer this much later.
    #[must_use]
    pub fn receipt_ahead_of_response(self, by: Duration, outcome: Outcome) -> Script {
        self.receipt_before_response(outcome).delay(by)
    }

    #[must_use]
    pub fn receipt_twice(mut self) -> Script {
        self.receipts.otherwise.copies = 2;
        self
    }

    #[must_use]
    pub fn no_receipts(mut self) -> Script {
        self.receipts.otherwise = Receipts::never();
        self
    }

    /// Receipts carry an id that was never given.
    #[must_use]
    pub fn receipt_unknown_id(mut self) -> Script {
        self.receipts.otherwise.unknown_id = true;
        self
    }

    /// The error code of the last word: `err` in the text, `network_error_code` in the TLVs.
    #[must_use]
    pub fn receipt_error(mut self, code: u16) -> Script {
        self.receipts.otherwise.error_code = code;
        self
    }

    /// An ENROUTE comes before the last word.
    #[must_use]
    pub fn enroute_after(mut self, delay: Duration) -> Script {
        self.receipts.otherwise.enroute_after = Some(delay);
        self
    }

    /// Receipts come over any link but the one their message came on.
    #[must_use]
    pub fn receipts_on_other_link(mut self) -> Script {
        self.receipts.otherwise.way = ReceiptLink::OtherLink;
        self
    }

    /// Receipts wait until the link their message came on has ended.
    #[must_use]
    pub fn receipts_after_reconnect(mut self) -> Script {
        self.receipts.otherwise.way = ReceiptLink::AfterLinkEnds;
        self
    }

    /// A deliver_sm whose body ends too early goes before each receipt.
    #[must_use]
    pub fn malformed_before_receipts(mut self) -> Script {
        self.receipts.otherwise.malformed_first = true;
        self
    }

    /// How receipts are written where no `receipt_format_when` speaks.
    #[must_use]
    pub fn receipt_format(mut self, wording: ReceiptFormat) -> Script {
        self.wordings.otherwise = Arc::new(wording);
        self
    }

    #[must_use]
    pub fn receipt_format_when(mut self, when: SubmitFilter, wording: ReceiptFormat) -> Script {
        self.wordings.list.push((when, Arc::new(wording)));
        self
    }
}
