//! The list of API keys, creating one, and whether an address would be admitted.

use super::extract::{MemberForm, Query};
use super::key_rows::{OwnKey, base_url, row};
use super::member::Member;
use super::reply::{NoPage, Reply, fault, page, page_with_status};
use super::{Portal, State, allow_list};
use crate::forms::{Field, Select};
use crate::layout::NavEntry;
use crate::pages::keys::{AddressCheck, CheckAddress, CreateKey, Example, KeyRow, KeySecretPage, KeysPage};
use crate::time::Time;
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hermod_domain::permission::Permission;
use hermod_gateway::secrets::random_token;
use hermod_operator::entry::views::SaveQuery;
use hermod_operator::key;
use hermod_operator::kind::Kind;
use hermod_operator::setup::use_cases::{IfExists, put_entry};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::net::IpAddr;
use std::time::Duration;

/// Random characters of a key: 60 bits, so that ids of other accounts are neither met nor guessed.
const ID_CHARS: usize = 12;
const DAY: Duration = Duration::from_secs(86_400);

/// When a new key expires: value, label, days.
const EXPIRIES: [(&str, &str, Option<u32>); 4] = [
    ("never", "Never", None),
    ("30d", "In 30 days", Some(30)),
    ("90d", "In 90 days", Some(90)),
    ("1y", "In a year", Some(365)),
];

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct CheckQuery {
    address: String,
    key: String,
}

/// `GET /accounts/{account}/keys`.
pub(super) async fn list(
    axum::extract::State(portal): State,
    member: Member,
    Query(query): Query<CheckQuery>,
) -> Reply {
    member.require(Permission::ReadSetup)?;
    Ok(page(&keys(&portal, &member, &query, CreateForm::default()).await?))
}

async fn keys(
    portal: &Portal,
    member: &Member,
    query: &CheckQuery,
    create: CreateForm,
) -> Result<KeysPage, NoPage> {
    let rows = rows(portal, member).await?;
    let catalogue = portal.gateway.catalogue();
    let open =
        catalogue.connections_of(member.account).into_iter().filter(|(.., connection)| !connection.closed);
    let mut connections: Vec<&str> = open.map(|(_, name, _)| name).collect();
    connections.sort_unstable();
    let can_create = member.may(Permission::ChangeSetup) && !connections.is_empty();
    let connection = Select::new(connections.iter().map(|name| (*name, *name)), &create.connection);
    let expiries = EXPIRIES.iter().map(|(value, label, _)| (*value, *label));
    let form = CreateKey {
        label: Field { value: create.label, error: create.label_error },
        connection,
        expires: Select::new(expiries, &create.expires),
        allow_list: Field { value: create.allow_list, error: create.allow_list_error },
    };
    Ok(KeysPage {
        shell: member.shell(NavEntry::Keys),
        check: check(portal, member, query, &rows),
        rows,
        create: can_create.then_some(form),
    })
}

async fn rows(portal: &Portal, member: &Member) -> Result<Vec<KeyRow>, NoPage> {
    let (catalogue, now) = (portal.gateway.catalogue(), portal.gateway.clock.now());
    let mut own = catalogue.keys_of(member.account);
    // Those that can be used first.
    own.sort_by_key(|(id, key)| (!key.is_valid_at(now), *id));
    let ids: Vec<&str> = own.iter().map(|(id, _)| *id).collect();
    let uses = key::last_key_uses(&portal.gateway, member.account, &ids).await?;
    let shown = own.iter().map(|(id, key)| {
        let connection = catalogue.connection_name(key.connection).unwrap_or_default();
        row(id, key, connection, uses.get(*id), now)
    });
    Ok(shown.collect())
}

/// Answers whether an address would be admitted. Without a question, the field shows the address of the browser.
fn check(portal: &Portal, member: &Member, query: &CheckQuery, rows: &[KeyRow]) -> CheckAddress {
    let label = |row: &KeyRow| match row.label.as_str() {
        "" => row.id.clone(),
        label => format!("{}, {label}", row.id),
    };
    let key = Select::new(rows.iter().map(|row| (row.id.as_str(), label(row))), &query.key);
    let text = query.address.trim();
    if text.is_empty() {
        let own = member.source.address.map(|address| address.to_canonical().to_string());
        return CheckAddress { address: Field::new(own.unwrap_or_default()), key, answer: None };
    }
    let Ok(address) = text.parse::<IpAddr>() else {
        let error = "Write one IPv4 or IPv6 address, such as 203.0.113.9.";
        return CheckAddress { address: Field::invalid(text, error), key, answer: None };
    };
    let answer = OwnKey::find(portal, member, &query.key).ok().map(|own| admission(portal, &own, address));
    CheckAddress { address: Field::new(text), key, answer }
}

fn admission(portal: &Portal, own: &OwnKey, address: IpAddr) -> AddressCheck {
    let connection = own.connection();
    let lists = [
        ("Key".to_owned(), &own.key.allow),
        (format!("Connection {}", own.connection_name()), &connection.allow),
    ];
    let mut answer = allow_list::admission(address, &own.id, lists);
    if !own.key.is_valid_at(portal.gateway.clock.now()) {
        answer.is_admitted = false;
        answer.lists.push("The key is revoked or expired, so its requests are rejected anyway.".to_owned());
    }
    answer
}

/// The posted fields, and what is wrong with them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CreateForm {
    label: String,
    connection: String,
    expires: String,
    allow_list: String,
    #[serde(skip)]
    label_error: Option<String>,
    #[serde(skip)]
    allow_list_error: Option<String>,
}

/// `POST /accounts/{account}/keys`.
pub(super) async fn create(
    axum::extract::State(portal): State,
    MemberForm { member, form }: MemberForm<CreateForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed("keys")?;
    let catalogue = portal.gateway.catalogue();
    let own = catalogue.connections_of(member.account);
    if !own.iter().any(|(_, name, connection)| *name == form.connection && !connection.closed) {
        return Err(NoPage::NotFound);
    }
    let networks = match allow_list::parse(&form.allow_list) {
        Ok(networks) => networks,
        Err(error) => {
            return invalid(&portal, &member, CreateForm { allow_list_error: Some(error), ..form }).await;
        }
    };
    let days = EXPIRIES.iter().find(|(value, ..)| *value == form.expires).and_then(|(.., days)| *days);
    let expires = days.map(|days| portal.gateway.clock.now().plus(DAY * days).to_iso());
    let id = format!("key-{}", random_token(ID_CHARS).map_err(|_| NoPage::Failed)?);
    let mut fields = Map::new();
    fields.insert("connection".to_owned(), json!(form.connection));
    fields.insert("label".to_owned(), json!(form.label));
    fields.insert("allow".to_owned(), json!(networks));
    if let Some(expires) = expires {
        fields.insert("expires_at".to_owned(), Value::String(expires));
    }
    let acting = member.acting(&portal);
    let saved = put_entry(&acting, Kind::Key, &id, &SaveQuery::default(), IfExists::Refuse, fields).await;
    match saved {
        Ok(saved) => {
            let secret = saved.view.applied.secrets.first().map(|made| made.secret.clone());
            let secret = secret.ok_or(NoPage::Failed)?;
            Ok(secret_page(&portal, &member, &id, &form.label, &secret, None))
        }
        Err(refusal) => {
            let error = fault(refusal)?;
            invalid(&portal, &member, CreateForm { label_error: Some(error), ..form }).await
        }
    }
}

async fn invalid(portal: &Portal, member: &Member, form: CreateForm) -> Reply {
    let page = keys(portal, member, &CheckQuery::default(), form).await?;
    Ok(page_with_status(StatusCode::BAD_REQUEST, &page))
}

/// The only page that shows a secret.
pub(super) fn secret_page(
    portal: &Portal,
    member: &Member,
    id: &str,
    label: &str,
    secret: &str,
    old_secret_until: Option<Time>,
) -> Response {
    page(&KeySecretPage {
        shell: member.shell(NavEntry::Keys),
        key: id.to_owned(),
        label: label.to_owned(),
        secret: secret.to_owned(),
        old_secret_until,
        basic: BASE64_STANDARD.encode(format!("{id}:{secret}")),
        examples: Example::of_each_form(&base_url(portal), id, secret),
    })
}
