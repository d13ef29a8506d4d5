//! The flags of `hermod-sim carrier`, and the script they write.

use std::time::Duration;

use clap::{Args, ValueEnum};
use hermod_simulator::carrier::{Act, IdFormat, IdStyle, Outcome, Receipts, Script, When};
use hermod_smpp::CommandStatus;

use crate::values;

/// A script in flags.
#[derive(Args)]
pub(crate) struct ScriptFlags {
    #[command(flatten)]
    binds: BindFlags,
    #[command(flatten)]
    answers: AnswerFlags,
    #[command(flatten)]
    link: LinkFlags,
    #[command(flatten)]
    receipts: ReceiptFlags,
}

impl ScriptFlags {
    pub(crate) fn script(&self) -> Script {
        let ScriptFlags { binds, answers, link, receipts } = self;
        link.write(answers.write(receipts.write(binds.write(Script::new()))))
    }
}

#[derive(Args)]
#[command(next_help_heading = "Binds")]
struct BindFlags {
    /// Let in only this system_id (with --password)
    #[arg(long, requires = "password")]
    system_id: Option<String>,
    /// The password that goes with it
    #[arg(long, requires = "system_id")]
    password: Option<String>,
    /// Refuse the first N binds with --bind-status
    #[arg(long, value_name = "N")]
    refuse_binds: Option<u64>,
    /// What refused binds are told
    #[arg(long, default_value = "0x0d", value_parser = values::status)]
    bind_status: CommandStatus,
}

#[derive(Args)]
#[command(next_help_heading = "Answers")]
struct AnswerFlags {
    /// Answer this late
    #[arg(long, default_value = "0ms", value_parser = values::duration)]
    delay: Duration,
    /// Throttle (0x58) the first N messages
    #[arg(long, value_name = "N")]
    throttle: Option<u64>,
    /// Throttle every K-th message
    #[arg(long, value_name = "K")]
    throttle_every: Option<u64>,
    /// Throttle above this many messages a second
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
    /// Refuse messages to numbers that start so
    #[arg(long, value_name = "DIGITS")]
    refuse_to: Option<String>,
    /// Refuse messages whose text contains this
    #[arg(long, value_name = "WORDS")]
    refuse_text: Option<String>,
    /// What refused messages are told
    #[arg(long, default_value = "0x45", value_parser = values::status)]
    status: CommandStatus,
    /// Never answer the first N messages
    #[arg(long, value_name = "N")]
    silent: Option<u64>,
    /// Never answer every K-th message
    #[arg(long, value_name = "K")]
    silent_every: Option<u64>,
    /// How ids are written in answers
    #[arg(long, value_enum, default_value_t = Ids::Decimal)]
    ids: Ids,
    /// How ids are written in receipts, if differently
    #[arg(long, value_enum)]
    receipt_ids: Option<Ids>,
    /// What every id starts with
    #[arg(long, default_value = "")]
    id_prefix: String,
}

#[derive(Args)]
#[command(next_help_heading = "Links")]
struct LinkFlags {
    /// Cut the connection before the answer to the N-th message
    #[arg(long, value_name = "N")]
    cut_before_answer: Option<u64>,
    /// Cut the connection after the answer to the N-th message
    #[arg(long, value_name = "N")]
    cut_after: Option<u64>,
    /// Cut the connection after the answer to every K-th message
    #[arg(long, value_name = "K")]
    cut_every: Option<u64>,
    /// Cut a connection, once, after it was sent N octets
    #[arg(long, value_name = "N")]
    cut_after_bytes: Option<u64>,
    /// Unbind after the answer to the N-th message
    #[arg(long, value_name = "N")]
    unbind_after: Option<u64>,
    /// Send octets that are no PDU after the answer to the N-th message
    #[arg(long, value_name = "N")]
    garbage_after: Option<u64>,
    /// Leave enquire_link unanswered
    #[arg(long)]
    ignore_enquire_links: bool,
    /// Write one octet at a time
    #[arg(long)]
    trickle: bool,
    /// Hold octets back this long and write them together
    #[arg(long, value_parser = values::duration, conflicts_with = "trickle")]
    coalesce: Option<Duration>,
}

#[derive(Args)]
#[command(next_help_heading = "Receipts")]
struct ReceiptFlags {
    /// Send the receipt this long after the answer
    #[arg(long, default_value = "0ms", value_parser = values::duration)]
    receipt_after: Duration,
    /// What it says
    #[arg(long, default_value = "DELIVRD", value_parser = values::outcome)]
    outcome: Outcome,
    /// Say UNDELIV instead for about N in a thousand messages
    #[arg(long, value_name = "N", default_value_t = 0)]
    fail_per_mille: u16,
    /// Send no receipts
    #[arg(long, conflicts_with_all = ["receipt_first", "receipt_twice", "receipt_unknown_id", "enroute_after"])]
    no_receipts: bool,
    /// Send the receipt before the answer
    #[arg(long)]
    receipt_first: bool,
    /// Send every receipt twice
    #[arg(long)]
    receipt_twice: bool,
    /// Write an id into receipts that was never given
    #[arg(long)]
    receipt_unknown_id: bool,
    /// Send an ENROUTE this long after the answer
    #[arg(long, value_parser = values::duration)]
    enroute_after: Option<Duration>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Ids {
    Decimal,
    Hex,
    UpperHex,
}

impl Ids {
    fn style(self) -> IdStyle {
        match self {
            Ids::Decimal => IdStyle::Decimal,
            Ids::Hex => IdStyle::Hex,
            Ids::UpperHex => IdStyle::UpperHex,
        }
    }
}

impl BindFlags {
    fn write(&self, mut script: Script) -> Script {
        if let Some(count) = self.refuse_binds {
            script = script.refuse_binds(count, self.bind_status);
        }
        if let (Some(system_id), Some(password)) = (&self.system_id, &self.password) {
            script = script.credentials(system_id, password);
        }
        script
    }
}

impl AnswerFlags {
    fn write(&self, script: Script) -> Script {
        let answer = self.ids.style();
        let receipt = self.receipt_ids.map_or(answer, Ids::style);
        let mut script =
            script.delay(self.delay).ids(IdFormat { answer, receipt, prefix: self.id_prefix.clone() });
        let refuse = Act::Refuse(self.status);
        let throttle = Act::Refuse(CommandStatus::THROTTLED);
        for (when, act) in [
            (self.throttle.map(When::first), throttle),
            (self.throttle_every.map(When::every), throttle),
            (self.refuse.map(When::first), refuse),
            (self.refuse_every.map(When::every), refuse),
            (self.refuse_to.as_deref().map(When::to), refuse),
            (self.refuse_text.as_deref().map(When::text), refuse),
            (self.silent.map(When::first), Act::Silence),
            (self.silent_every.map(When::every), Act::Silence),
        ] {
            script = match when {
                Some(when) => script.act(when, act),
                None => script,
            };
        }
        if let Some(window) = self.window {
            script = script.window_max(window);
        }
        if let Some(rate) = self.rate {
            script = script.per_second_max(rate);
        }
        script
    }
}

impl LinkFlags {
    fn write(&self, mut script: Script) -> Script {
        for (when, act) in [
            (self.cut_before_answer.map(When::nth), Act::CutBeforeAnswer),
            (self.cut_after.map(When::nth), Act::CutAfterAnswer),
            (self.cut_every.map(When::every), Act::CutAfterAnswer),
            (self.unbind_after.map(When::nth), Act::Unbind),
            (self.garbage_after.map(When::nth), Act::Garbage),
        ] {
            script = match when {
                Some(when) => script.act(when, act),
                None => script,
            };
        }
        if let Some(bytes) = self.cut_after_bytes {
            script = script.cut_after_bytes(bytes);
        }
        if self.ignore_enquire_links {
            script = script.ignore_enquire_links();
        }
        if self.trickle {
            script = script.trickle();
        }
        if let Some(hold) = self.coalesce {
            script = script.coalesce(hold);
        }
        script
    }
}

impl ReceiptFlags {
    fn write(&self, script: Script) -> Script {
        if self.no_receipts {
            return script.receipt_never();
        }
        let receipts = Receipts {
            before_answer: self.receipt_first,
            copies: if self.receipt_twice { 2 } else { 1 },
            unknown_id: self.receipt_unknown_id,
            enroute_after: self.enroute_after,
            ..Receipts::after(self.receipt_after, self.outcome)
        };
        let failed = Receipts {
            outcome: Some((self.receipt_after, Outcome::Undeliverable)),
            error_code: 1,
            ..receipts
        };
        let script = script.receipts(receipts);
        if self.fail_per_mille == 0 {
            return script;
        }
        script.receipts_when(When::per_mille(self.fail_per_mille), failed)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: ScriptFlags,
    }

    #[track_caller]
    fn check(flags: &str, expect: Script) {
        let line = Line::parse_from(std::iter::once("carrier").chain(flags.split_whitespace()));
        assert_eq!(line.flags.script(), expect, "{flags}");
    }

    #[test]
    fn flags_write_the_script_that_verbs_would() {
        let ms = Duration::from_millis;
        check("", Script::new());
        check("--delay 5ms --throttle 2 --silent-every 3", {
            Script::new().delay(ms(5)).throttle(2).silent_every(3)
        });
        check("--refuse 1 --status 0x08", Script::new().refuse_first(1, CommandStatus::SYSERR));
        check("--refuse-to 4915", Script::new().refuse_when(When::to("4915"), CommandStatus::SUBMITFAIL));
        check("--cut-before-answer 3 --unbind-after 9", Script::new().cut_before_answer(3).unbind_after(9));
        check("--cut-after-bytes 99 --trickle", Script::new().cut_after_bytes(99).trickle());
        check("--rate 100 --window 10", Script::new().per_second_max(100).window_max(10));
        check("--receipt-first --outcome undeliv", Script::new().receipt_first(Outcome::Undeliverable));
        check("--receipt-twice --enroute-after 1s", Script::new().receipt_twice().enroute_after(ms(1000)));
        check("--no-receipts --ignore-enquire-links", Script::new().receipt_never().ignore_enquire_links());
        check("--refuse-binds 2", Script::new().refuse_binds(2, CommandStatus::BINDFAIL));
        check("--system-id a --password b", Script::new().credentials("a", "b"));
    }
}
