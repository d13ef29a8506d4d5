//! What holds for every request: the token, where it comes from, its id, and that it is finished once it was begun.

use super::body::{discard, gather};
use super::desk::Desk;
use crate::app::operator::OperatorRefusal;
use crate::http::framing::{self, FramingRefusal};
use crate::http::{request_id, source_of};
use crate::listeners::Source;
use crate::world::SignInKey;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use metrics::counter;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Longest header value that is looked at.
const AUTHORIZATION_BYTES_MAX: usize = 1024;

/// What the API says about itself: nothing secret.
pub(super) const DOCUMENT: &str = "/openapi.json";
pub(super) const PAGE: &str = "/docs";

pub(super) async fn guard(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    let started = desk.world.clock.moment();
    let (head, body) = request.into_parts();
    let id = request_id::of(&head.headers);
    let source = source_of(&head.extensions, &head.headers);
    let method = head.method.clone();

    let mut memory = desk.world.body_memory.reserve();
    let request = match framed(source, &head).and_then(|()| admit(&desk, source, &head)) {
        Ok(Admitted::WithToken) => {
            let gathered = gather(body, &desk.world.clock, &mut memory).await;
            gathered.map(|body| Request::from_parts(head, Body::from(body)))
        }
        Ok(Admitted::OpenPath) => {
            discard(body, &desk.world.clock).await;
            Ok(Request::from_parts(head, Body::empty()))
        }
        Err(refusal) => {
            // Whoever is still sending would not see the answer.
            discard(body, &desk.world.clock).await;
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
            finish(&desk, held).await
        }
        Err(refusal) => refusal.into_response(),
    };
    let status = response.status().as_u16();
    let duration_ms = desk.world.clock.moment().0.saturating_sub(started.0);
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

/// What holds for requests from the network; a command of this process makes none that is ambiguous.
fn framed(source: Option<Source>, head: &Parts) -> Result<(), OperatorRefusal> {
    if source.is_none() {
        return Ok(());
    }
    framing::check(head).map_err(|FramingRefusal { field, rule }| OperatorRefusal::Ambiguous { field, rule })
}

/// How a request got past the guard.
enum Admitted {
    WithToken,
    /// To a page that tells nothing secret. Nothing is known about the caller, so its body is not kept.
    OpenPath,
}

fn admit(desk: &Desk, source: Option<Source>, head: &Parts) -> Result<Admitted, OperatorRefusal> {
    if !desk.reach.admits(source) {
        return Err(OperatorRefusal::NotFromHere);
    }
    if matches!(head.uri.path(), DOCUMENT | PAGE) {
        return Ok(Admitted::OpenPath);
    }
    let (headers, caller) = (&head.headers, source.map(|source| source.address));
    let is_token = desk.token.matches(token_in(headers).unwrap_or_default());
    // Guesses are limited like those at API keys: a proven address with the right token never waits.
    let key = SignInKey::Operator;
    let limited = match caller {
        None => Ok(()),
        Some(caller) if is_token => desk.world.pass_sign_in(caller, key, desk.token.digest()),
        Some(caller) => desk.world.fail_sign_in(caller, key),
    };
    limited.map_err(|wait| {
        let retry_after_s = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX).max(1);
        OperatorRefusal::RateLimited { retry_after_s }
    })?;
    if is_token { Ok(Admitted::WithToken) } else { Err(OperatorRefusal::InvalidToken) }
}

fn token_in(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return None };
    let value = value.to_str().ok().filter(|value| value.len() <= AUTHORIZATION_BYTES_MAX)?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_matches(' '))
}

/// Runs to the end whether or not the caller still waits.
async fn finish(desk: &Desk, work: impl Future<Output = Response> + Send + 'static) -> Response {
    let (done, answer) = oneshot::channel();
    desk.workers.spawn_named("operator/request", async move {
        // The caller may be gone; what was asked for is done all the same.
        let _ = done.send(work.await);
    });
    answer.await.unwrap_or_else(|_| OperatorRefusal::Failed.into_response())
}
