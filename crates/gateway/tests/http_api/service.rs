//! A gateway with a handful of customers, each there for one kind of answer.

use crate::client::{Client, Headers, Reply};
use hermod_domain::catalogue::{
    Account, AllowList, ApiKey, Carrier, Catalogue, Connection, Countries, Documents, Price, RouteEntry,
};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, RouteId};
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::money::Money;
use hermod_domain::prefix::Prefix;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::edges::http_api::{Limits, RenderMetrics, router, serve};
use hermod_gateway::secrets::Pepper;
use hermod_gateway::workers::Workers;
use hermod_gateway::world::World;
use hermod_store::{LedgerEntry, LedgerKind, OpenOptions, Store};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;

pub(crate) const SECRET: &str = "s3cret:with:colons";

/// A funded account with a default sender.
pub(crate) const ACME: &str = "acme-key";
/// Another key of the same connection.
pub(crate) const ACME_TOO: &str = "acme-second-key";
/// Two requests per second, no default sender, one part at most; the account of `ACME`.
pub(crate) const SLOW: &str = "slow-key";
/// Empty, and may go 5 below zero.
pub(crate) const POSTPAID: &str = "postpaid-key";
/// Has 0.1 and must keep 0.02.
pub(crate) const POOR: &str = "poor-key";
pub(crate) const UNVERIFIED: &str = "unverified-key";

pub(crate) const LIMITS: Limits = Limits {
    connections_max: 64,
    header_read_max: Duration::from_secs(10),
    body_read_max: Duration::from_secs(30),
    idle_max: Duration::from_secs(75),
    drain_max: Duration::from_secs(5),
};

pub(crate) struct Service {
    pub(crate) world: Arc<World>,
    pub(crate) workers: Workers,
    pub(crate) address: SocketAddr,
    _folder: TempDir,
}

impl Service {
    pub(crate) async fn start() -> Service {
        Service::start_with(LIMITS).await
    }

    pub(crate) async fn start_with(limits: Limits) -> Service {
        Service::start_rendering(limits, Arc::new(|| "hermod_up 1\n".to_owned())).await
    }

    pub(crate) async fn start_rendering(limits: Limits, metrics: RenderMetrics) -> Service {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Timestamp::from_millis(1_750_000_000_000));
        let store = Store::open(&OpenOptions {
            folder: folder.path().to_owned(),
            low_water_bytes: 0,
            in_doubt_wait: Duration::from_secs(60),
            now: clock.now(),
        })
        .unwrap();
        for (account, amount) in [(1, "10"), (3, "0.1"), (4, "10")] {
            let entry = LedgerEntry {
                account: AccountId::new(account),
                kind: LedgerKind::TopUp,
                amount: Money::parse(amount).unwrap(),
                note: "test".to_owned(),
                reference: None,
                now: clock.now(),
            };
            store.post(entry).await.unwrap();
        }
        let pepper = Pepper::new(b"pepper");
        let catalogue = Catalogue::build(documents(&pepper)).unwrap();
        let world =
            Arc::new(World::new(clock.clone(), store, pepper, catalogue, Duration::from_secs(72 * 3600)));
        let workers = Workers::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (routes, owner) = (router(world.clone(), Some(metrics)), workers.clone());
        workers.spawn_named("http", async move { serve(listener, routes, clock, &owner, limits).await });
        Service { world, workers, address, _folder: folder }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    /// `POST /sms` of one customer on a connection of its own.
    pub(crate) async fn send(&self, key: &str, headers: Headers<'_>, body: &str) -> Reply {
        self.client().await.send(key, headers, body).await
    }

    pub(crate) async fn get(&self, key: &str, path: &str) -> Reply {
        self.client().await.get(key, path).await
    }

    pub(crate) async fn balance(&self, key: &str) -> String {
        let body = self.get(key, "/api/v1/balance").await.body;
        let value: serde_json::Value = serde_json::from_str(&body).unwrap();
        value["balance"].to_string()
    }

    /// The process survived whatever came before: a plain request still gets a plain answer.
    pub(crate) async fn still_serves(&self) {
        assert_eq!(self.get(ACME, "/api/v1/balance").await.status, 200);
    }
}

fn documents(pepper: &Pepper) -> Documents {
    let key = |public: &str, connection: u32| {
        let secret_digest = pepper.digest(SECRET);
        let connection = ConnectionId::new(connection);
        let (allow, expires_at, revoked) = (AllowList::default(), None, false);
        (public.to_owned(), ApiKey { connection, secret_digest, allow, expires_at, revoked })
    };
    Documents {
        accounts: vec![
            account(1, "acme", "0", "0", true),
            account(2, "postpaid", "5", "0", true),
            account(3, "poor", "0", "0.02", true),
            account(4, "unverified", "0", "0", false),
        ],
        connections: vec![
            connection(1, 1, Some("Acme"), 1000, None),
            connection(2, 1, None, 2, Some(1)),
            connection(3, 2, Some("Acme"), 1000, None),
            connection(4, 3, Some("Acme"), 1000, None),
            connection(5, 4, Some("Acme"), 1000, None),
        ],
        keys: vec![
            key(ACME, 1),
            key(ACME_TOO, 1),
            key(SLOW, 2),
            key(POSTPAID, 3),
            key(POOR, 4),
            key(UNVERIFIED, 5),
        ],
        prices: vec![price("49", "0.065"), price("44", "0.04"), price("1", "0")],
        routes: vec![route(1, "49"), route(2, "33"), route(3, "1")],
        carriers: vec![(CarrierId::new(1), "carrier".to_owned(), carrier())],
        ..Documents::default()
    }
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
        senders: vec![Sender::parse("Acme").unwrap(), Sender::parse("A&B - c_d.").unwrap()],
        terms: None,
        countries: Countries::All,
        closed: false,
    };
    (AccountId::new(id), name.to_owned(), account)
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
    };
    (ConnectionId::new(id), connection)
}

fn price(prefix: &str, per_part: &str) -> Price {
    Price {
        account: None,
        prefix: Some(Prefix::parse(prefix).unwrap()),
        network: None,
        mcc: None,
        per_part: Money::parse(per_part).unwrap(),
        from: None,
    }
}

fn route(id: u32, prefix: &str) -> (RouteId, RouteEntry) {
    let entry = RouteEntry {
        prefix: Prefix::parse(prefix).unwrap(),
        carriers: vec![CarrierId::new(1)],
        in_doubt: DoubtPolicy::ResendOnce,
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
    }
}
