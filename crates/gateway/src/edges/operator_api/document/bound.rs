//! The requests about customers' binds, and about what could not be told over them.

use super::{WITH_BODY, answer, body, in_path, in_query, limit, of, operation, text};
use crate::edges::operator_api::{binds, reports, unowned};
use utoipa::openapi::path::{HttpMethod, Operation, PathItem};
use utoipa::openapi::{ObjectBuilder, Required, Type};

const TAG: &str = "Binds";

pub(super) fn all() -> Vec<(String, PathItem)> {
    vec![
        ("/binds".to_owned(), PathItem::new(HttpMethod::Get, list())),
        ("/binds/{number}/unbind".to_owned(), PathItem::new(HttpMethod::Post, unbind())),
        ("/reports/given-up".to_owned(), PathItem::new(HttpMethod::Get, given_up())),
        ("/inbound/unowned".to_owned(), PathItem::new(HttpMethod::Get, unowned())),
        ("/inbound/unowned/{message}/assign".to_owned(), PathItem::new(HttpMethod::Post, assign())),
    ]
}

fn list() -> Operation {
    operation(TAG, "listBinds", "See who is bound", &[&["NOT_FOUND", "NOT_RUNNING", "INVALID_FIELD"]])
        .description(Some("Each bind of a customer over SMPP: from where, as what, and what it is doing."))
        .parameter(in_query("system_id", "Only those of this one.", text(), Required::False))
        .parameter(in_query("account", "Only those of this account.", text(), Required::False))
        .response("200", answer("In the order in which they came.", of::<binds::BindsShape>()))
        .build()
}

fn unbind() -> Operation {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    operation(TAG, "unbind", "End a bind", &[&["NOT_FOUND", "NOT_RUNNING"]])
        .description(Some(
            "What was submitted is answered first. Most customers bind again at once: to keep one out, close its \
             connection.",
        ))
        .parameter(in_path("number", "The bind's number.", "7").schema(Some(number)))
        .response("200", answer("It is told to go.", of::<binds::UnboundShape>()))
        .build()
}

fn given_up() -> Operation {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(i64::MAX));
    operation(TAG, "listGivenUpReports", "See what customers were not told", &[&["NOT_FOUND", "INVALID_FIELD"]])
        .description(Some(
            "Receipts and messages from handsets that no bind took for 72 hours, or that the customer's software refused. \
             Listed for 30 days.",
        ))
        .parameter(in_query("account", "Only those of this account.", text(), Required::False))
        .parameter(in_query("after", "`next` of the page before.", number, Required::False))
        .parameter(limit(100))
        .response("200", answer("Oldest first.", of::<reports::GivenUpShape>()))
        .build()
}

fn message_id() -> ObjectBuilder {
    text().pattern(Some("^[1-9][0-9]{0,16}$"))
}

fn unowned() -> Operation {
    operation(TAG, "listUnownedInbound", "See messages that are nobody's", &[&["INVALID_FIELD"]])
        .description(Some(
            "Messages from handsets to a number that no account owns, from handsets that none wrote to from it. Kept for \
             30 days.",
        ))
        .parameter(in_query("after", "`next` of the page before.", message_id(), Required::False))
        .parameter(limit(100))
        .response("200", answer("Oldest first.", of::<unowned::UnownedPage>()))
        .build()
}

fn assign() -> Operation {
    operation(
        TAG,
        "assignInbound",
        "Give such a message to an account",
        &[&["NOT_FOUND", "INVALID_FIELD"], &WITH_BODY],
    )
    .description(Some(
        "As if it had been the account's from the beginning: it is read, told and heeded like any other.",
    ))
    .parameter(in_path("message", "The message's id.", "15526526976000001"))
    .request_body(Some(body(of::<unowned::AssignShape>())))
    .response("200", answer("It is the account's.", of::<unowned::AssignedShape>()))
    .build()
}
