//! Surrounds every request: checks its framing, reads its form, runs a change to its end, and sets the headers that tell the
//! browser what a page may do.

use super::reply::page_with_status;
use super::{Portal, host};
use crate::plain_message::PlainMessagePage;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hermod_gateway::http::pages::{PageRefusal, PageSource, receive, request_id_header};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Only our own style and script; no inline script, no markup made from text, no frame, no form to elsewhere.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";
/// A year, as browsers' lists require.
const STRICT_TRANSPORT: &str = "max-age=31536000";

pub(crate) async fn guard(State(portal): State<Arc<Portal>>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let (head, body) = request.into_parts();
    let is_ours = portal.host.as_deref().is_none_or(|host| host::is_for(host, &head));
    let request = Request::from_parts(head, body);
    let mut response = match receive(request, &portal.gateway.clock).await {
        Ok(_) if !is_ours => {
            let text = "These pages are not at this host. Use the address that you were given.\n";
            (StatusCode::MISDIRECTED_REQUEST, text).into_response()
        }
        Ok(request) => {
            let id = request.extensions().get::<PageSource>().map(|source| source.request_id.clone());
            let mut response = run(&portal, &method, next.run(request)).await;
            if let Some(id) = id {
                response.headers_mut().insert(request_id_header(), id);
            }
            response
        }
        Err(PageRefusal::Ambiguous { field, rule }) => {
            let close = [(header::CONNECTION, "close")];
            (StatusCode::BAD_REQUEST, close, format!("{field}: {rule}\n")).into_response()
        }
        Err(PageRefusal::Body) => {
            page_with_status(StatusCode::PAYLOAD_TOO_LARGE, &PlainMessagePage::too_large())
        }
    };
    set_headers(response.headers_mut(), portal.is_tls);
    let status = response.status().as_u16();
    metrics::counter!("hermod_portal_requests_total", "status" => status.to_string()).increment(1);
    response
}

/// Runs a change to its end, also if the browser disconnects.
async fn run(
    portal: &Portal,
    method: &Method,
    work: impl Future<Output = Response> + Send + 'static,
) -> Response {
    if *method != Method::POST {
        return work.await;
    }
    let (done, answer) = oneshot::channel();
    portal.workers.spawn_named("portal/request", async move {
        // The receiver is gone if the browser disconnected.
        let _ = done.send(work.await);
    });
    let lost = |_| page_with_status(StatusCode::INTERNAL_SERVER_ERROR, &PlainMessagePage::server_error(""));
    answer.await.unwrap_or_else(lost)
}

fn set_headers(headers: &mut HeaderMap, is_tls: bool) {
    let mut set = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    // Not no-referrer: with it, browsers send "Origin: null" with our own forms.
    set(header::REFERRER_POLICY, "same-origin");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(header::CACHE_CONTROL, "no-store");
    if is_tls {
        set(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
    }
}
