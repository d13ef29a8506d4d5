//! Declares routes: one declaration adds a route to the router and its operation to the OpenAPI document.
//!
//! The parameters, the body, the response and most errors of an operation follow from the types of its [`UseCase`]; the rest
//! is said by a [`Doc`], which ends with the permission that a caller needs.

use crate::http::OperatorApi;
use crate::http::caller::Caller;
use crate::http::use_case::{Call, Described, JSON, UseCase};
use crate::refusal::OperatorRefusal;
use crate::refusal::published::OPERATOR_ERRORS;
use axum::Router;
use axum::extract::{Request, State};
use axum::routing::{MethodFilter, on};
use hermod_domain::operator_role::{OperatorPermission, OperatorRole};
use hermod_gateway::http::openapi_errors;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ContentBuilder, HttpMethod, ObjectBuilder, Ref, RefOr, Required, Response, ResponseBuilder, Schema, Tag,
    Type,
};

pub(crate) const X_REQUEST_ID: &str = "X-Request-Id";

const NUMBER_PATTERN: &str = r"^\+[1-9][0-9]{6,14}$";

/// The errors of every route.
const ALWAYS: [&str; 6] =
    ["INVALID_TOKEN", "IP_NOT_ALLOWED", "ROLE_NOT_ALLOWED", "RATE_LIMITED", "FAILED", "GATEWAY_UNAVAILABLE"];
/// 3 to 200 characters without blanks around them. HTTP takes those away.
const REASON_PATTERN: &str = "^[!-~][ -~]{1,198}[!-~]$";
/// The field of an operation that lists the roles which may call it.
const ROLES: &str = "x-roles";

/// The routes of the API, as a router and as paths of the document.
#[derive(Default)]
pub(crate) struct Routes {
    pub(crate) router: Router<Arc<OperatorApi>>,
    pub(crate) paths: Paths,
    pub(crate) tags: Vec<Tag>,
    /// The schemas that the operations refer to.
    pub(crate) schemas: BTreeMap<String, RefOr<Schema>>,
}

impl Routes {
    /// Begins a section of the document. The routes that follow belong to it.
    pub(crate) fn section(&mut self, name: &str, description: &str) {
        self.tags.push(TagBuilder::new().name(name).description(Some(description)).build());
    }

    pub(crate) fn get<T>(&mut self, path: &str, use_case: impl UseCase<T>, doc: Permitted) {
        self.add(MethodFilter::GET, HttpMethod::Get, path, use_case, doc);
    }

    pub(crate) fn post<T>(&mut self, path: &str, use_case: impl UseCase<T>, doc: Permitted) {
        self.add(MethodFilter::POST, HttpMethod::Post, path, use_case, doc);
    }

    pub(crate) fn put<T>(&mut self, path: &str, use_case: impl UseCase<T>, doc: Permitted) {
        self.add(MethodFilter::PUT, HttpMethod::Put, path, use_case, doc);
    }

    pub(crate) fn patch<T>(&mut self, path: &str, use_case: impl UseCase<T>, doc: Permitted) {
        self.add(MethodFilter::PATCH, HttpMethod::Patch, path, use_case, doc);
    }

    pub(crate) fn delete<T>(&mut self, path: &str, use_case: impl UseCase<T>, doc: Permitted) {
        self.add(MethodFilter::DELETE, HttpMethod::Delete, path, use_case, doc);
    }

    /// Panics if the path has more or fewer names than the use case takes.
    fn add<T>(
        &mut self,
        filter: MethodFilter,
        method: HttpMethod,
        path: &str,
        use_case: impl UseCase<T>,
        Permitted { doc, least }: Permitted,
    ) {
        let mut described = Described::default();
        use_case.describe(&mut described);
        let (names, taken) = (names_in(path).count(), described.names);
        assert_eq!(names, taken, "{path} has {names} names, but its use case takes {taken}");
        if doc.response.is_none() {
            self.schemas.append(&mut described.schemas);
        }
        let Doc { running_only, local_only, ends_when_stopping, .. } = doc;
        let respond = move |State(api): State<Arc<OperatorApi>>, request: Request| async move {
            let (head, body) = request.into_parts();
            let caller = Caller::admit(&head, least)?;
            if running_only && !api.is_running {
                return Err(OperatorRefusal::NotRunning);
            }
            let stopping = ends_when_stopping.then(|| api.workers.stopping());
            let call = Call::read(api, caller, head, body).await?;
            if local_only {
                call.expect_local()?;
            }
            let Some(stopping) = stopping else { return use_case.run(call).await };
            tokio::select! {
                response = use_case.run(call) => response,
                () = stopping.cancelled() => Err(OperatorRefusal::stopping()),
            }
        };
        self.router = std::mem::take(&mut self.router).route(path, on(filter, respond));
        // A wildcard is a name with slashes to axum, and a plain name to the document.
        let path = path.replace("{*", "{");
        let tag = self.tags.last().map(|tag| tag.name.clone()).unwrap_or_default();
        let operation = doc.operation(&tag, &path, least, described);
        self.paths.add_path_operation(path, vec![method], operation);
    }
}

/// What the document says about a route beside what the types of its use case say.
pub(crate) struct Doc {
    id: String,
    summary: String,
    details: &'static str,
    /// The statuses of success and what each means.
    successes: Vec<(&'static str, &'static str)>,
    errors: Vec<&'static str>,
    parameters: Vec<Parameter>,
    hidden: Vec<&'static str>,
    body: Option<RequestBody>,
    response: Option<RefOr<Schema>>,
    media: &'static str,
    running_only: bool,
    local_only: bool,
    ends_when_stopping: bool,
}

/// The documentation of a route, and what its caller needs.
pub(crate) struct Permitted {
    doc: Doc,
    least: OperatorPermission,
}

/// A route with its operation id, a title, and what a response of status 200 means.
pub(crate) fn doc(id: impl Into<String>, summary: impl Into<String>, ok: &'static str) -> Doc {
    Doc {
        id: id.into(),
        summary: summary.into(),
        details: "",
        successes: vec![("200", ok)],
        errors: Vec::new(),
        parameters: Vec::new(),
        hidden: Vec::new(),
        body: None,
        response: None,
        media: JSON,
        running_only: false,
        local_only: false,
        ends_when_stopping: false,
    }
}

impl Doc {
    pub(crate) fn details(self, details: &'static str) -> Doc {
        Doc { details, ..self }
    }

    /// What a response of status 201 means.
    pub(crate) fn created(mut self, meaning: &'static str) -> Doc {
        self.successes.push(("201", meaning));
        self
    }

    /// Only for a process that has links: any other responds with NOT_RUNNING.
    pub(crate) fn running_only(self) -> Doc {
        Doc { running_only: true, ..self.errors(&["NOT_RUNNING"]) }
    }

    /// Only for callers on this machine, also where others may use the operator API: the request names a path.
    pub(crate) fn local_only(self) -> Doc {
        Doc { local_only: true, ..self }
    }

    /// May take minutes; a gateway that stops does not wait for it.
    pub(crate) fn ends_when_stopping(self) -> Doc {
        Doc { ends_when_stopping: true, ..self }
    }

    /// Error codes beyond those that follow from the types of the use case.
    pub(crate) fn errors(mut self, codes: &[&'static str]) -> Doc {
        self.errors.extend(codes);
        self
    }

    /// Adds a parameter, or describes one of the path.
    pub(crate) fn parameter(mut self, parameter: impl Into<Parameter>) -> Doc {
        self.parameters.push(parameter.into());
        self
    }

    /// Leaves a parameter of the query out of the document.
    pub(crate) fn without(mut self, parameter: &'static str) -> Doc {
        self.hidden.push(parameter);
        self
    }

    pub(crate) fn body(self, body: RequestBody) -> Doc {
        Doc { body: Some(body), ..self }
    }

    pub(crate) fn response(self, schema: Ref) -> Doc {
        Doc { response: Some(schema.into()), ..self }
    }

    /// The media type of a response that is not JSON.
    pub(crate) fn media(self, media: &'static str) -> Doc {
        Doc { media, response: Some(text().into()), ..self }
    }

    /// Says what a caller needs at least. Ends the declaration: a route without it does not compile.
    pub(crate) fn least(self, permission: OperatorPermission) -> Permitted {
        Permitted { doc: self, least: permission }
    }

    fn operation(
        mut self,
        tag: &str,
        path: &str,
        least: OperatorPermission,
        described: Described,
    ) -> Operation {
        let Described { names: _, parameters, body, response, errors, schemas: _, is_masked } = described;
        if least == OperatorPermission::Personal {
            self.errors.push("REASON_NEEDED");
        }
        if least == OperatorPermission::Personal || is_masked {
            self.errors.push("INVALID_FIELD");
            self.parameters.push(reason_parameter());
        }
        let own = |name: &str| self.parameters.iter().find(|parameter| parameter.name == name).cloned();
        let in_path = names_in(path).map(|name| own(name).unwrap_or_else(|| path_parameter(path, name)));
        let queried = parameters.into_iter().filter(|one| !self.hidden.contains(&one.name.as_str()));
        let further = self.parameters.iter().filter(|one| one.parameter_in != ParameterIn::Path).cloned();
        let parameters: Vec<Parameter> = in_path.chain(further).chain(queried).collect();
        let codes: Vec<&str> = self.errors.iter().chain(&errors).chain(&ALWAYS).copied().collect();
        let rows: Vec<_> = OPERATOR_ERRORS.iter().filter(|row| codes.contains(&row.code)).collect();
        let about =
            if self.details.is_empty() { format!("{}.", self.summary) } else { self.details.to_owned() };
        let about = format!("{about} Role: {}.", least.named_roles());
        let roles: Value = least.roles().map(OperatorRole::as_str).collect();
        let mut operation = OperationBuilder::new()
            .tag(tag)
            .operation_id(Some(self.id))
            .summary(Some(self.summary))
            .description(Some(about))
            .request_body(self.body.or(body))
            .extensions(Some(Extensions::builder().add(ROLES, roles).build()));
        if !parameters.is_empty() {
            operation = operation.parameters(Some(parameters));
        }
        let schema = self.response.or(response);
        for (status, meaning) in self.successes {
            operation = operation.response(status, success(meaning, self.media, schema.clone()));
        }
        for (status, response) in openapi_errors::responses(&rows) {
            operation = operation.response(status, response);
        }
        operation.build()
    }
}

fn reason_parameter() -> Parameter {
    ParameterBuilder::new()
        .name("X-Reason")
        .parameter_in(ParameterIn::Header)
        .description(Some(
            "Why the caller needs whole numbers and texts, which are otherwise masked for the roles `support` and `finance`. \
             Written into the audit log. `reader` cannot give one.",
        ))
        .schema(Some(text().pattern(Some(REASON_PATTERN))))
        .build()
}

fn success(meaning: &str, media: &str, schema: Option<RefOr<Schema>>) -> Response {
    let content = ContentBuilder::new().schema(schema).build();
    ResponseBuilder::new()
        .description(meaning)
        .content(media, content)
        .header_ref(X_REQUEST_ID, Ref::new(format!("#/components/headers/{X_REQUEST_ID}")))
        .build()
}

fn names_in(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|piece| piece.strip_prefix('{')?.strip_suffix('}'))
}

/// Describes a name in a path by what the path is about.
fn path_parameter(path: &str, name: &str) -> Parameter {
    let integer = || ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    let (description, example, schema) = match name {
        "name" if path.starts_with("/carriers") => ("The carrier.", json!("acme"), text()),
        "name" => ("The account.", json!("shop"), text()),
        "number" if path.starts_with("/binds") => ("The number of the bind.", json!(7), integer()),
        "number" => {
            ("A plus, then 7 to 15 digits.", json!("+4915112345678"), text().pattern(Some(NUMBER_PATTERN)))
        }
        "event" => {
            ("The `webhook-id` of the event.", json!("evt_4711"), text().pattern(Some("^evt_[0-9]+$")))
        }
        "id" if path.starts_with("/customer-requests") => ("The number of the request.", json!(1), integer()),
        "id" => ("The number of the case.", json!(1), integer()),
        _ => ("The id of the message.", json!("15526526976000001"), text()),
    };
    in_path(name, description, example).schema(Some(schema)).build()
}

pub(crate) fn in_path(name: &str, description: &str, example: impl Into<Value>) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(text()))
        .example(Some(example.into()))
}

pub(crate) fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
