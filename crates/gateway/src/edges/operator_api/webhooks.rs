//! Routes about an account's webhooks.

use super::Api;
use super::extract::{FromBody, FromPath, FromQuery, OptionalBody};
use super::response::Reply;
use super::routes::{Routes, doc};
use crate::app::operator::{self, SecretStep};
use crate::author::Acting;
use crate::views::paging::Page;
use crate::views::webhooks::{
    EventAttemptsView, EventView, EventsQuery, ReplayRequest, ReplayedView, WebhookSecretRequest,
    WebhookSecretView, WebhooksView,
};
use axum::Json;
use axum::extract::State;

pub(super) fn routes(routes: &mut Routes) {
    routes.section("Webhooks", "Webhook addresses and events of accounts, replays, the signing secret.");
    routes.get(
        "/accounts/{name}/webhooks",
        show,
        doc("getWebhooks", "Read an account's webhooks", "Addresses, state of the secrets, queues.")
            .details("The addresses are fields of the account. Secrets are never returned.")
            .errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/accounts/{name}/webhooks/events",
        events,
        doc("listWebhookEvents", "List an account's webhook events", "The newest first.")
            .details("Events that were delivered or given up are listed for 30 days.")
            .errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/accounts/{name}/webhooks/events/{event}",
        attempts,
        doc("getWebhookEvent", "Read a webhook event and its attempts", "The event, and its attempts.")
            .errors(&["NOT_FOUND"]),
    );
    routes.post(
        "/accounts/{name}/webhooks/events/{event}/replay",
        replay_one,
        doc("replayWebhookEvent", "Post a webhook event again", "It is due now.")
            .details("In any state, with the same id and body.")
            .errors(&["NOT_FOUND"]),
    );
    routes.post(
        "/accounts/{name}/webhooks/replay",
        replay_failed,
        doc("replayFailedWebhooks", "Post failed webhook events again", "They are due now.")
            .details("All events that were given up since a time, with the same ids and bodies.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"]),
    );
    secret_routes(routes);
}

fn secret_routes(routes: &mut Routes) {
    routes.post(
        "/accounts/{name}/webhooks/secret/stage",
        stage,
        doc("stageWebhookSecret", "Stage a new webhook secret", "The secret, if it was generated.")
            .details("Every post is signed with it as well, in `X-SVC-Signature-Next`, until the switch or the drop.")
            .errors(&["NOT_FOUND", "INVALID_FIELD", "REFUSED"]),
    );
    routes.post(
        "/accounts/{name}/webhooks/secret/switch",
        switch,
        doc("switchWebhookSecret", "Switch to the staged webhook secret", "It is the current secret.")
            .details("The previous secret signs in `X-SVC-Signature-Previous` for 24 hours.")
            .errors(&["NOT_FOUND", "REFUSED"]),
    );
    routes.post(
        "/accounts/{name}/webhooks/secret/drop",
        drop_secret,
        doc("dropWebhookSecret", "Drop a webhook secret", "It signs no more.")
            .details("The staged secret, or the previous one if none is staged.")
            .errors(&["NOT_FOUND", "REFUSED"]),
    );
}

async fn show(State(api): Api, FromPath(account): FromPath<String>) -> Reply<WebhooksView> {
    operator::show_webhooks(&api.world, &account).await.map(Json)
}

async fn events(
    State(api): Api,
    FromPath(account): FromPath<String>,
    FromQuery(query): FromQuery<EventsQuery>,
) -> Reply<Page<EventView>> {
    operator::list_webhook_events(&api.world, &account, query).await.map(Json)
}

async fn attempts(
    State(api): Api,
    FromPath((account, event)): FromPath<(String, String)>,
) -> Reply<EventAttemptsView> {
    operator::show_webhook_event(&api.world, &account, &event).await.map(Json)
}

async fn replay_one(
    acting: Acting,
    FromPath((account, event)): FromPath<(String, String)>,
) -> Reply<ReplayedView> {
    operator::replay_webhook(&acting, &account, &event).await.map(Json)
}

async fn replay_failed(
    acting: Acting,
    FromPath(account): FromPath<String>,
    FromBody(request): FromBody<ReplayRequest>,
) -> Reply<ReplayedView> {
    operator::replay_failed_webhooks(&acting, &account, request).await.map(Json)
}

async fn stage(
    acting: Acting,
    FromPath(account): FromPath<String>,
    OptionalBody(request): OptionalBody<WebhookSecretRequest>,
) -> Reply<WebhookSecretView> {
    let step = SecretStep::Stage(request.unwrap_or_default());
    operator::change_webhook_secret(&acting, &account, step).await.map(Json)
}

async fn switch(acting: Acting, FromPath(account): FromPath<String>) -> Reply<WebhookSecretView> {
    operator::change_webhook_secret(&acting, &account, SecretStep::Switch).await.map(Json)
}

async fn drop_secret(acting: Acting, FromPath(account): FromPath<String>) -> Reply<WebhookSecretView> {
    operator::change_webhook_secret(&acting, &account, SecretStep::Drop).await.map(Json)
}
