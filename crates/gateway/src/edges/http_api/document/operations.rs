//! The operations: parameters, responses, and every possible error.

use super::bodies;
use crate::http::openapi_errors::{self, text_header};
use hermod_domain::refusal::published::{PUBLISHED, PublishedError};
use utoipa::ToSchema;
use utoipa::openapi::link::Link;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, HeaderBuilder, ObjectBuilder, Ref, Required, ResponseBuilder, Type};

const JSON: &str = "application/json";

/// Errors of any request with credentials. INVALID_FIELD also covers invalid framing, which is checked first.
const ALWAYS: [&str; 6] = [
    "INVALID_FIELD",
    "INVALID_API_KEY",
    "IP_NOT_ALLOWED",
    "RATE_LIMITED",
    "SUBMIT_FAILED",
    "GATEWAY_UNAVAILABLE",
];

const SENDING: [&str; 19] = [
    "INVALID_CONTENT_TYPE",
    "BODY_TOO_LARGE",
    "INVALID_JSON",
    "MISSING_FIELD",
    "INVALID_NUMBER",
    "INVALID_SENDER",
    "TEXT_TOO_LONG",
    "ACCOUNT_SUSPENDED",
    "VERIFICATION_REQUIRED",
    "SENDER_NOT_APPROVED",
    "SENDER_BLOCKED",
    "RECIPIENT_OPTED_OUT",
    "COUNTRY_BLOCKED",
    "DESTINATION_BLOCKED",
    "HELD_FOR_REVIEW",
    "NO_PRICE",
    "NO_ROUTE",
    "TRAFFIC_CONTROL",
    "INSUFFICIENT_CREDIT",
];

pub(super) fn send() -> Operation {
    let key = ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Any string of up to 255 bytes that identifies this message. If the account used it before, nothing is sent or \
             charged, and the response is 200 with the id of the first message.",
        ))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).max_length(Some(255))))
        .example(Some("order-4711".into()));
    let body = RequestBodyBuilder::new()
        .required(Some(Required::True))
        .content(JSON, content::<bodies::SendRequestBody>())
        .build();
    let parts = HeaderBuilder::new()
        .schema(Some(ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1))))
        .description(Some("The number of parts; each is charged."));
    let encoding = HeaderBuilder::new()
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["gsm7", "ucs2"]))))
        .description(Some("The encoding of the parts; it decides how many characters fit in one."));
    let mismatch = HeaderBuilder::new()
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["true"]))))
        .description(Some("Only if the request differs from the first one with this key."));
    let follow = Link::builder()
        .operation_id("getMessage")
        .parameter("id", "$response.body#/message_id")
        .description("Query its status.")
        .build();
    let accepted = answer::<bodies::AcceptedBody>("Accepted: stored, charged and queued.")
        .header("X-SMS-Parts", parts.build())
        .header("X-SMS-Encoding", encoding.build())
        .link("status", follow.clone());
    let replayed =
        answer::<bodies::Replayed>("The idempotency key was used before: nothing was sent or charged.")
            .header("Idempotency-Mismatch", mismatch.build())
            .link("status", follow);
    operation("Messages", "sendMessage", "Send a message", SENDING.iter().chain(&ALWAYS))
        .description(Some(
            "Sends one message to one recipient. Long texts are split into parts. \
             Distinguish a 202 from a replay by its status, not by `message_id`, which is the same in both.",
        ))
        .parameter(key)
        .request_body(Some(body))
        .response("202", accepted)
        .response("200", replayed)
        .build()
}

pub(super) fn status() -> Operation {
    let id = ParameterBuilder::new()
        .name("id")
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some("The `message_id` of the response to `POST /sms`."))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[0-9]+$"))))
        .example(Some("15506713804701696".into()));
    operation("Messages", "getMessage", "Query a message's status", ALWAYS.iter().chain(&["NOT_FOUND"]))
        .description(Some("Returns the status of a message. An id of another account is not found."))
        .parameter(id)
        .response("200", answer::<bodies::MessageStatusBody>("The message."))
        .build()
}

pub(super) fn inbound() -> Operation {
    let number = |minimum: u32| ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(minimum));
    let since = query("since", "Only messages after this cursor: 0 at first, then the last `next_since`.")
        .schema(Some(number(0).maximum(Some(i64::MAX)).default(Some(0.into()))))
        .example(Some(0.into()));
    let limit = query("limit", "The maximum number of messages, up to 500.")
        .schema(Some(number(1).default(Some(100.into()))));
    operation("Inbound", "listInbound", "Poll inbound messages", ALWAYS.iter())
        .description(Some(
            "Returns inbound messages after the cursor `since`, oldest first. Pass each `next_since` as the next `since` to \
             read every message once. Messages are kept for at least 30 days.",
        ))
        .parameters(Some([Parameter::from(since), Parameter::from(limit)]))
        .response("200", answer::<bodies::InboundPage>("A page of messages; empty if there are no more."))
        .build()
}

pub(super) fn balance() -> Operation {
    operation("Account", "getBalance", "Query the balance", ALWAYS.iter())
        .description(Some("Returns the account's balance, credit and the `available` amount."))
        .response("200", answer::<bodies::BalanceBody>("The balance of the account."))
        .build()
}

fn operation<'a>(
    tag: &str,
    id: &str,
    summary: &str,
    codes: impl Iterator<Item = &'a &'a str>,
) -> OperationBuilder {
    let codes: Vec<&str> = codes.copied().collect();
    let rows: Vec<&PublishedError> = PUBLISHED.iter().filter(|row| codes.contains(&row.code)).collect();
    let mut operation = OperationBuilder::new().tag(tag).operation_id(Some(id)).summary(Some(summary));
    for (status, response) in openapi_errors::responses(&rows) {
        operation = operation.response(status, response);
    }
    operation
}

fn query(name: &str, description: &str) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(description))
}

fn content<T: ToSchema>() -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name(T::name()))).build()
}

/// A success response, with its common headers.
fn answer<T: ToSchema>(description: &str) -> ResponseBuilder {
    let number = |description: &str| {
        HeaderBuilder::new()
            .schema(Some(ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0))))
            .description(Some(description))
            .build()
    };
    ResponseBuilder::new()
        .description(description)
        .content(JSON, content::<T>())
        .header("X-Request-Id", text_header("The request's own id if it is valid, else a generated one."))
        .header("X-RateLimit-Limit", number("Requests per second of the connection."))
        .header("X-RateLimit-Remaining", number("Requests left now."))
        .header("X-RateLimit-Reset", number("Seconds until the full limit is available."))
        .header(
            "RateLimit",
            text_header("The same in the form of the IETF draft: policy, remaining, seconds."),
        )
}
