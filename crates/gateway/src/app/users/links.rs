//! One-time links, by which a user chooses a password: after an invitation, or instead of a forgotten one.

use super::{UserRefusal, digest_of, hashing, make_token, sign_in};
use crate::app::operator::{IfExists, LiveBinds, OperatorRefusal, patch_entry, put_entry};
use crate::author::{Acting, Author};
use crate::provision::{self, Kind, SignInChange, canonical_name};
use crate::secrets::Secret;
use crate::views::entries::Fields;
use crate::world::World;
use hermod_domain::catalogue::Role;
use hermod_domain::time::Timestamp;
use hermod_store::{TokenChange, TokenPurpose, UserToken};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long an invitation can be accepted.
const INVITATION_KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long a link for another password works.
const RESET_KEPT: Duration = Duration::from_secs(3600);

/// An invitation, or a link for another password.
#[derive(Clone, Debug)]
pub struct Invitation {
    pub email: String,
    /// The end of the link. The person who opens it chooses the password.
    pub token: Secret,
    pub expires_at: Timestamp,
    /// Whether the user already had a password.
    pub is_reset: bool,
}

/// A link that was not used yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub user: u32,
    pub email: String,
    pub is_reset: bool,
    pub expires_at: Timestamp,
}

/// Gives a role in an account to a person, who becomes a user if there is none with this address. Without an account the user
/// gets only another link. Returns the link, by which the user chooses a password.
pub async fn invite(
    acting: &Acting,
    email: &str,
    membership: Option<(&str, Role)>,
) -> Result<Invitation, UserRefusal> {
    let email = canonical_name(Kind::User, email).map_err(OperatorRefusal::from)?;
    give_role(acting, &email, membership).await?;
    let catalogue = acting.catalogue();
    let (id, user) =
        catalogue.users().find(&email).ok_or_else(|| OperatorRefusal::no_such("user", &email))?;
    let is_reset = user.password.is_some();
    let (purpose, kept) = match is_reset {
        true => (TokenPurpose::Reset, RESET_KEPT),
        false => (TokenPurpose::Invitation, INVITATION_KEPT),
    };
    let (token, now) = (make_token()?, acting.clock.now());
    let expires_at = now.plus(kept);
    let stored = UserToken {
        digest: digest_of(&acting.pepper, token.reveal()),
        user: id,
        purpose,
        made_at: now,
        expires_at,
        body: String::new(),
    };
    let action = if is_reset { "user.reset" } else { "user.invite" };
    let account = membership.and_then(|(name, _)| find_account(acting, name));
    acting.audited(account, action, &email, &Value::Null).put_user_token(stored).await?;
    Ok(Invitation { email, token, expires_at, is_reset })
}

/// Creates the user, or adds the role to those that the user has.
async fn give_role(
    acting: &Acting,
    email: &str,
    membership: Option<(&str, Role)>,
) -> Result<(), UserRefusal> {
    let catalogue = acting.catalogue();
    let Some((account, role)) = membership else { return Ok(()) };
    let entry = json!({ "account": account, "role": role });
    let Some((_, user)) = catalogue.users().find(email) else {
        let fields = Fields::from_iter([("accounts".to_owned(), json!([entry]))]);
        put_entry(acting, Kind::User, email, fields, IfExists::Refuse, LiveBinds::Keep).await?;
        return Ok(());
    };
    let name_of = |id| catalogue.account(id).map(|view| view.name.clone());
    let others = user.accounts.iter().filter_map(|other| {
        let name = name_of(other.account).filter(|name| name != account)?;
        Some(json!({ "account": name, "role": other.role }))
    });
    let accounts: Vec<Value> = others.chain([entry]).collect();
    let fields = Fields::from_iter([("accounts".to_owned(), Value::Array(accounts))]);
    patch_entry(acting, Kind::User, email, fields, LiveBinds::Keep).await?;
    Ok(())
}

fn find_account(world: &World, name: &str) -> Option<hermod_domain::ids::AccountId> {
    world.catalogue().accounts().find(|(_, view)| view.name == name).map(|(id, _)| id)
}

/// Returns the link of a token; none if it was used before or has expired.
pub async fn find_link(world: &World, token: &str) -> Result<Option<Link>, UserRefusal> {
    let found = world.store.user_token(digest_of(&world.pepper, token), world.clock.now()).await?;
    let Some(stored) = found else { return Ok(None) };
    let is_reset = match stored.purpose {
        TokenPurpose::Invitation => false,
        TokenPurpose::Reset => true,
        TokenPurpose::Session | TokenPurpose::SecondFactor => return Ok(None),
    };
    let catalogue = world.catalogue();
    let user = catalogue.users().by_id(stored.user).filter(|(_, user)| !user.disabled);
    Ok(user.map(|(email, _)| Link {
        user: stored.user,
        email: email.to_owned(),
        is_reset,
        expires_at: stored.expires_at,
    }))
}

/// Sets the password of a link's user. The link cannot be used again, and all sessions of the user end.
pub async fn use_link(
    world: &Arc<World>,
    token: &str,
    password: &Secret,
    source: Option<IpAddr>,
) -> Result<Link, UserRefusal> {
    let link = find_link(world, token).await?.ok_or(UserRefusal::LinkSpent)?;
    sign_in::check_new(password)?;
    let hash = hashing::hash(&world.pepper, password).await?;
    let author = Author::user(&link.email, source);
    let _alone = world.changing.lock().await;
    let rows = world.store.catalogue().await?;
    let now = world.clock.now();
    let change = SignInChange::Password(hash);
    let plan = provision::change_sign_in(rows, &world.pepper, &link.email, change, now)
        .map_err(OperatorRefusal::from)?;
    let tokens =
        TokenChange { spend: Some(digest_of(&world.pepper, token)), end_all_of: vec![link.user], keep: None };
    provision::carry_out_with(&world.store, &plan, &author, tokens, now).await?;
    world.set_catalogue(plan.catalogue);
    Ok(link)
}
