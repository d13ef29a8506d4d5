//! An invitation: what the inviter gets to pass on.

use hermod_domain::time::Timestamp;
use hermod_gateway::secrets::Secret;

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
