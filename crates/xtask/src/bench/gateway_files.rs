//! The settings and provision files of a gateway under test. Capitals are placeholders.

pub(super) const SETTINGS: &str = "[data]\nfolder = \"data\"\n[http]\nlisten = \"ADDRESS\"\n[log]\nlevel = \"warn\"\n\
                        [provision]\nfile = \"provision.toml\"\n";

/// Appended where no customer binds: a free port, because the default one may be in use.
pub(super) const NO_BINDS: &str = "[smpp]\nlisten = \"127.0.0.1:0\"\n";

/// Appended for a gateway that keeps no record.
pub(super) const NO_RECORD: &str = "[record]\nenabled = false\n";

/// Appended for a gateway that posts to this machine.
pub(super) const WEBHOOK_SETTINGS: &str = "[webhooks]\nallow_http = true\nallow = [\"127.0.0.0/8\"]\n";

/// Appended for a gateway that accepts binds.
pub(super) const SMPP_SETTINGS: &str = "[smpp]\nlisten = \"SMPP_PLAIN\"\ntls_listen = \"SMPP_TLS\"\n\
                             certificate = \"tls/certificate.pem\"\nkey = \"tls/key.pem\"\n\
                             max_sessions_per_address = 20000\nmax_half_open_per_address = 20000\n";

/// Settings of a node, or of a gateway that is compared with nodes.
pub(super) const NODE_SETTINGS: &str = "[data]\nfolder = \"data\"\nSTORE[http]\nlisten = \"ADDRESS\"\n\
                             [smpp]\nlisten = \"SMPP_PLAIN\"\n[log]\nlevel = \"warn\"\n\
                             [provision]\nfile = \"provision.toml\"\n";
/// In place of `STORE` on PostgreSQL. All nodes need the same pepper.
pub(super) const ON_POSTGRES: &str = "store = \"URL\"\npepper_file = \"pepper.key\"\n";
/// Appended for one of several nodes.
pub(super) const NODE: &str = "[node]\nname = \"NAME\"\nlisten = \"LISTEN\"\n";

/// The customer of a gateway that accepts binds, without limits.
pub(super) const ACCOUNT_SMPP: &str = "tier = \"enterprise\"\nsmpp_rate = 1000000\n";
pub(super) const CONNECTION_SMPP: &str =
    "system_id = \"SYSTEM_ID\"\npassword = \"PASSWORD\"\nwindow = 100\nmax_binds = 10000\n";

pub(super) const PROVISION: &str = r#"
[[carrier]]
name = "bench"
address = "CARRIER"
system_id = "bench"
password = "bench"
window = 500
rate = 1000000

[[route]]
prefix = "*"
carriers = ["bench"]

[[price]]
prefix = "*"
per_part = "0.01"

[[account]]
name = "bench"
currency = "EUR"
opening_balance = "1000000"
verified = true
countries = "*"
senders = ["Bench"]
ACCOUNT_SMPP

[[connection]]
name = "bench"
account = "bench"
default_sender = "Bench"
rate = 1000000
CONNECTION_SMPP

[[key]]
key = "KEY"
secret = "SECRET"
connection = "bench"
"#;

/// Another customer that binds.
pub(super) const BINDING_CUSTOMER: &str = r#"
[[account]]
name = "CUSTOMER"
currency = "EUR"
opening_balance = "1000000"
verified = true
countries = "*"
senders = ["Bench"]
ACCOUNT_SMPP

[[connection]]
name = "CUSTOMER"
account = "CUSTOMER"
default_sender = "Bench"
rate = 1000000
CONNECTION_SMPP

[[key]]
key = "key-CUSTOMER"
secret = "secret-of-no-importance-CUSTOMER"
connection = "CUSTOMER"
"#;

pub(super) const CUSTOMER: &str = r#"
[[account]]
name = "CUSTOMER"
currency = "EUR"
opening_balance = "1000000"
verified = true
countries = "*"
senders = ["Bench"]
dlr_webhook = "URL"
webhook_secret = "SECRET"

[[connection]]
name = "CUSTOMER"
account = "CUSTOMER"
default_sender = "Bench"
rate = 1000000

[[key]]
key = "KEY"
secret = "SECRET"
connection = "CUSTOMER"
"#;
