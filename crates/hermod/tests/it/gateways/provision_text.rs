//! The provision files of the tests' gateways.

use std::net::SocketAddr;

/// Returns a provision text with one carrier and three customers: alice, bob, and carol with a balance for ten messages.
pub(crate) fn provision_text(carrier: SocketAddr, opening: &str) -> String {
    provision_text_with(&carrier_entry("acme", carrier, ""), &customers_text(opening))
}

/// Returns a carrier's entry of a provision file. Limits that the settings omit have their maximum.
pub(crate) fn carrier_entry(name: &str, address: SocketAddr, settings: &str) -> String {
    let mut text = format!(
        "[[carrier]]\nname = \"{name}\"\naddress = \"{address}\"\nsystem_id = \"hermod\"\npassword = \"secret\"\n"
    );
    for (field, usual) in [("window", "100"), ("rate", "100000"), ("response_timeout", "\"60s\"")] {
        if !settings.lines().any(|line| line.starts_with(&format!("{field} ="))) {
            text.push_str(&format!("{field} = {usual}\n"));
        }
    }
    text.push_str(settings);
    text.push('\n');
    text
}

pub(crate) fn provision_text_with(carrier: &str, customers: &str) -> String {
    let route = "[[route]]\nprefix = \"49\"\ncarriers = [\"acme\"]\n";
    format!("{carrier}{route}{customers}")
}

/// Returns the prices and the three customers.
pub(crate) fn customers_text(opening: &str) -> String {
    let mut text = "[[price]]\nprefix = \"49\"\nper_part = \"0.05\"\n".to_owned();
    for (name, opening) in [("alice", opening), ("bob", opening), ("carol", "0.5")] {
        text.push_str(&format!(
            "[[account]]\nname = \"{name}\"\ncurrency = \"EUR\"\nopening_balance = \"{opening}\"\nverified = true\ncountries = \"*\"\n\
             senders = [\"Hermod\"]\n[[connection]]\nname = \"{name}-http\"\naccount = \"{name}\"\n\
             default_sender = \"Hermod\"\nrate = 100000\n\
             [[key]]\nkey = \"{name}-key\"\nsecret = \"{name}-secret-of-many-characters\"\nconnection = \"{name}-http\"\n"
        ));
    }
    text
}
