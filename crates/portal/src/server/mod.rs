//! Serves the pages beside the API: sessions, forms, and a handler for each page. Handlers call `operator::use_cases` and
//! `operator::users`, and fill the structs of `pages`.

mod allow_list;
mod audit;
mod billing;
mod compose;
mod confirmation;
mod cookie;
mod destinations;
mod export;
mod extract;
mod find;
mod flash;
mod forgotten;
mod guard;
mod held;
mod home;
mod home_attention;
mod home_usual;
mod host;
mod inbox;
mod invitations;
mod key;
mod key_rows;
mod keys;
mod limits;
mod live;
mod member;
mod message;
mod message_attempts;
mod messages;
mod next_page;
mod opt_out_changes;
mod opt_outs;
mod own_accounts;
mod profile;
mod qr;
mod quickstart;
mod remedies;
mod reply;
mod request_log;
mod requests;
mod second_factor;
mod senders;
mod shown;
mod sign_in;
mod sign_in_code;
mod smpp;
mod smpp_binds;
mod smpp_cards;
mod smpp_trace;
mod start;
mod team;
mod webhook_changes;
mod webhook_event;
mod webhooks;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::running::{MakePages, PagesSetup};
use hermod_gateway::workers::Workers;
use std::sync::Arc;
use std::time::Duration;

/// What the handlers share.
struct Portal {
    gateway: Arc<Gateway>,
    workers: Workers,
    /// The only host whose pages these are; none if any host is answered.
    host: Option<String>,
    /// Whether the connections of this listener are encrypted.
    is_tls: bool,
    /// How long the texts of messages are kept.
    texts_kept: Duration,
}

type State = axum::extract::State<Arc<Portal>>;

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
        .route("/sign-in", get(sign_in::show).post(sign_in::submit))
        .route("/sign-in/code", get(sign_in_code::show).post(sign_in_code::submit))
        .route("/sign-in/forgotten", get(forgotten::show).post(forgotten::submit))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/links/{token}", get(sign_in::show_link).post(sign_in::use_link))
        .route("/invitations", get(invitations::show).post(invitations::answer))
        .route("/profile", get(profile::show))
        .route("/profile/accounts/{account}/leave", get(own_accounts::ask_leave).post(own_accounts::leave))
        .route("/profile/password", post(profile::change_password))
        .route("/profile/sessions/end-others", post(profile::end_others))
        .route("/profile/sessions/{id}/end", post(profile::end_session))
        .route("/profile/second-factor", post(second_factor::begin))
        .route("/profile/second-factor/setup", get(second_factor::show_setup))
        .route("/profile/second-factor/confirm", post(second_factor::confirm))
        .route("/profile/second-factor/off", get(second_factor::ask_off).post(second_factor::switch_off))
        .route("/profile/second-factor/codes", get(second_factor::ask_codes).post(second_factor::make_codes))
        .route("/assets/{name}", get(start::asset))
}

fn message_routes() -> Router<Arc<Portal>> {
    Router::new()
        .route("/accounts/{account}/find", get(find::find))
        .route("/accounts/{account}/messages", get(messages::list))
        .route("/accounts/{account}/messages/{id}", get(message::show))
        .route("/accounts/{account}/messages.csv", get(export::messages))
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
        .route("/accounts/{account}/keys/{id}", get(key::show).post(key::save))
        .route("/accounts/{account}/keys/{id}/connection-list", post(key::save_connection_list))
        .route("/accounts/{account}/keys/{id}/rotate", post(key::rotate))
        .route("/accounts/{account}/keys/{id}/revoke", get(key::ask_revoke).post(key::revoke))
        .route("/accounts/{account}/smpp", get(smpp::show))
        .route("/accounts/{account}/smpp/{connection}/rotate", post(smpp::rotate))
        .route("/accounts/{account}/smpp/{connection}/allow-list", post(smpp::save_allow_list))
        .route("/accounts/{account}/smpp/{connection}/trace", get(smpp_trace::show))
        .route("/accounts/{account}/smpp/{connection}/trace/start", post(smpp_trace::start))
        .route("/accounts/{account}/smpp/{connection}/trace/stop", post(smpp_trace::stop))
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
        .route("/accounts/{account}/held", get(held::list))
        .route("/accounts/{account}/limits", get(limits::show))
        .route("/accounts/{account}/requests", get(requests::list).post(requests::create))
        .route("/accounts/{account}/requests/{id}/withdraw", post(requests::withdraw))
        .route("/accounts/{account}/re-authenticate", get(confirmation::show).post(confirmation::submit))
}

fn webhook_routes() -> Router<Arc<Portal>> {
    Router::new()
        .route("/accounts/{account}/webhooks", get(webhooks::show))
        .route("/accounts/{account}/webhooks/urls", post(webhook_changes::save_urls))
        .route("/accounts/{account}/webhooks/form", post(webhook_changes::save_form))
        .route("/accounts/{account}/webhooks/test", post(webhook_changes::test))
        .route("/accounts/{account}/webhooks/replay", post(webhook_changes::replay))
        .route("/accounts/{account}/webhooks/retry", post(webhook_changes::retry))
        .route("/accounts/{account}/webhooks/secret/reveal", post(webhook_changes::reveal))
        .route("/accounts/{account}/webhooks/secret/stage", post(webhook_changes::stage))
        .route("/accounts/{account}/webhooks/secret/switch", post(webhook_changes::switch))
        .route("/accounts/{account}/webhooks/secret/drop", post(webhook_changes::drop_secret))
        .route("/accounts/{account}/webhooks/events/{event}", get(webhook_event::show))
        .route("/accounts/{account}/webhooks/events/{event}/replay", post(webhook_event::replay))
}

fn messaging_routes() -> Router<Arc<Portal>> {
    Router::new()
        .route("/accounts/{account}/request-log", get(request_log::list))
        .route("/accounts/{account}/senders", get(senders::show))
        .route("/accounts/{account}/senders/default", post(senders::set_default))
        .route("/accounts/{account}/opt-outs", get(opt_outs::list).post(opt_out_changes::add))
        .route("/accounts/{account}/opt-outs.csv", get(opt_outs::export))
        .route("/accounts/{account}/opt-outs/import", post(opt_out_changes::import))
        .route("/accounts/{account}/opt-outs/keywords", post(opt_out_changes::save_keywords))
        .route("/accounts/{account}/opt-outs/{number}/lift", get(opt_outs::confirm_lift).post(opt_outs::lift))
        .route("/accounts/{account}/destinations", get(destinations::list))
        .route("/accounts/{account}/destinations.csv", get(destinations::export))
        .route("/accounts/{account}/destinations/switch", post(destinations::switch))
}
