//! Users of the portal.

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

impl crate::views::JsonBody for InviteRequest {}

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
