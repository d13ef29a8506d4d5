//! One API key: label, expiry, allow-lists, rotation, revocation.

use super::extract::{MemberForm, NoFields, Path};
use super::key_rows::{OwnKey, base_url, old_secret_until, overlap, overlaps, row};
use super::keys::secret_page;
use super::member::Member;
use super::reply::{NoPage, Reply, fault, page, page_with_status};
use super::{Portal, State, allow_list};
use crate::forms::Field;
use crate::layout::{NavEntry, encode_segment};
use crate::pages::confirm::ConfirmPage;
use crate::pages::keys::{Example, KeyPage};
use crate::time::Time;
use axum::http::StatusCode;
use hermod_domain::permission::Permission;
use hermod_domain::time::Timestamp;
use hermod_operator::entry::views::SaveQuery;
use hermod_operator::key;
use hermod_operator::kind::Kind;
use hermod_operator::rotation;
use hermod_operator::setup::use_cases::patch_entry;
use serde::Deserialize;
use serde_json::{Map, Value, json};

type KeyPath = Path<(String, String)>;

/// `GET /accounts/{account}/keys/{id}`.
pub(super) async fn show(
    axum::extract::State(portal): State,
    member: Member,
    Path((_, id)): KeyPath,
) -> Reply {
    member.require(Permission::ReadSetup)?;
    let own = OwnKey::find(&portal, &member, &id)?;
    Ok(page(&key(&portal, &member, &own).await?))
}

async fn key(portal: &Portal, member: &Member, own: &OwnKey) -> Result<KeyPage, NoPage> {
    let now = portal.gateway.clock.now();
    let used = key::last_key_use(&portal.gateway, member.account, &own.id).await?;
    let OwnKey { id, key, .. } = own;
    Ok(KeyPage {
        shell: member.shell(NavEntry::Keys),
        row: row(id, key, own.connection_name(), used.as_ref(), now),
        created: Time(key.created_at.as_millis()),
        label: Field::new(&key.label),
        expires: Field::new(key.expires_at.map(day).unwrap_or_default()),
        allow_list: Field::new(allow_list::text(&key.allow)),
        connection_list: Field::new(allow_list::text(&own.connection().allow)),
        overlap: overlaps(),
        old_secret_until: old_secret_until(key, now),
        can_change: member.may(Permission::ChangeSetup) && !key.revoked,
        examples: Example::of_each_form(&base_url(portal), id, "$API_SECRET"),
    })
}

/// Returns the UTC day of a time, as a date field has it.
fn day(at: Timestamp) -> String {
    at.to_iso().chars().take(10).collect()
}

/// Finds a key for a change: not for roles that may not, and not once it is revoked.
fn changeable(portal: &Portal, member: &Member, id: &str) -> Result<OwnKey, NoPage> {
    member.require(Permission::ChangeSetup)?;
    let own = OwnKey::find(portal, member, id)?;
    member.require_confirmed(&key_path(id))?;
    if own.key.revoked { Err(NoPage::NotFound) } else { Ok(own) }
}

fn key_path(id: &str) -> String {
    format!("keys/{}", encode_segment(id))
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SaveForm {
    label: String,
    expires: String,
    allow_list: String,
}

/// `POST /accounts/{account}/keys/{id}`.
pub(super) async fn save(
    axum::extract::State(portal): State,
    Path((_, id)): KeyPath,
    MemberForm { member, form }: MemberForm<SaveForm>,
) -> Reply {
    let own = changeable(&portal, &member, &id)?;
    let networks = allow_list::parse(&form.allow_list);
    let expires = expiry(&form.expires, &own, portal.gateway.clock.now());
    let (networks, expires) = match (networks, expires) {
        (Ok(networks), Ok(expires)) => (networks, expires),
        (networks, expires) => {
            return rejected(&portal, &member, &own, &form, [None, expires.err(), networks.err()]).await;
        }
    };
    let patch = Map::from_iter([
        ("label".to_owned(), json!(form.label)),
        ("allow".to_owned(), json!(networks)),
        ("expires_at".to_owned(), expires.map_or(Value::Null, |at| Value::String(at.to_iso()))),
    ]);
    let acting = member.acting(&portal);
    match patch_entry(&acting, Kind::Key, &id, &SaveQuery::default(), patch).await {
        Ok(_) => Ok(member.done(&key_path(&id), "key-saved")),
        Err(refusal) => {
            let error = fault(refusal)?;
            rejected(&portal, &member, &own, &form, [Some(error), None, None]).await
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
    portal: &Portal,
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
        ..key(portal, member, own).await?
    };
    Ok(page_with_status(StatusCode::BAD_REQUEST, &page))
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct ConnectionListForm {
    connection_list: String,
}

/// `POST /accounts/{account}/keys/{id}/connection-list`.
pub(super) async fn save_connection_list(
    axum::extract::State(portal): State,
    Path((_, id)): KeyPath,
    MemberForm { member, form }: MemberForm<ConnectionListForm>,
) -> Reply {
    let own = changeable(&portal, &member, &id)?;
    match allow_list::save_of_connection(&portal, &member, own.connection_name(), &form.connection_list)
        .await?
    {
        Ok(()) => Ok(member.done(&key_path(&id), "list-saved")),
        Err(error) => {
            let connection_list = Field::invalid(form.connection_list, error);
            let page = KeyPage { connection_list, ..key(&portal, &member, &own).await? };
            Ok(page_with_status(StatusCode::BAD_REQUEST, &page))
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct RotateForm {
    pub(super) overlap: String,
}

/// `POST /accounts/{account}/keys/{id}/rotate`.
pub(super) async fn rotate(
    axum::extract::State(portal): State,
    Path((_, id)): KeyPath,
    MemberForm { member, form }: MemberForm<RotateForm>,
) -> Reply {
    let own = changeable(&portal, &member, &id)?;
    let overlap = match overlap(&form.overlap) {
        Ok(overlap) => overlap,
        Err(refusal) => {
            let mut page = key(&portal, &member, &own).await?;
            page.overlap.error = Some(fault(refusal)?);
            return Ok(page_with_status(StatusCode::BAD_REQUEST, &page));
        }
    };
    let applied = rotation::rotate_key(&member.acting(&portal), &id, &overlap).await?;
    let secret = applied.secrets.first().map(|made| made.secret.clone()).ok_or(NoPage::Failed)?;
    let now = OwnKey::find(&portal, &member, &id)?;
    let until = old_secret_until(&now.key, portal.gateway.clock.now());
    Ok(secret_page(&portal, &member, &id, &own.key.label, &secret, until))
}

/// `GET /accounts/{account}/keys/{id}/revoke`.
pub(super) async fn ask_revoke(
    axum::extract::State(portal): State,
    member: Member,
    Path((_, id)): KeyPath,
) -> Reply {
    let own = changeable(&portal, &member, &id)?;
    let used = key::last_key_use(&portal.gateway, member.account, &id).await?;
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
        hidden: Vec::new(),
        button: "Revoke the key".to_owned(),
        is_danger: true,
        cancel: member.path(&key_path(&id)),
    }))
}

/// `POST /accounts/{account}/keys/{id}/revoke`.
pub(super) async fn revoke(
    axum::extract::State(portal): State,
    Path((_, id)): KeyPath,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    changeable(&portal, &member, &id)?;
    let patch = Map::from_iter([("revoked".to_owned(), Value::Bool(true))]);
    patch_entry(&member.acting(&portal), Kind::Key, &id, &SaveQuery::default(), patch).await?;
    Ok(member.done("keys", "key-revoked"))
}
