//! Who is asking. The key names the connection, the secret proves it; a wrong key costs the same work as a wrong secret.

use crate::secrets::Secret;
use crate::world::World;
use hermod_domain::catalogue::{AccountView, Catalogue, Connection};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::refusal::Refusal;
use std::sync::Arc;

/// A key and its secret as they came in.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub key: String,
    pub secret: Secret,
}

/// An authenticated customer, with the catalogue as it was when the request came in: one request sees one world.
#[derive(Clone)]
pub struct Caller {
    pub account: AccountId,
    pub connection: ConnectionId,
    catalogue: Arc<Catalogue>,
}

/// What an unknown key is compared with, so that it takes as long as a known one.
const NOBODY: &str = "0000000000000000000000000000000000000000000000000000000000000000";

pub fn authenticate(world: &World, credentials: &Credentials) -> Result<Caller, Refusal> {
    let catalogue = world.catalogue();
    let known = catalogue.key(&credentials.key);
    let digest = known.map_or(NOBODY, |key| &key.secret_digest);
    let matches = world.pepper.matches(credentials.secret.reveal(), digest);
    let connection = known.filter(|_| matches).ok_or(Refusal::InvalidApiKey)?.connection;
    let account = catalogue.connection(connection).ok_or(Refusal::InvalidApiKey)?.account;
    Ok(Caller { account, connection, catalogue })
}

impl Caller {
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub fn connection(&self) -> &Connection {
        self.catalogue.connection(self.connection).expect("checked when the caller was made")
    }

    pub fn account(&self) -> &AccountView {
        self.catalogue.account(self.account).expect("a catalogue has the accounts of its connections")
    }
}
