//! The OpenAPI document of the operator API: paths and schemas from [`mod@crate::http::routes`], errors from the operator's
//! catalogue.

use crate::http::{BASE, routes};
use crate::setup::schemas;
use crate::views::paging::{Limit, RowNumber};
use hermod_gateway::http::openapi_errors;
use hermod_gateway::http::openapi_page::Published;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use utoipa::openapi::path::Paths;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    Components, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr, Response, Schema,
    SecurityRequirement, Server,
};
use utoipa::{PartialSchema as _, ToSchema as _};

const X_ERROR_CODE: &str = "X-Error-Code";

const DESCRIPTION: &str = "\
Set up a gateway, move money, decide review cases, and read its state.

All paths are under `/operator/v1`. Every request except those for this page needs the operator's token, which is in the file \
`operator.token` of the data folder:

```sh
export HERMOD=http://127.0.0.1:8080 TOKEN=$(cat hermod-data/operator.token)
curl -H \"Authorization: Bearer $TOKEN\" $HERMOD/operator/v1/accounts
```

**Entries** have the same fields as the tables of a provision file. `PUT` creates or replaces an entry, `PATCH` changes the \
given fields (JSON merge patch), `POST /apply` takes a whole file. A change is made completely or not at all, and is in force \
when the response is sent.

**Roles.** An operator with a token of its own has a role, and each operation names those that may call it (`x-roles`). For \
`reader`, `support` and `finance`, numbers of handsets and texts of messages are masked; `support` and `finance` get them whole \
with the header `X-Reason`, which is written into the audit log.

In entries amounts are texts, as in a file; in all other responses they are exact decimal numbers. Times are UTC.

An error means that nothing was changed.";

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operator-openapi.html"));
const JSON: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operator-openapi.json"));

static OPERATOR_API: LazyLock<Published> = LazyLock::new(|| Published::new(JSON, PAGE));

/// Returns the document and its page, as they are recorded.
pub(crate) fn published() -> &'static Published {
    &OPERATOR_API
}

pub fn document() -> OpenApi {
    let routes::Routes { router: _, mut paths, tags, schemas } = crate::api::routes();
    let mut components = Components::new();
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
        "`Authorization: Bearer TOKEN`, with the token from `operator.token` in the data folder.",
    ));
    components.add_security_scheme("token", SecurityScheme::Http(token.build()));
    let request_id =
        openapi_errors::text_header("The id of the request if it has a valid one, or a generated one.");
    components.headers.insert(routes::X_REQUEST_ID.to_owned(), request_id.into());
    components.schemas = schemas;
    components.schemas.extend(schemas::schemas());
    components.schemas.extend([
        openapi_errors::schema(),
        (Limit::name().into_owned(), Limit::schema()),
        (RowNumber::name().into_owned(), RowNumber::schema()),
    ]);
    components.responses = share_errors(&mut paths);
    let info = InfoBuilder::new()
        .title("Hermod operator API")
        .version("v1")
        .description(Some(DESCRIPTION))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()));
    let none: [&str; 0] = [];
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new(BASE)]))
        .paths(paths)
        .components(Some(components))
        .security(Some([SecurityRequirement::new("token", none)]))
        .tags(Some(tags))
        .build()
}

/// Moves the error responses of all operations to shared components.
fn share_errors(paths: &mut Paths) -> BTreeMap<String, RefOr<Response>> {
    let mut shared = BTreeMap::new();
    for item in paths.paths.values_mut() {
        let PathItem { get, put, post, delete, patch, .. } = item;
        for operation in [get, put, post, delete, patch].into_iter().flatten() {
            for (status, response) in &mut operation.responses.responses {
                let RefOr::T(error) = &*response else { continue };
                let Some(codes) = codes_of(error) else { continue };
                let name = format!("{status}-{codes}");
                shared.insert(name.clone(), response.clone());
                *response = RefOr::Ref(Ref::from_response_name(name));
            }
        }
    }
    shared
}

/// Returns the codes of an error response, joined by dashes.
fn codes_of(error: &Response) -> Option<String> {
    let RefOr::T(header) = error.headers.get(X_ERROR_CODE)? else { return None };
    let RefOr::T(Schema::Object(codes)) = header.schema.as_ref()? else { return None };
    let codes = codes.enum_values.as_ref()?.iter().filter_map(|code| code.as_str());
    Some(codes.collect::<Vec<_>>().join("-"))
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
