//! How a refusal looks over HTTP: one table for its status, one form for its body.

use super::headers::X_ERROR_CODE;
use super::sms::json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use hermod_domain::refusal::Refusal;

/// RFC 7617: the scheme and the realm, and that credentials are UTF-8.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Basic realm=\"Hermod\", charset=\"UTF-8\"");

/// Every refusal by name, so that a new one cannot be forgotten here.
pub(super) const fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::InvalidJson(_)
        | Refusal::InvalidContentType
        | Refusal::MissingField(_)
        | Refusal::InvalidField { .. }
        | Refusal::InvalidNumber(_)
        | Refusal::InvalidSender(_)
        | Refusal::TextTooLong { .. }
        | Refusal::TooManyParts { .. } => StatusCode::BAD_REQUEST,
        Refusal::InvalidApiKey => StatusCode::UNAUTHORIZED,
        Refusal::InsufficientCredit { .. } => StatusCode::PAYMENT_REQUIRED,
        Refusal::IpNotAllowed(_)
        | Refusal::VerificationRequired
        | Refusal::SenderNotApproved(_)
        | Refusal::SenderBlocked(_)
        | Refusal::RecipientOptedOut
        | Refusal::CountryBlocked
        | Refusal::HeldForReview => StatusCode::FORBIDDEN,
        Refusal::NotFound(_) => StatusCode::NOT_FOUND,
        Refusal::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
        Refusal::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Refusal::NoPrice | Refusal::NoRoute => StatusCode::UNPROCESSABLE_ENTITY,
        Refusal::RateLimited { .. } | Refusal::TrafficControl { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refusal::SubmitFailed => StatusCode::INTERNAL_SERVER_ERROR,
        Refusal::GatewayUnavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
    }
}

pub(super) fn response(refusal: &Refusal) -> Response {
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
