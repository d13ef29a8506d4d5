//! The settings and provision files of a gateway under test. Capitals are placeholders.

pub(super) const PASSWORD: &str = "bench123";

pub(super) const SETTINGS: &str = r#"[data]
folder = "data"
pepper_file = "pepper.key"
STORE
[http]
listen = "ADDRESS"
[smpp]
listen = "SMPP_PLAIN"
tls_listen = "SMPP_TLS"
certificate = "tls/certificate.pem"
key = "tls/key.pem"
max_sessions_per_address = 20000
max_half_open_per_address = 20000
[webhooks]
allow_http = true
allow = ["127.0.0.0/8"]
[log]
level = "warn"
[provision]
file = "provision.toml"
"#;

/// 32 octets in digits. All nodes need the same pepper.
pub(super) const PEPPER: &str = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// Appended for a gateway that keeps no record.
pub(super) const NO_RECORD: &str = "[record]\nenabled = false\n";

/// Appended for one of several nodes.
pub(super) const NODE: &str = "[node]\nname = \"NAME\"\nlisten = \"LISTEN\"\n";

pub(super) const CARRIER: &str = r#"
[[carrier]]
name = "bench"
address = "CARRIER"
system_id = "bench"
password = "bench"
window = 500
rate = 1000000
links = LINKS

[[route]]
prefix = "*"
carriers = ["bench"]

[[price]]
prefix = "*"
per_part = "0.01"
"#;

const CUSTOMER: &str = r#"
[[account]]
name = "CUSTOMER"
currency = "EUR"
opening_balance = "1000000"
verified = true
countries = "*"
senders = ["Bench"]
ACCOUNT_MORE
[[connection]]
name = "CUSTOMER"
account = "CUSTOMER"
default_sender = "Bench"
rate = 1000000
CONNECTION_MORE
[[key]]
key = "key-CUSTOMER"
secret = "secret-of-no-importance-CUSTOMER"
connection = "CUSTOMER"
"#;

/// A customer without limits, who binds.
const BINDING: (&str, &str) = (
    "tier = \"enterprise\"\nsmpp_rate = 1000000\n",
    "system_id = \"CUSTOMER\"\npassword = \"PASSWORD\"\nwindow = 100\nmax_binds = 10000\n",
);

/// A customer who gets DLRs by webhook.
const POSTED: (&str, &str) =
    ("dlr_webhook = \"URL\"\nwebhook_secret = \"secret-of-no-importance-CUSTOMER\"\n", "");

/// A customer who sends over HTTP, and binds or has a webhook.
#[derive(Clone)]
pub(super) struct Customer {
    /// Also its system_id.
    pub(super) name: String,
    pub(super) webhook: Option<String>,
}

impl Customer {
    pub(super) fn new(name: impl Into<String>) -> Customer {
        Customer { name: name.into(), webhook: None }
    }

    pub(super) fn key(&self) -> String {
        format!("key-{}", self.name)
    }

    pub(super) fn secret(&self) -> String {
        format!("secret-of-no-importance-{}", self.name)
    }

    pub(super) fn provision(&self) -> String {
        let (account, connection) = if self.webhook.is_some() { POSTED } else { BINDING };
        CUSTOMER
            .replace("ACCOUNT_MORE", account)
            .replace("CONNECTION_MORE", connection)
            .replace("URL", self.webhook.as_deref().unwrap_or_default())
            .replace("PASSWORD", PASSWORD)
            .replace("CUSTOMER", &self.name)
    }
}
