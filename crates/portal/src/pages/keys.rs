//! API keys: the list, creating one, one key with its label, expiry, allow-lists, rotation and revocation, a new secret, and whether an
//! address would be admitted.

use crate::elements::{Chip, Tone};
use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell, encode_segment};
use crate::pages::allow_list::{self, AddressCheck};
use crate::pages::confirm::ConfirmPage;
use crate::request::extract::{MemberForm, NoFields, Path, Query};
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, fault, page, page_again};
use crate::time::Time;
use askama::Template;
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hermod_domain::catalogue::{ApiKey, Catalogue, Connection};
use hermod_domain::permission::Permission;
use hermod_domain::time::Timestamp;
use hermod_gateway::live_status::KeyUse;
use hermod_gateway::secrets::random_token;
use hermod_operator::entry::views::SaveQuery;
use hermod_operator::kind::Kind;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::rotation::{RotateQuery, overlap_of};
use hermod_operator::setup::use_cases::{IfExists, put_entry};
use hermod_operator::{key, rotation};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// `GET /accounts/{account}/keys`. Creating posts `label`, `connection`, `expires`, `allow_list` to the same address; the
/// check is `GET keys?address=…&key=…`.
#[derive(Clone, Debug, Template)]
#[template(path = "keys.html")]
pub struct KeysPage {
    pub shell: Shell,
    pub rows: Vec<KeyRow>,
    /// `None` if the role may not create keys.
    pub create: Option<CreateKey>,
    pub check: CheckAddress,
}

/// How a list says where its last uses come from.
pub const LAST_USE_NOTE: &str = "The last use is the last request with the right secret since the gateway started, or before that in the request log, which is kept for some days and does not have every request.";

/// An API key in the list.
#[derive(Clone, Debug)]
pub struct KeyRow {
    pub id: String,
    pub label: String,
    pub connection: String,
    /// `None` if no use is known.
    pub last_used: Option<Time>,
    /// The address of the last use.
    pub last_address: Option<String>,
    pub expires: Option<Time>,
    /// Such as `3 networks`, or `any address`.
    pub allow_list: String,
    /// Active, rotating, expired or revoked.
    pub state: Chip,
}

/// The form for a new key.
#[derive(Clone, Debug, Default)]
pub struct CreateKey {
    pub label: Field,
    pub connection: Select,
    /// `never`, `30d`, `90d`, `1y`.
    pub expires: Select,
    pub allow_list: Field,
}

/// The question whether an address would be admitted, and its answer.
#[derive(Clone, Debug, Default)]
pub struct CheckAddress {
    pub address: Field,
    pub key: Select,
    pub answer: Option<AddressCheck>,
}

/// `GET /accounts/{account}/keys/{id}`: one key. Posts `label`, `expires` and `allow_list` to the same address, the
/// connection's list as `connection_list` to `keys/{id}/connection-list`, and `overlap` to `keys/{id}/rotate`; revoking is the
/// page `keys/{id}/revoke`.
#[derive(Clone, Debug, Template)]
#[template(path = "key.html")]
pub struct KeyPage {
    pub shell: Shell,
    pub row: KeyRow,
    pub created: Time,
    pub label: Field,
    /// A day such as `2027-12-31`; empty: never.
    pub expires: Field,
    /// One network for each line.
    pub allow_list: Field,
    /// The connection's own list, one network for each line; empty if it admits any address.
    pub connection_list: Field,
    /// How long the old secret stays valid.
    pub overlap: Select,
    /// The old secret of a running rotation is valid until then.
    pub old_secret_until: Option<Time>,
    /// Whether the role may change the key, and the key is not revoked.
    pub can_change: bool,
    /// Requests in the three forms of credentials, with a variable instead of the secret.
    pub examples: Vec<Example>,
}

/// A request to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub title: String,
    pub text: String,
}

impl Example {
    /// Returns a request for the balance in each form of credentials. `secret` is the secret, or a variable of the shell.
    pub fn of_each_form(base_url: &str, key: &str, secret: &str) -> Vec<Example> {
        let example = |title: &str, credentials: String| Example {
            title: title.to_owned(),
            text: format!("curl {base_url}/balance \\\n  {credentials}"),
        };
        vec![
            example("HTTP Basic (recommended)", format!("-u \"{key}:{secret}\"")),
            example("Two headers", format!("-H \"X-API-Key: {key}\" \\\n  -H \"X-API-Secret: {secret}\"")),
            example("Bearer", format!("-H \"Authorization: Bearer {key}:{secret}\"")),
        ]
    }
}

/// The answer to creating or rotating a key: the only page with the secret.
#[derive(Clone, Debug, Template)]
#[template(path = "key_secret.html")]
pub struct KeySecretPage {
    pub shell: Shell,
    pub key: String,
    pub label: String,
    pub secret: String,
    /// The secret before a rotation is valid until then; `None` for a new key.
    pub old_secret_until: Option<Time>,
    /// `key:secret` in base64, for programs that set the header of the Basic form themselves.
    pub basic: String,
    /// Requests in the three forms of credentials.
    pub examples: Vec<Example>,
}

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
pub(crate) struct CheckQuery {
    address: String,
    key: String,
}

/// `GET /accounts/{account}/keys`.
pub(crate) async fn list(member: Member, Query(query): Query<CheckQuery>) -> Reply {
    member.require(Permission::ReadSetup)?;
    Ok(page(&keys(&member, &query, CreateForm::default()).await?))
}

async fn keys(member: &Member, query: &CheckQuery, create: CreateForm) -> Result<KeysPage, NoPage> {
    let rows = rows(member).await?;
    let catalogue = member.gateway().catalogue();
    let open =
        catalogue.connections_of(member.account).into_iter().filter(|(.., connection)| !connection.closed);
    let mut connections: Vec<&str> = open.map(|(_, name, _)| name).collect();
    connections.sort_unstable();
    let can_create = member.may(Permission::ChangeSetup) && !connections.is_empty();
    let connection = Select::new(connections.iter().map(|name| (*name, *name)), &create.connection);
    let expiries = EXPIRIES.iter().map(|(value, label, _)| (*value, *label));
    let form = CreateKey {
        label: Field::new(create.label),
        connection,
        expires: Select::new(expiries, &create.expires),
        allow_list: Field::new(create.allow_list),
    };
    Ok(KeysPage {
        shell: member.shell(NavEntry::Keys),
        check: check(member, query, &rows),
        rows,
        create: can_create.then_some(form),
    })
}

async fn rows(member: &Member) -> Result<Vec<KeyRow>, NoPage> {
    let (catalogue, now) = (member.gateway().catalogue(), member.gateway().clock.now());
    let mut own = catalogue.keys_of(member.account);
    // Those that can be used first.
    own.sort_by_key(|(id, key)| (!key.is_valid_at(now), *id));
    let ids: Vec<&str> = own.iter().map(|(id, _)| *id).collect();
    let uses = key::last_key_uses(member.gateway(), member.account, &ids).await?;
    let shown = own.iter().map(|(id, key)| {
        let connection = catalogue.connection_name(key.connection).unwrap_or_default();
        key_row(id, key, connection, uses.get(*id), now)
    });
    Ok(shown.collect())
}

/// Answers whether an address would be admitted. Without a question, the field shows the address of the browser.
fn check(member: &Member, query: &CheckQuery, rows: &[KeyRow]) -> CheckAddress {
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
    let answer = OwnKey::find(member, &query.key).ok().map(|own| admission(member, &own, address));
    CheckAddress { address: Field::new(text), key, answer }
}

fn admission(member: &Member, own: &OwnKey, address: IpAddr) -> AddressCheck {
    let connection = own.connection();
    let lists = [
        ("Key".to_owned(), &own.key.allow),
        (format!("Connection {}", own.connection_name()), &connection.allow),
    ];
    let mut answer = allow_list::admission(address, &own.id, lists);
    if !own.key.is_valid_at(member.gateway().clock.now()) {
        answer.is_admitted = false;
        answer.lists.push("The key is revoked or expired, so its requests are rejected anyway.".to_owned());
    }
    answer
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CreateForm {
    label: String,
    connection: String,
    expires: String,
    allow_list: String,
}

/// `POST /accounts/{account}/keys`.
pub(crate) async fn create(MemberForm { member, form }: MemberForm<CreateForm>) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed("keys")?;
    let catalogue = member.gateway().catalogue();
    let own = catalogue.connections_of(member.account);
    if !own.iter().any(|(_, name, connection)| *name == form.connection && !connection.closed) {
        return Err(NoPage::NotFound);
    }
    let networks = match allow_list::parse(&form.allow_list) {
        Ok(networks) => networks,
        Err(error) => {
            return invalid(&member, form, |create| create.allow_list.error = Some(error)).await;
        }
    };
    let days = EXPIRIES.iter().find(|(value, ..)| *value == form.expires).and_then(|(.., days)| *days);
    let expires = days.map(|days| member.gateway().clock.now().plus(DAY * days).to_iso());
    let id = format!("key-{}", random_token(ID_CHARS).map_err(|_| NoPage::Failed)?);
    let mut fields = Map::new();
    fields.insert("connection".to_owned(), json!(form.connection));
    fields.insert("label".to_owned(), json!(form.label));
    fields.insert("allow".to_owned(), json!(networks));
    if let Some(expires) = expires {
        fields.insert("expires_at".to_owned(), Value::String(expires));
    }
    let acting = member.acting();
    let saved = put_entry(&acting, Kind::Key, &id, &SaveQuery::default(), IfExists::Refuse, fields).await;
    match saved {
        Ok(saved) => {
            let secret = saved.view.applied.secrets.first().map(|made| made.secret.clone());
            let secret = secret.ok_or(NoPage::Failed)?;
            Ok(secret_page(&member, &id, &form.label, &secret, None))
        }
        Err(refusal) => {
            let error = fault(refusal)?;
            invalid(&member, form, |create| create.label.error = Some(error)).await
        }
    }
}

async fn invalid(member: &Member, form: CreateForm, write: impl FnOnce(&mut CreateKey)) -> Reply {
    let mut page = keys(member, &CheckQuery::default(), form).await?;
    if let Some(create) = &mut page.create {
        write(create);
    }
    Ok(page_again(&page))
}

/// The only page that shows a secret.
pub(crate) fn secret_page(
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
        examples: Example::of_each_form(&base_url(member), id, secret),
    })
}

type KeyPath = Path<(String, String)>;

/// `GET /accounts/{account}/keys/{id}`.
pub(crate) async fn show_key(member: Member, Path((_, id)): KeyPath) -> Reply {
    member.require(Permission::ReadSetup)?;
    let own = OwnKey::find(&member, &id)?;
    Ok(page(&key(&member, &own).await?))
}

async fn key(member: &Member, own: &OwnKey) -> Result<KeyPage, NoPage> {
    let now = member.gateway().clock.now();
    let used = key::last_key_use(member.gateway(), member.account, &own.id).await?;
    let OwnKey { id, key, .. } = own;
    Ok(KeyPage {
        shell: member.shell(NavEntry::Keys),
        row: key_row(id, key, own.connection_name(), used.as_ref(), now),
        created: Time::from(key.created_at),
        label: Field::new(&key.label),
        expires: Field::new(key.expires_at.map(day).unwrap_or_default()),
        allow_list: Field::new(allow_list::text(&key.allow)),
        connection_list: Field::new(allow_list::text(&own.connection().allow)),
        overlap: overlaps(),
        old_secret_until: old_secret_until(key, now),
        can_change: member.may(Permission::ChangeSetup) && !key.revoked,
        examples: Example::of_each_form(&base_url(member), id, "$API_SECRET"),
    })
}

/// Returns the UTC day of a time, as a date field has it.
fn day(at: Timestamp) -> String {
    at.to_iso().chars().take(10).collect()
}

/// Finds a key for a change: not for roles that may not, and not once it is revoked.
fn changeable(member: &Member, id: &str) -> Result<OwnKey, NoPage> {
    member.require(Permission::ChangeSetup)?;
    let own = OwnKey::find(member, id)?;
    member.require_confirmed(&key_path(id))?;
    if own.key.revoked { Err(NoPage::NotFound) } else { Ok(own) }
}

fn key_path(id: &str) -> String {
    format!("keys/{}", encode_segment(id))
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SaveForm {
    label: String,
    expires: String,
    allow_list: String,
}

/// `POST /accounts/{account}/keys/{id}`.
pub(crate) async fn save_key(
    Path((_, id)): KeyPath,
    MemberForm { member, form }: MemberForm<SaveForm>,
) -> Reply {
    let own = changeable(&member, &id)?;
    let networks = allow_list::parse(&form.allow_list);
    let expires = expiry(&form.expires, &own, member.gateway().clock.now());
    let (networks, expires) = match (networks, expires) {
        (Ok(networks), Ok(expires)) => (networks, expires),
        (networks, expires) => {
            return rejected(&member, &own, &form, [None, expires.err(), networks.err()]).await;
        }
    };
    let expires = expires.map_or(Value::Null, |at| Value::String(at.to_iso()));
    let fields = [("label", json!(form.label)), ("allow", json!(networks)), ("expires_at", expires)];
    match member.patch(Kind::Key, &id, fields).await {
        Ok(()) => Ok(member.done(&key_path(&id), "key-saved")),
        Err(refusal) => {
            let error = fault(refusal)?;
            rejected(&member, &own, &form, [Some(error), None, None]).await
        }
    }
}

/// Reads the day of the form. The day that the key has is kept with its time of day, even if it is over.
fn expiry(text: &str, own: &OwnKey, now: Timestamp) -> Result<Option<Timestamp>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if own.key.expires_at.map(day).as_deref() == Some(text) {
        return Ok(own.key.expires_at);
    }
    match Timestamp::parse(text) {
        Some(at) if at > now => Ok(Some(at)),
        Some(_) => Err("The day is over. Choose a later one, or revoke the key.".to_owned()),
        None => Err("Write a day such as 2027-12-31.".to_owned()),
    }
}

/// Shows the form again with what is wrong about label, expiry and list.
async fn rejected(
    member: &Member,
    own: &OwnKey,
    form: &SaveForm,
    [label, expires, list]: [Option<String>; 3],
) -> Reply {
    let field = |value: &String, error| Field { value: value.clone(), error };
    let page = KeyPage {
        label: field(&form.label, label),
        expires: field(&form.expires, expires),
        allow_list: field(&form.allow_list, list),
        ..key(member, own).await?
    };
    Ok(page_again(&page))
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ConnectionListForm {
    connection_list: String,
}

/// `POST /accounts/{account}/keys/{id}/connection-list`.
pub(crate) async fn save_connection_list(
    Path((_, id)): KeyPath,
    MemberForm { member, form }: MemberForm<ConnectionListForm>,
) -> Reply {
    let own = changeable(&member, &id)?;
    match allow_list::save_of_connection(&member, own.connection_name(), &form.connection_list).await? {
        Ok(()) => Ok(member.done(&key_path(&id), "list-saved")),
        Err(error) => {
            let connection_list = Field::invalid(form.connection_list, error);
            let page = KeyPage { connection_list, ..key(&member, &own).await? };
            Ok(page_again(&page))
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RotateForm {
    pub(crate) overlap: String,
}

/// `POST /accounts/{account}/keys/{id}/rotate`.
pub(crate) async fn rotate(
    Path((_, id)): KeyPath,
    MemberForm { member, form }: MemberForm<RotateForm>,
) -> Reply {
    let own = changeable(&member, &id)?;
    let overlap = match overlap(&form.overlap) {
        Ok(overlap) => overlap,
        Err(refusal) => {
            let mut page = key(&member, &own).await?;
            page.overlap.error = Some(fault(refusal)?);
            return Ok(page_again(&page));
        }
    };
    let applied = rotation::rotate_key(&member.acting(), &id, &overlap).await?;
    let secret = applied.secrets.first().map(|made| made.secret.clone()).ok_or(NoPage::Failed)?;
    let now = OwnKey::find(&member, &id)?;
    let until = old_secret_until(&now.key, member.gateway().clock.now());
    Ok(secret_page(&member, &id, &own.key.label, &secret, until))
}

/// `GET /accounts/{account}/keys/{id}/revoke`.
pub(crate) async fn ask_revoke(member: Member, Path((_, id)): KeyPath) -> Reply {
    let own = changeable(&member, &id)?;
    let used = key::last_key_use(member.gateway(), member.account, &id).await?;
    let used = used.map(|used| {
        let from = used.address.map(|address| format!(" from {address}")).unwrap_or_default();
        format!("It was last used at {}{from}.", used.at.to_iso())
    });
    let label = Some(&own.key.label).filter(|label| !label.is_empty());
    let consequences = [
        label.map(|label| format!("Its label is: {label}.")),
        used,
        Some("Messages that were accepted are still delivered.".to_owned()),
    ];
    Ok(page(&ConfirmPage {
        shell: member.shell(NavEntry::Keys),
        title: format!("Revoke key {id}?"),
        text: "Requests with this key are rejected from now on with INVALID_API_KEY, with the old secret of a rotation too. This cannot be undone."
            .to_owned(),
        consequences: consequences.into_iter().flatten().collect(),
        action: member.path(&format!("{}/revoke", key_path(&id))),
        button: "Revoke the key".to_owned(),
        is_danger: true,
        cancel: member.path(&key_path(&id)),
    }))
}

/// `POST /accounts/{account}/keys/{id}/revoke`.
pub(crate) async fn revoke(
    Path((_, id)): KeyPath,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    changeable(&member, &id)?;
    member.patch(Kind::Key, &id, [("revoked", Value::Bool(true))]).await?;
    Ok(member.done("keys", "key-revoked"))
}

/// How long an old secret may stay valid, as the forms offer it.
const OVERLAPS: [(&str, &str); 6] = [
    ("0s", "Not at all"),
    ("1h", "1 hour"),
    ("24h", "24 hours"),
    ("7d", "7 days"),
    ("14d", "14 days"),
    ("30d", "30 days"),
];
const OVERLAP_DEFAULT: &str = "24h";

/// A key of the member's account, with the catalogue that has it.
pub(crate) struct OwnKey {
    pub(crate) id: String,
    pub(crate) key: ApiKey,
    catalogue: Arc<Catalogue>,
}

impl OwnKey {
    /// A key of another account looks like one that does not exist.
    pub(crate) fn find(member: &Member, id: &str) -> Result<OwnKey, NoPage> {
        let catalogue = member.gateway().catalogue();
        let key = catalogue.key(id).cloned().ok_or(NoPage::NotFound)?;
        let connection = catalogue.connection(key.connection).ok_or(NoPage::NotFound)?;
        if connection.account != member.account {
            return Err(NoPage::NotFound);
        }
        Ok(OwnKey { id: id.to_owned(), key, catalogue })
    }

    pub(crate) fn connection(&self) -> &Connection {
        self.catalogue.connection(self.key.connection).expect("checked when the key was found")
    }

    pub(crate) fn connection_name(&self) -> &str {
        self.catalogue.connection_name(self.key.connection).unwrap_or_default()
    }
}

pub(crate) fn key_row(
    id: &str,
    key: &ApiKey,
    connection: &str,
    used: Option<&KeyUse>,
    now: Timestamp,
) -> KeyRow {
    KeyRow {
        id: id.to_owned(),
        label: key.label.clone(),
        connection: connection.to_owned(),
        last_used: used.map(|used| Time::from(used.at)),
        last_address: used.and_then(|used| used.address).map(|address| address.to_string()),
        expires: key.expires_at.map(Time::from),
        allow_list: allow_list::summary(&key.allow),
        state: key_state(key, now),
    }
}

fn key_state(key: &ApiKey, now: Timestamp) -> Chip {
    if key.revoked {
        Chip::new(Tone::Stopped, "Revoked")
    } else if !key.is_valid_at(now) {
        Chip::new(Tone::Warning, "Expired")
    } else if old_secret_until(key, now).is_some() {
        Chip::new(Tone::Waiting, "Rotating")
    } else {
        Chip::new(Tone::Good, "Active")
    }
}

/// Returns until when the old secret of a running rotation is valid.
pub(crate) fn old_secret_until(key: &ApiKey, now: Timestamp) -> Option<Time> {
    let previous = key.previous.as_ref().filter(|previous| previous.is_valid_at(now) && !key.revoked);
    previous.map(|previous| Time::from(previous.until))
}

pub(crate) fn overlaps() -> Select {
    Select::new(OVERLAPS, OVERLAP_DEFAULT)
}

/// Checks the overlap of a form.
pub(crate) fn overlap(text: &str) -> Result<RotateQuery, OperatorRefusal> {
    let query = RotateQuery { overlap: Some(text.to_owned()) };
    overlap_of(&query).map(|_| query)
}

/// Returns the address of the HTTP API.
pub(crate) fn base_url(member: &Member) -> String {
    format!("{}/api/v1", member.gateway().portal_url)
}
