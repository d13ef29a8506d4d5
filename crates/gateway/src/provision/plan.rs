//! What a provision file changes, decided before anything is written: every name gets its number, every reference its
//! target, and the catalogue that would result is built as a trial.

use crate::provision::checks::prefix_name;
use crate::provision::documents::{self, Kind};
use crate::provision::wanted::{
    Wanted, WantedAccount, WantedCarrier, WantedConnection, WantedKey, WantedPrice, WantedRoute,
};
use crate::provision::{Change, Effect, ProvisionRefusal};
use crate::secrets::Pepper;
use hermod_domain::catalogue::{
    Account, AllowList, ApiKey, Carrier, Catalogue, Connection, Countries, Price, RouteEntry,
};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::money::Money;
use hermod_store::CatalogueRow;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

/// Everything that is to be done, and what it leads to.
#[derive(Debug)]
pub struct Plan {
    /// In the order of the file's kinds.
    pub changes: Vec<Change>,
    /// The catalogue once it is done.
    pub catalogue: Catalogue,
    pub(super) rows: Vec<CatalogueRow>,
    /// Accounts that are new, and what each begins with.
    pub(super) openings: Vec<(AccountId, Money)>,
}

pub(super) fn plan(
    wanted: &Wanted,
    stored: Vec<CatalogueRow>,
    pepper: &Pepper,
) -> Result<Plan, ProvisionRefusal> {
    let Wanted { carriers, routes, prices, accounts, connections, keys } = wanted;
    let mut draft = Draft::over(stored)?;
    // Numbers first, so that the order within a file does not matter.
    for name in carriers.iter().map(|carrier| &carrier.name) {
        draft.number(Kind::Carrier, name);
    }
    for name in accounts.iter().map(|account| &account.name) {
        draft.number(Kind::Account, name);
    }
    for name in connections.iter().map(|connection| &connection.name) {
        draft.number(Kind::Connection, name);
    }
    carriers.iter().try_for_each(|carrier| draft.carrier(carrier))?;
    routes.iter().try_for_each(|route| draft.route(route))?;
    prices.iter().try_for_each(|price| draft.price(price))?;
    accounts.iter().try_for_each(|account| draft.account(account))?;
    connections.iter().try_for_each(|connection| draft.connection(connection))?;
    keys.iter().try_for_each(|key| draft.key(key, pepper))?;
    draft.finish()
}

struct Draft {
    /// What is stored, overlaid with what is wanted so far.
    rows: BTreeMap<(Kind, String), CatalogueRow>,
    numbers: HashMap<(Kind, String), u32>,
    highest: HashMap<Kind, u32>,
    written: Vec<(Kind, String)>,
    changes: Vec<Change>,
    openings: Vec<(AccountId, Money)>,
    seen: HashSet<(Kind, String)>,
}

impl Draft {
    fn over(stored: Vec<CatalogueRow>) -> Result<Draft, ProvisionRefusal> {
        let mut draft = Draft {
            rows: BTreeMap::new(),
            numbers: HashMap::new(),
            highest: HashMap::new(),
            written: Vec::new(),
            changes: Vec::new(),
            openings: Vec::new(),
            seen: HashSet::new(),
        };
        for row in stored {
            let place = (documents::kind_of(&row)?, row.name.clone());
            let highest = draft.highest.entry(place.0).or_default();
            *highest = row.id.max(*highest);
            draft.numbers.insert(place.clone(), row.id);
            draft.rows.insert(place, row);
        }
        Ok(draft)
    }

    /// The number of a name: the one it has, or the next.
    fn number(&mut self, kind: Kind, name: &str) -> u32 {
        let highest = self.highest.entry(kind).or_default();
        *self.numbers.entry((kind, name.to_owned())).or_insert_with(|| {
            *highest += 1;
            *highest
        })
    }

    fn find(&self, kind: Kind, name: &str, wanted_by: &str) -> Result<u32, ProvisionRefusal> {
        self.numbers.get(&(kind, name.to_owned())).copied().ok_or_else(|| {
            ProvisionRefusal::about(
                wanted_by,
                format!("names {kind} \"{name}\", which is neither in this file nor in the store"),
            )
        })
    }

    fn carrier(&mut self, carrier: &WantedCarrier) -> Result<(), ProvisionRefusal> {
        let WantedCarrier {
            name,
            address,
            system_id,
            password,
            system_type,
            window,
            rate,
            response_timeout,
            enquire_link,
        } = carrier;
        let document = Carrier {
            address: address.clone(),
            system_id: system_id.clone(),
            password: password.reveal().to_owned(),
            system_type: system_type.clone(),
            window: *window,
            parts_per_second: *rate,
            response_timeout_ms: whole_ms(response_timeout.0),
            enquire_link_ms: whole_ms(enquire_link.0),
            disabled: false,
        };
        self.put(Kind::Carrier, name, &document)
    }

    fn route(&mut self, route: &WantedRoute) -> Result<(), ProvisionRefusal> {
        let WantedRoute { prefix, carriers, in_doubt } = route;
        let name = prefix_name(*prefix);
        let found = carriers.iter().map(|carrier| {
            self.find(Kind::Carrier, carrier, &format!("route \"{name}\"")).map(CarrierId::new)
        });
        let carriers = found.collect::<Result<_, _>>()?;
        self.put(Kind::Route, &name, &RouteEntry { prefix: *prefix, carriers, in_doubt: *in_doubt })
    }

    fn price(&mut self, price: &WantedPrice) -> Result<(), ProvisionRefusal> {
        let WantedPrice { prefix, per_part, account } = price;
        let prefix_name = prefix_name(*prefix);
        let (name, account) = match account {
            Some(account) => {
                let name = format!("{account}/{prefix_name}");
                let number = self.find(Kind::Account, account, &format!("price \"{name}\""))?;
                (name, Some(AccountId::new(number)))
            }
            None => (prefix_name, None),
        };
        self.put(
            Kind::Price,
            &name,
            &Price {
                account,
                prefix: Some(*prefix),
                network: None,
                mcc: None,
                per_part: *per_part,
                from: None,
            },
        )
    }

    fn account(&mut self, account: &WantedAccount) -> Result<(), ProvisionRefusal> {
        let WantedAccount { name, currency, opening_balance, credit_limit, minimum, verified, senders } =
            account;
        match self.stored::<Account>(Kind::Account, name)? {
            Some(before) if before.currency != *currency => {
                let sentence = format!(
                    "has its balance in {}, and that cannot change; make a new account for {currency}",
                    before.currency
                );
                return Err(ProvisionRefusal::about(&format!("account \"{name}\""), sentence));
            }
            Some(_) => {}
            None => {
                let id = AccountId::new(self.number(Kind::Account, name));
                self.openings.push((id, *opening_balance));
            }
        }
        let document = Account {
            currency: *currency,
            credit_limit: *credit_limit,
            minimum: *minimum,
            verified: *verified,
            senders: senders.clone(),
            terms: None,
            countries: Countries::All,
            closed: false,
        };
        self.put(Kind::Account, name, &document)
    }

    fn connection(&mut self, connection: &WantedConnection) -> Result<(), ProvisionRefusal> {
        let WantedConnection { name, account, default_sender, rate, max_parts } = connection;
        let what = format!("connection \"{name}\"");
        let id = AccountId::new(self.find(Kind::Account, account, &what)?);
        let before = self.stored::<Connection>(Kind::Connection, name)?;
        if before.is_some_and(|before| before.account != id) {
            let sentence =
                format!("belongs to another account than \"{account}\", and its messages stay there");
            return Err(ProvisionRefusal::about(&what, sentence));
        }
        let owner = self.stored::<Account>(Kind::Account, account)?;
        if let (Some(sender), Some(owner)) = (default_sender, owner)
            && !owner.senders.contains(sender)
        {
            let sentence = format!(
                "has the default sender \"{sender}\", which is not among the senders of account \"{account}\""
            );
            return Err(ProvisionRefusal::about(&what, sentence));
        }
        let document = Connection {
            account: id,
            default_sender: *default_sender,
            requests_per_second: *rate,
            max_parts: *max_parts,
            allow: AllowList::default(),
            smart_encoding: false,
            closed: false,
        };
        self.put(Kind::Connection, name, &document)
    }

    fn key(&mut self, key: &WantedKey, pepper: &Pepper) -> Result<(), ProvisionRefusal> {
        let WantedKey { key, secret, connection } = key;
        let number = self.find(Kind::Connection, connection, &format!("key \"{key}\""))?;
        let document = ApiKey {
            connection: ConnectionId::new(number),
            secret_digest: pepper.digest(secret.reveal()),
            allow: AllowList::default(),
            expires_at: None,
            revoked: false,
        };
        self.put(Kind::Key, key, &document)
    }

    fn stored<T: serde::de::DeserializeOwned>(
        &self,
        kind: Kind,
        name: &str,
    ) -> Result<Option<T>, ProvisionRefusal> {
        let row = self.rows.get(&(kind, name.to_owned()));
        Ok(row.map(documents::read).transpose()?)
    }

    fn put<T: Serialize>(&mut self, kind: Kind, name: &str, document: &T) -> Result<(), ProvisionRefusal> {
        let place = (kind, name.to_owned());
        if !self.seen.insert(place.clone()) {
            return Err(ProvisionRefusal::about(&format!("{kind} \"{name}\""), "stands in the file twice"));
        }
        let row = documents::row(kind, self.number(kind, name), name, document);
        let effect = match self.rows.get(&place) {
            None => Effect::Made,
            Some(before) if before.body == row.body => Effect::Same,
            Some(_) => Effect::Updated,
        };
        if effect != Effect::Same {
            self.written.push(place.clone());
            self.rows.insert(place, row);
        }
        self.changes.push(Change { kind, name: name.to_owned(), effect });
        Ok(())
    }

    fn finish(self) -> Result<Plan, ProvisionRefusal> {
        let Draft { rows, written, changes, openings, .. } = self;
        let catalogue = Catalogue::build(documents::documents(rows.values())?)?;
        let rows = written.iter().map(|place| rows[place].clone()).collect();
        Ok(Plan { changes, catalogue, rows, openings })
    }
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("checked when it was read")
}
