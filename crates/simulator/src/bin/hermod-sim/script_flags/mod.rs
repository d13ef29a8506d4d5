//! The flags of `hermod-sim carrier`, and the script they write.

mod answers;
mod binds;
mod ids;
mod links;
mod receipts;
#[cfg(test)]
mod tests;

use clap::Args;
use hermod_simulator::carrier::{Script, SubmitAction, SubmitFilter};

use answers::AnswerFlags;
use binds::BindFlags;
use ids::IdFlags;
use links::LinkFlags;
use receipts::ReceiptFlags;

/// A script in flags.
#[derive(Args)]
pub(crate) struct ScriptFlags {
    #[command(flatten)]
    binds: BindFlags,
    #[command(flatten)]
    answers: AnswerFlags,
    #[command(flatten)]
    ids: IdFlags,
    #[command(flatten)]
    links: LinkFlags,
    #[command(flatten)]
    receipts: ReceiptFlags,
    /// Numbers that end in 5550101 to 5550109 fail, are throttled, are late, get no receipt or reply; docs/simulator.md
    #[arg(long, help_heading = "Answers")]
    magic_numbers: bool,
    /// Where phones send their replies to messages that came from a name
    #[arg(long, value_name = "NUMBER", requires = "magic_numbers", help_heading = "Answers")]
    reply_to: Option<String>,
}

impl ScriptFlags {
    pub(crate) fn script(&self) -> Script {
        let ScriptFlags { binds, answers, ids, links, receipts, magic_numbers, reply_to } = self;
        let script =
            if *magic_numbers { Script::new().magic_numbers(receipts.after()) } else { Script::new() };
        let script = match reply_to {
            Some(number) => script.reply_number_for_names(number),
            None => script,
        };
        let script = ids.write(answers.write(receipts.write(binds.write(script))));
        answers.write_chaos(links.write(script))
    }
}

/// Adds the rules that were asked for, in this order.
fn add_acts(script: Script, rules: impl IntoIterator<Item = (Option<SubmitFilter>, SubmitAction)>) -> Script {
    rules.into_iter().fold(script, |script, (when, act)| match when {
        Some(when) => script.rule(when, act),
        None => script,
    })
}
