//! SMPP: what a client needs to bind, live and rejected binds, warnings about them, password rotation, allow-lists, and the PDU trace of
//! a connection's binds, without passwords and texts.

use crate::elements::{Chip, Fact, Notice, Tone};
use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell, encode_segment};
use crate::numbers::grouped;
use crate::pages::allow_list;
use crate::pages::keys::{RotateForm, overlap, overlaps};
use crate::request::extract::{MemberForm, NoFields, Path};
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, fault, page, page_again};
use crate::request::shown::time_of;
use crate::time::Time;
use askama::Template;
use hermod_domain::catalogue::{AccountView, BindTypes, Catalogue, Connection, SmppAccess, Tier};
use hermod_domain::permission::Permission;
use hermod_domain::shown_number::{NumberKind, ShownNumbers};
use hermod_gateway::gateway::{Gateway, SmppServer};
use hermod_gateway::live_status::{PduDirection, TraceLine};
use hermod_operator::bind::{BindView, BindsQuery, list_binds};
use hermod_operator::request::{RequestView, RequestsQuery, list_requests};
use hermod_operator::trace::{BIND_TRACE_LASTS, BindTrace};
use hermod_operator::views::paging::Limit;
use hermod_operator::{rotation, trace};
use serde::Deserialize;

/// `GET /accounts/{account}/smpp`. Rotating a password posts `overlap` to `smpp/{connection}/rotate`, the allow-list `allow_list`
/// to `smpp/{connection}/allow-list`.
#[derive(Clone, Debug, Template)]
#[template(path = "smpp.html")]
pub struct SmppPage {
    pub shell: Shell,
    /// One for each SMPP connection.
    pub cards: Vec<BindCard>,
    pub binds: Vec<BindRow>,
    pub rejected: Vec<RejectedBind>,
    /// Whether the role may rotate passwords.
    pub can_change: bool,
}

/// What a client needs to bind to one connection.
#[derive(Clone, Debug, Default)]
pub struct BindCard {
    pub connection: String,
    pub system_id: String,
    /// Host, ports, system_type, version, window, throughput and so on.
    pub facts: Vec<Fact>,
    /// Plain binds, or transmitters without a DLR webhook.
    pub warnings: Vec<Notice>,
    /// The connection's allow-list, one network for each line.
    pub allow_list: Field,
    /// How long the old password stays valid.
    pub overlap: Select,
    /// The old password of a running rotation is valid until then.
    pub old_password_until: Option<Time>,
}

/// A live bind.
#[derive(Clone, Debug)]
pub struct BindRow {
    pub number: u64,
    pub system_id: String,
    /// `transmitter`, `receiver` or `transceiver`.
    pub kind: String,
    pub address: String,
    /// `TLS` or `plain`.
    pub transport: Chip,
    pub since: Time,
    /// Such as `3 of 10`.
    pub window: String,
    /// Submits per second.
    pub rate: String,
    /// Submits and rejected ones, such as `12,408 (31 rejected)`.
    pub submits: String,
    /// DLRs that wait for an acknowledgement.
    pub waiting: String,
    pub last_error: Option<String>,
}

/// A bind that was rejected.
#[derive(Clone, Debug)]
pub struct RejectedBind {
    pub at: Time,
    pub system_id: String,
    pub address: String,
    /// Such as `0x0D ESME_RBINDFAIL`.
    pub status: String,
    /// Why, and what to do.
    pub reason: String,
}

/// The answer to rotating a password: the only page with it.
#[derive(Clone, Debug, Template)]
#[template(path = "smpp_password.html")]
pub struct SmppPasswordPage {
    pub shell: Shell,
    pub system_id: String,
    pub password: String,
    /// The old password is valid until then; `None` if it is not valid any more.
    pub old_password_until: Option<Time>,
}

/// `GET /accounts/{account}/smpp/{connection}/trace`. Posts to `trace/start` and `trace/stop`.
#[derive(Clone, Debug, Template)]
#[template(path = "smpp_trace.html")]
pub struct SmppTracePage {
    pub shell: Shell,
    pub connection: String,
    /// When the trace ends, if it runs.
    pub until: Option<Time>,
    /// The page is read again after this time.
    pub refresh_ms: Option<u32>,
    /// The newest first.
    pub lines: Vec<TracedLine>,
    /// How many lines are kept; more than are shown.
    pub kept: usize,
    /// How long a trace runs.
    pub minutes: u64,
    /// Whether the role may start and stop it.
    pub can_change: bool,
}

/// One PDU.
#[derive(Clone, Debug)]
pub struct TracedLine {
    pub at: Time,
    /// The number of the bind, and its node if there are several.
    pub bind: String,
    pub way: Chip,
    /// Such as `submit_sm`.
    pub command: String,
    /// Its fields.
    pub details: String,
}

/// How far back rejected binds are listed, and how many.
const REJECTED_SINCE: &str = "24h";
const REJECTED_MAX: u32 = 20;

/// `GET /accounts/{account}/smpp`.
pub(crate) async fn show(member: Member) -> Reply {
    member.require(Permission::ReadSetup)?;
    Ok(page(&smpp(&member).await?))
}

async fn smpp(member: &Member) -> Result<SmppPage, NoPage> {
    let account = Some(member.account_name.clone());
    let query = BindsQuery { account: account.clone(), system_id: None };
    let mut binds = list_binds(member.gateway(), &query).await?.items;
    for bind in &mut binds {
        bind.number = member.gateway().numbers.show(NumberKind::Bind, bind.number);
    }
    let query = RequestsQuery {
        account,
        kind: Some("bind".to_owned()),
        rejected: Some(true),
        since: Some(REJECTED_SINCE.to_owned()),
        limit: Limit::try_from(REJECTED_MAX.to_string()).ok(),
        ..RequestsQuery::default()
    };
    let rejected = list_requests(member.gateway(), query).await?.items;
    let catalogue = member.gateway().catalogue();
    let mut own = catalogue.connections_of(member.account);
    own.sort_unstable_by_key(|(_, name, _)| *name);
    let account = catalogue.account(member.account).ok_or(NoPage::NotFound)?;
    let cards = own.iter().filter_map(|(_, name, connection)| {
        let access = connection.smpp.as_ref()?;
        Some(card(member.gateway(), account, name, connection, access, &binds))
    });
    Ok(SmppPage {
        shell: member.shell(NavEntry::Smpp),
        cards: cards.collect(),
        binds: binds.iter().map(bind_row).collect(),
        rejected: rejected.iter().map(rejected_bind).collect(),
        can_change: member.may(Permission::ChangeSetup),
    })
}

/// Finds the SMPP access of a connection of the account. A connection of another account looks like one that does not exist.
pub(crate) fn own_access<'a>(
    catalogue: &'a Catalogue,
    member: &Member,
    connection: &str,
) -> Result<&'a SmppAccess, NoPage> {
    let own = catalogue.connections_of(member.account);
    let (.., found) = own.into_iter().find(|(_, name, _)| *name == connection).ok_or(NoPage::NotFound)?;
    found.smpp.as_ref().ok_or(NoPage::NotFound)
}

/// `POST /accounts/{account}/smpp/{connection}/rotate`.
pub(crate) async fn rotate(
    Path((_, connection)): Path<(String, String)>,
    MemberForm { member, form }: MemberForm<RotateForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    own_access(&member.gateway().catalogue(), &member, &connection)?;
    member.require_confirmed("smpp")?;
    let overlap = match overlap(&form.overlap) {
        Ok(overlap) => overlap,
        // The form offers only times that are valid.
        Err(refusal) => {
            fault(refusal)?;
            return Err(NoPage::StaleForm);
        }
    };
    let applied = rotation::rotate_password(&member.acting(), &connection, &overlap).await?;
    let password = applied.secrets.first().map(|made| made.secret.clone()).ok_or(NoPage::Failed)?;
    let (catalogue, now) = (member.gateway().catalogue(), member.gateway().clock.now());
    let access = own_access(&catalogue, &member, &connection)?;
    let previous = access.previous.as_ref().filter(|previous| previous.is_valid_at(now));
    Ok(page(&SmppPasswordPage {
        shell: member.shell(NavEntry::Smpp),
        system_id: access.system_id.clone(),
        password,
        old_password_until: previous.map(|previous| Time::from(previous.until)),
    }))
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct AllowListForm {
    allow_list: String,
}

/// `POST /accounts/{account}/smpp/{connection}/allow-list`.
pub(crate) async fn save_allow_list(
    Path((_, connection)): Path<(String, String)>,
    MemberForm { member, form }: MemberForm<AllowListForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    own_access(&member.gateway().catalogue(), &member, &connection)?;
    member.require_confirmed("smpp")?;
    match allow_list::save_of_connection(&member, &connection, &form.allow_list).await? {
        Ok(()) => Ok(member.done("smpp", "list-saved")),
        Err(error) => {
            let mut page = smpp(&member).await?;
            let own = page.cards.iter_mut().find(|card| card.connection == connection);
            if let Some(card) = own {
                card.allow_list = Field::invalid(form.allow_list, error);
            }
            Ok(page_again(&page))
        }
    }
}

pub(crate) fn bind_row(bind: &BindView) -> BindRow {
    let refused = match bind.refused {
        0 => String::new(),
        refused => format!(" ({} rejected)", grouped(refused)),
    };
    BindRow {
        number: bind.number,
        system_id: bind.system_id.clone(),
        kind: bind.kind.clone(),
        address: bind.address.clone(),
        transport: if bind.tls { Chip::new(Tone::Good, "TLS") } else { Chip::new(Tone::Warning, "Plain") },
        since: time_of(&bind.since),
        window: format!("{} of {}", bind.window_in, bind.window),
        rate: format!("{}/s", bind.submits_per_second),
        submits: format!("{}{refused}", grouped(bind.submits)),
        waiting: grouped(bind.receipts_waiting),
        last_error: bind.last_error.as_ref().map(|error| format!("{} ({})", error.text, error.at)),
    }
}

pub(crate) fn rejected_bind(request: &RequestView) -> RejectedBind {
    let name = request.code.clone().unwrap_or_default();
    RejectedBind {
        at: time_of(&request.at),
        system_id: request.who.clone(),
        address: request.address.clone().unwrap_or_default(),
        status: format!("0x{:02X} {name}", request.status),
        reason: in_words(&request.reason),
    }
}

/// The reasons of the request log, with what the customer can do.
const REASONS: &[(&str, &str)] = &[
    (
        "wrong credentials",
        "Wrong system_id or password. Copy both from the bind card, or rotate the password.",
    ),
    ("password too long", "The password has more than 8 characters. Check the settings of the client."),
    ("invalid length of system_id", "A system_id has 1 to 15 characters. Check the settings of the client."),
    ("wrong system_type", "The system_type is not that of the bind card. Set it in the client."),
    (
        "address not allowed",
        "The address is not on the allow-list of the connection. Add it, or bind from one that is.",
    ),
    ("TLS required", "The connection requires TLS. Bind to the TLS port."),
    ("bind type not allowed", "The connection does not allow this bind type. Use one of the bind card."),
    (
        "maximum number of binds reached",
        "All binds of the connection are in use. Close one that is not needed, or ask for more.",
    ),
    ("closed", "The account or the connection is closed. Ask your provider."),
    ("account suspended", "The account is suspended: Home says why. Live binds stay, new ones are rejected."),
    ("stopping", "The server was restarting. The client can bind again at once."),
    ("held", "The server is held for maintenance. The client can bind again when it has ended."),
    ("too many sessions", "The server had too many sessions. The client can bind again soon."),
    (
        "too many password checks in progress",
        "Many clients bound at the same time. The client can bind again at once.",
    ),
    ("the password could not be checked", "The check failed on our side. The client can bind again at once."),
    (
        "too many attempts from this address",
        "Too many failed binds came from this address. Wait a minute, and correct the credentials.",
    ),
    (
        "too many attempts for this system_id",
        "Too many binds with this system_id failed. Wait a minute; an allow-list keeps strangers out.",
    ),
];

/// Says why a bind was rejected, and what to do.
fn in_words(reason: &str) -> String {
    let known = REASONS.iter().find(|(known, _)| *known == reason);
    known.map_or_else(|| reason.to_owned(), |(_, words)| (*words).to_owned())
}

pub(crate) fn card(
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
        old_password_until: previous.map(|previous| Time::from(previous.until)),
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

/// How often a page with a running trace is read again.
const REFRESH_MS: u32 = 2_000;
/// Lines of a page; a full trace has more than a person reads.
const LINES_MAX: usize = 200;

/// Fails unless the connection is one of the account, and the role may read whole numbers, which PDUs have. Today every role that
/// may read the setup may read numbers too.
fn require_trace(member: &Member, connection: &str) -> Result<(), NoPage> {
    member.require(Permission::ReadSetup)?;
    member.require(Permission::ReadTexts)?;
    own_access(&member.gateway().catalogue(), member, connection).map(drop)
}

/// `GET /accounts/{account}/smpp/{connection}/trace`.
pub(crate) async fn show_trace(Path((_, connection)): Path<(String, String)>, member: Member) -> Reply {
    require_trace(&member, &connection)?;
    let BindTrace { until, lines, kept } = trace::read_bind_trace(member.gateway(), &connection, LINES_MAX)?;
    let mut nodes: Vec<String> =
        member.gateway().store.cluster().nodes().into_iter().map(|node| node.name).collect();
    nodes.sort_unstable();
    Ok(page(&SmppTracePage {
        shell: member.shell(NavEntry::Smpp),
        until: until.map(Time::from),
        refresh_ms: until.map(|_| REFRESH_MS),
        lines: lines.into_iter().map(|line| traced_line(line, &nodes, &member.gateway().numbers)).collect(),
        kept,
        minutes: BIND_TRACE_LASTS.as_secs() / 60,
        can_change: member.may(Permission::ChangeSetup),
        connection,
    }))
}

/// `nodes`: the names of all nodes, which customers do not see.
fn traced_line(line: TraceLine, nodes: &[String], numbers: &ShownNumbers) -> TracedLine {
    let TraceLine { seq: _, at, node, session, way, line } = line;
    let (command, details) = line.split_once(' ').unwrap_or((&line, ""));
    let bind = numbers.show(NumberKind::Bind, session);
    TracedLine {
        at: Time::from(at),
        bind: match node.and_then(|node| nodes.iter().position(|name| *name == node)) {
            Some(index) => format!("{bind} (node {})", index + 1),
            None => bind.to_string(),
        },
        way: match way {
            PduDirection::In => Chip::new(Tone::Neutral, "from you"),
            PduDirection::Out => Chip::new(Tone::Good, "to you"),
        },
        command: command.to_owned(),
        details: details.to_owned(),
    }
}

/// `POST /accounts/{account}/smpp/{connection}/trace/start`.
pub(crate) async fn start_trace(
    Path((_, connection)): Path<(String, String)>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    require_change(&member, &connection)?;
    trace::start_bind_trace(&member.acting(), &connection).await?;
    Ok(member.done(&trace_page(&connection), "trace-started"))
}

/// `POST /accounts/{account}/smpp/{connection}/trace/stop`.
pub(crate) async fn stop_trace(
    Path((_, connection)): Path<(String, String)>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    require_change(&member, &connection)?;
    trace::stop_bind_trace(member.gateway(), &connection).await?;
    Ok(member.done(&trace_page(&connection), "trace-stopped"))
}

fn require_change(member: &Member, connection: &str) -> Result<(), NoPage> {
    require_trace(member, connection)?;
    member.require(Permission::ChangeSetup)
}

fn trace_page(connection: &str) -> String {
    format!("smpp/{}/trace", encode_segment(connection))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_reason_is_shown_as_it_is() {
        assert!(in_words("TLS required").contains("Bind to the TLS port"));
        assert_eq!(in_words("another reason"), "another reason");
    }

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
