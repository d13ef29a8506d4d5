//! Parts of a request. A path or query that cannot be parsed leads to the page that says that there is no such page. Forms
//! are accepted only from our own pages: the `Origin` header must name this host, and inside a session the form must have the
//! session's token.

use super::Portal;
use super::member::Member;
use super::reply::NoPage;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use hermod_operator::user::sessions::Session;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The names in a path.
pub(crate) struct Path<T>(pub(crate) T);

/// The query of an address.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = NoPage;

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Path<T>, NoPage> {
        let parsed = axum::extract::Path::from_request_parts(head, state).await;
        parsed.map(|axum::extract::Path(names)| Path(names)).map_err(|_| NoPage::NotFound)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = NoPage;

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Query<T>, NoPage> {
        let parsed = axum::extract::Query::from_request_parts(head, state).await;
        parsed.map(|axum::extract::Query(query)| Query(query)).map_err(|_| NoPage::NotFound)
    }
}

/// The next page of a list begins before this row.
#[derive(Deserialize)]
pub(crate) struct Before {
    #[serde(default)]
    pub(crate) before: Option<u64>,
}

/// A form sent by one of our pages.
pub(crate) struct Form<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Form<T> {
    type Rejection = NoPage;

    async fn from_request(request: Request, state: &S) -> Result<Form<T>, NoPage> {
        if !is_own_origin(request.headers()) {
            return Err(NoPage::StaleForm);
        }
        let form = axum::Form::<T>::from_request(request, state).await;
        form.map(|axum::Form(form)| Form(form)).map_err(|_| NoPage::StaleForm)
    }
}

/// A form of a user, with the token of the session. The role is checked by the handler.
pub(crate) struct MemberForm<T> {
    pub(crate) member: Member,
    pub(crate) form: T,
}

/// A form without fields of its own.
#[derive(Deserialize)]
pub(crate) struct NoFields {}

#[derive(Deserialize)]
struct Token {
    csrf: String,
}

impl<T: DeserializeOwned> FromRequest<Arc<Portal>> for MemberForm<T> {
    type Rejection = NoPage;

    async fn from_request(request: Request, portal: &Arc<Portal>) -> Result<MemberForm<T>, NoPage> {
        let (mut head, body) = request.into_parts();
        let member = Member::from_request_parts(&mut head, portal).await?;
        // The guard has read it, and limits it.
        let body = to_bytes(body, usize::MAX).await.map_err(|_| NoPage::StaleForm)?;
        let whole = |body: &axum::body::Bytes| Request::from_parts(head.clone(), Body::from(body.clone()));
        let Form(Token { csrf }) = Form::<Token>::from_request(whole(&body), portal).await?;
        check_csrf(&member.session, &csrf)?;
        let Form(form) = Form::<T>::from_request(whole(&body), portal).await?;
        Ok(MemberForm { member, form })
    }
}

/// Whether the request was made by a page of this host. Browsers send `Origin` with every form, and scripts cannot change it.
fn is_own_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(origin), Some(host)) = (text(header::ORIGIN), text(header::HOST)) else { return false };
    let named = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    named.is_some_and(|named| named.eq_ignore_ascii_case(host))
}

/// Checks the token of a form of a session.
pub(crate) fn check_csrf(session: &Session, given: &str) -> Result<(), NoPage> {
    if session.has_csrf(given) { Ok(()) } else { Err(NoPage::StaleForm) }
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
