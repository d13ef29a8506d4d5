//! Handles every API request in the same order: framing, method, credentials, allow-lists, rate limit, then the
//! operation.

use super::body::RequestBody;
use super::monitoring_pages::MetricsPage;
use super::paths::{ApiRoute, message_id_in};
use super::request_metrics::{RequestMeters, Seen};
use super::{balance, credentials, document, headers, inbound, monitoring_pages, responses, sms};
use crate::app::{
    AnsweredRequest, Caller, CallerName, Credentials, Rejection, admit, authenticate, caller_of,
    explain_rejection, note_request,
};
use crate::gateway::Gateway;
use crate::http::framing::{self, FramingRefusal};
use crate::http::timeouts::ConnectionInfo;
use crate::http::{names_this_machine, peer_address, request_id, source_of};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hermod_domain::refusal::{NotFound, RateLimit, Refusal};
use hermod_store::record::RequestKind;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// Retry-After in seconds. The bucket refills continuously, so one second is enough at any rate.
const RATE_RETRY_S: u32 = 1;
/// The most segments of an unknown path that are logged.
const SEGMENTS_MAX: usize = 4;
/// The segments that are logged: words of paths of SMS APIs. Anything else may be a password, a text or a number.
const PATH_WORDS: [&str; 34] = [
    "",
    "account",
    "api",
    "balance",
    "batch",
    "bulk",
    "cgi-bin",
    "delivery",
    "dlr",
    "docs",
    "http-api",
    "inbound",
    "inbox",
    "json",
    "message",
    "messages",
    "mo",
    "operator",
    "outbound",
    "ping",
    "rate",
    "report",
    "reports",
    "rest",
    "secure",
    "send",
    "sendbatch",
    "sendsms",
    "sms",
    "status",
    "v1",
    "v2",
    "v3",
    "xml",
];
/// Longer methods than those of HTTP are not logged.
const METHOD_CHARS_MAX: usize = 7;

/// Shared by the requests of one router.
pub(super) struct Edge {
    pub(super) gateway: Arc<Gateway>,
    pub(super) metrics: Option<MetricsPage>,
    meters: RequestMeters,
}

impl Edge {
    pub(super) fn new(gateway: Arc<Gateway>, metrics: Option<MetricsPage>) -> Edge {
        Edge { gateway, metrics, meters: RequestMeters::new() }
    }
}

pub(super) async fn answer(edge: Arc<Edge>, route: ApiRoute, request: Request) -> Response {
    let started = edge.gateway.clock.moment();
    let (head, body) = request.into_parts();
    let connection = head.extensions.get::<ConnectionInfo>();
    let mut body = RequestBody::new(
        body,
        connection.map(|connection| connection.timeouts.clone()),
        edge.gateway.body_memory.reserve(),
    );
    let id = request_id::of(&head.headers);
    let peer = connection
        .and_then(|ConnectionInfo { peer, proxies, .. }| peer_address::of(*peer, proxies, &head.headers));

    let mut seen = Seen::default();
    let outcome = dispatch(&edge, route, &head, &mut body, peer, &id, &mut seen).await;
    let (mut response, refusal) = match outcome {
        Ok(response) => (response, None),
        Err(refusal) => (responses::error(&refusal), Some(refusal)),
    };
    // Read the rest of the body: closing with unread bytes would reset the connection before the client reads the
    // response.
    body.discard(&head.headers).await;

    let status = response.status().as_u16();
    let duration_ms = edge.gateway.clock.moment().0.saturating_sub(started.0);
    edge.meters.count(route, status, duration_ms);
    let noted = Noted { id: &id, peer, status, duration_ms };
    log(route, &head, &noted);
    if route.is_api() {
        note(&edge.gateway, route, &head, &noted, refusal.as_ref(), &seen);
    }
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(request_id::X_REQUEST_ID, id);
    if seen.is_badly_framed {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    match seen.rate_left {
        Some(left) => headers::set_rate_limit(headers, headers::CONNECTION, left),
        None if route.is_api() => {
            headers::set_rate_limit(headers, headers::FAILED_SIGN_INS, edge.gateway.sign_ins_left(peer));
        }
        None => {}
    }
    response
}

/// What is logged of a request besides its head.
struct Noted<'a> {
    id: &'a HeaderValue,
    /// `None` if a trusted proxy sent an unreadable address.
    peer: Option<IpAddr>,
    status: u16,
    duration_ms: u64,
}

/// Logs a request. The log line contains no body, secret or phone number.
fn log(route: ApiRoute, head: &Parts, noted: &Noted<'_>) {
    let Noted { id, peer, status, duration_ms } = *noted;
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

/// What was called, for the record: method and path template. Of an unknown path only known words are written: the rest, and the
/// query, may have secrets, texts and phone numbers in it.
struct Called<'a> {
    route: ApiRoute,
    head: &'a Parts,
}

impl fmt::Display for Called<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Called { route, head } = self;
        if *route != ApiRoute::Unknown {
            return write!(f, "{} {}", head.method, route.template());
        }
        let method = head.method.as_str();
        write!(f, "{} ", if method.len() <= METHOD_CHARS_MAX { method } else { "…" })?;
        let mut segments = head.uri.path().split('/').skip(1);
        for segment in segments.by_ref().take(SEGMENTS_MAX) {
            write!(f, "/{}", if PATH_WORDS.contains(&segment) { segment } else { "…" })?;
        }
        if segments.next().is_some() { f.write_str("/…") } else { Ok(()) }
    }
}

/// Returns what the log says about a rejection: the words that the caller got, but of invalid credentials what is wrong with them.
fn rejection(refusal: &Refusal, seen: &Seen) -> Rejection {
    let rejection = Rejection::of(refusal);
    match seen.sign_in_fault {
        Some(fault) if *refusal == Refusal::InvalidApiKey => {
            Rejection { reason: fault.as_str().into(), ..rejection }
        }
        _ => rejection,
    }
}

/// Notes a request for the record.
fn note(
    gateway: &Gateway,
    route: ApiRoute,
    head: &Parts,
    noted: &Noted<'_>,
    refusal: Option<&Refusal>,
    seen: &Seen,
) {
    let Noted { id, peer, status, duration_ms } = *noted;
    let Seen { caller, key, message, replay, recipient, .. } = seen;
    let answered = AnsweredRequest {
        kind: RequestKind::Http,
        operation: &Called { route, head },
        caller: *caller,
        who: key.clone(),
        address: peer,
        status: status.into(),
        rejection: refusal.map(|refusal| rejection(refusal, seen)),
        took_ms: duration_ms,
        request: id.to_str().ok(),
        replay: *replay,
        message: *message,
        recipient: *recipient,
    };
    note_request(gateway, answered);
}

async fn dispatch(
    edge: &Edge,
    route: ApiRoute,
    head: &Parts,
    body: &mut RequestBody,
    peer: Option<IpAddr>,
    id: &HeaderValue,
    seen: &mut Seen,
) -> Result<Response, Refusal> {
    if let Err(FramingRefusal { field, rule }) = framing::check(head) {
        seen.is_badly_framed = true;
        return Err(Refusal::InvalidField { field, rule });
    }
    if let (false, Some(allow)) = (route.answers(&head.method), route.allow()) {
        return Err(Refusal::MethodNotAllowed { allow });
    }
    match route {
        ApiRoute::Sms | ApiRoute::SmsById | ApiRoute::Inbound | ApiRoute::Balance => {
            call(&edge.gateway, route, head, body, peer, id, seen).await
        }
        ApiRoute::Home => Ok(document::lead_to_page()),
        ApiRoute::Document => Ok(document::published().document()),
        ApiRoute::DocumentPage => Ok(document::published().page()),
        ApiRoute::Healthz => Ok(monitoring_pages::healthz()),
        ApiRoute::Readyz => Ok(monitoring_pages::readyz(&edge.gateway)),
        ApiRoute::Metrics => metrics(edge, head).await,
        ApiRoute::Unknown => Err(Refusal::NotFound(NotFound::Path)),
    }
}

async fn metrics(edge: &Edge, head: &Parts) -> Result<Response, Refusal> {
    let source = source_of(&head.extensions, &head.headers);
    let is_named = names_this_machine(&head.uri, &head.headers);
    match &edge.metrics {
        Some(page) if !page.reach.admits(source, is_named) => Err(Refusal::LocalOnly),
        page => Ok(monitoring_pages::metrics(page.as_ref()).await),
    }
}

/// Handles a customer's request: credentials, allow-lists, the connection's rate limit, then the operation.
async fn call(
    gateway: &Gateway,
    route: ApiRoute,
    head: &Parts,
    body: &mut RequestBody,
    peer: Option<IpAddr>,
    id: &HeaderValue,
    seen: &mut Seen,
) -> Result<Response, Refusal> {
    // If a trusted proxy sent an unreadable address, sign-ins are counted for the proxy.
    let source = peer.or_else(|| head.extensions.get::<ConnectionInfo>().map(|connection| connection.peer));
    let given = credentials::read(&head.headers);
    let authenticated = authenticate(gateway, given.as_ref(), source);
    seen.key = given.as_ref().map_or_else(CallerName::default, |Credentials { key, .. }| {
        let exists = gateway.catalogue().key(key).is_some();
        CallerName::given(&gateway.pepper, key, exists).into_owned()
    });
    let caller = authenticated.inspect_err(|refusal| {
        // Others were rejected before their credentials were looked at.
        if *refusal == Refusal::InvalidApiKey {
            let (fault, owner) = explain_rejection(&gateway.catalogue(), given.as_ref(), gateway.clock.now());
            (seen.sign_in_fault, seen.caller) = (Some(fault), owner);
        }
    })?;
    seen.caller = Some(caller_of(&caller));
    admit(&caller, peer)?;
    let left = gateway.take_token(caller.connection, caller.connection().requests_per_second);
    seen.rate_left = Some(left);
    if left.refused_for.is_some() {
        return Err(Refusal::RateLimited { limit: RateLimit::Connection, retry_after_s: RATE_RETRY_S });
    }
    perform(gateway, &caller, route, head, body, id, seen).await
}

async fn perform(
    gateway: &Gateway,
    caller: &Caller,
    route: ApiRoute,
    head: &Parts,
    body: &mut RequestBody,
    id: &HeaderValue,
    seen: &mut Seen,
) -> Result<Response, Refusal> {
    match route {
        ApiRoute::Sms => sms::send(gateway, caller, &head.headers, body, id, seen).await,
        ApiRoute::SmsById => sms::status(gateway, caller, message_id_in(head.uri.path())).await,
        ApiRoute::Inbound => inbound::poll(gateway, caller, head.uri.query().unwrap_or_default()).await,
        ApiRoute::Balance => balance::show(gateway, caller).await,
        ApiRoute::Home
        | ApiRoute::Document
        | ApiRoute::DocumentPage
        | ApiRoute::Healthz
        | ApiRoute::Readyz
        | ApiRoute::Metrics
        | ApiRoute::Unknown => Err(Refusal::NotFound(NotFound::Path)),
    }
}
