//! The demo's user of the portal.

use crate::failure::Failure;
use hermod_gateway::app::users::{Role, UserRefusal, invite, use_link};
use hermod_gateway::author::{Acting, Author};
use hermod_gateway::secrets::Secret;
use hermod_gateway::world::World;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

pub(super) const EMAIL: &str = "demo@example.com";

/// How to sign in to the portal.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PortalAccess {
    pub(super) portal_url: String,
    pub(super) portal_email: String,
    pub(super) portal_password: String,
}

/// Makes the user an owner of all accounts, unless the user has a password already.
pub(super) async fn make(world: &Arc<World>, url: String, password: &str) -> Result<PortalAccess, Failure> {
    let refused = |refusal: UserRefusal| Failure::failed(format!("the user of the portal: {refusal}"));
    let catalogue = world.catalogue();
    let exists = catalogue.users().find(EMAIL).is_some_and(|(_, user)| user.password.is_some());
    if !exists {
        let acting = Acting { world: world.clone(), author: Author::file(Path::new("of the demo")) };
        let mut accounts: Vec<&str> = catalogue.accounts().map(|(_, view)| view.name.as_str()).collect();
        accounts.sort_unstable();
        let password = Secret::new(password);
        for account in accounts {
            let link = invite(&acting, EMAIL, Some((account, Role::Owner))).await.map_err(refused)?;
            use_link(world, link.token.reveal(), &password, None).await.map_err(refused)?;
        }
    }
    Ok(PortalAccess { portal_url: url, portal_email: EMAIL.to_owned(), portal_password: password.to_owned() })
}
