//! Verbs about answers: what is said to a submit, when, and how oddly.

use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::{Act, Script};
use crate::carrier::ids::{IdFormat, IdStyle};
use crate::carrier::manner::Manner;
use crate::carrier::text::Alphabet;
use crate::carrier::when::When;

/// Digits of the ids that are filled up with zeros: more than any carrier counts to.
const ZERO_FILLED: u8 = 20;

impl Script {
    /// Any act for any submits; most verbs below are shorthand for this one.
    #[must_use]
    pub fn act(mut self, when: When, act: Act) -> Script {
        self.answers.list.push((when, act));
        self
    }

    /// The first `count` are refused with 0x58.
    #[must_use]
    pub fn throttle(self, count: u64) -> Script {
        self.act(When::first(count), Act::Refuse(CommandStatus::THROTTLED))
    }

    #[must_use]
    pub fn throttle_every(self, k: u64) -> Script {
        self.act(When::every(k), Act::Refuse(CommandStatus::THROTTLED))
    }

    /// The first `count` of every `of` are refused with 0x58.
    #[must_use]
    pub fn throttle_bursts(self, count: u64, of: u64) -> Script {
        self.act(When::burst(count, of), Act::Refuse(CommandStatus::THROTTLED))
    }

    /// Everything is refused with 0x58 for the script's first so much time.
    #[must_use]
    pub fn throttle_for(self, time: Duration) -> Script {
        self.act(When::during(Duration::ZERO, time), Act::Refuse(CommandStatus::THROTTLED))
    }

    /// The first `count` are refused with 0x14: the carrier's queue is full.
    #[must_use]
    pub fn queue_full(self, count: u64) -> Script {
        self.act(When::first(count), Act::Refuse(CommandStatus::MSGQFUL))
    }

    /// The first `count` are refused.
    #[must_use]
    pub fn refuse_first(self, count: u64, status: CommandStatus) -> Script {
        self.act(When::first(count), Act::Refuse(status))
    }

    #[must_use]
    pub fn refuse_when(self, when: When, status: CommandStatus) -> Script {
        self.act(when, Act::Refuse(status))
    }

    /// Everything is refused for the script's first so much time.
    #[must_use]
    pub fn refuse_for(self, time: Duration, status: CommandStatus) -> Script {
        self.act(When::during(Duration::ZERO, time), Act::Refuse(status))
    }

    /// The first `count` are answered with a generic_nack.
    #[must_use]
    pub fn nack_first(self, count: u64, status: CommandStatus) -> Script {
        self.act(When::first(count), Act::Nack(status))
    }

    /// The first `count` are never answered, and forgotten.
    #[must_use]
    pub fn silent(self, count: u64) -> Script {
        self.act(When::first(count), Act::Silence)
    }

    #[must_use]
    pub fn silent_every(self, k: u64) -> Script {
        self.act(When::every(k), Act::Silence)
    }

    /// The first `count` are taken and delivered, but their answers are lost.
    #[must_use]
    pub fn lose_answers(self, count: u64) -> Script {
        self.act(When::first(count), Act::LoseAnswer)
    }

    /// Every answer, refusals included, comes this late.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Script {
        self.delays.otherwise = delay;
        self
    }

    #[must_use]
    pub fn delay_when(mut self, when: When, delay: Duration) -> Script {
        self.delays.list.push((when, delay));
        self
    }

    /// Each answer comes later by a random time up to this, so that they come in no order.
    #[must_use]
    pub fn answers_out_of_order(mut self, within: Duration) -> Script {
        self.scatter = within;
        self
    }

    /// Answers written oddly; the verbs below are shorthand for this one.
    #[must_use]
    pub fn manner(mut self, when: When, manner: Manner) -> Script {
        self.manners.list.push((when, manner));
        self
    }

    /// Successes among the answers to the first `count` are a header without a body: taken, under an id that nobody is
    /// told.
    #[must_use]
    pub fn answers_without_id(self, count: u64) -> Script {
        self.manner(When::first(count), Manner::NoBody)
    }

    /// Successes among the answers to the first `count` have an empty id.
    #[must_use]
    pub fn answers_with_empty_id(self, count: u64) -> Script {
        self.manner(When::first(count), Manner::EmptyId)
    }

    /// Successes among the answers to the first `count` have an id that is longer than SMPP allows.
    #[must_use]
    pub fn answers_with_long_id(self, count: u64) -> Script {
        self.manner(When::first(count), Manner::LongId)
    }

    #[must_use]
    pub fn unknown_tlvs_in_answers(self) -> Script {
        self.manner(When::always(), Manner::UnknownTlv)
    }

    #[must_use]
    pub fn trailing_octets_in_answers(self) -> Script {
        self.manner(When::always(), Manner::TrailingOctets)
    }

    #[must_use]
    pub fn bodies_on_errors(self) -> Script {
        self.manner(When::always(), Manner::BodyOnError)
    }

    #[must_use]
    pub fn ids(mut self, ids: IdFormat) -> Script {
        self.ids = ids;
        self
    }

    /// One style of ids in answers, another in receipts.
    #[must_use]
    pub fn ids_written(self, answer: IdStyle, receipt: IdStyle) -> Script {
        self.ids(IdFormat::each(answer, receipt))
    }

    #[must_use]
    pub fn hex_ids_decimal_in_receipts(self) -> Script {
        self.ids_written(IdStyle::UpperHex, IdStyle::Decimal)
    }

    #[must_use]
    pub fn decimal_ids_hex_in_receipts(self) -> Script {
        self.ids_written(IdStyle::Decimal, IdStyle::UpperHex)
    }

    /// Upper-case hex in answers, lower-case in receipts.
    #[must_use]
    pub fn ids_lowered_in_receipts(self) -> Script {
        self.ids_written(IdStyle::UpperHex, IdStyle::Hex)
    }

    /// Lower-case hex in answers, upper-case in receipts.
    #[must_use]
    pub fn ids_raised_in_receipts(self) -> Script {
        self.ids_written(IdStyle::Hex, IdStyle::UpperHex)
    }

    /// Leading zeros in answers that receipts leave out.
    #[must_use]
    pub fn zeros_stripped_in_receipts(self) -> Script {
        self.ids_written(IdStyle::ZeroDecimal(ZERO_FILLED), IdStyle::Decimal)
    }

    /// Leading zeros in receipts that answers leave out.
    #[must_use]
    pub fn zeros_added_in_receipts(self) -> Script {
        self.ids_written(IdStyle::Decimal, IdStyle::ZeroDecimal(ZERO_FILLED))
    }

    /// UUIDs, lower-case in answers and upper-case in receipts.
    #[must_use]
    pub fn uuid_ids_raised_in_receipts(self) -> Script {
        self.ids_written(IdStyle::Uuid, IdStyle::UpperUuid)
    }

    /// What every id starts with.
    #[must_use]
    pub fn id_prefix(mut self, prefix: &str) -> Script {
        prefix.clone_into(&mut self.ids.prefix);
        self
    }

    /// What the carrier takes data_coding 0 for.
    #[must_use]
    pub fn coding_zero_is(mut self, alphabet: Alphabet) -> Script {
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
    pub fn per_second_max(mut self, submits: u32) -> Script {
        self.per_second_max = Some(submits);
        self
    }
}
