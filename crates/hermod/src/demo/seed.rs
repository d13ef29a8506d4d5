//! The demo's data: its own, with one customer without limits, or a provision file's, with the simulated carrier added; and
//! its user of the portal.

use crate::demo::credentials::{ApiKeyPair, DemoCredentials};
use crate::failure::Failure;
use hermod_domain::catalogue::Role;
use hermod_gateway::config::Source;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::secrets::Secret;
use hermod_operator::author::{Acting, Author};
use hermod_operator::setup::file_entries::WantedSetup;
use hermod_operator::user::UserRefusal;
use hermod_operator::user::links::{invite, use_link};
use serde::Serialize;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

pub(super) const SENDER: &str = "Hermod";
/// The number of the demo's customer, for MO messages and as a sender.
pub(super) const NUMBER: &str = "+4915700000000";
/// The system_id of the demo's customer.
const SYSTEM_ID: &str = "demo";
/// The name of the simulated carrier.
pub(super) const CARRIER: &str = "demo";
pub(super) const PORTAL_EMAIL: &str = "demo@example.com";

/// Returns the demo's own data, parsed from a provision file.
pub(super) fn wanted(credentials: &DemoCredentials, carrier: SocketAddr) -> WantedSetup {
    let DemoCredentials { own: ApiKeyPair { api_key, api_secret }, smpp_password, .. } = credentials;
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

/// Parses data of the demo.
pub(super) fn read(text: String) -> WantedSetup {
    let source = Source { path: "demo".into(), text };
    WantedSetup::parse(&source).expect("the demo's own data are valid: a test parses them")
}

/// How to sign in to the portal.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PortalAccess {
    pub(super) portal_url: String,
    pub(super) portal_email: String,
    pub(super) portal_password: String,
}

/// Makes the user an owner of all accounts, unless the user has a password already.
pub(super) async fn make_portal_user(
    gateway: &Arc<Gateway>,
    url: String,
    password: &str,
) -> Result<PortalAccess, Failure> {
    let refused = |refusal: UserRefusal| Failure::failed(format!("the user of the portal: {refusal}"));
    let catalogue = gateway.catalogue();
    let exists = catalogue.users().find(PORTAL_EMAIL).is_some_and(|(_, user)| user.password.is_some());
    if !exists {
        let acting = Acting { gateway: gateway.clone(), author: Author::file(Path::new("of the demo")) };
        let mut accounts: Vec<&str> = catalogue.accounts().map(|(_, view)| view.name.as_str()).collect();
        accounts.sort_unstable();
        let password = Secret::new(password);
        for account in accounts {
            let link = invite(&acting, PORTAL_EMAIL, Some((account, Role::Owner))).await.map_err(refused)?;
            use_link(gateway, link.token.reveal(), &password, None).await.map_err(refused)?;
        }
    }
    Ok(PortalAccess {
        portal_url: url,
        portal_email: PORTAL_EMAIL.to_owned(),
        portal_password: password.to_owned(),
    })
}

#[cfg(test)]
#[path = "seed_tests.rs"]
mod tests;
