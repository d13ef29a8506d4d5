//! JSON responses and error responses. The published catalogue defines status and code of an error.

use super::headers::X_ERROR_CODE;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use hermod_domain::refusal::Refusal;

/// The number of headers of a response, so that the map never grows.
const HEADERS_USUAL: usize = 12;

/// Scheme, realm and charset (RFC 7617).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Basic realm=\"Hermod\", charset=\"UTF-8\"");

/// Returns a JSON response.
pub(super) fn json(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.reserve(HEADERS_USUAL);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn status(refusal: &Refusal) -> StatusCode {
    StatusCode::from_u16(refusal.published().http).expect("the catalogue has HTTP statuses only")
}

/// Returns the error response for a refusal.
pub(super) fn error(refusal: &Refusal) -> Response {
    let text = serde_json::Value::String(refusal.to_string());
    let mut response = json(status(refusal), format!("{{\"error\":{text}}}"));
    let headers = response.headers_mut();
    headers.insert(X_ERROR_CODE, HeaderValue::from_static(refusal.code()));
    if let Some(seconds) = refusal.retry_after_s() {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    if let Refusal::MethodNotAllowed { allow } = refusal {
        headers.insert(header::ALLOW, HeaderValue::from_static(allow));
    }
    if matches!(refusal, Refusal::InvalidApiKey) {
        headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
    }
    response
}
