//! One-time links, by which a user chooses a password and accepts an invitation, or chooses another password.

use crate::author::{Acting, Author};
use crate::entry::carry_out;
use crate::entry::names::canonical_name;
use crate::find::find_account;
use crate::kind::Kind;
use crate::refusal::OperatorRefusal;
use crate::user::changes::{MembershipChange, SignInChange};
use crate::user::sessions::SignedIn;
use crate::user::{Result, UserRefusal, changes, digest_of, hashing, make_token, second_factor, sign_in};
use hermod_domain::catalogue::{LinkCourier, LinkUse, PendingInvitation, Role, User};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::secrets::Secret;
use hermod_store::{TokenChange, TokenPurpose, UserToken};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long an invitation can be accepted.
pub(crate) const INVITATION_KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
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
    /// Who passed it on.
    pub courier: LinkCourier,
}

/// What the store keeps about a link.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Body {
    account: Option<AccountId>,
    invited_by: Option<String>,
    courier: LinkCourier,
}

impl Body {
    fn of(stored: &UserToken) -> Body {
        serde_json::from_str(&stored.body).unwrap_or_default()
    }
}

/// Invites a person to an account for the operator, who gets the link; an address without a user becomes one. Without an account
/// the user gets only another link. If that user waits for one account, the link accepts it.
pub async fn invite(acting: &Acting, email: &str, membership: Option<(&str, Role)>) -> Result<Invitation> {
    let email = canonical_name(Kind::User, email).map_err(OperatorRefusal::from)?;
    let account = match membership {
        Some((name, role)) => {
            let account = find_account(acting, name)?;
            let change = MembershipChange::Invite(role, PendingInvitation::default());
            change_membership(acting, &email, account, change).await?;
            Some(account)
        }
        None => acting.catalogue().users().find(&email).and_then(|(_, user)| only_invitation(user)),
    };
    make_link(acting, &email, account, LinkCourier::Operator).await
}

/// Returns the account that a user without a password waits for, if it is the only one.
fn only_invitation(user: &User) -> Option<AccountId> {
    match user.accounts.as_slice() {
        [only] if user.password.is_none() => Some(only.account),
        _ => None,
    }
}

/// Changes the membership of a user in one account.
async fn change_membership(
    acting: &Acting,
    email: &str,
    account: AccountId,
    change: MembershipChange,
) -> Result<()> {
    let _alone = acting.change_alone().await?;
    write_membership(acting, email, account, change, TokenChange::default()).await
}

/// Does the same for a caller that holds the lock of changes, and ends tokens.
pub(crate) async fn write_membership(
    acting: &Acting,
    email: &str,
    account: AccountId,
    change: MembershipChange,
    tokens: TokenChange,
) -> Result<()> {
    let rows = acting.store.setup().rows().await?;
    let now = acting.clock.now();
    let plan = changes::change_membership(rows, &acting.pepper, email, (account, change), now)
        .map_err(OperatorRefusal::from)?;
    carry_out::carry_out_with(&acting.store, &plan, &acting.author, tokens, now).await?;
    acting.set_catalogue(plan.catalogue);
    Ok(())
}

/// Makes a link by which a user chooses a password. Earlier links of the same account, or earlier ones without an account, are no
/// longer valid, so that there is never one that its maker has forgotten. Those of other accounts stay: an owner must not end them.
pub(crate) async fn make_link(
    acting: &Acting,
    email: &str,
    account: Option<AccountId>,
    courier: LinkCourier,
) -> Result<Invitation> {
    let catalogue = acting.catalogue();
    let (id, user) = catalogue.users().find(email).ok_or_else(|| OperatorRefusal::no_such("user", email))?;
    end_links(acting, id, account).await?;
    let is_accepted = account.is_none_or(|account| user.role_in(account).is_some());
    let is_reset = user.password.is_some();
    let (purpose, kept) = match is_reset && is_accepted {
        true => (TokenPurpose::Reset, RESET_KEPT),
        false => (TokenPurpose::Invitation, INVITATION_KEPT),
    };
    let (token, now) = (make_token()?, acting.clock.now());
    let expires_at = now.plus(kept);
    let body = Body { account, invited_by: acting.author.email().map(str::to_owned), courier };
    let stored = UserToken {
        digest: digest_of(&acting.pepper, token.reveal()),
        user: id,
        purpose,
        made_at: now,
        expires_at,
        body: serde_json::to_string(&body).expect("a body has texts and numbers"),
    };
    let action = if purpose == TokenPurpose::Reset { "user.reset" } else { "user.invite" };
    acting.audited(account, action, email, &Value::Null).user_tokens().put(stored).await?;
    let is_afresh = user.link_use(account, courier) == LinkUse::ChoosePassword { is_afresh: true };
    Ok(Invitation {
        email: email.to_owned(),
        token,
        expires_at,
        is_reset,
        starts_afresh: is_reset && is_afresh,
    })
}

/// Ends the links of a user that were not used and are of this account, or without an account if it is `None`.
async fn end_links(gateway: &Gateway, user: u32, account: Option<AccountId>) -> Result<()> {
    for token in gateway.store.user_tokens().list(user, gateway.clock.now()).await? {
        if token.purpose.is_link() && Body::of(&token).account == account {
            gateway.store.user_tokens().end(token.digest).await?;
        }
    }
    Ok(())
}

/// Returns the link of a token; none if it was used before or has expired, if the invitation was withdrawn, or if the user is
/// disabled. The link of a disabled user that an owner has seen is returned: otherwise the owner would learn that there is one.
pub async fn find_link(gateway: &Gateway, token: &str) -> Result<Option<Link>> {
    let found =
        gateway.store.user_tokens().find(digest_of(&gateway.pepper, token), gateway.clock.now()).await?;
    let Some(stored) = found.filter(|stored| stored.purpose.is_link()) else { return Ok(None) };
    let Body { account, invited_by, courier } = Body::of(&stored);
    let catalogue = gateway.catalogue();
    let is_valid = |user: &User| {
        (!user.disabled || courier == LinkCourier::Owner)
            && account.is_none_or(|account| user.membership(account).is_some())
    };
    let user = catalogue.users().by_id(stored.user).filter(|(_, user)| is_valid(user));
    Ok(user.map(|(email, _)| Link {
        user: stored.user,
        email: email.to_owned(),
        is_reset: stored.purpose == TokenPurpose::Reset,
        expires_at: stored.expires_at,
        account,
        invited_by,
        courier,
    }))
}

/// Sets the password of a link's user, and accepts the invitation of the link. The link cannot be used again, and all sessions of
/// the user end. Refused if the user has a password that this link must not replace. The user is signed in but for the second factor.
pub async fn use_link(
    gateway: &Arc<Gateway>,
    token: &str,
    password: &Secret,
    source: Option<IpAddr>,
) -> Result<SignedIn> {
    let link = find_link(gateway, token).await?.ok_or(UserRefusal::LinkSpent)?;
    let Link { account, courier, .. } = link;
    let catalogue = gateway.catalogue();
    let (_, user) = catalogue.users().by_id(link.user).ok_or(UserRefusal::LinkSpent)?;
    // Before the password is compared with what is known about the user: an owner would learn it from the refusal.
    if user.link_use(account, courier) == LinkUse::SignIn {
        return Err(UserRefusal::HasPassword);
    }
    sign_in::check_new(gateway, link.user, password, sign_in::Chooser::Link(account, courier))?;
    let hash = hashing::hash(&gateway.pepper, password).await?;
    let author = Author::user(&link.email, source);
    let tokens = TokenChange {
        spend: Some(digest_of(&gateway.pepper, token)),
        end_all_of: vec![link.user],
        ..TokenChange::default()
    };
    let change = SignInChange::Link { hash, account, courier };
    let proof = second_factor::write_sign_in(gateway, &author, &link.email, change, tokens).await?;
    Ok(SignedIn { user: link.user, proof })
}

/// An invitation, or a link for another password.
#[derive(Clone, Debug)]
pub struct Invitation {
    pub email: String,
    /// The end of the link. The person who opens it chooses the password.
    pub token: Secret,
    pub expires_at: Timestamp,
    /// Whether the user already had a password.
    pub is_reset: bool,
    /// Whether the link replaces the password and removes the second factor of a user who had them before.
    pub starts_afresh: bool,
}
