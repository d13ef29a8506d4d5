//! The slow-changing things a message is judged by: accounts, connections, keys, senders, prices, routes, carriers. Each
//! is a small named document in the store; all of them together are the [`Catalogue`], an immutable snapshot that is
//! swapped whole, so that no send waits for a look-up and no half-made change is ever seen.

use crate::ids::{AccountId, CarrierId, ConnectionId, RouteId};
use crate::lifecycle::DoubtPolicy;
use crate::money::{Currency, Money};
use crate::phone::Msisdn;
use crate::prefix::{DuplicatePrefix, Prefix};
use crate::price::{PriceList, PriceRefusal};
use crate::route::{Route, RouteRefusal, Routes};
use crate::sender::Sender;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    pub currency: Currency,
    /// How far below zero the balance may go.
    pub credit_limit: Money,
    /// What must stay in the account after a charge.
    pub minimum: Money,
    /// The operator has checked who this is.
    pub verified: bool,
    /// Sender ids the account may use.
    pub senders: Vec<Sender>,
}

/// One way in for an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    pub account: AccountId,
    /// Used when a request names no sender.
    pub default_sender: Option<Sender>,
    pub requests_per_second: u32,
    /// Refuse messages of more parts than this.
    pub max_parts: Option<u8>,
}

/// What an API key opens. The secret itself is nowhere; its keyed digest is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    pub connection: ConnectionId,
    /// Lower-case hex.
    pub secret_digest: String,
}

/// What one part to a destination costs, for everyone or for one account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub account: Option<AccountId>,
    pub prefix: Prefix,
    pub per_part: Money,
}

/// Which carriers serve a destination, in order of preference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteEntry {
    pub prefix: Prefix,
    pub carriers: Vec<CarrierId>,
    pub in_doubt: DoubtPolicy,
}

/// An upstream SMSC and how to talk to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carrier {
    /// `host:port`.
    pub address: String,
    pub system_id: String,
    pub password: String,
    pub system_type: String,
    /// Parts sent and not yet answered, at most.
    pub window: u16,
    /// Parts per second, at most.
    pub parts_per_second: u32,
    pub response_timeout_ms: u64,
    pub enquire_link_ms: u64,
}

/// Every document, as read from the store.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    pub accounts: Vec<(AccountId, String, Account)>,
    pub connections: Vec<(ConnectionId, Connection)>,
    /// By the public half of the key.
    pub keys: Vec<(String, ApiKey)>,
    pub prices: Vec<Price>,
    pub routes: Vec<(RouteId, RouteEntry)>,
    pub carriers: Vec<(CarrierId, String, Carrier)>,
}

/// Why documents do not make a catalogue. Whoever changed them is told; the old catalogue stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueFault {
    #[error("key {key} belongs to connection {connection}, which does not exist")]
    KeyWithoutConnection { key: String, connection: ConnectionId },
    #[error("connection {connection} belongs to account {account}, which does not exist")]
    ConnectionWithoutAccount { connection: ConnectionId, account: AccountId },
    #[error("the route for prefix \"{prefix}\" names carrier {carrier}, which does not exist")]
    RouteWithoutCarrier { prefix: Prefix, carrier: CarrierId },
    #[error("the route for prefix \"{prefix}\": {refusal}")]
    Route { prefix: Prefix, refusal: RouteRefusal },
    #[error("two routes for the same prefix \"{0}\"")]
    DuplicateRoute(Prefix),
    #[error("prices: {0}")]
    Prices(#[from] PriceRefusal),
}

/// Everything a submission is judged by, at one moment.
#[derive(Debug, Default)]
pub struct Catalogue {
    accounts: HashMap<AccountId, AccountView>,
    connections: HashMap<ConnectionId, Connection>,
    keys: HashMap<String, ApiKey>,
    routes: Routes,
    carriers: Vec<(CarrierId, String, Carrier)>,
}

/// An account with its senders and prices at hand.
#[derive(Debug)]
pub struct AccountView {
    pub name: String,
    pub account: Account,
    senders: HashSet<Sender>,
    prices: Arc<PriceList>,
}

impl AccountView {
    pub fn may_use(&self, sender: &Sender) -> bool {
        self.senders.contains(sender)
    }

    pub fn prices(&self) -> &PriceList {
        &self.prices
    }
}

impl Catalogue {
    pub fn build(documents: Documents) -> Result<Catalogue, CatalogueFault> {
        let Documents { accounts, connections, keys, prices, routes, carriers } = documents;
        let common = Arc::new(price_list(&prices, None)?);
        let mut views = HashMap::new();
        for (id, name, account) in accounts {
            let own = price_list(&prices, Some(id))?;
            let view = AccountView {
                name,
                senders: account.senders.iter().cloned().collect(),
                prices: Arc::new(own.over(common.clone())),
                account,
            };
            views.insert(id, view);
        }
        let connections: HashMap<_, _> = connections.into_iter().collect();
        for (connection, Connection { account, .. }) in &connections {
            if !views.contains_key(account) {
                return Err(CatalogueFault::ConnectionWithoutAccount {
                    connection: *connection,
                    account: *account,
                });
            }
        }
        let keys: HashMap<_, _> = keys.into_iter().collect();
        for (key, ApiKey { connection, .. }) in &keys {
            if !connections.contains_key(connection) {
                return Err(CatalogueFault::KeyWithoutConnection {
                    key: key.clone(),
                    connection: *connection,
                });
            }
        }
        let routes = build_routes(&routes, &carriers)?;
        Ok(Catalogue { accounts: views, connections, keys, routes, carriers })
    }

    pub fn key(&self, public: &str) -> Option<&ApiKey> {
        self.keys.get(public)
    }

    pub fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(&id)
    }

    pub fn account(&self, id: AccountId) -> Option<&AccountView> {
        self.accounts.get(&id)
    }

    pub fn route(&self, to: Msisdn) -> Option<&Route> {
        self.routes.find(to)
    }

    pub fn carriers(&self) -> &[(CarrierId, String, Carrier)] {
        &self.carriers
    }
}

fn price_list(prices: &[Price], account: Option<AccountId>) -> Result<PriceList, PriceRefusal> {
    let list = prices.iter().filter(|price| price.account == account);
    PriceList::new(list.map(|price| (price.prefix, price.per_part)))
}

fn build_routes(
    routes: &[(RouteId, RouteEntry)],
    carriers: &[(CarrierId, String, Carrier)],
) -> Result<Routes, CatalogueFault> {
    let mut built = Vec::new();
    for (id, RouteEntry { prefix, carriers: chosen, in_doubt }) in routes {
        let missing = chosen.iter().find(|chosen| !carriers.iter().any(|(carrier, ..)| carrier == *chosen));
        if let Some(carrier) = missing {
            return Err(CatalogueFault::RouteWithoutCarrier { prefix: *prefix, carrier: *carrier });
        }
        let route = Route::new(*id, chosen, *in_doubt)
            .map_err(|refusal| CatalogueFault::Route { prefix: *prefix, refusal })?;
        built.push((*prefix, route));
    }
    Routes::new(built).map_err(|DuplicatePrefix(prefix)| CatalogueFault::DuplicateRoute(prefix))
}
