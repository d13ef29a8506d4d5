//! Pages without data of an account: the start page, the reference of the API, the style sheet and script, and paths without
//! a page.

use crate::assets;
use crate::layout::encode_segment;
use crate::request::State;
use crate::request::extract::Path;
use crate::request::member::{MaybeSession, Member};
use crate::request::reply::{NoPage, Reply, redirect};
use axum::http::header;
use axum::response::{Html, IntoResponse as _, Response};
use hermod_domain::catalogue::User;
use hermod_gateway::edges::http_api::document::page_in;
use hermod_gateway::http::openapi_page::PageFrame;
use std::sync::LazyLock;

/// `GET /`: leads to the first account of the user, to the invitations, or to the sign-in.
pub(crate) async fn start(axum::extract::State(portal): State, MaybeSession(session): MaybeSession) -> Reply {
    let Some(session) = session else { return Ok(redirect("/sign-in")) };
    let catalogue = portal.gateway.catalogue();
    let accounts = |user: &User| user.memberships().next().map(|membership| membership.account);
    let first = catalogue.users().by_id(session.user).and_then(|(_, user)| accounts(user));
    let name = first.and_then(|account| catalogue.account(account)).map(|view| encode_segment(&view.name));
    name.map(|name| redirect(&format!("/accounts/{name}"))).ok_or(NoPage::NoAccount)
}

/// `GET /assets/{name}`.
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    let Some(asset) = assets::find(&format!("/assets/{name}")) else {
        return NoPage::NotFound.into_response();
    };
    let headers =
        [(header::CONTENT_TYPE, asset.content_type), (header::CACHE_CONTROL, assets::CACHE_CONTROL)];
    (headers, asset.bytes).into_response()
}

/// Any other path of an account.
pub(crate) async fn unknown(_: Member) -> NoPage {
    NoPage::NotFound
}

const TOP: &str = "<div class=\"docs-bar\"><a class=\"docs-brand\" href=\"/\">Hermod</a><nav aria-label=\"Portal\">\
    <a href=\"/\">Portal</a><a href=\"#errors\">Error codes</a></nav></div>\n";

static PAGE: LazyLock<String> = LazyLock::new(|| {
    let style = &assets::docs_style().path;
    let head = format!(
        "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"stylesheet\" href=\"{style}\">\n"
    );
    page_in(PageFrame { head: &head, top: TOP })
});

/// `GET /docs`. Needs no session: the documentation is public.
pub(crate) async fn docs() -> Response {
    ([(header::CACHE_CONTROL, "no-cache")], Html(PAGE.as_str())).into_response()
}
