//! `hermod version`: prints the version.

use crate::failure::CommandResult;
use crate::output;
use clap::Args;

/// Print the version
#[derive(Args)]
#[command(after_help = "Example:\n  hermod version")]
pub(crate) struct Version;

impl Version {
    #[expect(clippy::unused_self, reason = "commands share one shape")]
    pub(crate) fn run(self) -> CommandResult {
        output::print(concat!("hermod ", env!("CARGO_PKG_VERSION"), "\n"))
    }
}
