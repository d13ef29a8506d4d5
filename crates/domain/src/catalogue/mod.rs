//! The catalogue: accounts, connections, keys, senders, prices, costs, routes, carriers, rules and blocks. Each is a document in the
//! store; together they form the [`Catalogue`], an immutable snapshot in memory that is replaced as a whole, so that
//! submissions need no database look-up and never see a partial change.

mod account;
mod account_view;
mod api_key;
mod documents;
mod number_owners;
mod rating;
mod rotation;
mod smpp_access;
mod users;
mod webhooks;

use crate::area::Area;
use crate::believed_cost::BelievedCost;
use crate::block::{Block, Blocks};
use crate::carrier::{Profile, ProfileRefusal};
use crate::cost::{CostRefusal, Costs, SenderClass};
use crate::exchange::{ExchangeRates, ExchangeRefusal};
use crate::ids::{AccountId, CarrierId, ConnectionId, PriceListId, RouteId};
use crate::money::Currency;
use crate::phone::Msisdn;
use crate::price::PriceRefusal;
use crate::route::{
    Candidate, DuplicateRoute, Route, RouteQuery, RouteRefusal, RouteRules, RouteScope, Routes,
};
use crate::screen::{Pattern, PatternRefusal, Screens};
use crate::sender::Sender;
use crate::time::Timestamp;
use crate::traffic::Control;
pub use account::{Account, BalanceLevel, Countries, Terms, Tier};
pub use account_view::{AccountView, SenderStatus};
pub use api_key::{AllowList, ApiKey};
pub use documents::*;
pub use number_owners::NumberOwner;
use number_owners::NumberOwners;
use rating::{OwnedPrices, SharedPrices};
pub use rotation::{OVERLAP_MAX, PreviousSecret};
pub use smpp_access::{
    BINDS_DEFAULT, BindTypes, CodingZero, InboundForm, SMPP_PASSWORD_CHARS, SYSTEM_ID_CHARS_MAX, SmppAccess,
    WINDOW_DEFAULT, WINDOW_MAX,
};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
pub use users::*;
pub use webhooks::Webhooks;

/// Why documents do not form a valid catalogue. The change is refused and the old catalogue stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    #[error("key {key} belongs to connection {connection}, which does not exist")]
    KeyWithoutConnection { key: String, connection: ConnectionId },
    #[error("connection {connection} belongs to account {account}, which does not exist")]
    ConnectionWithoutAccount { connection: ConnectionId, account: AccountId },
    #[error("two connections have the system_id {system_id}")]
    SystemIdTwice { system_id: String },
    #[error("the route for {area} names carrier {carrier}, which does not exist")]
    RouteWithoutCarrier { area: Area, carrier: CarrierId },
    #[error("the route for {area} names carrier \"{carrier}\" twice")]
    RouteCarrierTwice { area: Area, carrier: String },
    #[error("the route for {area}: {refusal}")]
    Route { area: Area, refusal: RouteRefusal },
    #[error("a route is for exactly one of a prefix, a network (MCC-MNC), an MCC and a country")]
    RouteForNothing,
    #[error(transparent)]
    DuplicateRoute(#[from] DuplicateRoute),
    #[error("carrier {carrier}: {refusal}")]
    Carrier { carrier: String, refusal: ProfileRefusal },
    #[error("prices: {0}")]
    Prices(#[from] PriceRefusal),
    #[error("a price or cost is for exactly one of a prefix, a network (MCC-MNC), an MCC and a country")]
    PriceForNothing,
    #[error(transparent)]
    Costs(#[from] CostRefusal),
    #[error("a cost belongs to carrier {carrier}, which does not exist")]
    CostWithoutCarrier { carrier: CarrierId },
    #[error("exchange rates: {0}")]
    Rates(#[from] ExchangeRefusal),
    #[error("{what} names price list {list}, which does not exist")]
    WithoutPriceList { what: String, list: PriceListId },
    #[error(
        "account \"{account}\" has its balance in {own}, and price list \"{list}\" is in {of_list}: name a list in {own}"
    )]
    ListCurrency { account: String, own: Currency, list: String, of_list: Currency },
    #[error(transparent)]
    Screens(#[from] PatternRefusal),
    #[error("{what} belongs to account {account}, which does not exist")]
    WithoutAccount { what: &'static str, account: AccountId },
}

/// A snapshot of all documents.
#[derive(Debug, Default)]
pub struct Catalogue {
    accounts: HashMap<AccountId, AccountView>,
    connections: HashMap<ConnectionId, Connection>,
    connection_names: HashMap<ConnectionId, String>,
    keys: HashMap<String, ApiKey>,
    system_ids: HashMap<String, ConnectionId>,
    routes: Routes,
    carriers: Vec<(CarrierId, String, Carrier)>,
    costs: Costs,
    exchange_rates: ExchangeRates,
    price_list_names: HashMap<PriceListId, String>,
    numbers: NumberOwners,
    /// The connection that gets each account's MO messages over SMPP.
    inbound: HashMap<AccountId, ConnectionId>,
    /// The blocks of all accounts.
    blocks: Arc<Blocks>,
    users: Users,
    operators: Vec<(String, OperatorEntry)>,
}

impl Catalogue {
    pub fn build(documents: Documents) -> Result<Catalogue, CatalogueError> {
        check_owners(&documents)?;
        let owned = Owned::of(&documents);
        let common = Common::build(&documents, &owned)?;
        let mut accounts = HashMap::new();
        for (id, name, account) in &documents.accounts {
            accounts.insert(*id, common.view(*id, name, account, &owned)?);
        }
        let Documents {
            connections,
            connection_names,
            keys,
            routes,
            carriers,
            costs,
            exchange_rates,
            numbers,
            users,
            operators,
            ..
        } = documents;
        let connection_names = connection_names.into_iter().collect();
        let connections: HashMap<_, _> = connections.into_iter().collect();
        for (connection, Connection { account, .. }) in &connections {
            if !accounts.contains_key(account) {
                return Err(CatalogueError::ConnectionWithoutAccount {
                    connection: *connection,
                    account: *account,
                });
            }
        }
        let system_ids = system_ids(&connections)?;
        let keys: HashMap<_, _> = keys.into_iter().collect();
        for (key, ApiKey { connection, .. }) in &keys {
            if !connections.contains_key(connection) {
                return Err(CatalogueError::KeyWithoutConnection {
                    key: key.clone(),
                    connection: *connection,
                });
            }
        }
        check_profiles(&carriers)?;
        let known_carriers: HashSet<CarrierId> = carriers.iter().map(|(carrier, ..)| *carrier).collect();
        let routes = build_routes(&routes, &carriers, &known_carriers)?;
        let numbers = NumberOwners::of(&numbers);
        let inbound = number_owners::inbound_connections(&connections);
        Ok(Catalogue {
            accounts,
            connections,
            connection_names,
            keys,
            system_ids,
            routes,
            costs: rating::costs(&costs, &known_carriers)?,
            exchange_rates: rating::exchange_rates(&exchange_rates)?,
            carriers,
            price_list_names: common.prices.list_names(),
            numbers,
            inbound,
            blocks: common.blocks,
            users: Users::of(users),
            operators,
        })
    }

    pub fn key(&self, public: &str) -> Option<&ApiKey> {
        self.keys.get(public)
    }

    /// Returns the connection with this system_id.
    pub fn connection_by_system_id(&self, system_id: &str) -> Option<ConnectionId> {
        self.system_ids.get(system_id).copied()
    }

    pub fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(&id)
    }

    /// Returns the name of a connection.
    pub fn connection_name(&self, id: ConnectionId) -> Option<&str> {
        self.connection_names.get(&id).map(String::as_str)
    }

    /// Returns the connection with this name. A linear search, for requests of people.
    pub fn connection_by_name(&self, name: &str) -> Option<ConnectionId> {
        self.connection_names.iter().find(|(_, known)| *known == name).map(|(id, _)| *id)
    }

    pub fn account(&self, id: AccountId) -> Option<&AccountView> {
        self.accounts.get(&id)
    }

    /// Returns the owner of an MO message to this number (digits only): the number's account, or on a shared number the
    /// account of the message's first word. `None` if no account has the number.
    pub fn find_owner<'a>(&self, number: &str, text: &'a str) -> Option<NumberOwner<'a>> {
        self.numbers.find_owner(number, text)
    }

    /// Returns the connection that gets an account's MO messages over SMPP.
    pub fn inbound_connection(&self, account: AccountId) -> Option<ConnectionId> {
        self.inbound.get(&account).copied()
    }

    /// Whether the connection can receive MO messages.
    pub fn can_receive_mo(&self, connection: ConnectionId) -> bool {
        self.connection(connection).is_some_and(number_owners::can_receive_mo)
    }

    /// Whether the operator blocks MO messages from a handset: for all accounts, or for the account that owns the message.
    pub fn blocks_mo(&self, handset: Msisdn, owner: Option<AccountId>, now: Timestamp) -> bool {
        let of_owner =
            || owner.and_then(|owner| self.account(owner)).and_then(|view| view.block_from(handset, now));
        self.blocks.of_handset(handset, now).or_else(of_owner).is_some()
    }

    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Returns what the carriers ask.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Returns what a carrier is believed to ask for a message; `None` if its cost is not known or the destination is closed.
    /// `whole`: the carrier splits the message.
    pub fn believed_cost(
        &self,
        carrier: CarrierId,
        RouteQuery { from, to, destination, .. }: &RouteQuery<'_>,
        whole: bool,
        at: Timestamp,
    ) -> Option<BelievedCost> {
        let found = self.costs.find(carrier, *to, destination, SenderClass::of(from), at)?;
        Some(BelievedCost { terms: found.terms.value?, whole })
    }

    pub fn exchange_rates(&self) -> &ExchangeRates {
        &self.exchange_rates
    }

    pub fn price_list_name(&self, id: PriceListId) -> Option<&str> {
        self.price_list_names.get(&id).map(String::as_str)
    }

    pub fn accounts(&self) -> impl Iterator<Item = (AccountId, &AccountView)> {
        self.accounts.iter().map(|(id, view)| (*id, view))
    }

    pub fn carriers(&self) -> &[(CarrierId, String, Carrier)] {
        &self.carriers
    }

    /// A linear search, because there are few carriers.
    pub fn carrier(&self, id: CarrierId) -> Option<&Carrier> {
        self.carriers.iter().find(|(known, ..)| *known == id).map(|(_, _, carrier)| carrier)
    }

    /// Returns how long Hermod waits for a carrier's receipt after the end of validity; the default for a deleted
    /// carrier.
    pub fn receipt_wait(&self, carrier: CarrierId) -> Duration {
        let profile = self.carrier(carrier).map(|carrier| &carrier.profile);
        profile.map_or_else(|| Profile::default().receipt_wait(), Profile::receipt_wait)
    }
}

fn system_ids(
    connections: &HashMap<ConnectionId, Connection>,
) -> Result<HashMap<String, ConnectionId>, CatalogueError> {
    let mut system_ids = HashMap::new();
    for (id, connection) in connections {
        let Some(SmppAccess { system_id, .. }) = &connection.smpp else { continue };
        if system_ids.insert(system_id.clone(), *id).is_some() {
            return Err(CatalogueError::SystemIdTwice { system_id: system_id.clone() });
        }
    }
    Ok(system_ids)
}

/// Documents by account, `None` for those of all accounts. Scanning all documents for each account would take minutes.
struct Owned<'a> {
    prices: OwnedPrices<'a>,
    senders: ByOwner<&'a SenderEntry>,
    numbers: ByOwner<&'a NumberEntry>,
    screens: ByOwner<&'a (String, ScreenEntry)>,
    controls: ByOwner<&'a (String, ControlEntry)>,
    blocks: ByOwner<&'a (String, BlockEntry)>,
}

type ByOwner<T> = HashMap<Option<AccountId>, Vec<T>>;

impl<'a> Owned<'a> {
    fn of(documents: &'a Documents) -> Owned<'a> {
        Owned {
            prices: by_owner(&documents.prices, |price| (price.account, price.price_list)),
            senders: by_owner(&documents.senders, |entry| entry.account),
            numbers: by_owner(&documents.numbers, |entry| Some(entry.account)),
            screens: by_owner(&documents.screens, |(_, entry)| entry.account),
            controls: by_owner(&documents.controls, |(_, entry)| entry.account),
            blocks: by_owner(&documents.blocks, |(_, entry)| entry.account),
        }
    }
}

fn by_owner<T, K: Eq + Hash>(entries: &[T], owner: impl Fn(&T) -> K) -> HashMap<K, Vec<&T>> {
    let mut owned: HashMap<K, Vec<&T>> = HashMap::new();
    for entry in entries {
        owned.entry(owner(entry)).or_default().push(entry);
    }
    owned
}

fn of_owner<'a, T>(owned: &'a ByOwner<&'a T>, owner: Option<AccountId>) -> impl Iterator<Item = &'a T> {
    owned.get(&owner).into_iter().flatten().copied()
}

/// The documents that apply to all accounts.
struct Common {
    prices: SharedPrices,
    blocked: Arc<HashSet<Sender>>,
    screens: Arc<Screens>,
    blocks: Arc<Blocks>,
}

impl Common {
    fn build(documents: &Documents, owned: &Owned<'_>) -> Result<Common, CatalogueError> {
        let blocked = of_owner(&owned.senders, None).filter(|entry| entry.state == SenderState::Blocked);
        Ok(Common {
            prices: SharedPrices::build(documents, &owned.prices)?,
            blocked: Arc::new(blocked.map(|entry| entry.sender.appearance()).collect()),
            screens: Arc::new(screens(of_owner(&owned.screens, None))?),
            blocks: Arc::new(blocks(of_owner(&owned.blocks, None))),
        })
    }

    fn view(
        &self,
        id: AccountId,
        name: &str,
        account: &Account,
        owned: &Owned<'_>,
    ) -> Result<AccountView, CatalogueError> {
        let own = Some(id);
        let numbers = of_owner(&owned.numbers, own);
        let mut senders: HashMap<Sender, SenderState> =
            numbers.map(|entry| (entry.number, SenderState::Approved)).collect();
        senders.extend(of_owner(&owned.senders, own).map(|entry| (entry.sender, entry.state)));
        let controls = of_owner(&owned.controls, None).chain(of_owner(&owned.controls, own));
        let mut controls: Vec<Control> =
            controls.map(|(name, entry)| Control::new(name, entry.mode, entry.rule.clone())).collect();
        controls.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(AccountView {
            name: name.to_owned(),
            account: account.clone(),
            senders,
            blocked: self.blocked.clone(),
            prices: self.prices.of_account(name, account, owned.prices.get(&(own, None)))?,
            screens: [self.screens.clone(), Arc::new(screens(of_owner(&owned.screens, own))?)],
            controls,
            blocks: [self.blocks.clone(), Arc::new(blocks(of_owner(&owned.blocks, own)))],
        })
    }
}

fn check_owners(documents: &Documents) -> Result<(), CatalogueError> {
    let known: HashSet<AccountId> = documents.accounts.iter().map(|(id, ..)| *id).collect();
    let owners = (documents.prices.iter().filter_map(|price| price.account).map(|owner| ("a price", owner)))
        .chain(documents.senders.iter().filter_map(|entry| entry.account).map(|owner| ("a sender", owner)))
        .chain(documents.numbers.iter().map(|entry| ("a number", entry.account)))
        .chain(documents.routes.iter().filter_map(|(_, entry)| entry.account).map(|owner| ("a route", owner)))
        .chain(
            documents.screens.iter().filter_map(|(_, entry)| entry.account).map(|owner| ("a screen", owner)),
        )
        .chain(
            documents
                .controls
                .iter()
                .filter_map(|(_, entry)| entry.account)
                .map(|owner| ("a control", owner)),
        )
        .chain(documents.blocks.iter().filter_map(|(_, entry)| entry.account).map(|owner| ("a block", owner)))
        .chain(documents.users.iter().flat_map(|(.., user)| user.owners()).map(|owner| ("a user", owner)));
    for (what, account) in owners {
        if !known.contains(&account) {
            return Err(CatalogueError::WithoutAccount { what, account });
        }
    }
    Ok(())
}

fn screens<'a>(entries: impl Iterator<Item = &'a (String, ScreenEntry)>) -> Result<Screens, PatternRefusal> {
    Screens::build(entries.map(|(name, ScreenEntry { field, pattern, .. })| Pattern {
        name,
        field: *field,
        pattern,
    }))
}

fn blocks<'a>(entries: impl Iterator<Item = &'a (String, BlockEntry)>) -> Blocks {
    Blocks::build(entries.map(|(name, BlockEntry { numbers, direction, until, .. })| Block {
        name,
        numbers: *numbers,
        direction: *direction,
        until: *until,
    }))
}

fn build_routes(
    routes: &[(RouteId, RouteEntry)],
    carriers_known: &[(CarrierId, String, Carrier)],
    known: &HashSet<CarrierId>,
) -> Result<Routes, CatalogueError> {
    let mut built = Vec::new();
    for (id, entry) in routes {
        let RouteEntry {
            account,
            sender,
            prefix,
            network,
            mcc,
            country,
            carriers,
            in_doubt,
            fail_over_refusals,
            fail_over_after_ms,
            costs,
        } = entry;
        let area = Area::one_of(*prefix, *network, *mcc, *country).ok_or(CatalogueError::RouteForNothing)?;
        if let Some(missing) = carriers.iter().find(|chosen| !known.contains(&chosen.carrier)) {
            return Err(CatalogueError::RouteWithoutCarrier { area, carrier: missing.carrier });
        }
        let candidates: Vec<Candidate> = carriers
            .iter()
            .map(|RouteCarrier { carrier, priority, weight }| Candidate {
                carrier: *carrier,
                priority: *priority,
                weight: *weight,
            })
            .collect();
        let rules = RouteRules {
            doubt: *in_doubt,
            fail_over_refusals: *fail_over_refusals,
            fail_over_after: fail_over_after_ms.map(Duration::from_millis),
            costs: *costs,
        };
        let route = Route::new(*id, &candidates, rules)
            .map_err(|refusal| route_error(area, refusal, carriers_known))?;
        built.push((RouteScope { account: *account, sender: *sender, area }, route));
    }
    Ok(Routes::new(built)?)
}

/// Says why the route for an area is invalid, with the carrier's name instead of its id.
fn route_error(
    area: Area,
    refusal: RouteRefusal,
    carriers: &[(CarrierId, String, Carrier)],
) -> CatalogueError {
    match refusal {
        RouteRefusal::CarrierTwice(twice) => {
            let named = carriers.iter().find(|(id, ..)| *id == twice).map(|(_, name, _)| name.clone());
            CatalogueError::RouteCarrierTwice { area, carrier: named.unwrap_or_else(|| twice.to_string()) }
        }
        RouteRefusal::NoCarrier | RouteRefusal::TooManyCarriers | RouteRefusal::Weight => {
            CatalogueError::Route { area, refusal }
        }
    }
}

fn check_profiles(carriers: &[(CarrierId, String, Carrier)]) -> Result<(), CatalogueError> {
    carriers.iter().try_for_each(|(_, name, carrier)| {
        let refused = |refusal| CatalogueError::Carrier { carrier: name.clone(), refusal };
        carrier.profile.check().map_err(refused)
    })
}

/// What belongs to one account, for pages and lists. Linear searches: not for the path of a message.
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
