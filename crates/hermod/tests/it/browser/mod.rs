//! The portal in Debian's Chromium: journeys of people, hostile strings, and accessibility of every page. `cargo xtask test`
//! installs the browser, its driver and axe-core; a test that is run alone installs them with `cargo xtask client`.

mod accessibility;
mod account;
mod contract;
mod demo;
mod developer;
mod driver;
mod hostile;
mod journeys;
mod people;
mod tab;
mod walk;

use crate::scenario::Scenario;
use hermod_domain::catalogue::Role;
use hermod_gateway::secrets::Secret;
use hermod_operator::author::{Acting, Author};
use hermod_operator::user::links::{invite, use_link};

const PASSWORD: &str = "correct horse battery";
const EMAIL: &str = "ann@example.com";

/// Makes a user of the portal with [`PASSWORD`].
async fn make_user(s: &Scenario, email: &str, account: &str, role: Role) {
    let acting = Acting { gateway: s.gateway().clone(), author: Author::operator(None) };
    let invited = invite(&acting, email, Some((account, role))).await.expect("an invitation");
    let used = use_link(s.gateway(), invited.token.reveal(), &Secret::new(PASSWORD), None).await;
    used.expect("the link works once");
}

/// Sends a message of alice, waits until it is delivered and until pages show it, and returns its id.
async fn delivered_message(s: &Scenario, to: &str, text: &str) -> String {
    let id = s.alice.send(to, text).await.accepted();
    s.alice.status_of(&id).becomes("delivered").await;
    s.gateway().store.record().flush().await.expect("the record is written");
    id
}
