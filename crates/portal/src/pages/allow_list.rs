//! Allow-lists as people type them: one address or network for each line.

use crate::request::member::Member;
use crate::request::reply::{NoPage, fault};
use hermod_domain::catalogue::AllowList;
use hermod_gateway::app::rejecting_list;
use hermod_gateway::config::IpNetwork;
use hermod_operator::kind::Kind;
use serde_json::json;
use std::net::IpAddr;

/// Whether requests from an address are admitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressCheck {
    pub is_admitted: bool,
    /// `Requests from 203.0.113.9 with key lk_live_1 are admitted.`
    pub text: String,
    /// What each list says, such as `Connection shop-http: 203.0.113.0/24 matches`.
    pub lists: Vec<String>,
}

/// The most lines of a list. A longer one is a mistake, and every request would have to be compared with it.
const LINES_MAX: usize = 200;

/// Returns the networks of a list in canonical form, or what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Vec<String>, String> {
    let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    let network = |(index, line): (usize, &str)| match IpNetwork::parse(line) {
        Some(network) => Ok(network.to_string()),
        None => Err(format!(
            "Line {}: write an address such as 203.0.113.9, or a network such as 203.0.113.0/24 or 2001:db8::/32.",
            index + 1
        )),
    };
    let networks: Vec<String> = lines.map(network).collect::<Result<_, String>>()?;
    if networks.len() > LINES_MAX {
        return Err(format!("A list has at most {LINES_MAX} lines. Combine addresses into networks."));
    }
    Ok(networks)
}

/// Saves the list of a connection of the member's account. Returns what is wrong with it.
pub(crate) async fn save_of_connection(
    member: &Member,
    connection: &str,
    text: &str,
) -> Result<Result<(), String>, NoPage> {
    let networks = match parse(text) {
        Ok(networks) => networks,
        Err(error) => return Ok(Err(error)),
    };
    match member.patch(Kind::Connection, connection, [("allow", json!(networks))]).await {
        Ok(()) => Ok(Ok(())),
        Err(refusal) => Ok(Err(fault(refusal)?)),
    }
}

/// Returns a list as it is shown in a field.
pub(crate) fn text(list: &AllowList) -> String {
    let lines: Vec<String> = list.0.iter().map(|network| IpNetwork(*network).to_string()).collect();
    lines.join("\n")
}

/// Says in a few words how long a list is.
pub(crate) fn summary(list: &AllowList) -> String {
    match list.0.len() {
        0 => "any address".to_owned(),
        1 => "1 network".to_owned(),
        count => format!("{count} networks"),
    }
}

/// Says whether requests from an address are admitted, and what each list says. The lists have names, such as `Key`.
pub(crate) fn admission(address: IpAddr, with: &str, lists: [(String, &AllowList); 2]) -> AddressCheck {
    let rejecting = rejecting_list([lists[0].1, lists[1].1], Some(address));
    let text = match rejecting {
        None => format!("Requests from {address} with {with} are admitted."),
        Some(index) => format!(
            "Requests from {address} with {with} are rejected with IP_NOT_ALLOWED: the list of the {} does not have the address.",
            if index == 0 { "key" } else { "connection" }
        ),
    };
    let line = |(name, list): &(String, &AllowList)| match (list.is_empty(), list.matching(address)) {
        (true, _) => format!("{name}: admits any address"),
        (false, Some(network)) => format!("{name}: {} matches", IpNetwork(*network)),
        (false, None) => format!("{name}: no match in {}", summary(list)),
    };
    AddressCheck { is_admitted: rejecting.is_none(), text, lists: lists.iter().map(line).collect() }
}

#[cfg(test)]
#[path = "allow_list_tests.rs"]
mod tests;
