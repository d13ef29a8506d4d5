//! The HTTP client for webhooks. Receivers are untrusted: redirects are not followed, every step has a timeout, and
//! only a few kilobytes of a response are kept.

mod connection;
mod dial;
#[cfg(test)]
mod tests;

use connection::ReceiverConnection;
pub(super) use connection::{KEEP_ALIVE, Pool};

use super::resolver::Resolver;
use super::settings::WebhookSettings;
use crate::clock::{Clock, Moment};
use crate::workers::Workers;
use bytes::Bytes;
use connection::Ask;
use hermod_domain::webhook::url::{AddressRules, WebhookUrl};
use hermod_store::{AttemptOutcome, RESPONSE_KEPT_BYTES_MAX};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Request, Response, Uri};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio_rustls::rustls::ClientConfig;

/// A connection is closed instead of reused if the response body is longer.
const ANSWER_READ_BYTES_MAX: usize = 64 * 1024;
/// The timeout for the response body; the status alone decides.
const BODY_MAX: Duration = Duration::from_secs(2);

pub(super) struct WebhookClient {
    clock: Clock,
    workers: Workers,
    rules: AddressRules,
    connect_max: Duration,
    call_max: Duration,
    resolver: Resolver,
    ca: Option<PathBuf>,
    tls: OnceLock<Arc<ClientConfig>>,
}

/// A request to post.
pub(super) struct PostDraft {
    /// Path and query.
    pub(super) target: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl PostDraft {
    fn request(&self) -> Ask {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.target.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// The result of a post.
pub(super) struct PostResult {
    pub(super) outcome: AttemptOutcome,
    /// The beginning of the response body.
    pub(super) kept: Vec<u8>,
}

impl PostResult {
    pub(super) fn failed(sentence: impl Into<String>) -> PostResult {
        PostResult { outcome: AttemptOutcome::Failed(sentence.into()), kept: Vec::new() }
    }
}

impl WebhookClient {
    pub(super) fn new(settings: &WebhookSettings, clock: Clock, workers: Workers) -> WebhookClient {
        WebhookClient {
            clock,
            workers,
            rules: settings.rules.clone(),
            connect_max: settings.connect_max,
            call_max: settings.call_max,
            resolver: settings.resolver.clone(),
            ca: settings.ca.clone(),
            tls: OnceLock::new(),
        }
    }

    /// Posts once, over a pooled connection if there is one.
    pub(super) async fn post(
        &self,
        url: &WebhookUrl,
        pool: &Pool,
        draft: &PostDraft,
        doubtful: bool,
    ) -> PostResult {
        let until = self.clock.moment().plus(self.call_max);
        let asked = tokio::select! {
            biased;
            asked = self.ask(url, pool, draft, doubtful) => asked,
            () = self.clock.sleep_until(until) => {
                Err(format!("timed out after {} s", self.call_max.as_secs_f32()))
            }
        };
        match asked {
            Ok((response, connection)) => self.read(response, connection, pool, until).await,
            Err(sentence) => PostResult::failed(sentence),
        }
    }

    async fn ask(
        &self,
        url: &WebhookUrl,
        pool: &Pool,
        draft: &PostDraft,
        doubtful: bool,
    ) -> Result<(Response<Incoming>, ReceiverConnection), String> {
        // The receiver may have closed the pooled connection meanwhile. Only a request of which it can have read nothing
        // is sent again at once: otherwise the receiver would get one attempt twice.
        if let Some(mut kept) = pool.take(self.clock.moment()) {
            match kept.ask(draft.request()).await {
                Ok(response) => return Ok((response, kept)),
                Err(failure) if failure.unsent => {}
                Err(failure) => return Err(failure.sentence),
            }
        }
        let stream = self.dial(url, doubtful).await?;
        let mut connection = ReceiverConnection::begin(stream, self.clock.moment(), &self.workers).await?;
        let response = connection.ask(draft.request()).await.map_err(|failure| failure.sentence)?;
        Ok((response, connection))
    }

    /// Reads the response. The status decides; a body that is too long or too slow only closes the connection.
    async fn read(
        &self,
        response: Response<Incoming>,
        connection: ReceiverConnection,
        pool: &Pool,
        until: Moment,
    ) -> PostResult {
        let until = until.min(self.clock.moment().plus(BODY_MAX));
        let status = response.status().as_u16();
        let mut body = response.into_body();
        let mut kept = Vec::new();
        let reading = async {
            let mut length = 0;
            while let Some(frame) = body.frame().await {
                let Ok(frame) = frame else { return false };
                let Some(data) = frame.data_ref() else { continue };
                length += data.len();
                let room = RESPONSE_KEPT_BYTES_MAX.saturating_sub(kept.len());
                kept.extend_from_slice(&data[..data.len().min(room)]);
                if length > ANSWER_READ_BYTES_MAX {
                    return false;
                }
            }
            true
        };
        let whole = tokio::select! {
            biased;
            whole = reading => whole,
            () = self.clock.sleep_until(until) => false,
        };
        if whole {
            pool.put(connection, self.clock.moment());
        }
        PostResult { outcome: AttemptOutcome::Status(status), kept }
    }
}
