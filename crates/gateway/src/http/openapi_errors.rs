//! The error responses of an OpenAPI document, from rows of a catalogue of errors: one response for each status, with all
//! its codes.

use hermod_domain::refusal::published::PublishedError;
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::{
    ContentBuilder, Header, HeaderBuilder, KnownFormat, ObjectBuilder, Ref, Response, ResponseBuilder,
    SchemaFormat, Type,
};
use utoipa::{PartialSchema, ToSchema};

/// The body of every error response.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Error)]
#[serde(deny_unknown_fields)]
pub struct ErrorBody {
    /// A code, a colon and a text for people. Rely on the code: texts may change.
    #[schema(
        pattern = "^[A-Z0-9_]+: ",
        examples(
            "INVALID_NUMBER: `to` must be an E.164 number such as +4915112345678: a plus and 7 to 15 digits."
        )
    )]
    pub error: String,
}

/// Returns one response for each status among the rows.
pub fn responses(rows: &[&PublishedError]) -> Vec<(String, Response)> {
    let mut by_status: BTreeMap<u16, Vec<&PublishedError>> = BTreeMap::new();
    for row in rows {
        by_status.entry(row.http).or_default().push(row);
    }
    by_status.into_iter().map(|(status, rows)| (status.to_string(), response(status, &rows))).collect()
}

fn response(status: u16, rows: &[&PublishedError]) -> Response {
    let lines: Vec<String> = rows
        .iter()
        .map(|PublishedError { code, meaning, what_to_do, .. }| format!("- `{code}`: {meaning} {what_to_do}"))
        .collect();
    let examples = rows.iter().map(|PublishedError { code, meaning, .. }| {
        let value = serde_json::json!({ "error": format!("{code}: {meaning}") });
        (*code, ExampleBuilder::new().summary(*meaning).value(Some(value)).build())
    });
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(ErrorBody::name())))
        .examples_from_iter(examples)
        .build();
    let codes: Vec<&str> = rows.iter().map(|row| row.code).collect();
    let codes = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes));
    let code = HeaderBuilder::new().schema(Some(codes)).description(Some("The code of the error.")).build();
    let mut builder = ResponseBuilder::new()
        .description(lines.join("\n"))
        .content("application/json", content)
        .header("X-Error-Code", code);
    for (name, header) in headers_of(status) {
        builder = builder.header(name, header);
    }
    builder.build()
}

/// Returns the headers that HTTP requires with a status.
fn headers_of(status: u16) -> Vec<(&'static str, Header)> {
    match status {
        401 => vec![("WWW-Authenticate", text_header("The authentication scheme."))],
        405 => vec![("Allow", text_header("The methods that the path supports."))],
        429 | 503 => vec![("Retry-After", seconds_header())],
        _ => Vec::new(),
    }
}

pub fn text_header(description: &str) -> Header {
    HeaderBuilder::new()
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .description(Some(description))
        .build()
}

fn seconds_header() -> Header {
    let seconds = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(1));
    HeaderBuilder::new().schema(Some(seconds)).description(Some("Seconds to wait before a retry.")).build()
}

/// The schema of [`ErrorBody`] and its name, for the components of a document.
pub fn schema() -> (String, utoipa::openapi::RefOr<utoipa::openapi::Schema>) {
    (ErrorBody::name().into_owned(), ErrorBody::schema())
}
