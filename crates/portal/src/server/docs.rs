//! The reference of the API in the style of the portal.

use crate::assets;
use axum::http::header;
use axum::response::{Html, IntoResponse as _, Response};
use hermod_gateway::edges::http_api::document::page_in;
use hermod_gateway::http::openapi_page::Frame;
use std::sync::LazyLock;

const TOP: &str = "<div class=\"docs-bar\"><a class=\"docs-brand\" href=\"/\">Hermod</a><nav aria-label=\"Portal\">\
    <a href=\"/\">Portal</a><a href=\"#errors\">Error codes</a></nav></div>\n";

static PAGE: LazyLock<String> = LazyLock::new(|| {
    let style = &assets::docs_style().path;
    let head = format!(
        "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"stylesheet\" href=\"{style}\">\n"
    );
    page_in(Frame { head: &head, top: TOP })
});

/// `GET /docs`. Needs no session: the documentation is public.
pub(super) async fn show() -> Response {
    ([(header::CACHE_CONTROL, "no-cache")], Html(PAGE.as_str())).into_response()
}
