//! Flags about answers: what messages are told, when, and how oddly.

use std::time::Duration;

use clap::{Args, ValueEnum};
use hermod_simulator::carrier::{Alphabet, ResponseQuirk, Script, SubmitAction, SubmitFilter};
use hermod_smpp::CommandStatus;

use super::add_acts;
use crate::values;

#[derive(Args)]
#[command(next_help_heading = "Answers")]
pub(super) struct AnswerFlags {
    /// Answer this late
    #[arg(long, default_value = "0ms", value_parser = values::duration)]
    delay: Duration,
    /// Answer every K-th message only after --late-by
    #[arg(long, value_name = "K")]
    late_every: Option<u64>,
    /// How late that is
    #[arg(long, value_name = "TIME", default_value = "70s", value_parser = values::duration)]
    late_by: Duration,
    /// Answer later by a random time up to this, in no order
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = values::duration)]
    scatter: Duration,
    /// Throttle (0x58) the first N messages
    #[arg(long, value_name = "N")]
    throttle: Option<u64>,
    /// Throttle every K-th message
    #[arg(long, value_name = "K")]
    throttle_every: Option<u64>,
    /// Throttle the first N of every M messages
    #[arg(long, value_name = "N/M", value_parser = values::ratio)]
    throttle_bursts: Option<(u64, u64)>,
    /// Throttle everything for this long
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    throttle_for: Option<Duration>,
    /// Tell the first N messages that the queue is full (0x14)
    #[arg(long, value_name = "N")]
    queue_full: Option<u64>,
    /// Throttle above this many messages in any second
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// Throttle above this many unanswered messages on a link
    #[arg(long, value_name = "N")]
    window: Option<u32>,
    /// Refuse the first N messages with --status
    #[arg(long, value_name = "N")]
    refuse: Option<u64>,
    /// Refuse every K-th message with --status
    #[arg(long, value_name = "K")]
    refuse_every: Option<u64>,
    /// Refuse everything with --status for this long
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    refuse_for: Option<Duration>,
    /// Refuse messages to numbers that start so
    #[arg(long, value_name = "DIGITS")]
    refuse_to: Option<String>,
    /// Refuse messages whose text contains this
    #[arg(long, value_name = "WORDS")]
    refuse_text: Option<String>,
    /// What refused messages are told
    #[arg(long, default_value = "0x45", value_parser = values::status)]
    status: CommandStatus,
    /// Answer the first N messages with a generic_nack
    #[arg(long, value_name = "N")]
    nack: Option<u64>,
    /// Never answer the first N messages, and forget them
    #[arg(long, value_name = "N")]
    silent: Option<u64>,
    /// Never answer every K-th message, and forget it
    #[arg(long, value_name = "K")]
    silent_every: Option<u64>,
    /// Take the first N messages and lose the answers
    #[arg(long, value_name = "N")]
    lose_answers: Option<u64>,
    /// Take every K-th message and lose the answer
    #[arg(long, value_name = "K")]
    lose_answer_every: Option<u64>,
    /// Give no id to the first N messages that are taken: the answer has no body
    #[arg(long, value_name = "N")]
    no_id: Option<u64>,
    /// Give an empty id to the first N messages that are taken
    #[arg(long, value_name = "N")]
    empty_id: Option<u64>,
    /// Give an id of more than 64 octets to the first N messages that are taken
    #[arg(long, value_name = "N")]
    long_id: Option<u64>,
    /// Write all answers oddly
    #[arg(long, value_enum)]
    oddly: Option<Oddly>,
    /// What the carrier takes data_coding 0 for
    #[arg(long, value_enum, default_value_t = CodingZero::Gsm)]
    coding_zero: CodingZero,
    /// Do this to about N in a thousand messages; may be given more than once
    #[arg(long, value_name = "ACT:N", value_parser = values::chaos)]
    chaos: Vec<(SubmitAction, u16)>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Oddly {
    /// Successes carry a TLV that nobody knows
    UnknownTlv,
    /// Successes have octets behind their end
    TrailingOctets,
    /// Errors have a body
    BodyOnError,
}

#[derive(Clone, Copy, ValueEnum)]
enum CodingZero {
    Gsm,
    Ascii,
    Latin1,
}

impl AnswerFlags {
    pub(super) fn write(&self, script: Script) -> Script {
        let refuse = SubmitAction::Reject(self.status);
        let throttle = SubmitAction::Reject(CommandStatus::THROTTLED);
        let at_first = |time: Duration| SubmitFilter::during(Duration::ZERO, time);
        let script = add_acts(
            script.delay(self.delay).responses_out_of_order(self.scatter),
            [
                (self.throttle.map(SubmitFilter::first), throttle),
                (self.throttle_every.map(SubmitFilter::every), throttle),
                (self.throttle_bursts.map(|(count, of)| SubmitFilter::burst(count, of)), throttle),
                (self.throttle_for.map(at_first), throttle),
                (self.queue_full.map(SubmitFilter::first), SubmitAction::Reject(CommandStatus::MSGQFUL)),
                (self.refuse.map(SubmitFilter::first), refuse),
                (self.refuse_every.map(SubmitFilter::every), refuse),
                (self.refuse_for.map(at_first), refuse),
                (self.refuse_to.as_deref().map(SubmitFilter::to), refuse),
                (self.refuse_text.as_deref().map(SubmitFilter::text), refuse),
                (self.nack.map(SubmitFilter::first), SubmitAction::Nack(CommandStatus::INVCMDID)),
                (self.silent.map(SubmitFilter::first), SubmitAction::Silence),
                (self.silent_every.map(SubmitFilter::every), SubmitAction::Silence),
                (self.lose_answers.map(SubmitFilter::first), SubmitAction::LoseResponse),
                (self.lose_answer_every.map(SubmitFilter::every), SubmitAction::LoseResponse),
            ],
        );
        self.write_manners(self.write_limits(script))
    }

    fn write_limits(&self, mut script: Script) -> Script {
        if let Some(k) = self.late_every {
            script = script.delay_when(SubmitFilter::every(k), self.late_by);
        }
        if let Some(window) = self.window {
            script = script.window_max(window);
        }
        if let Some(rate) = self.rate {
            script = script.rate_max(rate);
        }
        script.default_alphabet(match self.coding_zero {
            CodingZero::Gsm => Alphabet::Gsm,
            CodingZero::Ascii => Alphabet::Ascii,
            CodingZero::Latin1 => Alphabet::Latin1,
        })
    }

    fn write_manners(&self, mut script: Script) -> Script {
        if let Some(count) = self.no_id {
            script = script.responses_without_id(count);
        }
        if let Some(count) = self.empty_id {
            script = script.responses_with_empty_id(count);
        }
        if let Some(count) = self.long_id {
            script = script.responses_with_long_id(count);
        }
        let quirk = self.oddly.map(|oddly| match oddly {
            Oddly::UnknownTlv => ResponseQuirk::UnknownTlv,
            Oddly::TrailingOctets => ResponseQuirk::TrailingOctets,
            Oddly::BodyOnError => ResponseQuirk::BodyOnError,
        });
        match quirk {
            Some(quirk) => script.quirk(SubmitFilter::always(), quirk),
            None => script,
        }
    }

    /// SeededRandom has the last word.
    pub(super) fn write_chaos(&self, script: Script) -> Script {
        let rules = self.chaos.iter().map(|(act, chance)| (Some(SubmitFilter::per_mille(*chance)), *act));
        add_acts(script, rules)
    }
}
