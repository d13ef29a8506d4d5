//! `hermod version`: prints the version.

use crate::ending::Ended;
use crate::show;
use clap::Args;

/// Print the version
#[derive(Args)]
#[command(after_help = "Example:\n  hermod version")]
pub(crate) struct Version;

impl Version {
    #[expect(clippy::unused_self, reason = "commands share one shape")]
    pub(crate) fn run(self) -> Ended {
        show::print(concat!("hermod ", env!("CARGO_PKG_VERSION"), "\n"))
    }
}
