//! The flags of `hermod-sim carrier`, and the script they write.

mod answers;
mod binds;
mod ids;
mod links;
mod receipts;
#[cfg(test)]
mod tests;

use clap::Args;
use hermod_simulator::carrier::{Act, Script, When};

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
}

impl ScriptFlags {
    pub(crate) fn script(&self) -> Script {
        let ScriptFlags { binds, answers, ids, links, receipts, magic_numbers } = self;
        let script =
            if *magic_numbers { Script::new().magic_numbers(receipts.after()) } else { Script::new() };
        let script = ids.write(answers.write(receipts.write(binds.write(script))));
        answers.write_chaos(links.write(script))
    }
}

/// Adds the rules that were asked for, in this order.
fn add_acts(script: Script, rules: impl IntoIterator<Item = (Option<When>, Act)>) -> Script {
    rules.into_iter().fold(script, |script, (when, act)| match when {
        Some(when) => script.act(when, act),
        None => script,
    })
}
