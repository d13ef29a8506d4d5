//! Reads request bodies up to a limit, and parses them by their Content-Type.

use crate::entry::views::Fields;
use crate::http::json::parse_object;
use crate::refusal::{OperatorRefusal, Result};
use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use hermod_gateway::clock::Clock;
use hermod_gateway::http::body_memory::{BODY_RETRY_S, BodyMemoryFull, Reservation};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use std::time::Duration;

pub(crate) const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Fits a provision file or a CSV file of a hundred thousand prices.
pub const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// A longer body is read up to this size and discarded, so that its sender reads the error response.
const READ_BYTES_MAX: usize = 32 * 1024 * 1024;
const BODY_WAIT_MAX: Duration = Duration::from_secs(30);

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";
pub(crate) const TOML: &str = "application/toml";

/// Returns the most bytes of a body for a path: those of files have more.
pub(crate) fn bytes_max(path: &str) -> usize {
    if path == "/apply" || path.ends_with(".csv") || path.ends_with("/rate-sheets") {
        FILE_BYTES_MAX
    } else {
        BODY_BYTES_MAX
    }
}

/// Reads a body up to `bytes_max` and reserves its size in `memory`.
pub(crate) async fn gather(
    body: Body,
    bytes_max: usize,
    clock: &Clock,
    memory: &mut Reservation,
) -> Result<Bytes> {
    let mut whole = BytesMut::new();
    let keep = |chunk: &Bytes| {
        let length = whole.len().saturating_add(chunk.len());
        let fits = if length > bytes_max {
            Err(OperatorRefusal::BodyTooLarge { bytes_max })
        } else {
            memory.grow_to(length).map_err(no_room)
        };
        match fits {
            Ok(()) => whole.extend_from_slice(chunk),
            Err(_) => whole = BytesMut::new(),
        }
        fits
    };
    read(body, clock, keep).await?;
    Ok(whole.freeze())
}

/// Reads a body and discards it.
pub(crate) async fn discard(body: Body, clock: &Clock) {
    let _ = read(body, clock, |_| Ok(())).await;
}

/// Passes every chunk to `keep`. After `keep` failed, reads and discards the rest, so that the sender reads the error
/// response.
async fn read(mut body: Body, clock: &Clock, mut keep: impl FnMut(&Bytes) -> Result<()>) -> Result<()> {
    let broken = |what: &str| OperatorRefusal::InvalidJson(what.to_owned());
    let (mut kept, mut seen) = (Ok(()), 0_usize);
    let mut overdue = std::pin::pin!(clock.sleep(BODY_WAIT_MAX));
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            () = overdue.as_mut() => return Err(broken("it took too long to arrive")),
        };
        let chunk = match frame {
            None => return kept,
            Some(Err(_)) => return Err(broken("it did not arrive whole")),
            // Trailers are ignored.
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
        };
        seen = seen.saturating_add(chunk.len());
        if kept.is_ok() {
            kept = keep(&chunk);
        }
        if seen > READ_BYTES_MAX {
            return kept;
        }
    }
}

fn no_room(_: BodyMemoryFull) -> OperatorRefusal {
    OperatorRefusal::Unavailable {
        cause: "too many large requests are arriving",
        retry_after_s: BODY_RETRY_S,
    }
}

/// A body and its Content-Type.
#[derive(Default)]
pub(crate) struct RawBody {
    content_type: Option<String>,
    bytes: Bytes,
}

impl RawBody {
    pub(crate) async fn read(headers: &HeaderMap, body: Body) -> Result<RawBody> {
        // The guard has read the body already, so this neither waits nor fails.
        let read = body.collect().await.map_err(|_| OperatorRefusal::Failed)?;
        Ok(RawBody { content_type: content_type(headers), bytes: read.to_bytes() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn is(&self, content_type: &str) -> bool {
        self.content_type.as_deref() == Some(content_type)
    }

    pub(crate) fn object(&self) -> Result<Fields> {
        self.expect_json(&[JSON])?;
        parse_object(&self.bytes).map_err(OperatorRefusal::InvalidJson)
    }

    pub(crate) fn patch(&self) -> Result<Fields> {
        self.expect_json(&[JSON, MERGE_PATCH])?;
        parse_object(&self.bytes).map_err(OperatorRefusal::InvalidJson)
    }

    /// Parses one JSON object. A list would be read as the values of its fields.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T> {
        self.expect_json(&[JSON])?;
        if self.bytes.trim_ascii_start().starts_with(b"[") {
            return Err(OperatorRefusal::InvalidJson("it is a list, and must be an object".to_owned()));
        }
        serde_json::from_slice(&self.bytes).map_err(|error| OperatorRefusal::InvalidJson(error.to_string()))
    }

    pub(crate) fn text(&self) -> Result<&str> {
        let text = std::str::from_utf8(&self.bytes);
        text.map_err(|_| OperatorRefusal::InvalidToml("the body is not UTF-8".to_owned()))
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    fn expect_json(&self, accepted: &[&str]) -> Result<()> {
        if accepted.iter().any(|content_type| self.is(content_type)) {
            return Ok(());
        }
        Err(OperatorRefusal::InvalidContentType("send Content-Type: application/json"))
    }
}

/// Returns the Content-Type without its parameters; none if the header is repeated.
fn content_type(headers: &HeaderMap) -> Option<String> {
    let mut given = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return None };
    let content_type = value.to_str().ok()?.split(';').next()?;
    Some(content_type.trim().to_ascii_lowercase())
}
