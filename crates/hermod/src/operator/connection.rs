//! `hermod connection`: the verbs for connections of customers that do more than set a field.

use super::operator_client::OperatorClient;
use super::rotate::RotateArgs;
use super::target::ClientCommand;
use crate::failure::CommandResult;
use clap::Subcommand;
use hermod_operator::kind::Kind;

pub(super) const HELP: &str = "\
Examples:
  hermod connection list --account shop
  hermod connection add shop-http account=shop default_sender=Shop rate=50
  hermod connection set shop-http allow=192.0.2.0/24,198.51.100.7
  hermod connection set shop-http allow=
  hermod connection set shop-smpp account=shop system_id=shop window=50
  hermod connection set shop-smpp password=@- --unbind
  hermod connection set shop-smpp alphabet=latin1 bind_types=transceiver
  hermod connection rotate shop-smpp --overlap 24h

A connection that was never used can be removed; messages refer to any other. A closed connection
rejects all requests and binds. Live binds that the changed connection does not allow are unbound at once; a
changed password keeps them unless --unbind is given. A system_id without a password gets a
generated one, which is printed once.";

#[derive(Subcommand)]
pub(super) enum ConnectionVerb {
    /// Replace the SMPP password by a random one, which is printed once; live binds stay
    #[command(
        after_help = "Examples:\n  hermod connection rotate shop-smpp\n  hermod connection rotate shop-smpp --overlap 24h"
    )]
    Rotate(RotateArgs),
}

impl ClientCommand for ConnectionVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            ConnectionVerb::Rotate(rotate) => rotate.run(client, Kind::Connection).await,
        }
    }
}
