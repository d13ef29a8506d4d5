//! Responses: JSON of a view, or an error of the operator's catalogue.

use crate::app::operator::OperatorRefusal;
use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hermod_domain::refusal::published::PublishedError;

const X_ERROR_CODE: HeaderName = HeaderName::from_static("x-error-code");
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"Hermod operator\"");

/// The response of a handler: 200 with a view, or an error.
pub(super) type Reply<T> = Result<Json<T>, OperatorRefusal>;
/// The response of a handler that creates: 201 or 200 with a view, or an error.
pub(super) type CreatedReply<T> = Result<(StatusCode, Json<T>), OperatorRefusal>;

pub(super) fn created<T>(view: T, is_new: bool) -> CreatedReply<T> {
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Json(view)))
}

impl IntoResponse for OperatorRefusal {
    fn into_response(self) -> Response {
        let PublishedError { code, http, .. } = *self.published();
        let status = StatusCode::from_u16(http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = Json(serde_json::json!({ "error": format!("{code}: {self}") }));
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(X_ERROR_CODE, HeaderValue::from_static(code));
        if let Some(seconds) = self.retry_after_s() {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if matches!(self, OperatorRefusal::Ambiguous { .. }) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self == OperatorRefusal::InvalidToken {
            headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
        }
        response
    }
}
