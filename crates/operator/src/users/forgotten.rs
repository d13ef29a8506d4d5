//! Links for forgotten passwords, by mail.

use super::links::make_link;
use super::{UserRefusal, mails};
use crate::author::{Acting, Author};
use crate::provision::canonical_email;
use hermod_domain::catalogue::LinkCourier;
use hermod_gateway::gateway::Gateway;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// A user gets a link for a forgotten password at most this often.
const RESET_EVERY: Duration = Duration::from_secs(300);

/// Mails a link for another password, if there is such a user and no link was made a short while ago. The caller must not wait
/// for it: the time would tell whether the user exists.
pub async fn send_reset(
    gateway: &Arc<Gateway>,
    email: &str,
    source: Option<IpAddr>,
) -> Result<(), UserRefusal> {
    let Some(email) = canonical_email(email) else { return Ok(()) };
    let catalogue = gateway.catalogue();
    let found = catalogue.users().find(&email).filter(|(_, user)| !user.disabled);
    let Some((id, _)) = found else { return Ok(()) };
    let now = gateway.clock.now();
    let tokens = gateway.store.user_tokens(id, now).await?;
    if tokens.iter().any(|token| token.purpose.is_link() && now.since(token.made_at) < RESET_EVERY) {
        return Ok(());
    }
    let acting = Acting { gateway: gateway.clone(), author: Author::user(&email, source) };
    let link = make_link(&acting, &email, None, LinkCourier::Mail).await?;
    Ok(gateway.mail.send(mails::of_link(gateway, &link, None))?)
}
