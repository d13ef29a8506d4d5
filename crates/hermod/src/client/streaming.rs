//! Responses that are read piece by piece as they arrive: exports and the live feed.

use super::response::{ApiResponse, read};
use bytes::Bytes;
use hermod_gateway::clock::within;
use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::body::Body;
use std::time::Duration;

/// The gateway sends something more often than this as long as it lives.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// How a streamed response ended.
pub(crate) enum StreamedResponse {
    /// Every piece was passed on.
    Ended,
    /// The status is not 2xx: this is the response.
    Refused(ApiResponse),
}

/// Passes the pieces of a response on until it ends.
pub(crate) async fn read_pieces<B>(
    response: Response<B>,
    piece: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<StreamedResponse, String>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if !response.status().is_success() {
        return read(response).await.map(StreamedResponse::Refused);
    }
    let mut body = response.into_body();
    loop {
        let frame = within(PAUSE_MAX, body.frame()).await;
        let frame = frame.map_err(|_| format!("the gateway sent nothing for {} s", PAUSE_MAX.as_secs()))?;
        match frame {
            None => return Ok(StreamedResponse::Ended),
            Some(Err(error)) => {
                let error = error.into();
                return Err(format!("the response is incomplete: {error}"));
            }
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    piece(&data)?;
                }
            }
        }
    }
}
