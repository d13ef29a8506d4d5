//! The mails that users get, and the one for a forgotten password.

use crate::author::{Acting, Author};
use crate::entry::names::canonical_email;
use crate::user::Result;
use crate::user::links::{Invitation, make_link};
use hermod_domain::catalogue::{LinkCourier, Role};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::Mail;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// A link to accept an invitation, or to choose another password.
pub(crate) fn of_link(gateway: &Gateway, invitation: &Invitation, account: Option<&str>) -> Mail {
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
pub(crate) fn of_invitation(gateway: &Gateway, email: &str, account: &str, role: Role) -> Mail {
    let text = format!(
        "You were invited to the account {account} as {role}. Sign in with your password to accept or decline:\n\n\
         {}/invitations\n\nIf you did not expect this mail, decline or ignore it.\n",
        gateway.portal_url
    );
    Mail { to: email.to_owned(), subject: format!("Invitation to {account}"), text }
}

/// A user gets a link for a forgotten password at most this often.
const RESET_EVERY: Duration = Duration::from_secs(300);

/// Mails a link for another password, if there is such a user and no link was made a short while ago. The caller must not wait
/// for it: the time would tell whether the user exists.
pub async fn send_reset(gateway: &Arc<Gateway>, email: &str, source: Option<IpAddr>) -> Result<()> {
    let Some(email) = canonical_email(email) else { return Ok(()) };
    let catalogue = gateway.catalogue();
    let found = catalogue.users().find(&email).filter(|(_, user)| !user.disabled);
    let Some((id, _)) = found else { return Ok(()) };
    let now = gateway.clock.now();
    let tokens = gateway.store.user_tokens().list(id, now).await?;
    if tokens.iter().any(|token| token.purpose.is_link() && now.since(token.made_at) < RESET_EVERY) {
        return Ok(());
    }
    let acting = Acting { gateway: gateway.clone(), author: Author::user(&email, source) };
    let link = make_link(&acting, &email, None, LinkCourier::Mail).await?;
    Ok(gateway.mail.send(of_link(gateway, &link, None))?)
}
