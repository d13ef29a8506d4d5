//! How a refusal looks over HTTP: the status its row in the published catalogue names, and one form for its body.

use super::headers::X_ERROR_CODE;
use super::sms::json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use hermod_domain::refusal::Refusal;

/// RFC 7617: the scheme and the realm, and that credentials are UTF-8.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Basic realm=\"Hermod\", charset=\"UTF-8\"");

pub(super) fn status(refusal: &Refusal) -> StatusCode {
    StatusCode::from_u16(refusal.published().http).expect("the catalogue has HTTP statuses only")
}

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
