//! The HTTP client of webhooks. A receiver is a stranger: it is never followed anywhere, never waited for beyond its
//! time, and nothing of what it says is held beyond a few kilobytes.

mod connection;
mod dial;
mod pool;
#[cfg(test)]
mod tests;

use connection::Connection;
pub(super) use connection::KEEP_ALIVE;
pub(super) use pool::Pool;

use super::resolver::Resolver;
use super::settings::Settings;
use crate::clock::{Clock, Moment};
use crate::workers::Workers;
use bytes::Bytes;
use connection::Ask;
use hermod_domain::webhook::address::{AddressRules, WebhookUrl};
use hermod_store::{AttemptOutcome, RESPONSE_KEPT_BYTES_MAX};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Request, Response, Uri};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio_rustls::rustls::ClientConfig;

/// How much of an answer is read before its connection is dropped instead of used again.
const ANSWER_READ_BYTES_MAX: usize = 64 * 1024;
/// How long the body of an answer may take; the answer itself stands in its head.
const BODY_MAX: Duration = Duration::from_secs(2);

pub(super) struct Client {
    clock: Clock,
    workers: Workers,
    rules: AddressRules,
    connect_max: Duration,
    call_max: Duration,
    resolver: Resolver,
    ca: Option<PathBuf>,
    tls: OnceLock<Arc<ClientConfig>>,
}

/// What is posted.
pub(super) struct Draft {
    /// Path and query.
    pub(super) target: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Draft {
    fn request(&self) -> Ask {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.target.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// What came of a post.
pub(super) struct Answered {
    pub(super) outcome: AttemptOutcome,
    /// The beginning of the answer's body.
    pub(super) kept: Vec<u8>,
}

impl Answered {
    pub(super) fn failed(sentence: impl Into<String>) -> Answered {
        Answered { outcome: AttemptOutcome::Failed(sentence.into()), kept: Vec::new() }
    }
}

impl Client {
    pub(super) fn new(settings: &Settings, clock: Clock, workers: Workers) -> Client {
        Client {
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

    /// Posts once, on a connection of the pool if there is one.
    pub(super) async fn post(
        &self,
        url: &WebhookUrl,
        pool: &Pool,
        draft: &Draft,
        doubtful: bool,
    ) -> Answered {
        let until = self.clock.moment().plus(self.call_max);
        let asked = tokio::select! {
            biased;
            asked = self.ask(url, pool, draft, doubtful) => asked,
            () = self.clock.sleep_until(until) => {
                Err(format!("no answer within {} s", self.call_max.as_secs_f32()))
            }
        };
        match asked {
            Ok((response, connection)) => self.read(response, connection, pool, until).await,
            Err(sentence) => Answered::failed(sentence),
        }
    }

    async fn ask(
        &self,
        url: &WebhookUrl,
        pool: &Pool,
        draft: &Draft,
        doubtful: bool,
    ) -> Result<(Response<Incoming>, Connection), String> {
        // The receiver may have closed a kept connection meanwhile, even as the request was on its way. Nothing is lost
        // by asking again on a new one: receivers know a repetition by its id.
        if let Some(mut kept) = pool.take(self.clock.moment())
            && let Ok(response) = kept.ask(draft.request()).await
        {
            return Ok((response, kept));
        }
        let stream = self.dial(url, doubtful).await?;
        let mut connection = Connection::begin(stream, self.clock.moment(), &self.workers).await?;
        let response = connection.ask(draft.request()).await?;
        Ok((response, connection))
    }

    /// The status decides. A body that is too long or too slow costs the connection and nothing else.
    async fn read(
        &self,
        response: Response<Incoming>,
        connection: Connection,
        pool: &Pool,
        until: Moment,
    ) -> Answered {
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
        Answered { outcome: AttemptOutcome::Status(status), kept }
    }
}
