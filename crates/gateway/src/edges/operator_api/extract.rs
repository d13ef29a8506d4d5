//! What handlers take: names in the path, the query, the body, and the running gateway.

use super::OperatorApi;
use super::body::RawBody;
use crate::app::operator::OperatorRefusal;
use crate::author::{Acting, Author};
use crate::http::{names_this_machine, source_of};
use crate::listeners::Reach;
use crate::secrets::operator_token::TokenHolder;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{RefOr, Schema, Type};

/// The prefix that axum puts before the cause of an invalid query.
const QUERY_ERROR_PREFIX: &str = "Failed to deserialize query string: ";

/// Who makes the request.
impl FromRequestParts<Arc<OperatorApi>> for Acting {
    type Rejection = OperatorRefusal;

    async fn from_request_parts(head: &mut Parts, api: &Arc<OperatorApi>) -> Result<Self, OperatorRefusal> {
        let source = source_of(&head.extensions, &head.headers);
        let address = source.map(|source| source.address);
        let author = match head.extensions.get() {
            Some(TokenHolder::Named(name)) => Author::named_operator(name, address),
            Some(TokenHolder::DataFolder) | None => Author::operator(address),
        };
        Ok(Acting { world: api.world.clone(), author })
    }
}

/// A request of this process or of a direct caller on this machine, also where others may use the operator API.
pub(super) struct FromHere;

impl FromRequestParts<Arc<OperatorApi>> for FromHere {
    type Rejection = OperatorRefusal;

    async fn from_request_parts(head: &mut Parts, _: &Arc<OperatorApi>) -> Result<Self, OperatorRefusal> {
        let source = source_of(&head.extensions, &head.headers);
        let is_named = names_this_machine(&head.uri, &head.headers);
        if source.is_none() || Reach::ThisMachine.admits(source, is_named) {
            return Ok(FromHere);
        }
        Err(OperatorRefusal::NotFromHere)
    }
}

/// The names in the path.
pub(super) struct FromPath<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<OperatorApi>> for FromPath<T> {
    type Rejection = OperatorRefusal;

    async fn from_request_parts(head: &mut Parts, api: &Arc<OperatorApi>) -> Result<Self, OperatorRefusal> {
        let names = Path::from_request_parts(head, api).await;
        names.map(|Path(names)| FromPath(names)).map_err(|_| OperatorRefusal::no_path())
    }
}

/// The query string. Rejects unknown parameters.
pub(super) struct FromQuery<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<OperatorApi>> for FromQuery<T> {
    type Rejection = OperatorRefusal;

    async fn from_request_parts(head: &mut Parts, api: &Arc<OperatorApi>) -> Result<Self, OperatorRefusal> {
        let query = Query::from_request_parts(head, api).await;
        query.map(|Query(query)| FromQuery(query)).map_err(|error| {
            let cause = error.body_text();
            OperatorRefusal::InvalidQuery(cause.trim_start_matches(QUERY_ERROR_PREFIX).to_owned())
        })
    }
}

/// A JSON body.
pub(super) struct FromBody<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequest<Arc<OperatorApi>> for FromBody<T> {
    type Rejection = OperatorRefusal;

    async fn from_request(request: Request, api: &Arc<OperatorApi>) -> Result<Self, OperatorRefusal> {
        RawBody::from_request(request, api).await?.json().map(FromBody)
    }
}

/// A JSON body that may be left out.
pub(super) struct OptionalBody<T>(pub(super) Option<T>);

impl<T: DeserializeOwned + Send> FromRequest<Arc<OperatorApi>> for OptionalBody<T> {
    type Rejection = OperatorRefusal;

    async fn from_request(request: Request, api: &Arc<OperatorApi>) -> Result<Self, OperatorRefusal> {
        let body = RawBody::from_request(request, api).await?;
        if body.is_empty() {
            Ok(OptionalBody(None))
        } else {
            body.json().map(|json| OptionalBody(Some(json)))
        }
    }
}

/// The state of a process that has links. Rejects the request with NOT_RUNNING in any other process.
pub(super) struct Running(pub(super) Arc<OperatorApi>);

impl FromRequestParts<Arc<OperatorApi>> for Running {
    type Rejection = OperatorRefusal;

    async fn from_request_parts(_: &mut Parts, api: &Arc<OperatorApi>) -> Result<Self, OperatorRefusal> {
        if api.is_running { Ok(Running(api.clone())) } else { Err(OperatorRefusal::NotRunning) }
    }
}

/// A query parameter can be left out, but it cannot be null.
pub(super) fn without_null(schema: &mut RefOr<Schema>) {
    let is_null = |item: &RefOr<Schema>| matches!(item, RefOr::T(Schema::Object(object)) if object.schema_type == SchemaType::Type(Type::Null));
    match schema {
        RefOr::T(Schema::Object(object)) => {
            if let SchemaType::Array(types) = &mut object.schema_type {
                types.retain(|one| *one != Type::Null);
                if let [only] = types.as_slice() {
                    object.schema_type = SchemaType::Type(only.clone());
                }
            }
        }
        RefOr::T(Schema::OneOf(choice)) => {
            choice.items.retain(|item| !is_null(item));
            if choice.items.len() == 1 {
                *schema = choice.items.remove(0);
            }
        }
        RefOr::T(_) | RefOr::Ref(_) => {}
    }
}
