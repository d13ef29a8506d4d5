//! Serves the pages beside the API: sessions, forms, and a handler for each page. Handlers call `gateway::app` and fill the
//! structs of `pages`.

mod account_pages;
mod audit;
mod billing;
mod confirmation;
mod cookie;
mod find;
mod flash;
mod forgotten;
mod form;
mod guard;
mod home;
mod member;
mod message;
mod messages;
mod money;
mod next_page;
mod profile;
mod qr;
mod reply;
mod second_factor;
mod shown;
mod sign_in;
mod sign_in_code;
mod team;

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
        .route("/sign-in/code", get(sign_in_code::show).post(sign_in_code::submit))
        .route("/sign-in/forgotten", get(forgotten::show).post(forgotten::submit))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/links/{token}", get(sign_in::show_link).post(sign_in::use_link))
        .route("/profile", get(profile::show))
        .route("/profile/password", post(profile::change_password))
        .route("/profile/sessions/end-others", post(profile::end_others))
        .route("/profile/sessions/{id}/end", post(profile::end_session))
        .route("/profile/second-factor", post(second_factor::begin))
        .route("/profile/second-factor/setup", get(second_factor::show_setup))
        .route("/profile/second-factor/confirm", post(second_factor::confirm))
        .route("/profile/second-factor/off", get(second_factor::ask_off).post(second_factor::switch_off))
        .route("/profile/second-factor/codes", get(second_factor::ask_codes).post(second_factor::make_codes))
        .route("/assets/{name}", get(account_pages::asset))
        .route("/accounts/{account}", get(home::show))
        .route("/accounts/{account}/find", get(find::find))
        .route("/accounts/{account}/messages", get(messages::list))
        .route("/accounts/{account}/messages/{id}", get(message::show))
        .route("/accounts/{account}/billing", get(billing::show))
        .route("/accounts/{account}/billing/warnings", post(billing::save_warnings))
        .route("/accounts/{account}/billing/statements/{month}", get(billing::show_statement))
        .route("/accounts/{account}/team", get(team::show).post(team::invite))
        .route("/accounts/{account}/team/{user}/role", post(team::change_role))
        .route("/accounts/{account}/team/{user}/remove", get(team::ask_remove).post(team::remove))
        .route("/accounts/{account}/team/{user}/link", post(team::make_link))
        .route("/accounts/{account}/team/invitations/{user}/withdraw", post(team::withdraw))
        .route("/accounts/{account}/audit", get(audit::list))
        .route("/accounts/{account}/re-authenticate", get(confirmation::show).post(confirmation::submit))
        .route("/accounts/{account}/{*page}", any(account_pages::unknown))
        .layer(from_fn_with_state(portal.clone(), guard::guard))
        .with_state(portal)
}
