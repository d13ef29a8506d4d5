//! Finds accounts, nodes, connections and carriers by their names, and their names by ids.

use crate::refusal::{OperatorRefusal, Result};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_gateway::gateway::Gateway;
use hermod_store::NodeInfo;

pub(crate) fn find_account(gateway: &Gateway, name: &str) -> Result<AccountId> {
    let catalogue = gateway.catalogue();
    let found = catalogue.accounts().find(|(_, view)| view.name == name).map(|(id, _)| id);
    found.ok_or_else(|| OperatorRefusal::no_such("account", name))
}

pub(crate) fn find_connection(gateway: &Gateway, name: &str) -> Result<ConnectionId> {
    let found = gateway.catalogue().connection_by_name(name);
    found.ok_or_else(|| OperatorRefusal::no_such("connection", name))
}

pub(crate) fn find_node(gateway: &Gateway, name: &str) -> Result<NodeInfo> {
    let found = gateway.store.cluster().nodes().into_iter().find(|node| node.name == name && node.is_alive);
    found.ok_or_else(|| OperatorRefusal::no_such("node", name))
}

pub(crate) fn account_name(gateway: &Gateway, id: AccountId) -> String {
    gateway.catalogue().account(id).map_or_else(|| id.to_string(), |view| view.name.clone())
}

/// Returns the connections of an account in the order of their names.
pub(crate) fn connection_names(gateway: &Gateway, account: AccountId) -> Vec<(ConnectionId, String)> {
    let catalogue = gateway.catalogue();
    let own = catalogue.connections_of(account).into_iter();
    let mut own: Vec<(ConnectionId, String)> = own.map(|(id, name, _)| (id, name.to_owned())).collect();
    own.sort_by(|(_, one), (_, other)| one.cmp(other));
    own
}

pub(crate) fn carrier_name(catalogue: &Catalogue, id: CarrierId) -> String {
    if id == CarrierId::HELD {
        return "(held)".to_owned();
    }
    let known = catalogue.carriers().iter().find(|(carrier, ..)| *carrier == id);
    known.map_or_else(|| id.to_string(), |(_, name, _)| name.clone())
}

pub(crate) fn find_carrier(gateway: &Gateway, name: &str) -> Result<CarrierId> {
    let catalogue = gateway.catalogue();
    let found = catalogue.carriers().iter().find(|(_, known, _)| known == name).map(|(id, ..)| *id);
    found.ok_or_else(|| OperatorRefusal::no_such("carrier", name))
}
