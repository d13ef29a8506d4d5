//! CSV files as downloads.

use super::Portal;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

/// Returns a file that the browser saves under a name with the day.
pub(super) fn file_of_today(portal: &Portal, name: &str, content: impl Into<Body>) -> Response {
    file(&format!("{name}-{}", portal.world.clock.now().day()), content)
}

/// Returns a file that the browser saves under a name: plain letters, digits and dashes.
pub(super) fn file(name: &str, content: impl Into<Body>) -> Response {
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}.csv\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8; header=present")),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    (headers, content.into()).into_response()
}
