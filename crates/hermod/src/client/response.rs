//! The response of a gateway, received over HTTP or from the gateway in this process.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Body;
use hyper::{HeaderMap, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::fmt;

/// Octets of a body; a page of a thousand entries is far below.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(crate) struct ApiResponse {
    pub(crate) status: u16,
    headers: HeaderMap,
    pub(crate) body: String,
}

/// An error response.
pub(crate) struct ErrorResponse {
    pub(crate) status: u16,
    sentence: String,
    retry_after: Option<String>,
    /// The body as received, for --json.
    pub(crate) body: String,
}

/// An amount as the gateway wrote it, without conversion to a binary fraction.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct ExactAmount(Box<RawValue>);

impl fmt::Display for ExactAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.get().trim_matches('"'))
    }
}

pub(crate) async fn read<B>(response: Response<B>) -> Result<ApiResponse, String>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (head, body) = response.into_parts();
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await;
    let body = body.map_err(|error| format!("the response is incomplete: {error}"))?.to_bytes();
    let body = String::from_utf8(body.into()).map_err(|_| "the response is not UTF-8".to_owned())?;
    Ok(ApiResponse { status: head.status.as_u16(), headers: head.headers, body })
}

impl ApiResponse {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the response if its status is 2xx.
    pub(crate) fn accepted(self) -> Result<ApiResponse, ErrorResponse> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        Err(ErrorResponse {
            status: self.status,
            sentence: self.sentence(),
            retry_after: self.header("retry-after").map(str::to_owned),
            body: self.body,
        })
    }

    /// Parses the body.
    pub(crate) fn read_as<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_str(&self.body).map_err(|error| format!("this is not a response of Hermod: {error}"))
    }

    fn sentence(&self) -> String {
        #[derive(Deserialize)]
        struct ErrorBody {
            error: String,
        }
        match serde_json::from_str::<ErrorBody>(&self.body) {
            Ok(body) => body.error,
            Err(_) => format!("the response ({}) is not from Hermod: is the URL right?", self.status),
        }
    }
}

impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::output::safe(&self.sentence))?;
        match &self.retry_after {
            // The message of the gateway may contain it.
            Some(seconds) if !self.sentence.contains(&format!("in {seconds} s")) => {
                write!(f, " (try again in {} s)", crate::output::safe(seconds))
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl ErrorResponse {
    /// The Retry-After header in seconds.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.retry_after.as_ref()?.parse().ok()
    }
}
