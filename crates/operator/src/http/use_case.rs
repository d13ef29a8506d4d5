//! Runs a use case for a request: a route names a function of its subject, and the types of its arguments say what of the
//! request each of them is.
//!
//! | Argument | What it is |
//! |---|---|
//! | `&Gateway`, `&Arc<Gateway>` | the gateway |
//! | `&Acting` | the gateway, and who makes the request |
//! | `&Caller` | who makes the request, where its content decides which role may |
//! | `&str`, `u64` | the next name in the path |
//! | [`Kind`] | the kind of entry that the path begins with |
//! | a type with [`IntoParams`] | the query string |
//! | a [`JsonBody`], or an `Option` of one | the JSON body |
//! | [`Fields`] | the JSON body: the fields of an entry, or a patch of them |
//! | any other type with [`Input`] | as the file of its routes says: `WantedSetup`, `CsvFile`, `IfExists`, `Reader`, `LastEvent`, `HasLinks` |
//!
//! An argument can be borrowed or owned. The same types describe the operation for the OpenAPI document.

use crate::author::{Acting, Author};
use crate::entry::views::Fields;
use crate::find::find_account;
use crate::http::OperatorApi;
use crate::http::body::RawBody;
use crate::http::caller::{Caller, decoded};
use crate::kind::Kind;
use crate::refusal::{OperatorRefusal, Result};
use crate::views::masking::{MASKED_TYPES, REASON_GIVEN};
use crate::views::{Created, JsonBody};
use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, Query, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hermod_domain::phone::hide_numbers;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::http::{Reach, names_this_machine, source_of};
use hermod_gateway::secrets::operator_token::TokenHolder;
use hermod_store::Store;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::future::{Ready, ready};
use std::ops::Deref;
use std::sync::Arc;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required, Schema, Type};
use utoipa::{IntoParams, ToSchema};

pub(crate) const JSON: &str = "application/json";
/// The prefix that axum puts before the cause of an invalid query.
const QUERY_ERROR_PREFIX: &str = "Failed to deserialize query string: ";
/// The errors of every route that takes a body.
pub(crate) const WITH_BODY: [&str; 3] = ["INVALID_CONTENT_TYPE", "INVALID_JSON", "BODY_TOO_LARGE"];

/// A function that a route can name. `Types` stands for the types of its arguments and of its result.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the use case of a route",
    note = "its arguments must be of the kinds listed in `use_case.rs`, and its result `Result<View>`"
)]
pub(crate) trait UseCase<Types>: Copy + Send + Sync + 'static {
    fn describe(self, described: &mut Described);
    fn run(self, call: Call) -> impl Future<Output = Result<Response>> + Send;
}

/// A function that can be called with these arguments, however long the request lives that they borrow from. `How` is
/// [`Asynchronous`] for an async function and [`Synchronous`] for any other.
pub(crate) trait Run<Arguments, How> {
    type View;
    type Running: Future<Output = Result<Self::View>> + Send;

    fn run(self, arguments: Arguments) -> Self::Running;
}

pub(crate) struct Asynchronous;
pub(crate) struct Synchronous;

macro_rules! use_case {
    ($($arg:ident: $Arg:ident $Via:ident),*) => {
        impl<F, Running, View, $($Arg),*> Run<($($Arg,)*), Asynchronous> for F
        where
            F: FnOnce($($Arg),*) -> Running,
            Running: Future<Output = Result<View>> + Send,
        {
            type View = View;
            type Running = Running;

            fn run(self, ($($arg,)*): ($($Arg,)*)) -> Running {
                self($($arg),*)
            }
        }

        impl<F, View: Send, $($Arg),*> Run<($($Arg,)*), Synchronous> for F
        where
            F: FnOnce($($Arg),*) -> Result<View>,
        {
            type View = View;
            type Running = Ready<Result<View>>;

            fn run(self, ($($arg,)*): ($($Arg,)*)) -> Self::Running {
                ready(self($($arg),*))
            }
        }

        // The compiler finds the types of the arguments with the first bound; the function is called by the last one.
        impl<F, Returned, View, How, $($Arg, $Via),*> UseCase<(Returned, View, How, $($Arg, $Via),*)> for F
        where
            F: FnOnce($($Arg),*) -> Returned + Copy + Send + Sync + 'static,
            $($Arg: Argument<$Via>,)*
            View: Reply,
            F: for<'a> Run<($($Arg::Value<'a>,)*), How, View = View>,
        {
            fn describe(self, described: &mut Described) {
                $($Arg::describe(described);)*
                View::describe(described);
            }

            async fn run(self, mut call: Call) -> Result<Response> {
                $(let $arg = $Arg::take(&mut call)?;)*
                // An error means that nothing was changed, so the reason of a change is noted before it.
                if call.is_change() {
                    note(call.audited_reason(None::<&View>)).await?;
                }
                let view = Run::run(self, ($($Arg::value(&$arg.0, $arg.1),)*)).await?;
                if !call.is_change() {
                    note(call.audited_reason(Some(&view))).await?;
                }
                Ok(call.caller.masking().write(|| view.response(&call.api)))
            }
        }
    };
}

use_case!(a: A InA);
use_case!(a: A InA, b: B InB);
use_case!(a: A InA, b: B InB, c: C InC);
use_case!(a: A InA, b: B InB, c: C InC, d: D InD);
use_case!(a: A InA, b: B InB, c: C InC, d: D InD, e: E InE);
use_case!(a: A InA, b: B InB, c: C InC, d: D InD, e: E InE, f: G InG);

/// An [`Input`] as an argument of a function: a reference, or the value itself.
pub(crate) trait Argument<Via> {
    /// What a reference points into; nothing for a value.
    type Source: Send + Sync;
    /// The value; nothing for a reference.
    type Owned: Send;
    type Value<'a>: Send;

    fn describe(described: &mut Described);
    fn take(call: &mut Call) -> Result<(Self::Source, Self::Owned)>;
    fn value(source: &Self::Source, owned: Self::Owned) -> Self::Value<'_>;
}

pub(crate) struct ByReference<Via>(Via);
pub(crate) struct ByValue<Via>(Via);

impl<T: Input<Via> + ?Sized, Via> Argument<ByReference<Via>> for &'static T {
    type Source = T::Pointer;
    type Owned = ();
    type Value<'a> = &'a T;

    fn describe(described: &mut Described) {
        T::describe(described);
    }

    fn take(call: &mut Call) -> Result<(T::Pointer, ())> {
        Ok((T::take(call)?, ()))
    }

    fn value(source: &T::Pointer, (): ()) -> &T {
        source
    }
}

impl<T: Input<Via, Pointer = Box<T>>, Via> Argument<ByValue<Via>> for T {
    type Source = ();
    type Owned = T;
    type Value<'a> = T;

    fn describe(described: &mut Described) {
        T::describe(described);
    }

    fn take(call: &mut Call) -> Result<((), T)> {
        Ok(((), *T::take(call)?))
    }

    fn value((): &(), owned: T) -> T {
        owned
    }
}

/// Writes the reason of a request into the audit log.
async fn note(reason: Option<Store>) -> Result<()> {
    match reason {
        Some(audited) => Ok(audited.note_in_audit_log().await?),
        None => Ok(()),
    }
}

/// A request, of which the arguments are taken in their order.
pub(crate) struct Call {
    api: Arc<OperatorApi>,
    pub(crate) caller: Caller,
    head: Parts,
    /// The names in the path that were not taken yet.
    names: VecDeque<String>,
    body: RawBody,
}

impl Call {
    pub(crate) async fn read(
        api: Arc<OperatorApi>,
        caller: Caller,
        mut head: Parts,
        body: Body,
    ) -> Result<Call> {
        let names = RawPathParams::from_request_parts(&mut head, &()).await;
        let names = names.map_err(|_| OperatorRefusal::no_path())?;
        let names = names.iter().map(|(_, name)| name.to_owned()).collect();
        let body = RawBody::read(&head.headers, body).await?;
        Ok(Call { api, caller, head, names, body })
    }

    fn is_change(&self) -> bool {
        self.head.method != Method::GET
    }

    /// Returns the gateway, and who makes the request.
    fn acting(&self) -> Acting {
        let source = source_of(&self.head.extensions, &self.head.headers);
        let address = source.map(|source| source.address);
        let author = match &self.caller.holder {
            TokenHolder::Named { name, .. } => Author::named_operator(name, address),
            TokenHolder::DataFolder => Author::operator(address),
        };
        Acting { gateway: self.api.gateway.clone(), author }
    }

    /// Returns the store with the reason of the request for its audit log, if a reason was given. The row is about the account in
    /// the path, in the query or in the view.
    fn audited_reason(&self, view: Option<&impl Reply>) -> Option<Store> {
        let reason = self.caller.reason.as_ref()?;
        let path = decoded(self.head.uri.path());
        let query: Vec<(String, String)> =
            serde_urlencoded::from_str(self.head.uri.query().unwrap_or_default()).unwrap_or_default();
        let in_path = path.strip_prefix("/accounts/").and_then(|rest| rest.split('/').next());
        let in_query = || query.iter().find(|(name, _)| name == "account").map(|(_, value)| value.as_str());
        let named = in_path.or_else(in_query).map(str::to_owned).or_else(|| view?.account());
        let account = named.and_then(|name| find_account(&self.api.gateway, &name).ok());
        // The audit log has neither numbers, which may be erased, nor texts.
        let looked_for = query.iter().filter(|(name, _)| name != "text");
        let looked_for: Vec<_> = looked_for.map(|(name, value)| format!("{name}={value}")).collect();
        let looked_for = hide_numbers(&looked_for.join("&"));
        let detail = json!({ "reason": hide_numbers(reason), "query": looked_for });
        Some(self.acting().audited(account, REASON_GIVEN, &self.caller.request, &detail))
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    pub(crate) fn body(&self) -> &RawBody {
        &self.body
    }

    /// Whether this process has links to carriers and customers' binds.
    pub(crate) fn has_links(&self) -> bool {
        self.api.is_running
    }

    /// Rejects requests but those of this process and of direct callers on this machine, also where others may use the
    /// operator API.
    pub(crate) fn expect_local(&self) -> Result<()> {
        let head = &self.head;
        let source = source_of(&head.extensions, &head.headers);
        let is_named = names_this_machine(&head.uri, &head.headers);
        if source.is_none() || Reach::ThisMachine.admits(source, is_named) {
            return Ok(());
        }
        Err(OperatorRefusal::NotFromHere)
    }

    fn next_name(&mut self) -> Result<String> {
        self.names.pop_front().ok_or_else(OperatorRefusal::no_path)
    }
}

/// A type of which a request has a value. `Via` says where the value is, and is found by the compiler.
pub(crate) trait Input<Via>: Send + Sync + 'static {
    /// The smart pointer in which the value is taken out of the request.
    type Pointer: Deref<Target = Self> + Send + Sync;

    fn describe(_: &mut Described) {}
    fn take(call: &mut Call) -> Result<Self::Pointer>;
}

pub(crate) struct OfRequest;
pub(crate) struct InQuery;
pub(crate) struct InBody;
pub(crate) struct InOptionalBody;

impl Input<OfRequest> for Gateway {
    type Pointer = Arc<Gateway>;

    fn take(call: &mut Call) -> Result<Arc<Gateway>> {
        Ok(call.api.gateway.clone())
    }
}

impl Input<OfRequest> for Arc<Gateway> {
    type Pointer = Box<Arc<Gateway>>;

    fn take(call: &mut Call) -> Result<Box<Arc<Gateway>>> {
        Ok(Box::new(call.api.gateway.clone()))
    }
}

impl Input<OfRequest> for Acting {
    type Pointer = Box<Acting>;

    fn take(call: &mut Call) -> Result<Box<Acting>> {
        Ok(Box::new(call.acting()))
    }
}

/// Who calls, for routes where the content of the request decides who may send it.
impl Input<OfRequest> for Caller {
    type Pointer = Box<Caller>;

    fn take(call: &mut Call) -> Result<Box<Caller>> {
        Ok(Box::new(call.caller.clone()))
    }
}

impl Input<OfRequest> for str {
    type Pointer = String;

    fn describe(described: &mut Described) {
        described.names += 1;
    }

    fn take(call: &mut Call) -> Result<String> {
        call.next_name()
    }
}

impl Input<OfRequest> for u64 {
    type Pointer = Box<u64>;

    fn describe(described: &mut Described) {
        described.names += 1;
    }

    fn take(call: &mut Call) -> Result<Box<u64>> {
        call.next_name()?.parse().map(Box::new).map_err(|_| OperatorRefusal::no_path())
    }
}

/// The path of an entry or of a CSV file begins with the kind, which is no name.
impl Input<OfRequest> for Kind {
    type Pointer = Box<Kind>;

    fn take(call: &mut Call) -> Result<Box<Kind>> {
        let first = call.head.uri.path().split('/').nth(1).unwrap_or_default();
        let first = first.strip_suffix(".csv").unwrap_or(first);
        let kind = Kind::ALL.into_iter().find(|kind| kind.path() == first);
        kind.map(Box::new).ok_or_else(OperatorRefusal::no_path)
    }
}

/// The query string. Rejects unknown parameters.
impl<T: IntoParams + DeserializeOwned + Send + Sync + 'static> Input<InQuery> for T {
    type Pointer = Box<T>;

    fn describe(described: &mut Described) {
        let mut parameters = T::into_params(|| Some(ParameterIn::Query));
        parameters.iter_mut().filter_map(|parameter| parameter.schema.as_mut()).for_each(without_null);
        described.parameters.extend(parameters);
        described.errors.push("INVALID_FIELD");
    }

    fn take(call: &mut Call) -> Result<Box<T>> {
        let query = Query::try_from_uri(&call.head.uri);
        query.map(|Query(query)| Box::new(query)).map_err(|error| {
            let cause = error.body_text();
            OperatorRefusal::InvalidQuery(cause.trim_start_matches(QUERY_ERROR_PREFIX).to_owned())
        })
    }
}

impl<T: JsonBody> Input<InBody> for T {
    type Pointer = Box<T>;

    fn describe(described: &mut Described) {
        described.add_body::<T>(Required::True);
    }

    fn take(call: &mut Call) -> Result<Box<T>> {
        call.body.json().map(Box::new)
    }
}

/// A body that may be left out.
impl<T: JsonBody> Input<InOptionalBody> for Option<T> {
    type Pointer = Box<Option<T>>;

    fn describe(described: &mut Described) {
        described.add_body::<T>(Required::False);
    }

    fn take(call: &mut Call) -> Result<Box<Option<T>>> {
        let body = &call.body;
        let given = if body.is_empty() { None } else { Some(body.json()?) };
        Ok(Box::new(given))
    }
}

/// The fields of an entry, or a merge patch of them.
impl Input<OfRequest> for Fields {
    type Pointer = Box<Fields>;

    fn describe(described: &mut Described) {
        described.errors.extend(WITH_BODY);
    }

    /// Fails if the caller may not change one of the fields.
    fn take(call: &mut Call) -> Result<Box<Fields>> {
        let kind = <Kind as Input<OfRequest>>::take(call)?;
        let fields = if call.head.method == Method::PATCH { call.body.patch() } else { call.body.object() }?;
        let mut needed = fields.keys().filter_map(|field| kind.field_changed_with(field));
        needed.try_for_each(|permission| call.caller.expect(permission))?;
        Ok(Box::new(fields))
    }
}

/// What a use case returns, as a response of success.
pub(crate) trait Reply: Send {
    fn describe(described: &mut Described);
    /// Returns the account that it is about, if it names one.
    fn account(&self) -> Option<String>;
    /// Makes the response. What is written later must be masked as `Masking::current` says now.
    fn response(self, api: &OperatorApi) -> Response;
}

impl<T: ToSchema + Serialize + Send> Reply for T {
    fn describe(described: &mut Described) {
        described.response = Some(described.refer_to::<T>().into());
    }

    fn account(&self) -> Option<String> {
        serde_json::to_value(self).ok()?.get("account")?.as_str().map(str::to_owned)
    }

    fn response(self, _: &OperatorApi) -> Response {
        Json(self).into_response()
    }
}

impl<T: ToSchema + Serialize + Send> Reply for Created<T> {
    fn describe(described: &mut Described) {
        T::describe(described);
    }

    fn account(&self) -> Option<String> {
        self.view.account()
    }

    fn response(self, _: &OperatorApi) -> Response {
        let status = if self.is_new { StatusCode::CREATED } else { StatusCode::OK };
        (status, Json(self.view)).into_response()
    }
}

/// What the types of a use case say about its operation.
#[derive(Default)]
pub(crate) struct Described {
    /// How many names in the path the use case takes.
    pub(crate) names: usize,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<RequestBody>,
    pub(crate) response: Option<RefOr<Schema>>,
    pub(crate) errors: Vec<&'static str>,
    pub(crate) schemas: BTreeMap<String, RefOr<Schema>>,
    /// Whether some of the response is masked for some roles.
    pub(crate) is_masked: bool,
}

impl Described {
    /// Adds a type and the types inside it to the schemas of the document.
    pub(crate) fn refer_to<T: ToSchema>(&mut self) -> Ref {
        let mut inner = Vec::new();
        T::schemas(&mut inner);
        self.is_masked |= inner.iter().any(|(name, _)| MASKED_TYPES.contains(&name.as_str()));
        self.schemas.insert(T::name().into_owned(), T::schema());
        self.schemas.extend(inner);
        Ref::from_schema_name(T::name())
    }

    fn add_body<T: ToSchema>(&mut self, required: Required) {
        let schema = self.refer_to::<T>();
        self.body = Some(json_body(schema, required));
        self.errors.extend(WITH_BODY);
    }
}

pub(crate) fn json_body(schema: impl Into<RefOr<Schema>>, required: Required) -> RequestBody {
    let content = ContentBuilder::new().schema(Some(schema)).build();
    RequestBodyBuilder::new().required(Some(required)).content(JSON, content).build()
}

/// A query parameter can be left out, but it cannot be null.
fn without_null(schema: &mut RefOr<Schema>) {
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
