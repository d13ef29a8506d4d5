//! The requests about links: how they are doing, what is wrong, and a carrier's PDUs.

use super::{WITH_BODY, answer, body, in_path, in_query, limit, of, operation, text};
use crate::edges::operator_api::{deliveries, links, probe, trace};
use utoipa::openapi::path::{HttpMethod, Operation, ParameterBuilder, PathItem};
use utoipa::openapi::{ObjectBuilder, Required, Type};

const TAG: &str = "Links";

pub(super) fn all() -> Vec<(String, PathItem)> {
    let mut alarms = PathItem::new(HttpMethod::Get, list_alarms());
    alarms.delete = Some(acknowledge());
    let mut traced = PathItem::new(HttpMethod::Get, read_trace());
    traced.put = Some(start_trace());
    traced.delete = Some(stop_trace());
    vec![
        ("/links".to_owned(), PathItem::new(HttpMethod::Get, links())),
        ("/alarms".to_owned(), alarms),
        ("/deliveries".to_owned(), PathItem::new(HttpMethod::Get, report())),
        ("/carriers/{name}/receipts".to_owned(), PathItem::new(HttpMethod::Get, receipts())),
        ("/carriers/{name}/resume".to_owned(), PathItem::new(HttpMethod::Post, resume())),
        ("/carriers/{name}/trace".to_owned(), traced),
        ("/carriers/{name}/test".to_owned(), PathItem::new(HttpMethod::Post, test())),
    ]
}

fn carrier() -> ParameterBuilder {
    in_path("name", "The carrier.", "acme")
}

fn only_of() -> ParameterBuilder {
    in_query("carrier", "Only those of this carrier.", text(), Required::False)
}

fn links() -> Operation {
    operation(TAG, "listLinks", "See how carriers and their links are doing", &[&["NOT_RUNNING"]])
        .description(Some(
            "Each carrier's health, what waits for it and what it did lately; each link's state, rate, window and counts.",
        ))
        .response("200", answer("Every carrier, by name.", of::<links::LinksShape>()))
        .build()
}

fn list_alarms() -> Operation {
    operation(TAG, "listAlarms", "List what is wrong", &[&["NOT_RUNNING", "INVALID_FIELD"]])
        .description(Some(
            "Each thing that is wrong stands here once, however often it happens, with what to do about it.",
        ))
        .parameter(only_of())
        .response("200", answer("By carrier.", of::<links::AlarmsShape>()))
        .build()
}

fn acknowledge() -> Operation {
    operation(TAG, "acknowledgeAlarms", "Acknowledge alarms", &[&["NOT_RUNNING", "INVALID_FIELD"]])
        .description(Some("They are gone from the list. What is still wrong raises its alarm again."))
        .parameter(only_of())
        .response("200", answer("How many there were.", of::<links::AcknowledgedShape>()))
        .build()
}

fn report() -> Operation {
    let days = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(366));
    let days = days.default(Some(7.into()));
    let by = text().enum_values(Some(["network", "country", "carrier"])).default(Some("network".into()));
    operation(TAG, "listDeliveries", "See what became of what carriers took", &[&["NOT_FOUND", "INVALID_FIELD"]])
        .description(Some(
            "Parts by carrier, country and operator: taken, delivered, failed, open, and how long deliveries took.",
        ))
        .parameter(in_query("days", "So many UTC days, today included.", days, Required::False))
        .parameter(in_query("carrier", "Only this one.", text(), Required::False))
        .parameter(in_query("by", "What is told apart beside carriers.", by, Required::False))
        .response("200", answer("Those with the most parts first.", of::<deliveries::DeliveriesShape>()))
        .build()
}

fn receipts() -> Operation {
    operation(TAG, "listLooseReceipts", "See receipts that found no part", &[&["NOT_FOUND", "INVALID_FIELD"]])
        .description(Some(
            "Beside ids of the carrier's late answers, so that one sees what is different about them.",
        ))
        .parameter(carrier())
        .parameter(limit(100))
        .response("200", answer("The latest first.", of::<deliveries::ReceiptsShape>()))
        .build()
}

fn resume() -> Operation {
    operation(TAG, "resumeCarrier", "Let a stopped carrier send again", &[&["NOT_FOUND", "NOT_RUNNING"]])
        .description(Some(
            "A carrier is stopped when it says too often that it cannot make sense of what is sent.",
        ))
        .parameter(carrier())
        .response("200", answer("It sends, if it can.", of::<links::ResumedShape>()))
        .build()
}

fn test() -> Operation {
    operation(
        TAG,
        "testCarrier",
        "Send one message to try a carrier",
        &[&["NOT_FOUND", "NOT_RUNNING", "TEST_RUNNING", "INVALID_FIELD"], &WITH_BODY],
    )
    .description(Some(
        "Binds on its own as the carrier's entry says, sends one part, waits for its receipt and tells every PDU, texts \
         masked. It costs nobody anything and is stored nowhere. The answer takes as long as all of that.",
    ))
    .parameter(carrier())
    .request_body(Some(body(of::<probe::TestAsked>())))
    .response("200", answer("How far it came, and everything that happened.", of::<probe::TestShape>()))
    .build()
}

fn start_trace() -> Operation {
    operation(
        TAG,
        "traceCarrier",
        "Trace a carrier's PDUs for a while",
        &[&["NOT_FOUND", "NOT_RUNNING", "INVALID_FIELD"], &WITH_BODY],
    )
    .description(Some("Lines have neither passwords nor texts. A thousand are kept."))
    .parameter(carrier())
    .request_body(Some(body(of::<trace::TraceAsked>())))
    .response("200", answer("Read them with GET.", of::<trace::TracingShape>()))
    .build()
}

fn stop_trace() -> Operation {
    operation(TAG, "stopTrace", "Stop tracing a carrier", &[&["NOT_FOUND", "NOT_RUNNING"]])
        .parameter(carrier())
        .response("200", answer("What was traced can still be read.", of::<trace::TracingShape>()))
        .build()
}

fn read_trace() -> Operation {
    let after = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(i64::MAX));
    operation(TAG, "readTrace", "Read a carrier's trace", &[&["NOT_FOUND", "NOT_RUNNING", "INVALID_FIELD"]])
        .parameter(carrier())
        .parameter(in_query("after", "`next` of the answer before.", after, Required::False))
        .response(
            "200",
            answer("In the order in which they were sent and received.", of::<trace::TraceShape>()),
        )
        .build()
}
