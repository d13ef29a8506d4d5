//! How answers are written: JSON, with amounts as numbers made from their decimal text.

use crate::app::operator::OperatorRefusal;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hermod_domain::money::Money;
use hermod_domain::refusal::published::PublishedError;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::ToSchema;

const X_ERROR_CODE: HeaderName = HeaderName::from_static("x-error-code");
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"Hermod operator\"");

pub(super) type Answer = Result<Response, OperatorRefusal>;

pub(super) fn json<T: Serialize>(status: StatusCode, value: &T) -> Response {
    let body = serde_json::to_string(value).expect("answers have texts, numbers and lists only");
    let kind = HeaderValue::from_static("application/json");
    (status, [(header::CONTENT_TYPE, kind)], body).into_response()
}

pub(super) fn fine<T: Serialize>(value: &T) -> Answer {
    Ok(json(StatusCode::OK, value))
}

impl IntoResponse for OperatorRefusal {
    fn into_response(self) -> Response {
        let PublishedError { code, http, .. } = *self.published();
        let status = StatusCode::from_u16(http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = json(status, &serde_json::json!({ "error": format!("{code}: {self}") }));
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

/// An amount as a JSON number. It never goes through a binary fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(value_type = f64)]
pub(super) struct Amount(pub(super) Money);

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = RawValue::from_string(self.0.to_string()).expect("an amount is a JSON number");
        number.serialize(serializer)
    }
}
