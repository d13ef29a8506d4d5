//! Handles every API request in the same order: framing, method, credentials, allow-lists, rate limit, then the
//! operation.

use super::body::RequestBody;
use super::monitoring_pages::MetricsPage;
use super::paths::{Route, message_id_in};
use super::request_metrics::Meters;
use super::{balance, credentials, document, headers, inbound, monitoring_pages, responses, sms};
use crate::app::{Caller, admit, authenticate};
use crate::clock::Moment;
use crate::http::framing::{self, FramingRefusal};
use crate::http::timeouts::ConnectionInfo;
use crate::http::{peer_address, request_id, source_of};
use crate::world::World;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hermod_domain::refusal::{NotFound, RateLimit, Refusal};
use std::net::IpAddr;
use std::sync::Arc;

/// Retry-After in seconds. The bucket refills continuously, so one second is enough at any rate.
const RATE_RETRY_S: u32 = 1;

/// Shared by the requests of one router.
pub(super) struct Edge {
    pub(super) world: Arc<World>,
    pub(super) metrics: Option<MetricsPage>,
    meters: Meters,
}

impl Edge {
    pub(super) fn new(world: Arc<World>, metrics: Option<MetricsPage>) -> Edge {
        Edge { world, metrics, meters: Meters::new() }
    }
}

pub(super) async fn answer(edge: Arc<Edge>, route: Route, request: Request) -> Response {
    let started = edge.world.clock.moment();
    let (head, body) = request.into_parts();
    let connection = head.extensions.get::<ConnectionInfo>();
    let mut body = RequestBody::new(
        body,
        connection.map(|connection| connection.timeouts.clone()),
        edge.world.body_memory.reserve(),
    );
    let id = request_id::of(&head.headers);
    let peer = connection
        .and_then(|ConnectionInfo { peer, proxies, .. }| peer_address::of(*peer, proxies, &head.headers));

    let mut response = dispatch(&edge, route, &head, &mut body, peer).await;
    // Read the rest of the body: closing with unread bytes would reset the connection before the client reads the
    // response.
    body.discard(&head.headers).await;

    note(&edge, route, started, &head, &Noted { id: &id, peer, status: response.status().as_u16() });
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(request_id::X_REQUEST_ID, id);
    if route.is_api() && !headers.contains_key(headers::RATELIMIT) {
        headers::set_rate_limit(headers, headers::FAILED_SIGN_INS, edge.world.sign_ins_left(peer));
    }
    response
}

/// What is logged of a request besides its head.
struct Noted<'a> {
    id: &'a HeaderValue,
    /// `None` if a trusted proxy sent an unreadable address.
    peer: Option<IpAddr>,
    status: u16,
}

/// Logs and counts a request. The log line contains no body, secret or phone number.
fn note(edge: &Edge, route: Route, started: Moment, head: &Parts, noted: &Noted<'_>) {
    let Noted { id, peer, status } = *noted;
    let duration_ms = edge.world.clock.moment().0.saturating_sub(started.0);
    edge.meters.count(route, status, duration_ms);
    tracing::debug!(
        method = %head.method,
        route = route.template(),
        status,
        duration_ms,
        request_id = id.to_str().unwrap_or_default(),
        peer = peer.map(tracing::field::display),
        "Answered {} {} with {status} in {duration_ms} ms",
        head.method,
        route.template(),
    );
}

async fn dispatch(
    edge: &Edge,
    route: Route,
    head: &Parts,
    body: &mut RequestBody,
    peer: Option<IpAddr>,
) -> Response {
    if let Err(FramingRefusal { field, rule }) = framing::check(head) {
        let mut response = responses::error(&Refusal::InvalidField { field, rule });
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    if let (false, Some(allow)) = (route.answers(&head.method), route.allow()) {
        return responses::error(&Refusal::MethodNotAllowed { allow });
    }
    match route {
        Route::Sms | Route::SmsById | Route::Inbound | Route::Balance => {
            call(&edge.world, route, head, body, peer).await
        }
        Route::Home => document::lead_to_page(),
        Route::Document => document::published().document(),
        Route::DocumentPage => document::published().page(),
        Route::Healthz => monitoring_pages::healthz(),
        Route::Readyz => monitoring_pages::readyz(&edge.world),
        Route::Metrics => metrics(edge, head),
        Route::Unknown => responses::error(&Refusal::NotFound(NotFound::Path)),
    }
}

fn metrics(edge: &Edge, head: &Parts) -> Response {
    let source = source_of(&head.extensions, &head.headers);
    match &edge.metrics {
        Some(page) if !page.reach.admits(source) => responses::error(&Refusal::LocalOnly),
        page => monitoring_pages::metrics(page.as_ref()),
    }
}

/// Handles a customer's request: credentials, allow-lists, the connection's rate limit, then the operation.
async fn call(
    world: &World,
    route: Route,
    head: &Parts,
    body: &mut RequestBody,
    peer: Option<IpAddr>,
) -> Response {
    // If a trusted proxy sent an unreadable address, sign-ins are counted for the proxy.
    let source = peer.or_else(|| head.extensions.get::<ConnectionInfo>().map(|connection| connection.peer));
    let given = credentials::read(&head.headers);
    let caller = match authenticate(world, given.as_ref(), source) {
        Ok(caller) => caller,
        Err(refusal) => return responses::error(&refusal),
    };
    if let Err(refusal) = admit(&caller, peer) {
        return responses::error(&refusal);
    }
    let left = world.take_token(caller.connection, caller.connection().requests_per_second);
    let outcome = match left.refused_for {
        Some(_) => Err(Refusal::RateLimited { limit: RateLimit::Connection, retry_after_s: RATE_RETRY_S }),
        None => perform(world, &caller, route, head, body).await,
    };
    let mut response = outcome.unwrap_or_else(|refusal| responses::error(&refusal));
    headers::set_rate_limit(response.headers_mut(), headers::CONNECTION, left);
    response
}

async fn perform(
    world: &World,
    caller: &Caller,
    route: Route,
    head: &Parts,
    body: &mut RequestBody,
) -> Result<Response, Refusal> {
    match route {
        Route::Sms => sms::send(world, caller, &head.headers, body).await,
        Route::SmsById => sms::status(world, caller, message_id_in(head.uri.path())).await,
        Route::Inbound => inbound::poll(world, caller, head.uri.query().unwrap_or_default()).await,
        Route::Balance => balance::show(world, caller).await,
        Route::Home
        | Route::Document
        | Route::DocumentPage
        | Route::Healthz
        | Route::Readyz
        | Route::Metrics
        | Route::Unknown => Err(Refusal::NotFound(NotFound::Path)),
    }
}
