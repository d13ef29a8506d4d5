//! Fixture: a whole gateway, set up by a provision file with a customer for each kind of response.

use crate::client::{Client, Headers, Reply, bearer};
use crate::fixture::SECRET;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{Bytes, Config, Source};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::running::{self, GatewayOptions, Running};
use hermod_operator::author::Author;
use hermod_operator::setup;
use hermod_operator::setup::file_entries::WantedSetup;
use hermod_store::{LedgerEntry, LedgerKind, PostOutcome};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// The customer of most tests: funded, with a default sender and 1000 requests per second.
pub(crate) const ACME: &str = "acme";

/// 2026-11-15T23:59:00Z, a minute before the end of the day.
const START: Timestamp = Timestamp::from_millis(1_794_787_140_000);

const PROVISION: &str = r#"
[[carrier]]
name = "unknown"
address = "127.0.0.1:1"
system_id = "hermod"
password = "secret"
window = 10
rate = 100

[[route]]
prefix = "49"
carriers = ["unknown"]
[[route]]
prefix = "33"
carriers = ["unknown"]
[[route]]
prefix = "*"
carriers = ["unknown"]

[[price]]
prefix = "49"
per_part = "0.05"
[[price]]
network = "262-02"
per_part = "0.02"
[[price]]
prefix = "49"
per_part = "0.5"
from = "2027-01-01"
[[price]]
prefix = "44"
per_part = "0.04"

[[sender]]
sender = "BANK"
state = "blocked"
[[sender]]
sender = "BANK"
account = "acme"
state = "approved"
[[sender]]
sender = "Later"
account = "acme"
state = "pending"

[[block]]
range = "4915999000000-4915999000099"
reason = "fraud last week"
[[block]]
prefix = "4915999111111"
account = "other"

[[screen]]
name = "links"
pattern = "https?://"
field = "text"

[[control]]
name = "ten-a-day"
account = "daily"
mode = "enforce"
messages_per_day = 10
[[control]]
name = "spending"
account = "spender"
mode = "enforce"
spend_per_day = "0.12"
[[control]]
name = "one-number"
account = "velocity"
mode = "enforce"
per_recipient = { most = 2, per = "1m" }
[[control]]
name = "one-range"
account = "velocity"
mode = "enforce"
per_range = { most = 3, per = "1m" }
[[control]]
name = "abroad"
account = "velocity"
mode = "enforce"
per_country = { most = 2, per = "1m", except = ["DE"] }
[[control]]
name = "watching"
account = "watched"
mode = "watch"
messages_per_day = 1
"#;

/// (account with a connection and key of the same name, additional lines)
const CUSTOMERS: &[(&str, &str, &str, &str)] = &[
    ("acme", "", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("other", "", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("ten", "", "default_sender = \"Acme\"", ""),
    ("nosender", "", "rate = 1000", ""),
    ("guarded", "", "rate = 1000\ndefault_sender = \"Acme\"\nmax_parts = 2", ""),
    ("smart", "", "rate = 1000\ndefault_sender = \"Acme\"\nsmart_encoding = true", ""),
    ("poor", "minimum = \"0.02\"", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("postpaid", "credit_limit = \"0.2\"", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("suspended", "suspended = \"unpaid invoice\"", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("unverified", "verified = false", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("domestic", "countries = [\"DE\"]", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("daily", "", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("spender", "", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("velocity", "", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("watched", "", "rate = 1000\ndefault_sender = \"Acme\"", ""),
    ("expired", "", "rate = 1000", "expires_at = \"2026-11-15T23:59:30Z\""),
    ("revoked", "", "rate = 1000", "revoked = true"),
    (
        "both-lists",
        "",
        "rate = 1000\nallow = [\"127.0.0.0/8\", \"203.0.113.0/24\"]",
        "allow = [\"127.0.0.1\", \"203.0.113.9\"]",
    ),
    ("key-list", "", "rate = 1000\nallow = [\"127.0.0.1\"]", "allow = [\"192.0.2.1\"]"),
    ("connection-list", "", "rate = 1000\nallow = [\"192.0.2.0/24\"]", ""),
    ("closed", "closed = true", "rate = 1000", ""),
];

fn provision_text() -> String {
    let mut text = PROVISION.to_owned();
    for (name, account, connection, key) in CUSTOMERS {
        let opening = match *name {
            "poor" => "0.1",
            "postpaid" => "0",
            _ => "10",
        };
        let verified = if account.contains("verified") { "" } else { "verified = true\n" };
        let countries = if account.contains("countries") { "" } else { "countries = \"*\"\n" };
        text.push_str(&format!(
            "[[account]]\nname = \"{name}\"\ncurrency = \"EUR\"\nopening_balance = \"{opening}\"\n{verified}{countries}\
             senders = [\"Acme\", \"A&B - c_d.\"]\n{account}\n\
             [[connection]]\nname = \"{name}\"\naccount = \"{name}\"\n{connection}\n\
             [[key]]\nkey = \"{name}\"\nconnection = \"{name}\"\nsecret = \"{SECRET}\"\n{key}\n\
             [[key]]\nkey = \"{name}-second\"\nconnection = \"{name}\"\nsecret = \"{SECRET}\"\n"
        ));
    }
    text
}

pub(crate) struct Service {
    running: Running,
    pub(crate) clock: Clock,
    pub(crate) address: SocketAddr,
    pub(crate) folder: TempDir,
}

impl Service {
    pub(crate) async fn start() -> Service {
        Service::start_with(|_| ()).await
    }

    pub(crate) async fn start_with(settings: impl FnOnce(&mut Config)) -> Service {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::defaults();
        config.data.folder = folder.path().join("data");
        config.data.low_water = Bytes(16 << 20);
        settings(&mut config);
        let clock = Clock::manual(START);
        let http = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let opened = running::open(&config, &clock).unwrap();
        let source = Source { path: "provision.toml".into(), text: provision_text() };
        let wanted: WantedSetup = source.parse().unwrap();
        setup::apply(&opened.store, &opened.pepper, &wanted, &Author::operator(None), clock.now())
            .await
            .unwrap();
        let options = GatewayOptions {
            config,
            http,
            https: None,
            smpp: None,
            smpps: None,
            operations: None,
            operator: None,
            pages: None,
            clock: clock.clone(),
        };
        let running = Running::start(options, opened).await.unwrap();
        Service { address: running.http_addr(), running, clock, folder }
    }

    pub(crate) fn gateway(&self) -> &Arc<Gateway> {
        self.running.gateway()
    }

    pub(crate) fn account(&self, name: &str) -> AccountId {
        let catalogue = self.gateway().catalogue();
        catalogue.accounts().find(|(_, view)| view.name == name).unwrap().0
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    /// Sends `POST /sms` on a new connection.
    pub(crate) async fn send(&self, key: &str, headers: Headers<'_>, body: &str) -> Reply {
        self.client().await.send(key, headers, body).await
    }

    /// Like `send`, for an ordinary message.
    pub(crate) async fn sms(&self, key: &str, to: &str, text: &str) -> Reply {
        self.send(key, &[], &serde_json::json!({ "to": to, "text": text }).to_string()).await
    }

    pub(crate) async fn sms_from(&self, key: &str, from: &str) -> Reply {
        let body = serde_json::json!({ "to": "+4915112345678", "from": from, "text": "hello" });
        self.send(key, &[], &body.to_string()).await
    }

    pub(crate) async fn keyed(&self, key: &str, idempotency_key: &str, to: &str, text: &str) -> Reply {
        let body = serde_json::json!({ "to": to, "text": text }).to_string();
        self.send(key, &[("Idempotency-Key", idempotency_key)], &body).await
    }

    pub(crate) async fn get(&self, key: &str, path: &str) -> Reply {
        self.client().await.get(key, path).await
    }

    /// Sends a GET with this client address in `X-Forwarded-For`.
    pub(crate) async fn get_from(&self, key: &str, path: &str, address: &str) -> Reply {
        let headers = [("Authorization", bearer(key)), ("X-Forwarded-For", address.to_owned())];
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.client().await.call("GET", path, &headers, b"").await
    }

    /// Returns the balance as decimal text.
    pub(crate) async fn balance(&self, key: &str) -> String {
        self.balance_field(key, "balance").await
    }

    pub(crate) async fn balance_field(&self, key: &str, field: &str) -> String {
        let reply = self.get(key, "/api/v1/balance").await;
        raw_field(&reply.body, field)
    }

    pub(crate) async fn post(&self, account: &str, kind: LedgerKind, amount: &str) {
        let entry = LedgerEntry {
            account: self.account(account),
            kind,
            amount: Money::parse(amount).unwrap(),
            note: "test".to_owned(),
            reference: None,
            now: self.clock.now(),
        };
        let outcome = self.gateway().store.money().post(entry).await.unwrap();
        assert!(matches!(outcome, PostOutcome::Posted { .. }), "{outcome:?}");
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

/// Returns the raw text of a field, so that amounts are not parsed as floats.
pub(crate) fn raw_field(body: &str, field: &str) -> String {
    let fields: std::collections::BTreeMap<&str, &serde_json::value::RawValue> =
        serde_json::from_str(body).unwrap();
    fields[field].get().to_owned()
}

/// Returns status and error code of a response.
#[track_caller]
pub(crate) fn status_and_code(reply: &Reply) -> (u16, &str) {
    (reply.status, reply.code())
}
