//! Verbs about answers: what is said to a submit, when, and how oddly.

use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::{Script, SubmitAction};
use crate::carrier::ids::{IdFormat, IdStyle};
use crate::carrier::response_quirk::ResponseQuirk;
use crate::carrier::submit_filter::SubmitFilter;
use crate::carrier::text::Alphabet;

/// Digits of the ids that are filled up with zeros: more than any carrier counts to.
const ZERO_FILLED: u8 = 20;

impl Script {
    /// Any act for any submits; most verbs below are shorthand for this one.
    #[must_use]
    pub fn rule(mut self, when: SubmitFilter, act: SubmitAction) -> Script {
        self.answers.list.push((when, act));
        self
    }

    /// The first `count` are refused with 0x58.
    #[must_use]
    pub fn throttle(self, count: u64) -> Script {
        self.rule(SubmitFilter::first(count), SubmitAction::Reject(CommandStatus::THROTTLED))
    }

    #[must_use]
    pub fn throttle_every(self, k: u64) -> Script {
        self.rule(SubmitFilter::every(k), SubmitAction::Reject(CommandStatus::THROTTLED))
    }

    /// The first `count` of every `of` are refused with 0x58.
    #[must_use]
    pub fn throttle_bursts(self, count: u64, of: u64) -> Script {
        self.rule(SubmitFilter::burst(count, of), SubmitAction::Reject(CommandStatus::THROTTLED))
    }

    /// Everything is refused with 0x58 for the script's first so much time.
    #[must_use]
    pub fn throttle_for(self, time: Duration) -> Script {
        self.rule(SubmitFilter::during(Duration::ZERO, time), SubmitAction::Reject(CommandStatus::THROTTLED))
    }

    /// The first `count` are refused with 0x14: the carrier's queue is full.
    #[must_use]
    pub fn queue_full(self, count: u64) -> Script {
        self.rule(SubmitFilter::first(count), SubmitAction::Reject(CommandStatus::MSGQFUL))
    }

    /// The first `count` are refused.
    #[must_use]
    pub fn reject_first(self, count: u64, status: CommandStatus) -> Script {
        self.rule(SubmitFilter::first(count), SubmitAction::Reject(status))
    }

    #[must_use]
    pub fn reject_when(self, when: SubmitFilter, status: CommandStatus) -> Script {
        self.rule(when, SubmitAction::Reject(status))
    }

    /// Everything is refused for the script's first so much time.
    #[must_use]
    pub fn reject_for(self, time: Duration, status: CommandStatus) -> Script {
        self.rule(SubmitFilter::during(Duration::ZERO, time), SubmitAction::Reject(status))
    }

    /// The first `count` are answered with a generic_nack.
    #[must_use]
    pub fn nack_first(self, count: u64, status: CommandStatus) -> Script {
        self.rule(SubmitFilter::first(count), SubmitAction::Nack(status))
    }

    /// The first `count` are never answered, and forgotten.
    #[must_use]
    pub fn ignore_first(self, count: u64) -> Script {
        self.rule(SubmitFilter::first(count), SubmitAction::Silence)
    }

    #[must_use]
    pub fn ignore_every(self, k: u64) -> Script {
        self.rule(SubmitFilter::every(k), SubmitAction::Silence)
    }

    /// The first `count` are taken and delivered, but their answers are lost.
    #[must_use]
    pub fn lose_responses(self, count: u64) -> Script {
        self.rule(SubmitFilter::first(count), SubmitAction::LoseResponse)
    }

    /// Every answer, refusals included, comes this late.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Script {
        self.delays.otherwise = delay;
        self
    }

    #[must_use]
    pub fn delay_when(mut self, when: SubmitFilter, delay: Duration) -> Script {
        self.delays.list.push((when, delay));
        self
    }

    /// Each answer comes later by a random time up to this, so that they come in no order.
    #[must_use]
    pub fn responses_out_of_order(mut self, within: Duration) -> Script {
        self.scatter = within;
        self
    }

    /// Answers written oddly; the verbs below are shorthand for this one.
    #[must_use]
    pub fn quirk(mut self, when: SubmitFilter, quirk: ResponseQuirk) -> Script {
        self.quirks.list.push((when, quirk));
        self
    }

    /// Successes among the answers to the first `count` are a header without a body: taken, under an id that nobody is
    /// told.
    #[must_use]
    pub fn responses_without_id(self, count: u64) -> Script {
        self.quirk(SubmitFilter::first(count), ResponseQuirk::NoBody)
    }

    /// Successes among the answers to the first `count` have an empty id.
    #[must_use]
    pub fn responses_with_empty_id(self, count: u64) -> Script {
        self.quirk(SubmitFilter::first(count), ResponseQuirk::EmptyId)
    }

    /// Successes among the answers to the first `count` have an id that is longer than SMPP allows.
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

    /// One style of ids in answers, another in receipts.
    #[must_use]
    pub fn id_styles(self, answer: IdStyle, receipt: IdStyle) -> Script {
        self.ids(IdFormat::each(answer, receipt))
    }

    #[must_use]
    pub fn hex_ids_decimal_in_receipts(self) -> Script {
        self.id_styles(IdStyle::UpperHex, IdStyle::Decimal)
    }

    #[must_use]
    pub fn decimal_ids_hex_in_receipts(self) -> Script {
        self.id_styles(IdStyle::Decimal, IdStyle::UpperHex)
    }

    /// Upper-case hex in answers, lower-case in receipts.
    #[must_use]
    pub fn ids_lowered_in_receipts(self) -> Script {
        self.id_styles(IdStyle::UpperHex, IdStyle::Hex)
    }

    /// Lower-case hex in answers, upper-case in receipts.
    #[must_use]
    pub fn ids_raised_in_receipts(self) -> Script {
        self.id_styles(IdStyle::Hex, IdStyle::UpperHex)
    }

    /// Leading zeros in answers that receipts leave out.
    #[must_use]
    pub fn zeros_stripped_in_receipts(self) -> Script {
        self.id_styles(IdStyle::ZeroDecimal(ZERO_FILLED), IdStyle::Decimal)
    }

    /// Leading zeros in receipts that answers leave out.
    #[must_use]
    pub fn zeros_added_in_receipts(self) -> Script {
        self.id_styles(IdStyle::Decimal, IdStyle::ZeroDecimal(ZERO_FILLED))
    }

    /// UUIDs, lower-case in answers and upper-case in receipts.
    #[must_use]
    pub fn uuid_ids_raised_in_receipts(self) -> Script {
        self.id_styles(IdStyle::Uuid, IdStyle::UpperUuid)
    }

    /// What every id starts with.
    #[must_use]
    pub fn id_prefix(mut self, prefix: &str) -> Script {
        prefix.clone_into(&mut self.ids.prefix);
        self
    }

    /// What the carrier takes data_coding 0 for.
    #[must_use]
    pub fn default_alphabet(mut self, alphabet: Alphabet) -> Script {
        self.alphabet = alphabet;
        self
    }

    /// More unanswered submits than this on one link are throttled.
    #[must_use]
    pub fn window_max(mut self, submits: u32) -> Script {
        self.window_max = Some(submits);
        self
    }

    /// More submits (parts, that is) than this in any one second, over all links, are throttled.
    #[must_use]
    pub fn rate_max(mut self, submits: u32) -> Script {
        self.rate_max = Some(submits);
        self
    }
}
