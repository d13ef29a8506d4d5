//! Script methods for responses to submits: rejection, loss, delay, format and ids.

use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::{Script, SubmitAction};
use crate::carrier::ids::{IdFormat, IdStyle};
use crate::carrier::response_quirk::ResponseQuirk;
use crate::carrier::submit_filter::SubmitFilter;
use crate::carrier::text::CodingZeroAlphabet;

/// Digits of zero-filled ids: as many as the largest 64-bit number has.
const ZERO_FILLED: u8 = 20;

impl Script {
    /// Adds a rule for submits; most methods below are shorthand for this one.
    #[must_use]
    pub fn rule(mut self, when: SubmitFilter, action: SubmitAction) -> Script {
        self.responses.add(when, action);
        self
    }

    /// Rejects the first `count` submits with 0x58.
    #[must_use]
    pub fn throttle(self, count: u64) -> Script {
        self.reject_first(count, CommandStatus::THROTTLED)
    }

    #[must_use]
    pub fn throttle_every(self, k: u64) -> Script {
        self.reject_when(SubmitFilter::every(k), CommandStatus::THROTTLED)
    }

    /// Rejects the first `count` of every `of` submits with 0x58.
    #[must_use]
    pub fn throttle_bursts(self, count: u64, of: u64) -> Script {
        self.reject_when(SubmitFilter::burst(count, of), CommandStatus::THROTTLED)
    }

    /// Rejects everything with 0x58 for this long from the start of the script.
    #[must_use]
    pub fn throttle_for(self, time: Duration) -> Script {
        self.reject_for(time, CommandStatus::THROTTLED)
    }

    /// Rejects the first `count` submits with 0x14 (message queue full).
    #[must_use]
    pub fn queue_full(self, count: u64) -> Script {
        self.reject_first(count, CommandStatus::MSGQFUL)
    }

    #[must_use]
    pub fn reject_first(self, count: u64, status: CommandStatus) -> Script {
        self.reject_when(SubmitFilter::first(count), status)
    }

    #[must_use]
    pub fn reject_when(self, when: SubmitFilter, status: CommandStatus) -> Script {
        self.rule(when, SubmitAction::Reject(status))
    }

    /// Rejects everything for this long from the start of the script.
    #[must_use]
    pub fn reject_for(self, time: Duration, status: CommandStatus) -> Script {
        self.reject_when(SubmitFilter::during(Duration::ZERO, time), status)
    }

    /// Responds to the first `count` submits with a generic_nack.
    #[must_use]
    pub fn nack_first(self, count: u64, status: CommandStatus) -> Script {
        self.rule(SubmitFilter::first(count), SubmitAction::Nack(status))
    }

    /// Sends no response to the first `count` submits and forgets them.
    #[must_use]
    pub fn ignore_first(self, count: u64) -> Script {
        self.rule(SubmitFilter::first(count), SubmitAction::Ignore)
    }

    #[must_use]
    pub fn ignore_every(self, k: u64) -> Script {
        self.rule(SubmitFilter::every(k), SubmitAction::Ignore)
    }

    /// Accepts and delivers the first `count` messages without sending their responses.
    #[must_use]
    pub fn lose_responses(self, count: u64) -> Script {
        self.rule(SubmitFilter::first(count), SubmitAction::LoseResponse)
    }

    /// Delays every response, rejections included.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Script {
        self.response_delay.default = delay;
        self
    }

    #[must_use]
    pub fn delay_when(mut self, when: SubmitFilter, delay: Duration) -> Script {
        self.response_delay.add(when, delay);
        self
    }

    /// Adds a random delay up to `within` to each response.
    #[must_use]
    pub fn responses_out_of_order(mut self, within: Duration) -> Script {
        self.response_spread = within;
        self
    }

    /// Adds a rule for the format of responses; the methods below are shorthand for this one.
    #[must_use]
    pub fn quirk(mut self, when: SubmitFilter, quirk: ResponseQuirk) -> Script {
        self.response_quirks.add(when, quirk);
        self
    }

    /// Sends success responses to the first `count` submits as a header without a body, so without an id.
    #[must_use]
    pub fn responses_without_id(self, count: u64) -> Script {
        self.quirk(SubmitFilter::first(count), ResponseQuirk::NoBody)
    }

    /// Sends success responses to the first `count` submits with an empty id.
    #[must_use]
    pub fn responses_with_empty_id(self, count: u64) -> Script {
        self.quirk(SubmitFilter::first(count), ResponseQuirk::EmptyId)
    }

    /// Sends success responses to the first `count` submits with an id longer than SMPP allows.
    #[must_use]
    pub fn responses_with_long_id(self, count: u64) -> Script {
        self.quirk(SubmitFilter::first(count), ResponseQuirk::LongId)
    }

    #[must_use]
    pub fn unknown_tlvs_in_responses(self) -> Script {
        self.quirk(SubmitFilter::always(), ResponseQuirk::UnknownTlv)
    }

    #[must_use]
    pub fn trailing_octets_in_responses(self) -> Script {
        self.quirk(SubmitFilter::always(), ResponseQuirk::TrailingOctets)
    }

    #[must_use]
    pub fn bodies_in_error_responses(self) -> Script {
        self.quirk(SubmitFilter::always(), ResponseQuirk::BodyOnError)
    }

    #[must_use]
    pub fn ids(mut self, ids: IdFormat) -> Script {
        self.ids = ids;
        self
    }

    /// Writes ids in one style in responses and in another in receipts.
    #[must_use]
    pub fn id_styles(self, response: IdStyle, receipt: IdStyle) -> Script {
        self.ids(IdFormat::each(response, receipt))
    }

    #[must_use]
    pub fn hex_ids_decimal_in_receipts(self) -> Script {
        self.id_styles(IdStyle::UpperHex, IdStyle::Decimal)
    }

    #[must_use]
    pub fn decimal_ids_hex_in_receipts(self) -> Script {
        self.id_styles(IdStyle::Decimal, IdStyle::UpperHex)
    }

    /// Upper-case hex in responses, lower-case in receipts.
    #[must_use]
    pub fn ids_lowered_in_receipts(self) -> Script {
        self.id_styles(IdStyle::UpperHex, IdStyle::Hex)
    }

    /// Lower-case hex in responses, upper-case in receipts.
    #[must_use]
    pub fn ids_raised_in_receipts(self) -> Script {
        self.id_styles(IdStyle::Hex, IdStyle::UpperHex)
    }

    /// Leading zeros in responses but not in receipts.
    #[must_use]
    pub fn zeros_stripped_in_receipts(self) -> Script {
        self.id_styles(IdStyle::ZeroDecimal(ZERO_FILLED), IdStyle::Decimal)
    }

    /// Leading zeros in receipts but not in responses.
    #[must_use]
    pub fn zeros_added_in_receipts(self) -> Script {
        self.id_styles(IdStyle::Decimal, IdStyle::ZeroDecimal(ZERO_FILLED))
    }

    /// UUIDs, lower-case in responses and upper-case in receipts.
    #[must_use]
    pub fn uuid_ids_raised_in_receipts(self) -> Script {
        self.id_styles(IdStyle::Uuid, IdStyle::UpperUuid)
    }

    /// Sets the prefix of every id.
    #[must_use]
    pub fn id_prefix(mut self, prefix: &str) -> Script {
        prefix.clone_into(&mut self.ids.prefix);
        self
    }

    /// Sets how data_coding 0 is decoded.
    #[must_use]
    pub fn default_alphabet(mut self, alphabet: CodingZeroAlphabet) -> Script {
        self.default_alphabet = alphabet;
        self
    }

    /// Throttles submits beyond this many without a response on one link.
    #[must_use]
    pub fn window_max(mut self, submits: u32) -> Script {
        self.window_max = Some(submits);
        self
    }

    /// Throttles submits (parts) beyond this many in any second, over all links.
    #[must_use]
    pub fn rate_max(mut self, submits: u32) -> Script {
        self.rate_max = Some(submits);
        self
    }
}
