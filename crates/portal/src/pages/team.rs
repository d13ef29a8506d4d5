//! The team: members, roles, invitations. The invitations of a signed-in user, who may be in no account yet.

use crate::forms::{Field, Select};
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/team`. Inviting posts `email` and `role` to the same address; a role is changed by posting
/// `role` to `team/{user}/role`; removing is the page `team/{user}/remove`; `team/{user}/link` and `team/invitations/{user}/withdraw`
/// are posts.
#[derive(Clone, Debug, Template)]
#[template(path = "team.html")]
pub struct TeamPage {
    pub shell: Shell,
    pub members: Vec<MemberRow>,
    pub invitations: Vec<InvitationRow>,
    /// `None` if the role may not invite.
    pub invite: Option<Invite>,
    /// The link that was just made, where no mail is sent: shown once.
    pub link: Option<NewLink>,
}

/// A member of the account.
#[derive(Clone, Debug)]
pub struct MemberRow {
    /// The id in URLs.
    pub id: String,
    pub email: String,
    /// The role in words, if it cannot be changed here.
    pub role: String,
    /// The roles to choose from; `None` if this person's role cannot be changed.
    pub roles: Option<Select>,
    pub has_second_factor: bool,
    pub last_seen: Option<Time>,
    pub is_you: bool,
    pub can_remove: bool,
    /// Whether the reader can make a link by which this person chooses another password.
    pub can_get_link: bool,
}

/// An invitation that was not accepted yet.
#[derive(Clone, Debug)]
pub struct InvitationRow {
    pub id: String,
    pub email: String,
    pub role: String,
    /// Empty if the operator did.
    pub invited_by: String,
    /// `None` for an invitation of the operator, which does not expire.
    pub expires: Option<Time>,
    pub has_expired: bool,
}

/// The form that invites.
#[derive(Clone, Debug, Default)]
pub struct Invite {
    pub email: Field,
    pub role: Select,
    /// Whether the gateway sends mails; otherwise the link is shown.
    pub sends_mail: bool,
}

/// A one-time link for the inviter to pass on.
#[derive(Clone, Debug)]
pub struct NewLink {
    pub email: String,
    pub url: String,
    pub expires: Time,
}

/// `GET /invitations`. The form posts `password`, `code`, `link` and `csrf` to the same address, with `accept` or `decline` naming
/// the account.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "invitations.html")]
pub struct InvitationsPage {
    pub csrf: String,
    /// The address of the user.
    pub email: String,
    pub invitations: Vec<InvitationCard>,
    /// The token of the link that led here; empty if none did.
    pub link: String,
    /// Only the error is shown.
    pub password: Field,
    /// Whether the user has a second factor.
    pub needs_code: bool,
    /// Only the error is shown.
    pub code: Field,
    /// Whether the user has an account to go to.
    pub has_account: bool,
}

/// An invitation to an account.
#[derive(Clone, Debug)]
pub struct InvitationCard {
    pub account: String,
    pub role: String,
    /// `None` if the operator invited.
    pub invited_by: Option<String>,
    /// `None` if it does not expire.
    pub expires: Option<Time>,
}
