//! `hermod webhook`: what somebody who receives webhooks needs to see and check them, and what an operator does about them.

mod listen;
mod verify;

use crate::ending::Ended;
use crate::operator::webhook as operated;
use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  hermod webhook listen --secret-file secret.txt
  hermod webhook verify --secret-file secret.txt --body body.json --signature 5bdcc146...
  hermod webhook list shop --state failed
  hermod webhook replay shop --since 2026-11-15
  hermod webhook secret stage shop";

/// Receive and check webhooks, and see what became of an account's
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
    /// Where an account is told, and what waits there
    #[command(after_help = operated::SHOW_EXAMPLES)]
    Show(Box<operated::ShowOne>),
    /// List what was, is or could not be posted, newest first
    #[command(after_help = operated::LIST_EXAMPLES)]
    List(Box<operated::List>),
    /// Show every attempt at one event
    #[command(after_help = operated::ATTEMPTS_EXAMPLES)]
    Attempts(Box<operated::Attempts>),
    /// Post an event again, or all that failed
    #[command(after_help = operated::REPLAY_EXAMPLES)]
    Replay(Box<operated::Replay>),
    /// Change the secret that webhooks are signed with
    #[command(after_help = operated::SECRET_EXAMPLES, arg_required_else_help = true)]
    Secret(Box<operated::Secret>),
}

impl Webhook {
    pub(crate) fn run(self) -> Ended {
        match self.what {
            What::Listen(listen) => listen.run(),
            What::Verify(verify) => verify.run(),
            What::Show(show) => show.run(),
            What::List(list) => list.run(),
            What::Attempts(attempts) => attempts.run(),
            What::Replay(replay) => replay.run(),
            What::Secret(secret) => secret.run(),
        }
    }
}
