//! Responses that are made while they are sent: CSV files, and the live feed as server-sent events.

use super::OperatorApi;
use crate::app::operator::{LiveFeed, OperatorRefusal, Rows};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use std::convert::Infallible;
use std::time::Duration;

/// How long a watcher waits before it comes back, in milliseconds.
const RETRY_MS: u32 = 2_000;
/// A comment is sent after this time without a frame, so that proxies and clients see that the connection lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
pub(super) const CSV: &str = "text/csv";
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// The response of a handler that streams: 200, or an error before the stream begins.
pub(super) type StreamReply = Result<Response, OperatorRefusal>;

/// Sends a file as it is read. If reading fails or the gateway stops, the connection is cut, so that the caller sees that the
/// file is incomplete.
pub(super) fn csv_file(api: &OperatorApi, rows: Rows, name: &str) -> Response {
    let stopping = api.workers.stopping();
    let pieces = stream::unfold(Some(rows), move |rows| {
        let stopping = stopping.clone();
        async move {
            let mut rows = rows?;
            let piece = tokio::select! {
                biased;
                () = stopping.cancelled() => Err(OperatorRefusal::stopping()),
                piece = rows.next() => piece,
            };
            match piece {
                Ok(Some(text)) => Some((Ok(Bytes::from(text)), Some(rows))),
                Ok(None) => None,
                Err(refusal) => {
                    tracing::warn!(%refusal, "An export was cut off");
                    Some((Err(std::io::Error::other(refusal.to_string())), None))
                }
            }
        }
    });
    let day = api.world.clock.now().day();
    let file = HeaderValue::try_from(format!("attachment; filename=\"{name}-{day}.csv\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8; header=present")),
        (header::CONTENT_DISPOSITION, file.unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    (headers, Body::from_stream(pieces)).into_response()
}

/// Returns the number of the last frame that the caller got.
pub(super) fn last_event(headers: &HeaderMap) -> Option<u64> {
    headers.get(LAST_EVENT_ID)?.to_str().ok()?.trim().parse().ok()
}

/// Sends the live feed until the caller leaves or the gateway stops.
pub(super) fn event_stream(api: &OperatorApi, feed: LiveFeed) -> Response {
    let stopping = api.workers.stopping();
    let begun = (feed, Some(format!("retry: {RETRY_MS}\n\n")));
    let events = stream::unfold(begun, move |(mut feed, first)| {
        let stopping = stopping.clone();
        async move {
            if let Some(first) = first {
                return Some((Ok::<_, Infallible>(Bytes::from(first)), (feed, None)));
            }
            let clock = feed.world().clock.clone();
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
    (headers, Body::from_stream(events)).into_response()
}
