//! The invitations of a signed-in user, who may be in no account yet.

use crate::forms::Field;
use crate::time::Time;
use askama::Template;

/// `GET /invitations`. The form posts `password`, `code`, `link` and `csrf` to the same address, with `accept` or `decline` naming
/// the account.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "invitations.html")]
pub struct Invitations {
    pub csrf: String,
    /// The address of the user.
    pub email: String,
    pub invitations: Vec<Invitation>,
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
pub struct Invitation {
    pub account: String,
    pub role: String,
    /// `None` if the operator invited.
    pub invited_by: Option<String>,
    /// `None` if it does not expire.
    pub expires: Option<Time>,
}
