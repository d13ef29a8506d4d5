//! Serves the pages beside the API: the routes to the handlers of `pages`.

use crate::pages::{
    access, audit, billing, compose, confirm, destinations, home, inbox, keys, limits, live, message,
    messages, opt_outs, profile, quickstart, request_log, requests, senders, smpp, start, team, webhooks,
};
use crate::request::{Portal, guard, host};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};
use hermod_gateway::running::{MakePages, PagesSetup};
use std::sync::Arc;

/// Returns what makes the router of the portal for each listener of a gateway.
pub fn pages() -> MakePages {
    Arc::new(router)
}

fn router(setup: PagesSetup) -> Router {
    let PagesSetup { gateway, workers, url, is_tls, texts_kept } = setup;
    let portal =
        Arc::new(Portal { gateway, workers, host: url.as_deref().map(host::of_url), is_tls, texts_kept });
    Router::new()
        .route("/", get(start::start))
        .route("/accounts/{account}", get(home::show))
        .merge(person_routes())
        .merge(message_routes())
        .merge(messaging_routes())
        .merge(developer_routes())
        .merge(webhook_routes())
        .merge(account_routes())
        .route("/accounts/{account}/{*page}", any(start::unknown))
        .layer(from_fn_with_state(portal.clone(), guard::guard))
        .with_state(portal)
}

fn person_routes() -> Router<Arc<Portal>> {
    Router::new()
        .route("/docs", get(start::docs))
        .route("/sign-in", get(access::show).post(access::submit))
        .route("/sign-in/code", get(access::show_code).post(access::submit_code))
        .route("/sign-in/forgotten", get(access::show_forgotten).post(access::submit_forgotten))
        .route("/sign-out", post(access::sign_out))
        .route("/links/{token}", get(access::show_link).post(access::use_link))
        .route("/invitations", get(team::show_invitations).post(team::answer_invitation))
        .route("/profile", get(profile::show))
        .route("/profile/accounts/{name}/leave", get(profile::ask_leave).post(profile::leave))
        .route("/profile/password", post(profile::change_password))
        .route("/profile/sessions/end-others", post(profile::end_others))
        .route("/profile/sessions/{id}/end", post(profile::end_session))
        .route("/profile/second-factor", post(profile::begin))
        .route("/profile/second-factor/setup", get(profile::show_setup))
        .route("/profile/second-factor/confirm", post(profile::confirm))
        .route("/profile/second-factor/off", get(profile::ask_off).post(profile::switch_off))
        .route("/profile/second-factor/codes", get(profile::ask_codes).post(profile::make_codes))
        .route("/assets/{name}", get(start::asset))
}

fn message_routes() -> Router<Arc<Portal>> {
    Router::new()
        .route("/accounts/{account}/find", get(messages::find))
        .route("/accounts/{account}/messages", get(messages::list))
        .route("/accounts/{account}/messages/{id}", get(message::show))
        .route("/accounts/{account}/messages.csv", get(messages::export))
        .route("/accounts/{account}/live", get(live::show))
        .route("/accounts/{account}/live/events", get(live::events))
        .route("/accounts/{account}/compose", get(compose::show).post(compose::check))
        .route("/accounts/{account}/compose/preview", post(compose::preview))
        .route("/accounts/{account}/compose/send", post(compose::send))
        .route("/accounts/{account}/inbox", get(inbox::list))
        .route("/accounts/{account}/inbox/{id}", get(inbox::thread))
}

fn developer_routes() -> Router<Arc<Portal>> {
    Router::new()
        .route("/accounts/{account}/keys", get(keys::list).post(keys::create))
        .route("/accounts/{account}/keys/{id}", get(keys::show_key).post(keys::save_key))
        .route("/accounts/{account}/keys/{id}/connection-list", post(keys::save_connection_list))
        .route("/accounts/{account}/keys/{id}/rotate", post(keys::rotate))
        .route("/accounts/{account}/keys/{id}/revoke", get(keys::ask_revoke).post(keys::revoke))
        .route("/accounts/{account}/smpp", get(smpp::show))
        .route("/accounts/{account}/smpp/{connection}/rotate", post(smpp::rotate))
        .route("/accounts/{account}/smpp/{connection}/allow-list", post(smpp::save_allow_list))
        .route("/accounts/{account}/smpp/{connection}/trace", get(smpp::show_trace))
        .route("/accounts/{account}/smpp/{connection}/trace/start", post(smpp::start_trace))
        .route("/accounts/{account}/smpp/{connection}/trace/stop", post(smpp::stop_trace))
        .route("/accounts/{account}/quickstart", get(quickstart::show))
}

fn account_routes() -> Router<Arc<Portal>> {
    Router::new()
        .route("/accounts/{account}/billing", get(billing::show))
        .route("/accounts/{account}/billing/warnings", post(billing::save_warnings))
        .route("/accounts/{account}/billing/statements/{month}", get(billing::show_statement))
        .route("/accounts/{account}/team", get(team::show).post(team::invite))
        .route("/accounts/{account}/team/{user}/role", post(team::change_role))
        .route("/accounts/{account}/team/{user}/remove", get(team::ask_remove).post(team::remove))
        .route("/accounts/{account}/team/{user}/link", post(team::make_link))
        .route("/accounts/{account}/team/invitations/{user}/withdraw", post(team::withdraw))
        .route("/accounts/{account}/audit", get(audit::list))
        .route("/accounts/{account}/held", get(messages::list_held))
        .route("/accounts/{account}/limits", get(limits::show))
        .route("/accounts/{account}/requests", get(requests::list).post(requests::create))
        .route("/accounts/{account}/requests/{id}/withdraw", post(requests::withdraw))
        .route("/accounts/{account}/re-authenticate", get(confirm::show).post(confirm::submit))
}

fn webhook_routes() -> Router<Arc<Portal>> {
    Router::new()
        .route("/accounts/{account}/webhooks", get(webhooks::show))
        .route("/accounts/{account}/webhooks/urls", post(webhooks::save_urls))
        .route("/accounts/{account}/webhooks/form", post(webhooks::save_form))
        .route("/accounts/{account}/webhooks/test", post(webhooks::test))
        .route("/accounts/{account}/webhooks/replay", post(webhooks::replay))
        .route("/accounts/{account}/webhooks/retry", post(webhooks::retry))
        .route("/accounts/{account}/webhooks/secret/reveal", post(webhooks::reveal))
        .route("/accounts/{account}/webhooks/secret/stage", post(webhooks::stage))
        .route("/accounts/{account}/webhooks/secret/switch", post(webhooks::switch))
        .route("/accounts/{account}/webhooks/secret/drop", post(webhooks::drop_secret))
        .route("/accounts/{account}/webhooks/events/{event}", get(webhooks::show_event))
        .route("/accounts/{account}/webhooks/events/{event}/replay", post(webhooks::replay_event))
}

fn messaging_routes() -> Router<Arc<Portal>> {
    Router::new()
        .route("/accounts/{account}/request-log", get(request_log::list))
        .route("/accounts/{account}/senders", get(senders::show))
        .route("/accounts/{account}/senders/default", post(senders::set_default))
        .route("/accounts/{account}/opt-outs", get(opt_outs::list).post(opt_outs::add))
        .route("/accounts/{account}/opt-outs.csv", get(opt_outs::export))
        .route("/accounts/{account}/opt-outs/import", post(opt_outs::import))
        .route("/accounts/{account}/opt-outs/keywords", post(opt_outs::save_keywords))
        .route("/accounts/{account}/opt-outs/{number}/lift", get(opt_outs::confirm_lift).post(opt_outs::lift))
        .route("/accounts/{account}/destinations", get(destinations::list))
        .route("/accounts/{account}/destinations.csv", get(destinations::export))
        .route("/accounts/{account}/destinations/switch", post(destinations::switch))
}
