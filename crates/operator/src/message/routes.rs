//! Routes of the record: messages and their timelines, statistics, the request log, the live feed, exports.

use crate::api::OperatorApi;
use crate::http::response::{CSV, EVENT_STREAM, LastEvent, Streamed, csv_file, event_stream};
use crate::http::routes::{Routes, doc, text};
use crate::message;
use crate::message::views::{LiveQuery, MessageDetailView, MessagesQuery, RequestsQuery, StatisticsQuery};
use crate::message::{exports, history, live, requests, search, statistics};
use crate::refusal::OperatorRefusal;
use hermod_gateway::gateway::Gateway;
use utoipa::openapi::path::{ParameterBuilder, ParameterIn};

/// The errors of every route that reads the record by the names of entries.
const ERRORS: [&str; 3] = ["NOT_FOUND", "RECORD_OFF", "INVALID_FIELD"];

pub(crate) fn routes(routes: &mut Routes) {
    message_routes(routes);
    routes.section("Statistics", "Counted as messages are accepted and end: per minute, hour and day.");
    let statistics = |id, title, ok| doc(id, title, ok).errors(&ERRORS).errors(&["TOO_MUCH"]);
    routes.get(
        "/statistics",
        statistics::read_statistics,
        statistics("getStatistics", "Read statistics", "One row for each interval and value.").details(
            "A message counts in the interval of its acceptance, also its end. Intervals without messages are left out. At \
             most 5,000 rows.",
        ),
    );
    routes.get(
        "/statistics.csv",
        statistics_csv,
        statistics("exportStatistics", "Export statistics", "A CSV file, the oldest interval first.")
            .errors(&["EXPORTS_RUNNING"])
            .without("sum")
            .media(CSV),
    );
    request_routes(routes);
    routes.section("Record", "What searches, timelines, statistics and the request log are read from.");
    routes.get(
        "/record",
        message::record_status,
        doc("getRecord", "Read the state of the record", "How far it is behind."),
    );
    routes.post(
        "/record/rebuild",
        message::rebuild_record,
        doc("rebuildRecord", "Rebuild the record", "The record begins again from the message store.")
            .details(
                "Deletes the record and reads every message from the message store again; `GET /record` says how many are \
                 left. Timelines of the steps before, statistics of refused requests and the request log are lost.",
            )
            .errors(&["RECORD_OFF"]),
    );
}

fn message_routes(routes: &mut Routes) {
    routes.section("Messages", "Search messages, see everything about one, watch them live.");
    routes.get(
        "/messages",
        search::search_messages,
        doc("searchMessages", "Search messages", "The newest first.")
            .details(
                "Finds the messages that have every given property. A page may have fewer rows than `limit` and still a \
                 `next`: the search then says in `searched_to` how far it came. The record is written after the messages; \
                 `record.lag_ms` says how far it is behind.",
            )
            .errors(&ERRORS),
    );
    routes.get(
        "/messages.csv",
        messages_csv,
        doc("exportMessages", "Export messages", "A CSV file, the newest message first.")
            .details(
                "All messages that `GET /messages` finds, sent as they are read. Texts that a spreadsheet would run as a \
                 formula have an apostrophe in front; phone numbers have no plus. Two exports of an account run at a time; \
                 those over all accounts count as one account.",
            )
            .errors(&ERRORS)
            .errors(&["EXPORTS_RUNNING"])
            .without("cursor")
            .without("limit")
            .media(CSV),
    );
    routes.get(
        "/messages/count",
        search::count_messages,
        doc("countMessages", "Count messages", "How many there are, exactly or at least.")
            .errors(&ERRORS)
            .without("cursor")
            .without("limit"),
    );
    routes.get(
        "/messages/text",
        search::search_text,
        doc("searchTexts", "Search the texts of an account", "What one slice of the search found.")
            .details("Repeat with `cursor` while `next` is not null: each slice looks at a limited number of texts.")
            .errors(&ERRORS)
            .errors(&["TOO_MUCH"]),
    );
    routes.get(
        "/messages/{message}",
        show,
        doc("getMessage", "Read everything about a message", "The message and its timeline.").errors(&ERRORS),
    );
    let last = ParameterBuilder::new()
        .name("Last-Event-ID")
        .parameter_in(ParameterIn::Header)
        .description(Some(
            "The id of the last event that was received. Frames after it come first, if they are still kept.",
        ))
        .schema(Some(text()));
    routes.get(
        "/live",
        live,
        doc("watchLive", "Watch messages live", "Server-sent events until the caller leaves or the gateway stops.")
            .running_only()
            .details(
                "An event `frame` about twice a second while messages have steps, with a `LiveView` in `data`: at most 20 \
                 messages and how many there were. Its `id` is the number of the frame.",
            )
            .errors(&ERRORS)
            .parameter(last.build())
            .media(EVENT_STREAM),
    );
}

fn request_routes(routes: &mut Routes) {
    routes.section(
        "Requests",
        "Which calls, submits and binds of customers were rejected, and why. Kept for [retention] requests, 7 days by default.",
    );
    routes.get(
        "/requests",
        requests::list_requests,
        doc("listRequests", "List requests of customers", "The newest first.")
            .details("Every rejected request, and up to 5 successful ones per second and account.")
            .errors(&ERRORS),
    );
    routes.get(
        "/requests.csv",
        requests_csv,
        doc("exportRequests", "Export requests of customers", "A CSV file, the newest request first.")
            .errors(&ERRORS)
            .errors(&["EXPORTS_RUNNING"])
            .without("cursor")
            .without("limit")
            .media(CSV),
    );
    routes.get(
        "/requests/groups",
        requests::group_requests,
        doc(
            "groupRequests",
            "Group rejected requests by code",
            "The most frequent code first, with what to do about it.",
        )
        .errors(&ERRORS)
        .without("code")
        .without("kind")
        .without("request")
        .without("rejected")
        .without("cursor")
        .without("limit"),
    );
}

async fn show(gateway: &Gateway, message: &str) -> Result<MessageDetailView, OperatorRefusal> {
    history::show_message(gateway, None, message).await
}

fn live(api: &OperatorApi, last: LastEvent, query: &LiveQuery) -> Result<Streamed, OperatorRefusal> {
    Ok(event_stream(api, live::watch_live(&api.gateway, query, last.0)?))
}

async fn messages_csv(api: &OperatorApi, query: MessagesQuery) -> Result<Streamed, OperatorRefusal> {
    let rows = exports::export_messages(&api.gateway, query, exports::Reader::Operator).await?;
    Ok(csv_file(api, rows, "messages"))
}

async fn statistics_csv(api: &OperatorApi, query: StatisticsQuery) -> Result<Streamed, OperatorRefusal> {
    Ok(csv_file(api, exports::export_statistics(&api.gateway, query).await?, "statistics"))
}

async fn requests_csv(api: &OperatorApi, query: RequestsQuery) -> Result<Streamed, OperatorRefusal> {
    Ok(csv_file(api, exports::export_requests(&api.gateway, query).await?, "requests"))
}
