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

builders! { Script
    /// Adds a rule for submits; most methods below are shorthand for this one.
    rule(when: SubmitFilter, action: SubmitAction) = add responses(when, action);
    /// Rejects the first `count` submits with 0x58.
    throttle(count: u64) = call reject_first(count, CommandStatus::THROTTLED);
    throttle_every(k: u64) = call reject_when(SubmitFilter::every(k), CommandStatus::THROTTLED);
    /// Rejects the first `count` of every `of` submits with 0x58.
    throttle_bursts(count: u64, of: u64) = call reject_when(SubmitFilter::burst(count, of), CommandStatus::THROTTLED);
    /// Rejects everything with 0x58 for this long from the start of the script.
    throttle_for(time: Duration) = call reject_for(time, CommandStatus::THROTTLED);
    /// Rejects the first `count` submits with 0x14 (message queue full).
    queue_full(count: u64) = call reject_first(count, CommandStatus::MSGQFUL);
    reject_first(count: u64, status: CommandStatus) = call reject_when(SubmitFilter::first(count), status);
    reject_when(when: SubmitFilter, status: CommandStatus) = call rule(when, SubmitAction::Reject(status));
    /// Rejects everything for this long from the start of the script.
    reject_for(time: Duration, status: CommandStatus) =
        call reject_when(SubmitFilter::during(Duration::ZERO, time), status);
    /// Responds to the first `count` submits with a generic_nack.
    nack_first(count: u64, status: CommandStatus) = call rule(SubmitFilter::first(count), SubmitAction::Nack(status));
    /// Sends no response to the first `count` submits and forgets them.
    ignore_first(count: u64) = call rule(SubmitFilter::first(count), SubmitAction::Ignore);
    ignore_every(k: u64) = call rule(SubmitFilter::every(k), SubmitAction::Ignore);
    /// Accepts and delivers the first `count` messages without sending their responses.
    lose_responses(count: u64) = call rule(SubmitFilter::first(count), SubmitAction::LoseResponse);
    /// Delays every response, rejections included.
    delay(delay: Duration) = set response_delay.default(delay);
    delay_when(when: SubmitFilter, delay: Duration) = add response_delay(when, delay);
    /// Adds a random delay up to `within` to each response.
    responses_out_of_order(within: Duration) = set response_spread(within);
    /// Adds a rule for the format of responses; the methods below are shorthand for this one.
    quirk(when: SubmitFilter, quirk: ResponseQuirk) = add response_quirks(when, quirk);
    /// Sends success responses to the first `count` submits as a header without a body, so without an id.
    responses_without_id(count: u64) = call quirk(SubmitFilter::first(count), ResponseQuirk::NoBody);
    /// Sends success responses to the first `count` submits with an empty id.
    responses_with_empty_id(count: u64) = call quirk(SubmitFilter::first(count), ResponseQuirk::EmptyId);
    /// Sends success responses to the first `count` submits with an id longer than SMPP allows.
    responses_with_long_id(count: u64) = call quirk(SubmitFilter::first(count), ResponseQuirk::LongId);
    unknown_tlvs_in_responses() = call quirk(SubmitFilter::always(), ResponseQuirk::UnknownTlv);
    trailing_octets_in_responses() = call quirk(SubmitFilter::always(), ResponseQuirk::TrailingOctets);
    bodies_in_error_responses() = call quirk(SubmitFilter::always(), ResponseQuirk::BodyOnError);
    ids(ids: IdFormat) = set ids(ids);
    /// Writes ids in one style in responses and in another in receipts.
    id_styles(response: IdStyle, receipt: IdStyle) = call ids(IdFormat::each(response, receipt));
    hex_ids_decimal_in_receipts() = call id_styles(IdStyle::UpperHex, IdStyle::Decimal);
    decimal_ids_hex_in_receipts() = call id_styles(IdStyle::Decimal, IdStyle::UpperHex);
    /// Upper-case hex in responses, lower-case in receipts.
    ids_lowered_in_receipts() = call id_styles(IdStyle::UpperHex, IdStyle::Hex);
    /// Lower-case hex in responses, upper-case in receipts.
    ids_raised_in_receipts() = call id_styles(IdStyle::Hex, IdStyle::UpperHex);
    /// Leading zeros in responses but not in receipts.
    zeros_stripped_in_receipts() = call id_styles(IdStyle::ZeroDecimal(ZERO_FILLED), IdStyle::Decimal);
    /// Leading zeros in receipts but not in responses.
    zeros_added_in_receipts() = call id_styles(IdStyle::Decimal, IdStyle::ZeroDecimal(ZERO_FILLED));
    /// UUIDs, lower-case in responses and upper-case in receipts.
    uuid_ids_raised_in_receipts() = call id_styles(IdStyle::Uuid, IdStyle::UpperUuid);
    /// Sets the prefix of every id.
    id_prefix(prefix: &str) = set ids.prefix(prefix.to_owned());
    /// Sets how data_coding 0 is decoded.
    default_alphabet(alphabet: CodingZeroAlphabet) = set default_alphabet(alphabet);
    /// Throttles submits beyond this many without a response on one link.
    window_max(submits: u32) = set window_max(Some(submits));
    /// Throttles submits (parts) beyond this many in any second, over all links.
    rate_max(submits: u32) = set rate_max(Some(submits));
}
