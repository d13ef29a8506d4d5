//! What the operator does about users, beside their entries: invitations and lost second factors.

use crate::author::Acting;
use crate::entry::names::canonical_name;
use crate::kind::Kind;
use crate::refusal::OperatorRefusal;
use crate::user::{links, second_factor};
use crate::views::JsonBody;
use hermod_domain::catalogue::Role;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whom to invite to what.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InviteRequest {
    /// The account; without it the user keeps the present roles and gets another link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(examples("shop"))]
    pub account: Option<String>,
    /// `owner`, `developer`, `billing` or `viewer`; `owner` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(owner|developer|billing|viewer)$", examples("owner"))]
    pub role: Option<String>,
}

impl JsonBody for InviteRequest {}

/// An invitation: a link that works once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InvitationView {
    #[schema(examples("ann@example.com"))]
    pub email: String,
    /// Send it to the user, and to nobody else: the person who opens it chooses the password.
    #[schema(examples("https://sms.example.com/links/abcd"))]
    pub link: String,
    pub expires_at: String,
    /// Whether the user had a password before.
    pub is_reset: bool,
    /// Whether the user is in other accounts already and this link starts afresh: using it ends all sessions, replaces the
    /// password and removes the second factor. Such a user can also sign in and accept under Invitations, without the link.
    pub starts_afresh: bool,
}

/// The second factor of a user after the operator removed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SecondFactorView {
    #[schema(examples("ann@example.com"))]
    pub email: String,
    /// Whether the user had one.
    pub was_on: bool,
}

/// Invites a user, or makes a link for another password.
pub async fn invite_user(
    acting: &Acting,
    email: &str,
    request: InviteRequest,
) -> Result<InvitationView, OperatorRefusal> {
    let InviteRequest { account, role } = request;
    let role = role.map_or(Ok(Role::Owner), |text| {
        let rule = || format!("\"{text}\" is not owner, developer, billing or viewer");
        Role::parse(&text).ok_or_else(|| OperatorRefusal::InvalidField { field: "role", rule: rule() })
    })?;
    let membership = account.as_deref().map(|account| (account, role));
    let invited = links::invite(acting, email, membership).await.map_err(OperatorRefusal::from)?;
    Ok(InvitationView {
        link: format!("{}/links/{}", acting.portal_url, invited.token.reveal()),
        email: invited.email,
        expires_at: invited.expires_at.to_iso(),
        is_reset: invited.is_reset,
        starts_afresh: invited.starts_afresh,
    })
}

/// Removes the second factor of a user who lost it.
pub async fn reset_second_factor(acting: &Acting, email: &str) -> Result<SecondFactorView, OperatorRefusal> {
    let email = canonical_name(Kind::User, email).map_err(|_| OperatorRefusal::no_such("user", email))?;
    let was_on = second_factor::remove_second_factor(acting, &email).await.map_err(OperatorRefusal::from)?;
    Ok(SecondFactorView { email, was_on })
}
