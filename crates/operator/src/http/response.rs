//! Responses that are not JSON of a view: CSV files, the live feed as server-sent events, errors of the operator's catalogue.

use crate::api::OperatorApi;
use crate::http::use_case::{Call, Described, Input, OfRequest, Reply};
use crate::message::exports::Rows;
use crate::message::live::LiveFeed;
use crate::refusal::OperatorRefusal;
use axum::Json;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use hermod_domain::refusal::published::PublishedError;
use std::convert::Infallible;
use std::time::Duration;

const X_ERROR_CODE: HeaderName = HeaderName::from_static("x-error-code");
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"Hermod operator\"");
/// How long a watcher waits before it comes back, in milliseconds.
const RETRY_MS: u32 = 2_000;
/// A comment is sent after this time without a frame, so that proxies and clients see that the connection lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
pub(crate) const CSV: &str = "text/csv";
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// A response that is made while it is sent.
pub(crate) struct Streamed(Response);

impl Reply for Streamed {
    fn describe(_: &mut Described) {}

    fn response(self) -> Response {
        self.0
    }
}

/// Sends a file as it is read.
pub(crate) fn csv_file(api: &OperatorApi, rows: Rows, name: &str) -> Streamed {
    let day = api.gateway.clock.now().day();
    let file = HeaderValue::try_from(format!("attachment; filename=\"{name}-{day}.csv\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8; header=present")),
        (header::CONTENT_DISPOSITION, file.unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    Streamed((headers, Body::from_stream(rows.into_pieces(&api.workers))).into_response())
}

/// The number of the last frame that the caller got.
pub(crate) struct LastEvent(pub(crate) Option<u64>);

impl Input<OfRequest> for LastEvent {
    type Pointer = Box<LastEvent>;

    fn take(call: &mut Call) -> Result<Box<LastEvent>, OperatorRefusal> {
        let id = call.headers().get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()?.trim().parse().ok());
        Ok(Box::new(LastEvent(id)))
    }
}

/// Sends the live feed until the caller leaves or the gateway stops.
pub(crate) fn event_stream(api: &OperatorApi, feed: LiveFeed) -> Streamed {
    let stopping = api.workers.stopping();
    let begun = (feed, Some(format!("retry: {RETRY_MS}\n\n")));
    let events = stream::unfold(begun, move |(mut feed, first)| {
        let stopping = stopping.clone();
        async move {
            if let Some(first) = first {
                return Some((Ok::<_, Infallible>(Bytes::from(first)), (feed, None)));
            }
            let clock = feed.gateway().clock.clone();
            let text = tokio::select! {
                biased;
                () = stopping.cancelled() => return None,
                frame = feed.next() => {
                    let (number, json) = frame?;
                    format!("id: {number}\nevent: frame\ndata: {json}\n\n")
                }
                () = clock.sleep(KEEP_ALIVE) => ": keep-alive\n\n".to_owned(),
            };
            Some((Ok(Bytes::from(text)), (feed, None)))
        }
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM)),
        // nginx would hold frames back.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Streamed((headers, Body::from_stream(events)).into_response())
}

impl IntoResponse for OperatorRefusal {
    fn into_response(self) -> Response {
        let PublishedError { code, http, .. } = *self.published();
        let status = StatusCode::from_u16(http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = Json(serde_json::json!({ "error": format!("{code}: {self}") }));
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(X_ERROR_CODE, HeaderValue::from_static(code));
        if let Some(seconds) = self.retry_after_s() {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if matches!(self, OperatorRefusal::Ambiguous { .. }) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self == OperatorRefusal::InvalidToken {
            headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
        }
        response
    }
}
