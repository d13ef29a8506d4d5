//! The mails that users get.

use super::invitation::Invitation;
use hermod_domain::catalogue::Role;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::Mail;

/// A link to accept an invitation, or to choose another password.
pub(super) fn of_link(gateway: &Gateway, invitation: &Invitation, account: Option<&str>) -> Mail {
    let Invitation { email, token, expires_at, is_reset, starts_afresh: _ } = invitation;
    let link = format!("{}/links/{}", gateway.portal_url, token.reveal());
    let until = format!(
        "It works once, until {} (UTC). If you did not expect this mail, ignore it.\n",
        expires_at.to_iso()
    );
    let (subject, text) = match (is_reset, account) {
        (true, None) => (
            "Choose another password".to_owned(),
            format!(
                "A new password was requested for {email}. Open this link to choose one:\n\n{link}\n\n{until}"
            ),
        ),
        (_, Some(account)) => (
            format!("Invitation to {account}"),
            format!(
                "You were invited to the account {account}. Open this link to choose a password:\n\n{link}\n\n{until}"
            ),
        ),
        (false, None) => (
            "Invitation".to_owned(),
            format!("You were invited. Open this link to choose a password:\n\n{link}\n\n{until}"),
        ),
    };
    Mail { to: email.clone(), subject, text }
}

/// An invitation to an account, for a user who signs in to accept it.
pub(super) fn of_invitation(gateway: &Gateway, email: &str, account: &str, role: Role) -> Mail {
    let text = format!(
        "You were invited to the account {account} as {role}. Sign in with your password to accept or decline:\n\n\
         {}/invitations\n\nIf you did not expect this mail, decline or ignore it.\n",
        gateway.portal_url
    );
    Mail { to: email.to_owned(), subject: format!("Invitation to {account}"), text }
}
