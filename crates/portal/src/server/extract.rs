//! Parts of a request. One that cannot be parsed leads to the page that says that there is no such page.

use super::reply::NoPage;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// The names in a path.
pub(super) struct Path<T>(pub(super) T);

/// The query of an address.
pub(super) struct Query<T>(pub(super) T);

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
