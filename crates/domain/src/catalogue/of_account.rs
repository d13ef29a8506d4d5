//! What belongs to one account, for pages and lists. Linear searches: not for the path of a message.

use super::{ApiKey, Catalogue, Connection};
use crate::ids::{AccountId, ConnectionId};

impl Catalogue {
    /// Returns the connections of an account with their names, in the order in which they were made.
    pub fn connections_of(&self, account: AccountId) -> Vec<(ConnectionId, &str, &Connection)> {
        let own = self.connections.iter().filter(|(_, connection)| connection.account == account);
        let named = own.map(|(id, connection)| {
            (*id, self.connection_names.get(id).map(String::as_str).unwrap_or_default(), connection)
        });
        let mut connections: Vec<_> = named.collect();
        connections.sort_by_key(|(id, ..)| *id);
        connections
    }

    /// Returns the API keys of an account by their public parts.
    pub fn keys_of(&self, account: AccountId) -> Vec<(&str, &ApiKey)> {
        let is_own = |key: &ApiKey| self.connection(key.connection).is_some_and(|own| own.account == account);
        let own = self.keys.iter().filter(|(_, key)| is_own(key));
        let mut keys: Vec<(&str, &ApiKey)> = own.map(|(public, key)| (public.as_str(), key)).collect();
        keys.sort_by_key(|(public, _)| *public);
        keys
    }
}
