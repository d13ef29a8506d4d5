//! `hermod webhook`: commands for receivers of webhooks, and for the operator.

mod listen;
mod verify;

use crate::failure::CommandResult;
use crate::operator::target::{OnGateway, VerbOnGateway};
use crate::operator::webhook as operated;
use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  hermod webhook listen --secret-file secret.txt
  hermod webhook verify --secret-file secret.txt --body body.json --signature 5bdcc146...
  hermod webhook list shop --state failed
  hermod webhook replay shop --since 2026-11-15
  hermod webhook secret stage shop";

/// Receive and verify webhooks; for the operator: list and replay events of an account
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct WebhookArgs {
    #[command(subcommand)]
    command: WebhookCommand,
}

#[derive(Subcommand)]
enum WebhookCommand {
    /// Receive webhooks, print them and verify their signatures
    #[command(after_help = listen::EXAMPLES)]
    Listen(listen::ListenArgs),
    /// Verify the signature of a saved webhook
    #[command(after_help = verify::EXAMPLES)]
    Verify(verify::VerifyArgs),
    /// Show the webhook addresses and queues of an account
    #[command(after_help = operated::SHOW_EXAMPLES)]
    Show(Box<OnGateway<operated::WebhookShowArgs>>),
    /// List webhook events of an account, the newest first
    #[command(after_help = operated::LIST_EXAMPLES)]
    List(Box<OnGateway<operated::WebhookListArgs>>),
    /// Show the attempts of an event
    #[command(after_help = operated::ATTEMPTS_EXAMPLES)]
    Attempts(Box<OnGateway<operated::WebhookAttemptsArgs>>),
    /// Post an event again, or all failed events
    #[command(after_help = operated::REPLAY_EXAMPLES)]
    Replay(Box<OnGateway<operated::WebhookReplayArgs>>),
    /// Change the signing secret of an account
    #[command(after_help = operated::SECRET_EXAMPLES, arg_required_else_help = true)]
    Secret(Box<VerbOnGateway<operated::SecretStep>>),
}

impl WebhookArgs {
    pub(crate) fn run(self) -> CommandResult {
        match self.command {
            WebhookCommand::Listen(listen) => listen.run(),
            WebhookCommand::Verify(verify) => verify.run(),
            WebhookCommand::Show(show) => show.run(),
            WebhookCommand::List(list) => list.run(),
            WebhookCommand::Attempts(attempts) => attempts.run(),
            WebhookCommand::Replay(replay) => replay.run(),
            WebhookCommand::Secret(secret) => secret.run(),
        }
    }
}
