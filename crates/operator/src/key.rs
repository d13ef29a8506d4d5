//! API keys: their entries, of which only a keyed digest of the secret is stored, and when they were last used.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::NameForm;
use crate::entry::plan::{Change, Effect, FieldChange, previous_changes};
use crate::entry::{checks, documents, values};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult, Result};
use hermod_domain::catalogue::{AllowList, ApiKey, Connection};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::refusal::Refusal;
use hermod_domain::time::Timestamp;
use hermod_gateway::app::printable;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::KeyUse;
use hermod_gateway::secrets::{Secret, random_token};
use hermod_store::record::{RequestEntry, RequestFilter, RequestKind, Scope};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use utoipa::ToSchema;

/// Five bits each: 160 bits.
const MADE_SECRET_CHARS: usize = 32;

/// An API key of a connection.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Key)]
pub struct WantedKey {
    #[serde(deserialize_with = "checks::key")]
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$", examples("shop-key-1"))]
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = String, examples("shop-http"))]
    pub connection: Option<String>,
    /// Generated for a new key if absent; an existing key keeps its secret.
    #[serde(
        default,
        deserialize_with = "checks::api_secret",
        serialize_with = "values::hidden",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<String>, write_only, min_length = 26, max_length = 128)]
    pub secret: Option<Secret>,
    #[serde(
        default,
        deserialize_with = "values::networks",
        serialize_with = "values::networks_text",
        skip_serializing_if = "AllowList::is_empty"
    )]
    /// The allow-list of addresses and networks; empty: any address.
    #[schema(value_type = Vec<String>)]
    pub allow: AllowList,
    #[serde(default, with = "values::when", skip_serializing_if = "Option::is_none")]
    /// The key is invalid from this day or time on.
    #[schema(value_type = Option<String>, examples("2027-12-31"))]
    pub expires_at: Option<Timestamp>,
    /// The key is invalid.
    #[serde(default)]
    pub revoked: bool,
    /// Where the customer uses it, such as `shop backend`.
    #[serde(default, deserialize_with = "checks::label", skip_serializing_if = "String::is_empty")]
    #[schema(max_length = 60, examples("shop backend"))]
    pub label: String,
}

/// The most keys of an account, revoked ones included.
const KEYS_PER_ACCOUNT_MAX: usize = 500;

/// Refuses new keys beyond the most that an account may have.
pub(crate) fn check_number_of_keys(draft: &Draft<'_>) -> ProvisionResult<()> {
    let is_new_key = |change: &&Change| change.kind == Kind::Key && change.effect == Effect::Created;
    let made: Vec<&str> =
        draft.changes.iter().filter(is_new_key).map(|change| change.name.as_str()).collect();
    if made.is_empty() {
        return Ok(());
    }
    let connections = draft.rows_of(Kind::Connection);
    let owners: HashMap<ConnectionId, AccountId> = connections
        .filter_map(|(_, row)| {
            Some((ConnectionId::new(row.id), documents::read::<Connection>(row).ok()?.account))
        })
        .collect();
    let keys = draft.rows_of(Kind::Key).filter_map(|(name, row)| Some((name, documents::read(row).ok()?)));
    let keys: Vec<(&str, AccountId)> =
        keys.filter_map(|(name, key): (&str, ApiKey)| Some((name, *owners.get(&key.connection)?))).collect();
    let mut counts: HashMap<AccountId, usize> = HashMap::new();
    keys.iter().for_each(|(_, account)| *counts.entry(*account).or_default() += 1);
    let made: HashSet<&str> = made.into_iter().collect();
    let is_over = |(name, account): &&(&str, AccountId)| {
        made.contains(name) && counts.get(account).is_some_and(|count| *count > KEYS_PER_ACCOUNT_MAX)
    };
    let Some((name, _)) = keys.iter().find(is_over) else { return Ok(()) };
    let text = format!(
        "is over the {KEYS_PER_ACCOUNT_MAX} keys that an account may have, revoked ones included; use an existing key, or \
         have the operator remove revoked ones"
    );
    Err(ProvisionRefusal::about(&format!("key \"{name}\""), text))
}

impl FileEntry for WantedKey {
    const KIND: Kind = Kind::Key;
    const ABOUT: &'static str = "API keys of customers.";
    const NAME_FORM: NameForm = NameForm::of_word("The key.", "shop-key-1");
    const IN_NAME: &'static [&'static str] = &["key"];
    const SECRET: Option<&'static str> = Some("secret");
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Operations;
    type Document = ApiKey;

    fn name(&self) -> String {
        self.key.clone()
    }

    fn document(&self, draft: &mut Draft<'_>, before: Option<&ApiKey>) -> ProvisionResult<ApiKey> {
        let WantedKey { key, connection, secret, allow, expires_at, revoked, label } = self;
        let what = format!("key \"{key}\"");
        let connection = draft.find(Kind::Connection, &required(connection, &what, "connection")?, &what)?;
        let secret_digest = match (secret, before) {
            (Some(given), _) => draft.pepper.digest(given.reveal()),
            (None, Some(before)) => before.secret_digest.clone(),
            (None, None) => {
                let made = made_secret(&what)?;
                let digest = draft.pepper.digest(made.reveal());
                draft.made_secret(key, made);
                digest
            }
        };
        // Another secret ends a rotation: only the given one is valid.
        let kept = before.filter(|before| before.secret_digest == secret_digest);
        Ok(ApiKey {
            connection: ConnectionId::new(connection),
            secret_digest,
            allow: allow.clone(),
            expires_at: *expires_at,
            revoked: *revoked,
            label: label.clone(),
            previous: kept.and_then(|before| before.previous.clone()),
            created_at: before.map_or(draft.now, |before| before.created_at),
        })
    }

    fn shown(name: &str, document: ApiKey, names: &EntryNames) -> WantedKey {
        let ApiKey { connection, allow, expires_at, revoked, label, .. } = document;
        WantedKey {
            key: name.to_owned(),
            connection: Some(names.of(Kind::Connection, connection.get())),
            secret: None,
            allow,
            expires_at,
            revoked,
            label,
        }
    }

    fn unshown_changes(before: &ApiKey, after: &ApiKey) -> Vec<FieldChange> {
        let secret = Self::secret_changed(before, after).map(FieldChange::hidden);
        let (before, after) = (before.previous.as_ref(), after.previous.as_ref());
        secret.into_iter().chain(previous_changes("old_secret_until", before, after)).collect()
    }

    fn secret(&self) -> Option<&Secret> {
        self.secret.as_ref()
    }

    fn kept_secret(document: &ApiKey) -> Value {
        Value::from(document.secret_digest.clone())
    }

    fn secret_fits(given: &Secret, kept: &str, _: &str, draft: &Draft<'_>) -> bool {
        draft.pepper.matches(given.reveal(), kept)
    }
}

pub(crate) fn made_secret(what: &str) -> ProvisionResult<Secret> {
    let made = random_token(MADE_SECRET_CHARS).map(Secret::new);
    made.map_err(|error| ProvisionRefusal::about(what, format!("got no random secret: {error}")))
}

/// Lines of the request log that are read for one key: enough to skip rejected ones.
const LINES_OF_KEY: u32 = 50;
/// Lines of the request log that are read for all keys of an account.
const LINES_OF_ACCOUNT: u32 = 500;

/// Returns the last use of a key of an account. `None` if it was not used since the gateway started, and the request log has
/// no use of it.
pub async fn last_key_use(gateway: &Gateway, account: AccountId, key: &str) -> Result<Option<KeyUse>> {
    if let Some(used) = gateway.key_uses.last(key) {
        return Ok(Some(used));
    }
    let filter = RequestFilter { who: Some(printable(key).into()), ..http_requests() };
    let found =
        gateway.store.record().request_log(Scope::Account(account), filter, None, LINES_OF_KEY).await?;
    Ok(found.rows.iter().find(|(_, entry)| is_use(entry)).map(|(_, entry)| use_of(entry)))
}

/// Returns the last use of each key of an account, as far as it is known in memory or by the newest lines of the request log.
pub async fn last_key_uses(
    gateway: &Gateway,
    account: AccountId,
    keys: &[&str],
) -> Result<HashMap<String, KeyUse>> {
    let known = keys.iter().filter_map(|key| Some(((*key).to_owned(), gateway.key_uses.last(key)?)));
    let mut uses: HashMap<String, KeyUse> = known.collect();
    if uses.len() == keys.len() {
        return Ok(uses);
    }
    let scope = Scope::Account(account);
    let found = gateway.store.record().request_log(scope, http_requests(), None, LINES_OF_ACCOUNT).await?;
    for (_, entry) in found.rows.iter().filter(|(_, entry)| is_use(entry)) {
        let named = keys.iter().filter(|key| printable(key) == entry.who);
        for key in named {
            uses.entry((*key).to_owned()).or_insert_with(|| use_of(entry));
        }
    }
    Ok(uses)
}

fn http_requests() -> RequestFilter {
    RequestFilter { kind: Some(RequestKind::Http), ..RequestFilter::default() }
}

/// Whether the request had the right secret.
fn is_use(entry: &RequestEntry) -> bool {
    entry.code.as_deref() != Some(Refusal::InvalidApiKey.code())
}

fn use_of(entry: &RequestEntry) -> KeyUse {
    KeyUse { at: entry.at, address: entry.address }
}
