//! Responses that are not JSON of a view: CSV files, errors of the operator's catalogue.

use crate::export::{FileForm, Rows, TextFile};
use crate::http::OperatorApi;
use crate::http::body::TOML;
use crate::http::use_case::{Described, Reply};
use crate::refusal::OperatorRefusal;
use axum::Json;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hermod_domain::refusal::published::PublishedError;

const X_ERROR_CODE: HeaderName = HeaderName::from_static("x-error-code");
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"Hermod operator\"");
pub(crate) const CSV: &str = "text/csv";
const CSV_WITH_HEADINGS: &str = "text/csv; charset=utf-8; header=present";

impl Reply for TextFile {
    fn describe(_: &mut Described) {}

    fn account(&self) -> Option<String> {
        None
    }

    fn response(self, api: &OperatorApi) -> Response {
        let TextFile { form, name, text } = self;
        let (content_type, extension) = match form {
            FileForm::Csv => (CSV_WITH_HEADINGS, "csv"),
            FileForm::Toml => (TOML, "toml"),
        };
        (file_headers(api, content_type, name, extension), text).into_response()
    }
}

/// Returns the headers of a file that is named after its content and the day.
fn file_headers(
    api: &OperatorApi,
    content_type: &'static str,
    name: &str,
    extension: &str,
) -> [(HeaderName, HeaderValue); 2] {
    let day = api.gateway.clock.now().day();
    let file = HeaderValue::try_from(format!("attachment; filename=\"{name}-{day}.{extension}\""));
    [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CONTENT_DISPOSITION, file.unwrap_or(HeaderValue::from_static("attachment"))),
    ]
}

/// A file, sent as it is read.
impl Reply for Rows {
    fn describe(_: &mut Described) {}

    fn account(&self) -> Option<String> {
        None
    }

    fn response(self, api: &OperatorApi) -> Response {
        let headers = file_headers(api, CSV_WITH_HEADINGS, self.name(), "csv");
        (headers, Body::from_stream(self.into_pieces(&api.workers))).into_response()
    }
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
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, CHALLENGE);
        }
        response
    }
}
