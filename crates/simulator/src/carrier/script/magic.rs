//! Magic numbers: destinations with a fixed outcome, for trying each outcome without a special script.

use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::{Script, SubmitAction};
use crate::carrier::outcome::{Outcome, Receipts};
use crate::carrier::submit_filter::SubmitFilter;

/// The error code of an absent subscriber in a receipt.
const ABSENT: u16 = 1;
/// Time until the receipt of a delayed message.
const DELAY: Duration = Duration::from_secs(10);

/// A destination, identified by the last digits of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MagicNumber {
    /// Seven digits, so that ordinary numbers hardly ever match.
    pub ending: &'static str,
    /// What happens to a message to this destination.
    pub outcome: &'static str,
}

const fn magic(ending: &'static str, outcome: &'static str) -> MagicNumber {
    MagicNumber { ending, outcome }
}

const UNDELIVERABLE: MagicNumber = magic("5550101", "undeliverable: the receipt says UNDELIV, error 001");
const REJECTED: MagicNumber = magic("5550102", "rejected by the carrier with 0x0B (invalid destination)");
const THROTTLED: MagicNumber = magic("5550103", "throttled twice (0x58), then delivered");
const RETRIED: MagicNumber =
    magic("5550104", "a temporary error (0x08) first, delivered by the retry after 5 s");
const DELAYED: MagicNumber = magic("5550105", "enroute at once, delivered after 10 s");
const EXPIRED: MagicNumber = magic("5550106", "expired: the receipt says EXPIRED");
const SILENT: MagicNumber = magic("5550107", "no receipt ever comes: it stays submitted");
const REPLIES: MagicNumber = magic("5550108", "delivered, and the phone replies \"Yes\"");
const STOPS: MagicNumber = magic("5550109", "delivered, and the phone replies \"STOP\": it has opted out");

/// All magic numbers, ordered by their endings.
pub const MAGIC_NUMBERS: [MagicNumber; 9] =
    [UNDELIVERABLE, REJECTED, THROTTLED, RETRIED, DELAYED, EXPIRED, SILENT, REPLIES, STOPS];

impl Script {
    /// Adds the rules for [`MAGIC_NUMBERS`]. Receipts and replies are sent `after` the response.
    #[must_use]
    pub fn magic_numbers(self, after: Duration) -> Script {
        let to = |number: MagicNumber| SubmitFilter::to_ending(number.ending);
        let failed = Receipts { error_code: ABSENT, ..Receipts::after(after, Outcome::Undeliverable) };
        let delayed =
            Receipts { enroute_after: Some(Duration::ZERO), ..Receipts::after(DELAY, Outcome::Delivered) };
        self.rule(to(REJECTED), SubmitAction::Reject(CommandStatus::INVDSTADR))
            .rule(to(THROTTLED).only_burst(2, 3), SubmitAction::Reject(CommandStatus::THROTTLED))
            .rule(to(RETRIED).only_burst(1, 2), SubmitAction::Reject(CommandStatus::SYSERR))
            .receipts_when(to(UNDELIVERABLE), failed)
            .receipts_when(to(DELAYED), delayed)
            .receipts_when(to(EXPIRED), Receipts::after(after, Outcome::Expired))
            .receipts_when(to(SILENT), Receipts::never())
            .reply_when(to(REPLIES), after, "Yes")
            .reply_when(to(STOPS), after, "STOP")
    }
}

#[cfg(test)]
#[path = "magic_tests.rs"]
mod tests;
