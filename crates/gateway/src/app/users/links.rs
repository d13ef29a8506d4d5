//! One-time links, by which a user chooses a password: after an invitation, or instead of a forgotten one.

use super::invitation::Invitation;
use super::{UserRefusal, digest_of, hashing, make_token, second_factor, sign_in};
use crate::app::operator::{IfExists, LiveBinds, OperatorRefusal, patch_entry, put_entry};
use crate::author::{Acting, Author};
use crate::provision::{Kind, SignInChange, canonical_name};
use crate::secrets::Secret;
use crate::views::entries::Fields;
use crate::world::World;
use hermod_domain::catalogue::Role;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_store::{TokenChange, TokenPurpose, UserToken};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long an invitation can be accepted.
const INVITATION_KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long a link for another password works.
const RESET_KEPT: Duration = Duration::from_secs(3600);

/// A link that was not used yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub user: u32,
    pub email: String,
    pub is_reset: bool,
    pub expires_at: Timestamp,
    /// The account of an invitation.
    pub account: Option<AccountId>,
    /// The user who invited; none if the operator did.
    pub invited_by: Option<String>,
}

/// What the store keeps about a link.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Body {
    pub(super) account: Option<AccountId>,
    pub(super) invited_by: Option<String>,
}

impl Body {
    pub(super) fn of(stored: &UserToken) -> Body {
        serde_json::from_str(&stored.body).unwrap_or_default()
    }
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
    make_link(acting, &email, membership.and_then(|(name, _)| find_account(acting, name))).await
}

/// Makes a link by which a user chooses a password. Links from before are no longer valid, so that there is never one that its
/// maker has forgotten.
pub(super) async fn make_link(
    acting: &Acting,
    email: &str,
    account: Option<AccountId>,
) -> Result<Invitation, UserRefusal> {
    let catalogue = acting.catalogue();
    let (id, user) = catalogue.users().find(email).ok_or_else(|| OperatorRefusal::no_such("user", email))?;
    end_links(acting, id).await?;
    let is_reset = user.password.is_some();
    let (purpose, kept) = match is_reset {
        true => (TokenPurpose::Reset, RESET_KEPT),
        false => (TokenPurpose::Invitation, INVITATION_KEPT),
    };
    let (token, now) = (make_token()?, acting.clock.now());
    let expires_at = now.plus(kept);
    let body = Body { account, invited_by: acting.author.email().map(str::to_owned) };
    let stored = UserToken {
        digest: digest_of(&acting.pepper, token.reveal()),
        user: id,
        purpose,
        made_at: now,
        expires_at,
        body: serde_json::to_string(&body).expect("a body has texts and numbers"),
    };
    let action = if is_reset { "user.reset" } else { "user.invite" };
    acting.audited(account, action, email, &Value::Null).put_user_token(stored).await?;
    Ok(Invitation { email: email.to_owned(), token, expires_at, is_reset })
}

/// Ends the links of a user that were not used.
pub(super) async fn end_links(world: &World, user: u32) -> Result<(), UserRefusal> {
    for token in world.store.user_tokens(user, world.clock.now()).await? {
        if is_link(&token) {
            world.store.end_user_token(token.digest).await?;
        }
    }
    Ok(())
}

pub(super) fn is_link(token: &UserToken) -> bool {
    matches!(token.purpose, TokenPurpose::Invitation | TokenPurpose::Reset)
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

fn find_account(world: &World, name: &str) -> Option<AccountId> {
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
    let Body { account, invited_by } = Body::of(&stored);
    Ok(user.map(|(email, _)| Link {
        user: stored.user,
        email: email.to_owned(),
        is_reset,
        expires_at: stored.expires_at,
        account,
        invited_by,
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
    let tokens =
        TokenChange { spend: Some(digest_of(&world.pepper, token)), end_all_of: vec![link.user], keep: None };
    let change = SignInChange::Password(hash);
    second_factor::write_sign_in(world, &author, &link.email, change, tokens).await?;
    Ok(link)
}
