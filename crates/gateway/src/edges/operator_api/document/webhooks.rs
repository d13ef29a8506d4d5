//! The requests about accounts' webhooks.

use super::{WITH_BODY, answer, body, in_path, in_query, limit, of, operation, text};
use crate::edges::operator_api::webhooks;
use utoipa::openapi::path::{HttpMethod, Operation, ParameterBuilder, PathItem};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, ObjectBuilder, Required, Type};

const TAG: &str = "Webhooks";

pub(super) fn all() -> Vec<(String, PathItem)> {
    let at = |path: &str, method, operation| {
        (format!("/accounts/{{name}}/webhooks{path}"), PathItem::new(method, operation))
    };
    vec![
        at("", HttpMethod::Get, show()),
        at("/events", HttpMethod::Get, events()),
        at("/events/{event}", HttpMethod::Get, attempts()),
        at("/events/{event}/replay", HttpMethod::Post, replay_one()),
        at("/replay", HttpMethod::Post, replay()),
        at("/secret/stage", HttpMethod::Post, stage()),
        at("/secret/switch", HttpMethod::Post, switch()),
        at("/secret/drop", HttpMethod::Post, forget()),
    ]
}

fn account() -> ParameterBuilder {
    in_path("name", "The account.", "shop")
}

fn event() -> ParameterBuilder {
    in_path("event", "The event, as receivers know it.", "evt_4711")
        .schema(Some(text().pattern(Some("^evt_[0-9]+$"))))
}

fn show() -> Operation {
    operation(TAG, "getWebhooks", "Read where an account is told, and what waits", &[&["NOT_FOUND"]])
        .description(Some("Addresses are changed as fields of the account. Secrets are never shown again."))
        .parameter(account())
        .response("200", answer("Addresses, secrets' standing and figures.", of::<webhooks::WebhooksShape>()))
        .build()
}

fn events() -> Operation {
    let kind = text().enum_values(Some(["dlr", "inbound"]));
    let state = text().enum_values(Some(["waiting", "delivered", "failed"]));
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(i64::MAX));
    operation(
        TAG,
        "listWebhookEvents",
        "List an account's webhook events",
        &[&["NOT_FOUND", "INVALID_FIELD"]],
    )
    .description(Some("What has ended is listed for 30 days."))
    .parameter(account())
    .parameter(in_query("kind", "Only these.", kind, Required::False))
    .parameter(in_query("state", "Only those in this state.", state, Required::False))
    .parameter(in_query("before", "`next` of the page before.", number, Required::False))
    .parameter(limit(100))
    .response("200", answer("A page, newest first.", of::<webhooks::EventsShape>()))
    .build()
}

fn attempts() -> Operation {
    operation(TAG, "getWebhookEvent", "Read an event and every attempt at it", &[&["NOT_FOUND"]])
        .parameter(account())
        .parameter(event())
        .response("200", answer("The event, and its attempts.", of::<webhooks::AttemptsShape>()))
        .build()
}

fn replay_one() -> Operation {
    operation(TAG, "replayWebhookEvent", "Post an event again", &[&["NOT_FOUND"]])
        .description(Some("Delivered, failed or waiting: it is due now, with the same id and body."))
        .parameter(account())
        .parameter(event())
        .response("200", answer("It is due now.", of::<webhooks::ReplayedShape>()))
        .build()
}

fn replay() -> Operation {
    operation(
        TAG,
        "replayFailedWebhooks",
        "Post everything again that failed",
        &[&["NOT_FOUND", "INVALID_FIELD"], &WITH_BODY],
    )
    .description(Some("All events that were given up since a time, with the same ids and bodies."))
    .parameter(account())
    .request_body(Some(body(of::<webhooks::ReplayAsked>())))
    .response("200", answer("They are due now.", of::<webhooks::ReplayedShape>()))
    .build()
}

fn stage() -> Operation {
    let secret = ContentBuilder::new().schema(Some(of::<webhooks::SecretGiven>())).build();
    let given = RequestBodyBuilder::new().content("application/json", secret).build();
    operation(
        TAG,
        "stageWebhookSecret",
        "Stage a new webhook secret",
        &[&["NOT_FOUND", "INVALID_FIELD", "REFUSED"], &WITH_BODY],
    )
    .description(Some(
        "Everything is signed with it too, in `X-SVC-Signature-Next`, until it is switched to or dropped.",
    ))
    .parameter(account())
    .request_body(Some(given))
    .response("200", answer("The secret, if it was made here.", of::<webhooks::SecretShape>()))
    .build()
}

fn switch() -> Operation {
    operation(TAG, "switchWebhookSecret", "Switch to the staged webhook secret", &[&["NOT_FOUND", "REFUSED"]])
        .description(Some("The one before signs in `X-SVC-Signature-Previous` for 24 hours."))
        .parameter(account())
        .response("200", answer("It counts from here on.", of::<webhooks::SecretShape>()))
        .build()
}

fn forget() -> Operation {
    operation(TAG, "dropWebhookSecret", "Drop a webhook secret", &[&["NOT_FOUND", "REFUSED"]])
        .description(Some("The staged one; if there is none, the one before the last switch."))
        .parameter(account())
        .response("200", answer("Nothing is signed with it any more.", of::<webhooks::SecretShape>()))
        .build()
}
