//! Serves the pages beside the API: sessions, forms, and a handler for each page. Handlers call `gateway::app` and fill the
//! structs of `pages`.

mod account_pages;
mod audit;
mod confirmation;
mod cookie;
mod find;
mod flash;
mod form;
mod guard;
mod held;
mod home;
mod limits;
mod member;
mod message;
mod messages;
mod next_page;
mod reply;
mod requests;
mod shown;
mod sign_in;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};
use hermod_gateway::running::{MakePages, PagesSetup};
use hermod_gateway::workers::Workers;
use hermod_gateway::world::World;
use std::sync::Arc;

/// What the handlers share.
struct Portal {
    world: Arc<World>,
    workers: Workers,
    /// Whether the connections of this listener are encrypted.
    is_tls: bool,
}

type State = axum::extract::State<Arc<Portal>>;

/// Returns what makes the router of the portal for each listener of a gateway.
pub fn pages() -> MakePages {
    Arc::new(router)
}

fn router(setup: PagesSetup) -> Router {
    let PagesSetup { world, workers, is_tls } = setup;
    let portal = Arc::new(Portal { world, workers, is_tls });
    Router::new()
        .route("/", get(account_pages::start))
        .route("/sign-in", get(sign_in::show).post(sign_in::submit))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/links/{token}", get(sign_in::show_link).post(sign_in::use_link))
        .route("/assets/{name}", get(account_pages::asset))
        .route("/accounts/{account}", get(home::show))
        .route("/accounts/{account}/find", get(find::find))
        .route("/accounts/{account}/messages", get(messages::list))
        .route("/accounts/{account}/messages/{id}", get(message::show))
        .route("/accounts/{account}/audit", get(audit::list))
        .route("/accounts/{account}/held", get(held::list))
        .route("/accounts/{account}/limits", get(limits::show))
        .route("/accounts/{account}/requests", get(requests::list).post(requests::create))
        .route("/accounts/{account}/requests/{id}/withdraw", post(requests::withdraw))
        .route("/accounts/{account}/re-authenticate", get(confirmation::show).post(confirmation::submit))
        .route("/accounts/{account}/{*page}", any(account_pages::unknown))
        .layer(from_fn_with_state(portal.clone(), guard::guard))
        .with_state(portal)
}
