//! Routes of messages.

use crate::export::Rows;
use crate::http::OperatorApi;
use crate::http::caller::Caller;
use crate::http::response::CSV;
use crate::http::routes::{Routes, doc, text};
use crate::http::use_case::{Call, Described, Input, OfRequest, Reply};
use crate::message::export::{Reader, export_messages};
use crate::message::history::show_message;
use crate::message::live::{LastEvent, LiveFeed, LiveQuery, LiveView, watch_live};
use crate::message::search::{count_messages, search_messages, search_text};
use crate::message::views::{CountView, MessagesQuery, MessagesView};
use crate::record::ERRORS;
use crate::refusal::{OperatorRefusal, Result};
use crate::views::masking::Masking;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use hermod_domain::operator_role::OperatorPermission;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::secrets::operator_token::TokenHolder;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use utoipa::openapi::path::{ParameterBuilder, ParameterIn};

/// The first digits of a masked number, which every role sees.
const SHOWN_DIGITS: usize = 3;
/// How long a watcher waits before it comes back, in milliseconds.
const RETRY_MS: u32 = 2_000;
/// After this time without a frame, the caller's token is looked up again, and a comment is sent, so that proxies and clients see
/// that the connection lives.
const CHECK_EVERY: Duration = Duration::from_secs(5);
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Messages", "Search messages, see everything about one, watch them live.");
    routes.get(
        "/messages",
        search_permitted,
        doc("searchMessages", "Search messages", "The newest first.")
            .details(
                "Finds the messages that have every given property. A page may have fewer rows than `limit` and still a \
                 `next`: the search then says in `searched_to` how far it came. The record is written after the messages; \
                 `record.lag_ms` says how far it is behind.",
            )
            .errors(&ERRORS)
            .errors(&["REASON_NEEDED"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/messages.csv",
        export_permitted,
        doc("exportMessages", "Export messages", "A CSV file, the newest message first.")
            .details(
                "All messages that `GET /messages` finds, sent as they are read. Texts that a spreadsheet would run as a \
                 formula have an apostrophe in front; phone numbers have no plus. Two exports of an account run at a time; \
                 those over all accounts count as one account.",
            )
            .errors(&ERRORS)
            .errors(&["REASON_NEEDED"])
            .errors(&["EXPORTS_RUNNING"])
            .without("cursor")
            .without("limit")
            .media(CSV)
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/messages/count",
        count_permitted,
        doc("countMessages", "Count messages", "How many there are, exactly or at least.")
            .errors(&ERRORS)
            .errors(&["REASON_NEEDED"])
            .without("cursor")
            .without("limit")
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/messages/text",
        search_text,
        doc("searchTexts", "Search the texts of an account", "What one slice of the search found.")
            .details("Repeat with `cursor` while `next` is not null: each slice looks at a limited number of texts.")
            .errors(&ERRORS)
            .errors(&["TOO_MUCH"])
            .least(OperatorPermission::Personal),
    );
    routes.get(
        "/messages/{message}",
        show_message,
        doc("getMessage", "Read everything about a message", "The message and its timeline.")
            .errors(&ERRORS)
            .least(OperatorPermission::Reading),
    );
    live_route(routes);
}

/// Fails if the caller may not search by a part of a number: such searches show the rest of it, digit by digit.
fn expect_search(caller: &Caller, query: &MessagesQuery) -> Result<()> {
    let Some(to) = query.to.as_deref().filter(|to| to.contains('*')) else { return Ok(()) };
    let beginning = to.strip_suffix('*').map(|digits| digits.trim_start_matches(['+', ' ']));
    if beginning.is_some_and(|digits| digits.len() <= SHOWN_DIGITS) || caller.masking() == Masking::Whole {
        return Ok(());
    }
    caller.expect(OperatorPermission::Personal)?;
    Err(OperatorRefusal::ReasonNeeded)
}

async fn search_permitted(gateway: &Gateway, caller: &Caller, query: MessagesQuery) -> Result<MessagesView> {
    expect_search(caller, &query)?;
    search_messages(gateway, query).await
}

async fn count_permitted(gateway: &Gateway, caller: &Caller, query: MessagesQuery) -> Result<CountView> {
    expect_search(caller, &query)?;
    count_messages(gateway, query).await
}

async fn export_permitted(
    gateway: &Arc<Gateway>,
    caller: &Caller,
    query: MessagesQuery,
    reader: Reader,
) -> Result<Rows> {
    expect_search(caller, &query)?;
    export_messages(gateway, query, reader).await
}

fn live_route(routes: &mut Routes) {
    let last = ParameterBuilder::new()
        .name("Last-Event-ID")
        .parameter_in(ParameterIn::Header)
        .description(Some(
            "The id of the last event that was received. Frames after it come first, if they are still kept.",
        ))
        .schema(Some(text()));
    routes.get(
        "/live",
        watch_permitted,
        doc("watchLive", "Watch messages live", "Server-sent events until the caller leaves, the token ends or the gateway stops.")
            .running_only()
            .details(
                "An event `frame` about twice a second while messages have steps, with a `LiveView` in `data`: at most 20 \
                 messages and how many there were. Its `id` is the number of the frame.",
            )
            .errors(&ERRORS)
            .parameter(last.build())
            .media(EVENT_STREAM)
            .least(OperatorPermission::Reading),
    );
}

/// The operator reads every column, and whole numbers as far as the role may.
impl Input<OfRequest> for Reader {
    type Pointer = Box<Reader>;

    fn describe(described: &mut Described) {
        described.is_masked = true;
    }

    fn take(call: &mut Call) -> Result<Box<Reader>> {
        let may_see_numbers = call.caller.masking() == Masking::Whole;
        Ok(Box::new(Reader::Operator { may_see_numbers }))
    }
}

impl Input<OfRequest> for LastEvent {
    type Pointer = Box<LastEvent>;

    fn take(call: &mut Call) -> Result<Box<LastEvent>> {
        let id = call.headers().get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()?.trim().parse().ok());
        Ok(Box::new(LastEvent(id)))
    }
}

/// The live feed of an operator.
struct OperatorFeed {
    feed: LiveFeed,
    holder: TokenHolder,
}

fn watch_permitted(
    gateway: &Arc<Gateway>,
    caller: &Caller,
    query: LiveQuery,
    last: LastEvent,
) -> Result<OperatorFeed, OperatorRefusal> {
    Ok(OperatorFeed { feed: watch_live(gateway, &query, last)?, holder: caller.holder.clone() })
}

impl OperatorFeed {
    /// Whether the caller may see the next event.
    fn may_go_on(&self) -> bool {
        let gateway = self.feed.gateway();
        self.holder.is_unchanged(gateway.catalogue().operators(), gateway.clock.now())
    }
}

/// Sends the live feed until the caller leaves, the token ends, the operator is removed or gets another token or role, or the
/// gateway stops.
impl Reply for OperatorFeed {
    fn describe(described: &mut Described) {
        described.refer_to::<LiveView>();
    }

    fn account(&self) -> Option<String> {
        None
    }

    fn response(self, api: &OperatorApi) -> Response {
        let (stopping, masking) = (api.workers.stopping(), Masking::current());
        let begun = (self, Some(format!("retry: {RETRY_MS}\n\n")));
        let events = stream::unfold(begun, move |(mut watcher, first): (OperatorFeed, Option<String>)| {
            let stopping = stopping.clone();
            async move {
                if let Some(first) = first {
                    return Some((Ok::<_, Infallible>(Bytes::from(first)), (watcher, None)));
                }
                let clock = watcher.feed.gateway().clock.clone();
                let text = tokio::select! {
                    biased;
                    () = stopping.cancelled() => return None,
                    frame = watcher.feed.next(masking) => {
                        let (number, json) = frame?;
                        format!("id: {number}\nevent: frame\ndata: {json}\n\n")
                    }
                    () = clock.sleep(CHECK_EVERY) => ": keep-alive\n\n".to_owned(),
                };
                watcher.may_go_on().then(|| (Ok(Bytes::from(text)), (watcher, None)))
            }
        });
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM)),
            // nginx would hold frames back.
            (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
        ];
        (headers, Body::from_stream(events)).into_response()
    }
}
