//! The demo's data: its own, with one customer without limits, or a provision file's, with the simulated carrier added.

use crate::demo::credentials::{Credentials, Pair};
use hermod_gateway::config::Source;
use hermod_gateway::provision::WantedSetup;
use std::net::SocketAddr;

pub(super) const SENDER: &str = "Hermod";
/// The number of the demo's customer, for MO messages and as a sender.
pub(super) const NUMBER: &str = "+4915700000000";
/// The system_id of the demo's customer.
const SYSTEM_ID: &str = "demo";
/// The name of the simulated carrier.
pub(super) const CARRIER: &str = "demo";

/// Returns the demo's own data, parsed from a provision file.
pub(super) fn wanted(credentials: &Credentials, carrier: SocketAddr) -> WantedSetup {
    let Credentials { own: Pair { api_key, api_secret }, smpp_password, .. } = credentials;
    let text = format!(
        r#"
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
tier = "enterprise"

[[number]]
number = "{NUMBER}"
account = "demo"

[[connection]]
name = "demo-http"
account = "demo"
default_sender = "{SENDER}"
rate = 100000

[[connection]]
name = "demo-smpp"
account = "demo"
default_sender = "{SENDER}"
system_id = "{SYSTEM_ID}"
password = "{smpp_password}"
window = 100

[[key]]
key = "{api_key}"
secret = "{api_secret}"
connection = "demo-http"
"#
    );
    with_carrier(read(text), carrier)
}

/// Adds the simulated carrier, unless the file has a carrier of its name. Without routes, all messages go to the carriers of
/// the file, or to the simulated one if it has none.
pub(super) fn with_carrier(mut wanted: WantedSetup, address: SocketAddr) -> WantedSetup {
    let simulated = read(format!(
        "[[carrier]]\nname = \"{CARRIER}\"\naddress = \"{address}\"\nsystem_id = \"hermod\"\npassword = \"demo\"\n\
         window = 1000\nrate = 1000000\n"
    ));
    if wanted.routes.is_empty() {
        let names: Vec<&str> = wanted.carriers.iter().map(|carrier| carrier.name.as_str()).collect();
        let names = if names.is_empty() { vec![CARRIER] } else { names };
        wanted.routes = read(format!("[[route]]\nprefix = \"*\"\ncarriers = {names:?}\n")).routes;
    }
    if !wanted.carriers.iter().any(|carrier| carrier.name == CARRIER) {
        wanted.carriers.extend(simulated.carriers);
    }
    wanted
}

/// Returns the default destination of MO messages: the first number of the file.
pub(super) fn first_number(wanted: &WantedSetup) -> Option<String> {
    wanted.numbers.first().map(|entry| entry.number.as_str().to_owned())
}

fn read(text: String) -> WantedSetup {
    let source = Source { path: "demo".into(), text };
    WantedSetup::parse(&source).expect("the demo's own data are valid: a test parses them")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> SocketAddr {
        "127.0.0.1:2775".parse().unwrap()
    }

    #[test]
    fn own_data_are_valid() {
        let folder = tempfile::tempdir().unwrap();
        let credentials = Credentials::load_or_make(folder.path()).ok().unwrap();
        let wanted = wanted(&credentials, address());
        assert_eq!(wanted.keys[0].secret.as_ref().unwrap().reveal(), credentials.own.api_secret);
        assert_eq!(wanted.connections[1].password.as_ref().unwrap().reveal(), credentials.smpp_password);
        assert_eq!(wanted.routes[0].carriers.as_ref().unwrap()[0].carrier(), CARRIER);
        assert_eq!(first_number(&wanted).as_deref(), Some(NUMBER));
    }

    #[test]
    fn simulated_carrier_is_added_to_a_file_and_its_routes_are_kept() {
        let acme = "[[carrier]]\nname = \"acme\"\naddress = \"a:1\"\nsystem_id = \"h\"\npassword = \"p\"\nwindow = 1\nrate = 1\n";
        let demo = acme.replace("acme", "demo");
        let route = "[[route]]\nprefix = \"49\"\ncarriers = [\"demo\"]\n";
        for (text, carriers, prefix, routed) in [
            ("", vec!["demo"], "", vec!["demo"]),
            (acme, vec!["acme", "demo"], "", vec!["acme"]),
            (route, vec!["demo"], "49", vec!["demo"]),
            (&format!("{acme}{route}"), vec!["acme", "demo"], "49", vec!["demo"]),
            (&demo, vec!["demo"], "", vec!["demo"]),
        ] {
            let wanted = with_carrier(read(text.to_owned()), address());
            let names: Vec<&str> = wanted.carriers.iter().map(|carrier| carrier.name.as_str()).collect();
            assert_eq!(names, carriers, "{text}");
            assert_eq!(wanted.routes.len(), 1, "{text}");
            assert_eq!(wanted.routes[0].prefix.unwrap().to_string(), prefix, "{text}");
            let carriers: Vec<&str> =
                wanted.routes[0].carriers.iter().flatten().map(|via| via.carrier()).collect();
            assert_eq!(carriers, routed, "{text}");
        }
    }
}
