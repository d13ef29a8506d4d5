//! `hermod webhook`: what somebody who receives webhooks needs to see them and to check them.

mod listen;
mod verify;

use crate::ending::Ended;
use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  hermod webhook listen --secret-file secret.txt
  hermod webhook verify --secret-file secret.txt --body body.json --signature 5bdcc146...";

/// Receive webhooks on this machine, and check their signatures
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Webhook {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Receive webhooks, show what arrives and say whether it is genuine
    #[command(after_help = listen::EXAMPLES)]
    Listen(listen::Listen),
    /// Say whether a webhook that was kept is genuine
    #[command(after_help = verify::EXAMPLES)]
    Verify(verify::Verify),
}

impl Webhook {
    pub(crate) fn run(self) -> Ended {
        match self.what {
            What::Listen(listen) => listen.run(),
            What::Verify(verify) => verify.run(),
        }
    }
}
