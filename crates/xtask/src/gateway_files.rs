//! The settings and provision files of gateways that benchmarks and the cluster start, and what their carrier must have counted at
//! the end. Capitals are placeholders.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::shell::{Failure, Outcome};

pub(crate) const PASSWORD: &str = "bench123";

pub(crate) const SETTINGS: &str = r#"[data]
folder = "data"
pepper_file = "pepper.key"
STORE
[http]
listen = "ADDRESS"
[smpp]
listen = "SMPP_PLAIN"
tls_listen = "SMPP_TLS"
certificate = "tls/localhost/certificate.pem"
key = "tls/localhost/key.pem"
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
pub(crate) const PEPPER: &str = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// Appended for a gateway that keeps no record.
pub(crate) const NO_RECORD: &str = "[record]\nenabled = false\n";

/// Appended for one of several nodes.
pub(crate) const NODE: &str = "[node]\nname = \"NAME\"\nlisten = \"LISTEN\"\n";

const CARRIER: &str = r#"
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
pub(crate) struct Customer {
    /// Also its system_id.
    pub(crate) name: String,
    pub(crate) webhook: Option<String>,
    /// The only address that may use the connection.
    pub(crate) allow: Option<&'static str>,
}

impl Customer {
    pub(crate) fn new(name: impl Into<String>) -> Customer {
        Customer { name: name.into(), webhook: None, allow: None }
    }

    pub(crate) fn key(&self) -> String {
        format!("key-{}", self.name)
    }

    pub(crate) fn secret(&self) -> String {
        format!("secret-of-no-importance-{}", self.name)
    }

    fn provision(&self) -> String {
        let (account, connection) = if self.webhook.is_some() { POSTED } else { BINDING };
        let allow = self.allow.map_or(String::new(), |address| format!("allow = [\"{address}\"]\n"));
        CUSTOMER
            .replace("ACCOUNT_MORE", account)
            .replace("CONNECTION_MORE", &(allow + connection))
            .replace("URL", self.webhook.as_deref().unwrap_or_default())
            .replace("PASSWORD", PASSWORD)
            .replace("CUSTOMER", &self.name)
    }
}

/// Returns a provision file with a carrier at this address, a route and a price for every number, and these customers.
pub(crate) fn provision(carrier: &str, links: u32, customers: &[Customer]) -> String {
    let carrier = CARRIER.replace("CARRIER", carrier).replace("LINKS", &links.to_string());
    carrier + &customers.iter().map(Customer::provision).collect::<String>()
}

/// Writes a file for this user only, because some have secrets. Makes its folder.
pub(crate) fn write(file: &Path, content: &str) -> Outcome {
    let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    let opened =
        folder.and_then(|()| File::options().write(true).create(true).truncate(true).mode(0o600).open(file));
    let written = opened.and_then(|mut file| file.write_all(content.as_bytes()));
    written.map_err(|cause| Failure(format!("{}: {cause}", file.display())))
}

/// Compares the carrier's counts with the accepted messages: each submitted once, with its receipt accepted.
pub(crate) fn compare_counts(counts: &str, messages: u64) -> Outcome {
    for (name, expect) in
        [("submits", messages), ("accepted", messages), ("receipts_accepted", messages), ("duplicates", 0)]
    {
        let count = counts.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        if count != Some(expect) {
            let count = count.map_or("nothing".to_owned(), |count| count.to_string());
            return Err(Failure(format!("the carrier counted {name}: {count}, expected {expect}\n{counts}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_must_be_at_the_carrier_once() {
        let counts = |submits: u64| {
            format!("127.0.0.1:2775\nsubmits {submits}\naccepted 3\nreceipts_accepted 3\nduplicates 0\n")
        };
        assert!(compare_counts(&counts(3), 3).is_ok());
        assert!(compare_counts(&counts(4), 3).is_err());
        assert!(compare_counts("", 3).is_err());
    }
}
