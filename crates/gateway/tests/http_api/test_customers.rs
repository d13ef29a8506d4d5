//! Fixture: a customer for each kind of response, with prices and routes.

use crate::fixture::{SECRET, START};
use hermod_domain::carrier::Profile;
use hermod_domain::catalogue::{
    Account, AllowList, ApiKey, Carrier, Connection, Countries, Documents, Price, RouteCarrier, RouteEntry,
    SenderEntry, SenderState, Terms, Tier,
};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, RouteId};
use hermod_domain::money::Money;
use hermod_domain::prefix::Prefix;
use hermod_domain::sender::Sender;
use hermod_gateway::secrets::Pepper;
use std::time::Duration;

/// A funded account with a default sender.
pub(crate) const ACME: &str = "acme-key";
/// Another key of the same connection.
pub(crate) const ACME_TOO: &str = "acme-second-key";
/// Two requests per second, no default sender, one part at most; the account of `ACME`.
pub(crate) const SLOW: &str = "slow-key";
/// Balance 0 with a credit limit of 5.
pub(crate) const POSTPAID: &str = "postpaid-key";
/// Balance 0.1 with a minimum of 0.02.
pub(crate) const POOR: &str = "poor-key";
pub(crate) const UNVERIFIED: &str = "unverified-key";
/// Its key may be used from 203.0.113.0/24 and 127.0.0.3, its connection from 203.0.113.0/25 and 198.51.100.0/24, twice
/// a second.
pub(crate) const LISTED: &str = "listed-key";
/// Expires an hour after the start.
pub(crate) const EXPIRING: &str = "expiring-key";
pub(crate) const REVOKED: &str = "revoked-key";
/// Keys of a closed connection and of a closed account.
pub(crate) const CLOSED: &str = "closed-key";
pub(crate) const ACCOUNT_CLOSED: &str = "account-closed-key";
/// A postpaid account without a credit limit, and a prepaid one with a limit.
pub(crate) const POSTPAID_WITHOUT_LIMIT: &str = "postpaid-without-limit-key";
pub(crate) const PREPAID_WITH_LIMIT: &str = "prepaid-with-limit-key";

pub(crate) fn documents(pepper: &Pepper) -> Documents {
    Documents {
        accounts: accounts(),
        connections: connections(),
        keys: keys(pepper),
        prices: vec![price("49", "0.065"), price("44", "0.04"), price("1", "0")],
        routes: vec![route(1, "49"), route(2, "33"), route(3, "1")],
        carriers: vec![(CarrierId::new(1), "carrier".to_owned(), carrier())],
        senders: senders(),
        ..Documents::default()
    }
}

fn accounts() -> Vec<(AccountId, String, Account)> {
    let mut closed = account(5, "closed", "0", "0", true);
    closed.2.closed = true;
    let mut postpaid = account(6, "postpaid without limit", "0", "0", true);
    postpaid.2.terms = Some(Terms::Postpaid);
    let mut prepaid = account(7, "prepaid with limit", "5", "0", true);
    prepaid.2.terms = Some(Terms::Prepaid);
    vec![
        account(1, "acme", "0", "0", true),
        account(2, "postpaid", "5", "0", true),
        account(3, "poor", "0", "0.02", true),
        account(4, "unverified", "0", "0", false),
        closed,
        postpaid,
        prepaid,
    ]
}

fn connections() -> Vec<(ConnectionId, Connection)> {
    let mut listed = connection(6, 1, Some("Acme"), 2, None);
    listed.1.allow = list(&["203.0.113.0/25", "198.51.100.0/24"]);
    let mut closed = connection(7, 1, Some("Acme"), 1000, None);
    closed.1.closed = true;
    vec![
        connection(1, 1, Some("Acme"), 1000, None),
        connection(2, 1, None, 2, Some(1)),
        connection(3, 2, Some("Acme"), 1000, None),
        connection(4, 3, Some("Acme"), 1000, None),
        connection(5, 4, Some("Acme"), 1000, None),
        listed,
        closed,
        connection(8, 5, Some("Acme"), 1000, None),
        connection(9, 6, Some("Acme"), 1000, None),
        connection(10, 7, Some("Acme"), 1000, None),
    ]
}

fn keys(pepper: &Pepper) -> Vec<(String, ApiKey)> {
    let key = |public: &str, connection: u32| {
        let secret_digest = pepper.digest(SECRET);
        let connection = ConnectionId::new(connection);
        let key = ApiKey {
            connection,
            secret_digest,
            allow: AllowList::default(),
            expires_at: None,
            revoked: false,
            label: String::new(),
            previous: None,
            created_at: START,
        };
        (public.to_owned(), key)
    };
    let mut listed = key(LISTED, 6);
    listed.1.allow = list(&["203.0.113.0/24", "127.0.0.3/32"]);
    let mut expiring = key(EXPIRING, 1);
    expiring.1.expires_at = Some(START.plus(Duration::from_secs(3600)));
    let mut revoked = key(REVOKED, 1);
    revoked.1.revoked = true;
    vec![
        key(ACME, 1),
        key(ACME_TOO, 1),
        key(SLOW, 2),
        key(POSTPAID, 3),
        key(POOR, 4),
        key(UNVERIFIED, 5),
        listed,
        expiring,
        revoked,
        key(CLOSED, 7),
        key(ACCOUNT_CLOSED, 8),
        key(POSTPAID_WITHOUT_LIMIT, 9),
        key(PREPAID_WITH_LIMIT, 10),
    ]
}

fn list(networks: &[&str]) -> AllowList {
    AllowList(networks.iter().map(|network| network.parse().unwrap()).collect())
}

fn account(
    id: u32,
    name: &str,
    credit_limit: &str,
    minimum: &str,
    verified: bool,
) -> (AccountId, String, Account) {
    let account = Account {
        currency: "EUR".parse().unwrap(),
        credit_limit: Money::parse(credit_limit).unwrap(),
        minimum: Money::parse(minimum).unwrap(),
        verified,
        terms: None,
        price_list: None,
        countries: Countries::All,
        closed: false,
        tier: Tier::default(),
        smpp_rate: None,
        webhooks: None,
        stop_words: Vec::new(),
        countries_off: std::collections::BTreeSet::new(),
        warn_below: None,
        urgent_below: None,
        suspended: None,
    };
    (AccountId::new(id), name.to_owned(), account)
}

/// Approves the same two senders for each account.
fn senders() -> Vec<SenderEntry> {
    let approved = |account: AccountId, text: &str| SenderEntry {
        account: Some(account),
        sender: Sender::parse(text).unwrap(),
        state: SenderState::Approved,
        reason: None,
        note: None,
    };
    let ids = accounts().into_iter().map(|(id, ..)| id);
    ids.flat_map(|id| ["Acme", "A&B - c_d."].map(|text| approved(id, text))).collect()
}

fn connection(
    id: u32,
    account: u32,
    default_sender: Option<&str>,
    requests_per_second: u32,
    max_parts: Option<u8>,
) -> (ConnectionId, Connection) {
    let connection = Connection {
        account: AccountId::new(account),
        default_sender: default_sender.map(|sender| Sender::parse(sender).unwrap()),
        requests_per_second,
        max_parts,
        allow: AllowList::default(),
        smart_encoding: false,
        closed: false,
        smpp: None,
        dlr_form: Default::default(),
        webhooks_too: false,
    };
    (ConnectionId::new(id), connection)
}

fn price(prefix: &str, per_part: &str) -> Price {
    Price {
        account: None,
        prefix: Some(Prefix::parse(prefix).unwrap()),
        network: None,
        mcc: None,
        country: None,
        per_part: Some(Money::parse(per_part).unwrap()),
        from: None,
        until: None,
        price_list: None,
    }
}

fn route(id: u32, prefix: &str) -> (RouteId, RouteEntry) {
    let entry = RouteEntry {
        account: None,
        sender: None,
        prefix: Some(Prefix::parse(prefix).unwrap()),
        network: None,
        mcc: None,
        country: None,
        carriers: vec![RouteCarrier { carrier: CarrierId::new(1), priority: 1, weight: 1 }],
        in_doubt: None,
        fail_over_refusals: false,
        fail_over_after_ms: None,
        costs: Default::default(),
    };
    (RouteId::new(id), entry)
}

fn carrier() -> Carrier {
    Carrier {
        address: "127.0.0.1:1".to_owned(),
        system_id: "hermod".to_owned(),
        password: "secret".to_owned(),
        system_type: String::new(),
        window: 10,
        parts_per_second: 100,
        response_timeout_ms: 10_000,
        enquire_link_ms: 30_000,
        disabled: false,
        draining: None,
        tls: None,
        profile: Profile::default(),
    }
}
