//! `hermod version`: which release this is, for bug reports and scripts.

use crate::ending::Ended;
use clap::Args;

/// Print the version
#[derive(Args)]
#[command(after_help = "Example:\n  hermod version")]
pub(crate) struct Version;

impl Version {
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "commands share one shape")]
    pub(crate) fn run(self) -> Ended {
        println!("hermod {}", env!("CARGO_PKG_VERSION"));
        Ok(())
    }
}
