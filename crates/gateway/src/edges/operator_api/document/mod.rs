//! What the operator API promises, as an OpenAPI document made from the code: the kinds and their entries from
//! provisioning, the other bodies from the types that are written and read, errors from the operator's catalogue.

mod bound;
mod carriers;
mod entries;
mod given;
mod operations;
mod webhooks;

use super::{
    BASE, backup, binds, deliveries, erase, explain, links, look, money, opt_outs, probe, reports, reviews,
    set_aside, shapes, trace, unowned, webhooks as hooks,
};
use crate::app::operator::OPERATOR_ERRORS;
use crate::http::openapi_errors;
use crate::http::openapi_page::Published;
use crate::provision::{
    Kind, Wanted, WantedAccount, WantedCarrier, WantedConnection, WantedControl, WantedKey, WantedNumber,
    WantedPrice, WantedRoute, WantedScreen, WantedSender,
};
use hermod_domain::refusal::published::PublishedError;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use utoipa::ToSchema;
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, ContentBuilder, InfoBuilder, LicenseBuilder, ObjectBuilder, OpenApi, OpenApiBuilder,
    PathItem, PathsBuilder, Ref, RefOr, Required, Response, ResponseBuilder, Schema, SecurityRequirement,
    Server, Tag, Type,
};

const JSON: &str = "application/json";
const X_ERROR_CODE: &str = "X-Error-Code";

const DESCRIPTION: &str = "\
Set a gateway up, move money, decide what is held, and look at what is going on.

All paths lie under `/operator/v1`. Every request but those for this page carries the operator's token, which stands in \
the file `operator.token` of the data folder:

```sh
export HERMOD=http://127.0.0.1:8080 TOKEN=$(cat hermod-data/operator.token)
curl -H \"Authorization: Bearer $TOKEN\" $HERMOD/operator/v1/accounts
```

**Entries** have the same fields as the tables of a provision file, so that there is one way to say a thing. `PUT` makes an \
entry or replaces all of it, `PATCH` changes the fields that are given (JSON merge patch), `POST /apply` takes a whole file. \
A change is done whole or not at all, and is in force when it is answered.

In entries amounts are texts, as in a file; in all other answers they are exact decimal numbers. Times are UTC.

An error means that nothing was done.";

static OPERATOR_API: LazyLock<Published> = LazyLock::new(|| Published::new(&document(), OPERATOR_ERRORS));

/// The document and its page, made when they are first asked for.
pub(super) fn published() -> &'static Published {
    &OPERATOR_API
}

pub fn document() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Hermod operator API")
        .version("v1")
        .description(Some(DESCRIPTION))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()));
    let mut paths = PathsBuilder::new();
    let all = operations::whole().into_iter().chain(entries::all());
    for (path, item) in
        all.chain(operations::rest()).chain(carriers::all()).chain(bound::all()).chain(webhooks::all())
    {
        paths = paths.path(path, item);
    }
    let none: [&str; 0] = [];
    let mut document = OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new(BASE)]))
        .paths(paths)
        .components(Some(components()))
        .security(Some([SecurityRequirement::new("token", none)]))
        .tags(Some(tags()))
        .build();
    share_errors(&mut document);
    document
}

/// The same few error answers stand under every operation: each is written once and referred to.
fn share_errors(document: &mut OpenApi) {
    let mut shared = BTreeMap::new();
    for item in document.paths.paths.values_mut() {
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
    let components = document.components.get_or_insert_default();
    components.responses.extend(shared);
}

/// The codes an error answer can carry, as one word.
fn codes_of(error: &Response) -> Option<String> {
    let RefOr::T(header) = error.headers.get(X_ERROR_CODE)? else { return None };
    let RefOr::T(Schema::Object(codes)) = header.schema.as_ref()? else { return None };
    let codes = codes.enum_values.as_ref()?.iter().filter_map(|code| code.as_str());
    Some(codes.collect::<Vec<_>>().join("-"))
}

fn tags() -> Vec<Tag> {
    let tag =
        |name: &str, description: &str| TagBuilder::new().name(name).description(Some(description)).build();
    let kinds = Kind::ALL.map(|kind| tag(&title(kind), entries::about(kind)));
    let mut tags = vec![tag("Whole files", "Everything at once.")];
    tags.extend(kinds);
    tags.push(tag("Money", "What accounts have and owe, and how that changes."));
    tags.push(tag("Opt-outs", "Handsets that want no more messages from an account."));
    tags.push(tag("Reviews", "Messages that screening rules hold, and the decisions about them."));
    tags.push(tag("Binds", "Customers that are bound over SMPP. Only where a gateway runs."));
    tags.push(tag(
        "Webhooks",
        "What accounts are told over HTTP, what became of it, and what it is signed with.",
    ));
    tags.push(tag("Links", "How carriers and the links to them are doing. Only where a gateway runs."));
    tags.push(tag("Backups", "Copies of the database. Only where a gateway runs."));
    tags.push(tag("Erasures", "Forgetting a person's phone number."));
    tags.push(tag("Looking", "Numbers and the way they go, traffic, error codes."));
    tags
}

/// `Accounts`.
fn title(kind: Kind) -> String {
    let plural = kind.plural();
    plural[..1].to_uppercase() + &plural[1..]
}

fn components() -> Components {
    let mut components = Components::new();
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
        "`Authorization: Bearer TOKEN`, the token from `operator.token` in the data folder.",
    ));
    components.add_security_scheme("token", SecurityScheme::Http(token.build()));
    let (name, schema) = openapi_errors::schema();
    components.schemas.insert(name, schema);
    add::<Wanted>(&mut components);
    add::<WantedCarrier>(&mut components);
    add::<WantedRoute>(&mut components);
    add::<WantedPrice>(&mut components);
    add::<WantedAccount>(&mut components);
    add::<WantedSender>(&mut components);
    add::<WantedNumber>(&mut components);
    add::<WantedConnection>(&mut components);
    add::<WantedKey>(&mut components);
    add::<WantedScreen>(&mut components);
    add::<WantedControl>(&mut components);
    // So far everything can be given as well as shown, alone or in a file.
    components.schemas.values_mut().for_each(given::as_in_a_file);
    add::<shapes::AppliedShape>(&mut components);
    add::<money::BalanceShape>(&mut components);
    add::<money::PostShape>(&mut components);
    add::<money::PostedShape>(&mut components);
    add::<money::LedgerPage>(&mut components);
    add::<money::StatementShape>(&mut components);
    add::<money::DaysShape>(&mut components);
    add::<opt_outs::OptOutPage>(&mut components);
    add::<opt_outs::HowShape>(&mut components);
    add::<opt_outs::RemovedShape>(&mut components);
    add::<reviews::ReviewPage>(&mut components);
    add::<reviews::DecisionShape>(&mut components);
    add::<erase::ErasureRequest>(&mut components);
    add::<erase::ErasureView>(&mut components);
    add::<backup::BackupRequest>(&mut components);
    add::<backup::BackupView>(&mut components);
    add::<set_aside::SetAsidePage>(&mut components);
    add::<look::NumberShape>(&mut components);
    add::<explain::ExplainedShape>(&mut components);
    add::<links::LinksShape>(&mut components);
    add::<binds::BindsShape>(&mut components);
    add::<binds::UnboundShape>(&mut components);
    add::<reports::GivenUpShape>(&mut components);
    add::<hooks::WebhooksShape>(&mut components);
    add::<hooks::EventsShape>(&mut components);
    add::<hooks::AttemptsShape>(&mut components);
    add::<hooks::ReplayedShape>(&mut components);
    add::<hooks::ReplayAsked>(&mut components);
    add::<hooks::SecretGiven>(&mut components);
    add::<hooks::SecretShape>(&mut components);
    add::<unowned::UnownedPage>(&mut components);
    add::<unowned::AssignShape>(&mut components);
    add::<unowned::AssignedShape>(&mut components);
    add::<links::ResumedShape>(&mut components);
    add::<links::AlarmsShape>(&mut components);
    add::<links::AcknowledgedShape>(&mut components);
    add::<deliveries::DeliveriesShape>(&mut components);
    add::<deliveries::ReceiptsShape>(&mut components);
    add::<probe::TestAsked>(&mut components);
    add::<probe::TestShape>(&mut components);
    add::<trace::TraceAsked>(&mut components);
    add::<trace::TracingShape>(&mut components);
    add::<trace::TraceShape>(&mut components);
    add::<look::TrafficShape>(&mut components);
    add::<look::ErrorsShape>(&mut components);
    components
}

/// A type with all the types inside it.
fn add<T: ToSchema>(components: &mut Components) {
    let mut inner = Vec::new();
    T::schemas(&mut inner);
    components.schemas.insert(T::name().into_owned(), T::schema());
    components.schemas.extend(inner);
}

/// What any request can end in.
const ALWAYS: [&str; 5] =
    ["INVALID_TOKEN", "IP_NOT_ALLOWED", "RATE_LIMITED", "FAILED", "GATEWAY_UNAVAILABLE"];
/// What a body can be refused for.
const WITH_BODY: [&str; 3] = ["INVALID_CONTENT_TYPE", "INVALID_JSON", "BODY_TOO_LARGE"];

fn operation(tag: &str, id: &str, summary: &str, codes: &[&[&str]]) -> OperationBuilder {
    let wanted: Vec<&str> = codes.iter().copied().flatten().chain(&ALWAYS).copied().collect();
    let rows: Vec<&PublishedError> =
        OPERATOR_ERRORS.iter().filter(|row| wanted.contains(&row.code)).collect();
    let mut operation = OperationBuilder::new().tag(tag).operation_id(Some(id)).summary(Some(summary));
    for (status, response) in openapi_errors::responses(&rows) {
        operation = operation.response(status, response);
    }
    operation
}

/// A recipient's number.
fn phone() -> ObjectBuilder {
    text().pattern(Some(r"^\+[1-9][0-9]{6,14}$"))
}

fn in_path(name: &str, description: &str, example: &str) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .example(Some(example.into()))
}

fn in_query(name: &str, description: &str, schema: ObjectBuilder, required: Required) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(required)
        .description(Some(description))
        .schema(Some(schema))
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn limit(default: u32) -> ParameterBuilder {
    let schema = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(1000));
    in_query("limit", "How many at most.", schema.default(Some(default.into())), Required::False)
}

fn body(schema: impl Into<RefOr<Schema>>) -> RequestBody {
    let content = ContentBuilder::new().schema(Some(schema)).build();
    RequestBodyBuilder::new().required(Some(Required::True)).content(JSON, content).build()
}

fn answer(description: &str, schema: impl Into<RefOr<Schema>>) -> ResponseBuilder {
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let id = openapi_errors::text_header("The request's own id if it gave a sane one, or one of ours.");
    ResponseBuilder::new().description(description).content(JSON, content).header("X-Request-Id", id)
}

fn of<T: ToSchema>() -> Ref {
    Ref::from_schema_name(T::name())
}

#[cfg(test)]
mod tests;
