//! What the demo starts with: one carrier for every number, one price, and one customer who may do anything.

use crate::demo::credentials::Credentials;
use hermod_gateway::config::Source;
use hermod_gateway::provision::Wanted;
use std::net::SocketAddr;

pub(super) const SENDER: &str = "Hermod";

/// The same text an operator would write.
pub(super) fn wanted(credentials: &Credentials, carrier: SocketAddr) -> Wanted {
    let Credentials { api_key, api_secret } = credentials;
    let text = format!(
        r#"
[[carrier]]
name = "simulated"
address = "{carrier}"
system_id = "hermod"
password = "demo"
window = 1000
rate = 1000000

[[route]]
prefix = "*"
carriers = ["simulated"]

[[price]]
prefix = "*"
per_part = "0.05"

[[account]]
name = "demo"
currency = "EUR"
opening_balance = "1000000"
verified = true
countries = "*"
senders = ["{SENDER}"]

[[connection]]
name = "demo-http"
account = "demo"
default_sender = "{SENDER}"
rate = 100000

[[key]]
key = "{api_key}"
secret = "{api_secret}"
connection = "demo-http"
"#
    );
    let source = Source { path: "demo".into(), text };
    Wanted::parse(&source).expect("the demo's own data are in order: a test reads them")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_s_own_data_are_in_order() {
        let credentials =
            Credentials { api_key: "demo-abc".to_owned(), api_secret: "0123456789abcdef".to_owned() };
        let wanted = wanted(&credentials, "127.0.0.1:2775".parse().unwrap());
        let secret = wanted.keys[0].secret.as_ref();
        assert_eq!(secret.map(|secret| secret.reveal()), Some("0123456789abcdef"));
    }
}
