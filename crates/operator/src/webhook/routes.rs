//! Routes about an account's webhooks.

use crate::http::routes::{Routes, doc};
use crate::webhook::use_cases::{
    drop_webhook_secret, list_webhook_events, replay_webhook, replay_webhooks, show_webhook_event,
    show_webhooks, stage_webhook_secret, switch_webhook_secret,
};
use hermod_domain::operator_role::OperatorPermission;

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Webhooks", "Webhook addresses and events of accounts, replays, the signing secret.");
    routes.get(
        "/accounts/{name}/webhooks",
        show_webhooks,
        doc("getWebhooks", "Read an account's webhooks", "Addresses, state of the secrets, queues.")
            .details("The addresses are fields of the account. Secrets are never returned.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/accounts/{name}/webhooks/events",
        list_webhook_events,
        doc("listWebhookEvents", "List an account's webhook events", "The newest first.")
            .details("Events that were delivered or given up are listed for 30 days.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/accounts/{name}/webhooks/events/{event}",
        show_webhook_event,
        doc("getWebhookEvent", "Read a webhook event and its attempts", "The event, and its attempts.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.post(
        "/accounts/{name}/webhooks/events/{event}/replay",
        replay_webhook,
        doc("replayWebhookEvent", "Post a webhook event again", "It is due now.")
            .details("In any state, with the same id and body.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Customers),
    );
    routes.post(
        "/accounts/{name}/webhooks/replay",
        replay_webhooks,
        doc("replayWebhooks", "Retry webhook events now", "They are due now.")
            .details(
                "All events that wait for a later attempt, and with `since` those that were given up since then, with the \
                 same ids and bodies. Each starts its retry schedule again.",
            )
            .errors(&["NOT_FOUND", "INVALID_FIELD"])
            .least(OperatorPermission::Customers),
    );
    secret_routes(routes);
}

fn secret_routes(routes: &mut Routes) {
    routes.post(
        "/accounts/{name}/webhooks/secret/stage",
        stage_webhook_secret,
        doc("stageWebhookSecret", "Stage a new webhook secret", "The secret, if it was generated.")
            .details("Every post is signed with it as well, in `X-SVC-Signature-Next`, until the switch or the drop.")
            .errors(&["NOT_FOUND", "INVALID_FIELD", "REFUSED"])
            .least(OperatorPermission::Operations),
    );
    routes.post(
        "/accounts/{name}/webhooks/secret/switch",
        switch_webhook_secret,
        doc("switchWebhookSecret", "Switch to the staged webhook secret", "It is the current secret.")
            .details("The previous secret signs in `X-SVC-Signature-Previous` for 24 hours.")
            .errors(&["NOT_FOUND", "REFUSED"])
            .least(OperatorPermission::Operations),
    );
    routes.post(
        "/accounts/{name}/webhooks/secret/drop",
        drop_webhook_secret,
        doc("dropWebhookSecret", "Drop a webhook secret", "It signs no more.")
            .details("The staged secret, or the previous one if none is staged.")
            .errors(&["NOT_FOUND", "REFUSED"])
            .least(OperatorPermission::Operations),
    );
}
