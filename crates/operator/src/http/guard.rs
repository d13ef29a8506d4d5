//! Checks every request before its use case runs: framing, source address, token. Sets the request id, limits the body, and
//! runs an admitted request to its end.

use crate::http::OperatorApi;
use crate::http::body::{bytes_max, discard, gather};
use crate::refusal::{OperatorRefusal, Result};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hermod_gateway::gateway::SignInKey;
use hermod_gateway::http::framing::{self, FramingRefusal};
use hermod_gateway::http::{Source, names_this_machine, request_id, source_of};
use hermod_gateway::secrets::operator_token::TokenHolder;
use metrics::counter;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A longer Authorization header is treated as missing.
const AUTHORIZATION_BYTES_MAX: usize = 1024;

/// The paths that need no token.
pub(crate) const DOCUMENT: &str = "/openapi.json";
pub(crate) const PAGE: &str = "/docs";

pub(crate) async fn guard(State(api): State<Arc<OperatorApi>>, request: Request, next: Next) -> Response {
    let started = api.gateway.clock.moment();
    let (mut head, body) = request.into_parts();
    let id = request_id::of(&head.headers);
    let source = source_of(&head.extensions, &head.headers);
    let method = head.method.clone();

    let mut memory = api.gateway.body_memory.reserve();
    let request = match framed(source, &head).and_then(|()| admit(&api, source, &head)) {
        Ok(Admitted::WithToken(operator)) => {
            head.extensions.insert(operator);
            let most = bytes_max(head.uri.path());
            let gathered = gather(body, most, &api.gateway.clock, &mut memory).await;
            gathered.map(|body| Request::from_parts(head, Body::from(body)))
        }
        Ok(Admitted::OpenPath) => {
            discard(body, &api.gateway.clock).await;
            Ok(Request::from_parts(head, Body::empty()))
        }
        Err(refusal) => {
            // A caller that is still sending reads no response.
            discard(body, &api.gateway.clock).await;
            Err(refusal)
        }
    };
    let mut response = match request {
        Ok(request) => {
            let work = next.run(request);
            let held = async move {
                let answer = work.await;
                drop(memory);
                answer
            };
            finish(&api, held).await
        }
        Err(refusal) => refusal.into_response(),
    };
    let status = response.status().as_u16();
    let duration_ms = api.gateway.clock.moment().0.saturating_sub(started.0);
    counter!("hermod_operator_requests_total", "status" => status.to_string()).increment(1);
    tracing::debug!(
        %method,
        status,
        duration_ms,
        request_id = id.to_str().unwrap_or_default(),
        peer = source.map(|source| tracing::field::display(source.address)),
        "Answered the operator with {status} in {duration_ms} ms"
    );
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(request_id::X_REQUEST_ID, id);
    response
}

/// Checks the framing of requests from the network. Requests of this process are not checked.
fn framed(source: Option<Source>, head: &Parts) -> Result<()> {
    if source.is_none() {
        return Ok(());
    }
    framing::check(head).map_err(|FramingRefusal { field, rule }| OperatorRefusal::Ambiguous { field, rule })
}

/// How a request was admitted.
enum Admitted {
    WithToken(TokenHolder),
    /// To the document or its page, which need no token. The body is discarded.
    OpenPath,
}

fn admit(api: &OperatorApi, source: Option<Source>, head: &Parts) -> Result<Admitted> {
    if !api.reach.admits(source, names_this_machine(&head.uri, &head.headers)) {
        return Err(OperatorRefusal::NotFromHere);
    }
    if matches!(head.uri.path(), DOCUMENT | PAGE) {
        return Ok(Admitted::OpenPath);
    }
    let (headers, caller) = (&head.headers, source.map(|source| source.address));
    let given = token_in(headers).unwrap_or_default();
    let (holder, now) =
        (api.token.holder_of(given, api.gateway.catalogue().operators()), api.gateway.clock.now());
    // Wrong tokens are limited like wrong API keys. An address that used the right token is never limited.
    let key = SignInKey::Operator;
    let limited = match caller {
        None => Ok(()),
        Some(caller) => match &holder {
            Some((holder, digest)) if holder.expired(now).is_none() => {
                api.gateway.pass_sign_in(caller, key, digest)
            }
            Some(_) | None => api.gateway.fail_sign_in(caller, key),
        },
    };
    limited.map_err(|wait| {
        let retry_after_s = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX).max(1);
        OperatorRefusal::RateLimited { retry_after_s }
    })?;
    let (holder, _) = holder.ok_or(OperatorRefusal::InvalidToken)?;
    match holder.expired(now) {
        Some(until) => Err(OperatorRefusal::ExpiredToken { until }),
        None => Ok(Admitted::WithToken(holder)),
    }
}

fn token_in(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return None };
    let value = value.to_str().ok().filter(|value| value.len() <= AUTHORIZATION_BYTES_MAX)?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_matches(' '))
}

/// Runs a request to its end, also if the caller disconnects.
async fn finish(api: &OperatorApi, work: impl Future<Output = Response> + Send + 'static) -> Response {
    let (done, answer) = oneshot::channel();
    api.workers.spawn_named("operator/request", async move {
        // The receiver is gone if the caller disconnected.
        let _ = done.send(work.await);
    });
    answer.await.unwrap_or_else(|_| OperatorRefusal::Failed.into_response())
}
