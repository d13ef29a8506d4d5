//! The bind card of a connection: what a client needs to bind, and warnings about its live binds.

use super::allow_list;
use super::key_rows::overlaps;
use crate::elements::{Fact, Notice, Tone};
use crate::forms::Field;
use crate::pages::smpp::BindCard;
use crate::time::Time;
use hermod_domain::catalogue::{AccountView, BindTypes, Connection, SmppAccess, Tier};
use hermod_gateway::gateway::{Gateway, SmppServer};
use hermod_operator::bind::BindView;

pub(super) fn card(
    gateway: &Gateway,
    account: &AccountView,
    name: &str,
    connection: &Connection,
    access: &SmppAccess,
    binds: &[BindView],
) -> BindCard {
    let now = gateway.clock.now();
    let own: Vec<&BindView> = binds.iter().filter(|bind| bind.system_id == access.system_id).collect();
    let previous = access.previous.as_ref().filter(|previous| previous.is_valid_at(now));
    BindCard {
        connection: name.to_owned(),
        system_id: access.system_id.clone(),
        facts: facts(gateway, account, access),
        warnings: warnings(gateway.smpp_server, account, connection, access, &own),
        allow_list: Field::new(allow_list::text(&connection.allow)),
        overlap: overlaps(),
        old_password_until: previous.map(|previous| Time(previous.until.as_millis())),
    }
}

fn facts(gateway: &Gateway, account: &AccountView, access: &SmppAccess) -> Vec<Fact> {
    let SmppServer { plain_port, tls_port, idle_timeout } = gateway.smpp_server;
    let port = |port: Option<u16>| port.map(|port| port.to_string());
    let mut facts = vec![Fact::code("Host", host(&gateway.portal_url))];
    facts.extend(port(tls_port).map(|port| Fact::code("Port with TLS 1.2 or 1.3", port)));
    let plain = port(plain_port).filter(|_| !access.tls_only);
    facts.extend(plain.map(|port| Fact::code("Port without TLS", port)));
    facts.push(Fact::code("system_id", access.system_id.as_str()));
    facts.push(match &access.system_type {
        Some(system_type) => Fact::code("system_type", system_type.as_str()),
        None => Fact::new("system_type", "any, or empty"),
    });
    facts.push(Fact::new("Version", "3.4 (3.3 works too)"));
    facts.push(Fact::new("Bind types", bind_types(access.bind_types)));
    facts.push(Fact::new("Binds", format!("up to {} at a time", access.max_binds)));
    facts.push(Fact::new("Window", format!("{} requests for each bind, in either direction", access.window)));
    facts.push(Fact::new("Throughput", throughput(account)));
    let idle = idle_timeout.as_secs();
    let every = (idle / 2).max(1);
    facts.push(Fact::new(
        "enquire_link",
        format!("every {every} seconds; a bind without a PDU ends after {idle}"),
    ));
    facts.push(Fact::new(
        "TLS",
        match (access.tls_only, tls_port) {
            (true, _) => "required",
            (false, Some(_)) => "recommended: passwords and texts are readable on the way without it",
            (false, None) => "not offered here",
        },
    ));
    facts
}

/// Returns the host of a URL, without its port.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    }
}

fn bind_types(types: BindTypes) -> String {
    let BindTypes { transmitter, receiver, transceiver } = types;
    let named = [(transceiver, "transceiver"), (transmitter, "transmitter"), (receiver, "receiver")];
    let allowed: Vec<&str> = named.into_iter().filter(|(may, _)| *may).map(|(_, name)| name).collect();
    allowed.join(", ")
}

fn throughput(account: &AccountView) -> String {
    match (account.account.smpp_rate, account.account.tier) {
        (Some(rate), _) => format!("{rate} messages per second for all binds together"),
        (None, Tier::Standard) => "100 messages per second for all binds together".to_owned(),
        (None, Tier::Enterprise) => "10,000 messages per second on each bind".to_owned(),
    }
}

/// Warns about binds without TLS where TLS is offered, and about binds that get no delivery receipts at all.
fn warnings(
    server: SmppServer,
    account: &AccountView,
    connection: &Connection,
    access: &SmppAccess,
    binds: &[&BindView],
) -> Vec<Notice> {
    let mut warnings = Vec::new();
    let plain: Vec<String> =
        binds.iter().filter(|bind| !bind.tls).map(|bind| format!("#{}", bind.number)).collect();
    if let Some(port) = server.tls_port.filter(|_| !plain.is_empty()) {
        let which = plain.join(", ");
        warnings.push(Notice::new(
            Tone::Warning,
            format!("Not encrypted: bind {which}. Use port {port} with TLS 1.2 or 1.3, otherwise the password and texts are readable on the way."),
        ));
    }
    let has_webhook = connection.webhooks_too
        && account.account.webhooks.as_ref().is_some_and(|webhooks| webhooks.dlr_url.is_some());
    let only_transmits = !binds.is_empty() && binds.iter().all(|bind| bind.kind == "transmitter");
    if only_transmits && !has_webhook {
        warnings.push(Notice::new(
            Tone::Warning,
            "Only transmitters are bound, and no DLR webhook takes the receipts of this connection: they wait until a receiver or transceiver binds.",
        ));
    }
    if connection.allow.is_empty() && !access.tls_only && server.tls_port.is_none() {
        warnings.push(Notice::new(
            Tone::Waiting,
            "Any address may bind, without TLS. An allow-list keeps strangers with the password out.",
        ));
    }
    if connection.closed || account.account.closed {
        warnings.push(Notice::new(Tone::Bad, "The connection is closed: all binds are rejected."));
    }
    if account.account.suspended.is_some() {
        warnings.push(Notice::new(
            Tone::Bad,
            "The account is suspended: submits and new binds are rejected. Live binds still receive.",
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_of_a_url_has_neither_port_nor_path() {
        for (url, expect) in [
            ("https://sms.example", "sms.example"),
            ("https://sms.example:8443/portal", "sms.example"),
            ("http://127.0.0.1:8080", "127.0.0.1"),
            ("http://[2001:db8::1]:8080", "2001:db8::1"),
        ] {
            assert_eq!(host(url), expect);
        }
    }
}
