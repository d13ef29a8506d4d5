//! Fixture: the HTTP API on a free loopback port, with its own store and a manual clock.

use crate::client::{Client, Headers, Reply};
use crate::test_customers::{ACME, documents};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::edges::http_api::{MetricsPage, RenderMetrics, router};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::http::body_memory::BodyMemory;
use hermod_gateway::http::{HttpLimits, HttpListener, Reach, Security, TrustedProxies, serve};
use hermod_gateway::secrets::Pepper;
use hermod_gateway::workers::Workers;
use hermod_store::{LedgerEntry, LedgerKind, OpenOptions, Store};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;

pub(crate) const SECRET: &str = "s3cret:with:colons:and:26:characters";

/// The start time of every test.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_750_000_000_000);

pub(crate) const LIMITS: HttpLimits = HttpLimits {
    connections_max: 64,
    per_address_max: 64,
    half_open_max: 64,
    handshake_max: Duration::from_secs(10),
    header_read_max: Duration::from_secs(10),
    body_read_max: Duration::from_secs(30),
    idle_max: Duration::from_secs(75),
    drain_max: Duration::from_secs(5),
};

/// Settings that a test can change.
pub(crate) struct Opening {
    pub(crate) limits: HttpLimits,
    pub(crate) metrics: RenderMetrics,
    pub(crate) security: Security,
    pub(crate) proxies: TrustedProxies,
    pub(crate) proxy_protocol_from: TrustedProxies,
    /// The addresses that may read the metrics.
    pub(crate) reach: Reach,
    pub(crate) body_memory_max: u64,
    /// Whether requests are logged.
    pub(crate) record: bool,
}

impl Default for Opening {
    fn default() -> Opening {
        Opening {
            limits: LIMITS,
            metrics: Arc::new(|| Box::pin(std::future::ready("hermod_up 1\n".to_owned()))),
            security: Security::PlainNearby,
            proxies: TrustedProxies::default(),
            proxy_protocol_from: TrustedProxies::default(),
            reach: Reach::ThisMachine,
            body_memory_max: 64 * 1024 * 1024,
            record: false,
        }
    }
}

pub(crate) struct Service {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) workers: Workers,
    pub(crate) address: SocketAddr,
    _folder: TempDir,
}

impl Service {
    pub(crate) async fn start() -> Service {
        Service::start_with(LIMITS).await
    }

    pub(crate) async fn start_with(limits: HttpLimits) -> Service {
        Service::open(Opening { limits, ..Opening::default() }).await
    }

    pub(crate) async fn open(opening: Opening) -> Service {
        let Opening {
            limits,
            metrics: render,
            security,
            proxies,
            proxy_protocol_from,
            reach,
            body_memory_max,
            record,
        } = opening;
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(START);
        let store = Store::open(&OpenOptions {
            folder: folder.path().to_owned(),
            server: None,
            low_water_bytes: 0,
            in_doubt_wait: Duration::from_secs(60),
            record,
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
            store.money().post(entry).await.unwrap();
        }
        let pepper = Pepper::new(b"pepper");
        let catalogue = Catalogue::build(documents(&pepper)).unwrap();
        let validity = Duration::from_secs(72 * 3600);
        let mut gateway = Gateway::new(clock.clone(), store, pepper, catalogue, validity);
        gateway.body_memory = BodyMemory::new(body_memory_max);
        let gateway = Arc::new(gateway);
        let workers = Workers::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let page = MetricsPage { render, reach };
        let (routes, owner) = (router(gateway.clone(), Some(page), None), workers.clone());
        let listener = HttpListener {
            socket: listener,
            security,
            proxies: Arc::new(proxies),
            proxy_protocol_from: Arc::new(proxy_protocol_from),
        };
        workers.spawn_named("http", async move { serve(listener, routes, clock, &owner, limits).await });
        Service { gateway, workers, address, _folder: folder }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    /// Sends `POST /sms` on a new connection.
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

    /// Asserts that an ordinary request is still answered.
    pub(crate) async fn assert_still_serving(&self) {
        assert_eq!(self.get(ACME, "/api/v1/balance").await.status, 200);
    }
}
