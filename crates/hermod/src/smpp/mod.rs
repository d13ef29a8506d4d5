//! `hermod smpp`: commands that test an SMPP server as a customer.

mod explanations;
mod test_bind;

use crate::failure::CommandResult;
use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  hermod smpp test-bind --host smpp.example --system-id shop --password-file secret.txt
  hermod smpp test-bind --host smpp.example --tls --system-id shop --password-file - --to +4915112345678";

/// Test an SMPP server as a customer
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct SmppArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Bind, explain the result, optionally send one message, and unbind
    #[command(after_help = test_bind::EXAMPLES)]
    TestBind(Box<test_bind::TestBindArgs>),
}

impl SmppArgs {
    pub(crate) fn run(self) -> CommandResult {
        match self.what {
            What::TestBind(test) => test.run(),
        }
    }
}
