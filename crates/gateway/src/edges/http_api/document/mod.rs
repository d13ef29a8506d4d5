//! The OpenAPI document of the customer API, generated from the code: paths from the routes, bodies from the types in
//! [`bodies`], errors from the published catalogue.

pub mod bodies;
mod guides;
mod operations;
pub mod webhook_bodies;

use super::paths::ApiRoute;
use crate::http::openapi_errors;
use crate::http::openapi_page::{PageFrame, Published};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use std::sync::LazyLock;
use utoipa::ToSchema;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, HttpMethod, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathItem, PathsBuilder,
    SecurityRequirement, Server, Tag,
};

/// The base of all paths; the document names them without it.
const BASE: &str = "/api/v1";

const DESCRIPTION: &str = "\
Send text messages (MT), query their status, poll inbound messages (MO), and check the account's balance.

All paths are under `/api/v1`, all bodies are JSON, and every request needs credentials. The examples on this page can be \
pasted once three variables are set:

```sh
export HERMOD=http://127.0.0.1:8080 KEY=your-key SECRET=your-secret
```

**A 202 means the message is on disk, charged once and queued.** An error means that nothing was stored and nothing was \
charged. Send an `Idempotency-Key` with every message: a repeated key never sends or charges twice, so a request that was not \
answered can be sent again.

Amounts are exact decimal numbers in the account's currency. Ids are strings. Times are UTC.

A connection has a limit of requests per second, ten unless agreed otherwise, shared by all its keys. \
`X-RateLimit-Remaining` and `RateLimit` show what is left.";

/// The page of the document, which [`PageFrame`] completes.
const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.html"));
const JSON: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json"));

static CUSTOMER_API: LazyLock<Published> = LazyLock::new(|| Published::new(JSON, PAGE));

/// Returns the document and its page, as they are recorded.
pub(super) fn published() -> &'static Published {
    &CUSTOMER_API
}

/// Returns the page of the document in a frame of the caller's.
pub fn page_in(frame: PageFrame<'_>) -> String {
    frame.around(PAGE)
}

/// Redirects a browser from `/` to the documentation page.
pub(super) fn lead_to_page() -> Response {
    let to = ApiRoute::DocumentPage.template();
    let mut response = Response::new(Body::from(format!("Hermod SMS API: the documentation is at {to}\n")));
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_static(to));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// The document of the customer API.
pub fn document() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Hermod SMS API")
        .version("v1")
        .description(Some(DESCRIPTION))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()));
    let paths = [
        (ApiRoute::Sms, HttpMethod::Post, operations::send()),
        (ApiRoute::SmsById, HttpMethod::Get, operations::status()),
        (ApiRoute::Inbound, HttpMethod::Get, operations::inbound()),
        (ApiRoute::Balance, HttpMethod::Get, operations::balance()),
    ];
    let paths = paths.into_iter().fold(PathsBuilder::new(), |paths, (route, method, operation)| {
        let path = route.template().strip_prefix(BASE).expect("the API lies under its base");
        paths.path(path, PathItem::new(method, operation))
    });
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new(BASE)]))
        .paths(paths)
        .webhooks(Some(webhook_bodies::all()))
        .components(Some(components()))
        .security(Some(credentials()))
        .tags(Some(tags()))
        .build()
}

fn tags() -> [Tag; 6] {
    let delivery_errors = guides::delivery_errors();
    [
        ("Messages", "Send messages and query their status."),
        ("Inbound", "Messages from handsets (MO) to the account's numbers."),
        ("Account", "The account's balance."),
        (webhook_bodies::TAG, guides::WEBHOOKS),
        ("SMPP", guides::SMPP),
        ("Delivery errors", &delivery_errors),
    ]
    .map(|(name, description)| TagBuilder::new().name(name).description(Some(description)).build())
}

/// The three forms of credentials; one is required.
fn credentials() -> [SecurityRequirement; 3] {
    let none: [&str; 0] = [];
    [
        SecurityRequirement::new("basic", none),
        SecurityRequirement::new("apiKey", none).add("apiSecret", none),
        SecurityRequirement::new("bearer", none),
    ]
}

fn components() -> Components {
    let mut components = Components::new();
    let http = |scheme, description: &str| {
        SecurityScheme::Http(HttpBuilder::new().scheme(scheme).description(Some(description)).build())
    };
    let header = |name: &str, description: &str| {
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(name, description)))
    };
    for (name, scheme) in [
        (
            "basic",
            http(
                HttpAuthScheme::Basic,
                "`Authorization: Basic`, the API key as user, its secret as password.",
            ),
        ),
        (
            "apiKey",
            header("X-API-Key", "The header `X-API-Key` with the API key, together with `X-API-Secret`."),
        ),
        ("apiSecret", header("X-API-Secret", "The header `X-API-Secret` with the secret of that key.")),
        (
            "bearer",
            http(
                HttpAuthScheme::Bearer,
                "`Authorization: Bearer KEY:SECRET`, key and secret joined by a colon.",
            ),
        ),
    ] {
        components.add_security_scheme(name, scheme);
    }
    let (name, schema) = openapi_errors::schema();
    components.schemas.insert(name, schema);
    add::<bodies::SendRequestBody>(&mut components);
    add::<bodies::AcceptedBody>(&mut components);
    add::<bodies::Replayed>(&mut components);
    add::<bodies::MessageStatusBody>(&mut components);
    add::<bodies::InboundPage>(&mut components);
    add::<bodies::BalanceBody>(&mut components);
    add::<webhook_bodies::DeliveryReport>(&mut components);
    add::<webhook_bodies::ShortDeliveryReport>(&mut components);
    add::<webhook_bodies::InboundEvent>(&mut components);
    components
}

/// Adds a type with all types inside it.
fn add<T: ToSchema>(components: &mut Components) {
    let mut inner = Vec::new();
    T::schemas(&mut inner);
    components.schemas.insert(T::name().into_owned(), T::schema());
    components.schemas.extend(inner);
}

#[cfg(test)]
mod tests;
