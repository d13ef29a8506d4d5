//! Routes about the catalogue: provision files, and the same five routes for each kind of entry.

use super::body::{RawBody, TOML};
use super::entry_schemas::{capitalized, entry_ref, fields_ref, page_ref, put_body, saved_ref};
use super::routes::{Doc, Routes, doc, in_path, text};
use super::use_case::{Call, Input, OfRequest, json_body};
use crate::app::operator::{self, IfExists, LiveBinds, OperatorRefusal};
use crate::author::Acting;
use crate::config::Source;
use crate::provision::{EXAMPLE_TOML, Kind, WantedSetup, wanted_whole};
use crate::views::Created;
use crate::views::entries::{AppliedView, ApplyQuery, RotateQuery, SaveQuery, SavedEntryView};
use axum::http::header;
use serde_json::json;
use utoipa::ToSchema as _;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, Ref, Required};

pub(super) fn routes(routes: &mut Routes) {
    routes.section("Provision files", "Many entries in one request.");
    routes.post("/apply", apply, apply_doc());
    for kind in Kind::ALL {
        routes.section(&title(kind), about(kind));
        routes_of_kind(routes, kind);
    }
}

fn routes_of_kind(routes: &mut Routes, kind: Kind) {
    let (all, one) = (format!("/{}", kind.plural()), entry_path(kind));
    routes.get(&all, operator::list_entries, list_doc(kind));
    routes.get(&one, operator::show_entry, show_doc(kind));
    routes.put(&one, put, put_doc(kind));
    routes.patch(&one, patch, patch_doc(kind));
    routes.delete(&one, operator::remove_entry, remove_doc(kind));
    if kind == Kind::Key {
        let doc = doc("rotateKey", "Replace a key's secret", "The new secret is in `secrets`.")
            .details(
                "The old secret is invalid at once, or after `overlap`; one that is still valid from an earlier rotation ends. \
                 The new secret is returned only here.",
            )
            .parameter(name(kind))
            .errors(&["NOT_FOUND"]);
        routes.post("/keys/{name}/rotate", rotate_key, doc);
    }
    if kind == Kind::Connection {
        let doc =
            doc("rotatePassword", "Replace a connection's password", "The new password is in `secrets`.")
                .details(
                    "Live binds stay. The old password is invalid at once for new binds, or after `overlap`; one that is \
                     still valid from an earlier rotation ends. The new password is returned only here.",
                )
                .parameter(name(kind))
                .errors(&["NOT_FOUND", "REFUSED"]);
        routes.post("/connections/{name}/rotate", rotate_password, doc);
    }
}

/// Names with a slash may be written as they are.
fn entry_path(kind: Kind) -> String {
    match kind {
        Kind::Route | Kind::Price | Kind::Sender | Kind::Number => format!("/{}/{{*name}}", kind.plural()),
        Kind::Carrier
        | Kind::Account
        | Kind::Connection
        | Kind::Key
        | Kind::Screen
        | Kind::Control
        | Kind::User
        | Kind::Operator => {
            format!("/{}/{{name}}", kind.plural())
        }
    }
}

async fn apply(acting: &Acting, query: &ApplyQuery, body: &RawBody) -> Result<AppliedView, OperatorRefusal> {
    operator::apply_wanted(acting, &parse_file(body)?.forced(query.force), query.dry_run).await
}

fn parse_file(body: &RawBody) -> Result<WantedSetup, OperatorRefusal> {
    if body.is(TOML) {
        let source = Source { path: "file".into(), text: body.text()?.to_owned() };
        return WantedSetup::parse(&source).map_err(|error| OperatorRefusal::InvalidToml(error.to_string()));
    }
    let object = body.object().map_err(|refusal| match refusal {
        OperatorRefusal::InvalidContentType(_) => OperatorRefusal::InvalidContentType(
            "send Content-Type: application/toml for a provision file, or application/json",
        ),
        other => other,
    })?;
    Ok(wanted_whole(&object)?)
}

async fn put(
    acting: &Acting,
    kind: Kind,
    name: &str,
    query: &SaveQuery,
    if_exists: IfExists,
    body: &RawBody,
) -> Result<Created<SavedEntryView>, OperatorRefusal> {
    let binds = live_binds(kind, query)?;
    operator::put_entry(acting, kind, name, body.object()?, if_exists, binds).await
}

/// Reads `If-None-Match: *`, which creates and never replaces. There are no entity tags, so no other value is valid.
impl Input<OfRequest> for IfExists {
    type Pointer = Box<IfExists>;

    fn take(call: &mut Call) -> Result<Box<IfExists>, OperatorRefusal> {
        let mut given = call.headers().get_all(header::IF_NONE_MATCH).iter();
        match (given.next(), given.next()) {
            (None, _) => Ok(Box::new(IfExists::Replace)),
            (Some(value), None) if value == "*" => Ok(Box::new(IfExists::Refuse)),
            (Some(_), _) => {
                let rule = "can only be *, once".to_owned();
                Err(OperatorRefusal::InvalidField { field: "If-None-Match", rule })
            }
        }
    }
}

fn live_binds(kind: Kind, query: &SaveQuery) -> Result<LiveBinds, OperatorRefusal> {
    match (query.unbind, kind) {
        (None | Some(false), _) => Ok(LiveBinds::Keep),
        (Some(true), Kind::Connection) => Ok(LiveBinds::Unbind),
        (Some(true), _) => {
            let rule = format!("a {kind} has no binds; only connections have");
            Err(OperatorRefusal::InvalidField { field: "unbind", rule })
        }
    }
}

async fn patch(
    acting: &Acting,
    kind: Kind,
    name: &str,
    query: &SaveQuery,
    body: &RawBody,
) -> Result<SavedEntryView, OperatorRefusal> {
    let binds = live_binds(kind, query)?;
    operator::patch_entry(acting, kind, name, body.patch()?, binds).await
}

async fn rotate_key(acting: &Acting, key: &str, query: &RotateQuery) -> Result<AppliedView, OperatorRefusal> {
    operator::rotate_key(acting, key, operator::overlap_of(query)?).await
}

async fn rotate_password(
    acting: &Acting,
    connection: &str,
    query: &RotateQuery,
) -> Result<AppliedView, OperatorRefusal> {
    operator::rotate_password(acting, connection, operator::overlap_of(query)?).await
}

fn apply_doc() -> Doc {
    let file = ContentBuilder::new().schema(Some(text())).example(Some(EXAMPLE_TOML.into())).build();
    let shop = json!({
        "account": [{ "name": "shop", "currency": "EUR", "verified": true, "countries": ["DE", "AT"] }],
        "price": [{ "prefix": "49", "per_part": "0.05", "account": "shop" }],
    });
    let object = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(WantedSetup::name())))
        .example(Some(shop))
        .build();
    let body = RequestBodyBuilder::new()
        .required(Some(Required::True))
        .content("application/toml", file)
        .content("application/json", object);
    doc("apply", "Apply a provision file", "What changed, or would change.")
        .details(
            "A new name creates an entry. Of an existing entry, the fields in the file change. Fields that have the same value \
             in the file as when it was last applied are not changed if they were changed otherwise since. All of the file \
             is applied, or nothing.",
        )
        .body(body.build())
        .errors(&["INVALID_TOML", "REFUSED", "NOT_REMOVABLE"])
}

fn list_doc(kind: Kind) -> Doc {
    let doc = doc(
        format!("list{}", title(kind)),
        format!("List {}", kind.plural()),
        "A page, in the order of the names.",
    );
    let doc = doc.response(page_ref(kind));
    if matches!(kind, Kind::Carrier | Kind::Account | Kind::Operator) { doc.without("account") } else { doc }
}

fn show_doc(kind: Kind) -> Doc {
    doc(id("get", kind), format!("Read {}", with_article(kind)), "The entry, without secrets.")
        .parameter(name(kind))
        .response(entry_ref(kind))
        .errors(&["NOT_FOUND"])
}

fn put_doc(kind: Kind) -> Doc {
    let summary = format!("Create or replace {}", with_article(kind));
    let doc = doc(id("put", kind), summary, "It existed and was replaced.")
        .created("It was created.")
        .details("Fields that follow from the name in the path can be omitted from the body.")
        .parameter(name(kind))
        .parameter(only_if_new())
        .body(put_body(kind))
        .response(saved_ref(kind))
        .errors(&["REFUSED", "ALREADY_EXISTS"]);
    if kind == Kind::Connection { doc } else { doc.without("unbind") }
}

fn patch_doc(kind: Kind) -> Doc {
    let doc = doc(
        id("patch", kind),
        format!("Change fields of {}", with_article(kind)),
        "The entry after the change.",
    )
    .details("A JSON merge patch (RFC 7396): given fields change, null removes a field, all others stay.")
    .parameter(name(kind))
    .body(json_body(fields_ref(kind), Required::True))
    .response(saved_ref(kind))
    .errors(&["NOT_FOUND", "REFUSED"]);
    if kind == Kind::Connection { doc } else { doc.without("unbind") }
}

fn remove_doc(kind: Kind) -> Doc {
    let doc = doc(id("delete", kind), format!("Remove {}", with_article(kind)), "It was removed.")
        .parameter(name(kind));
    match kind.instead_of_removing() {
        Some(_) => {
            let details = "Always rejected: messages and money refer to it.";
            doc.details(details).never_succeeds().errors(&["NOT_REMOVABLE"])
        }
        None => doc.errors(&["NOT_FOUND", "REFUSED"]),
    }
}

const fn about(kind: Kind) -> &'static str {
    match kind {
        Kind::Carrier => "SMSCs that messages are sent to. They are never removed; disable one instead.",
        Kind::Route => {
            "The carriers of a destination, for all accounts or for one account or sender. A route for an account or sender \
             precedes the others."
        }
        Kind::Price => {
            "The price of one part. A network precedes the longest prefix, which precedes the country."
        }
        Kind::Account => "Customers. They are never removed; close one instead.",
        Kind::Sender => "Sender ids: approved for an account, or blocked.",
        Kind::Number => "Numbers that receive MO messages, and the account that owns each.",
        Kind::Connection => {
            "Connections of customers, over HTTP or SMPP. They are never removed; close one instead."
        }
        Kind::Key => "API keys of customers.",
        Kind::Screen => "Screening rules: patterns that hold a message for review.",
        Kind::Control => "Traffic controls: limits on messages and spend.",
        Kind::User => "People who use the portal, and their roles in accounts.",
        Kind::Operator => {
            "People and programs that use this API, each with a token of its own. The audit log names them."
        }
    }
}

fn name(kind: Kind) -> Parameter {
    let (description, example) = match kind {
        Kind::Carrier => ("The name of the carrier.", "acme"),
        Kind::Account => ("The name of the account.", "shop"),
        Kind::Connection => ("The name of the connection.", "shop-http"),
        Kind::Screen => ("The name of the screening rule.", "short-links"),
        Kind::Control => ("The name of the traffic control.", "shop-day"),
        Kind::User => ("The e-mail address of the user.", "ann@example.com"),
        Kind::Operator => ("The name of the operator.", "ann"),
        Kind::Key => ("The key.", "shop-key-1"),
        Kind::Route => (
            "`[ACCOUNT/]AREA[@SENDER]`: `49`, `262-01`, `mcc262`, `DE`, `*`, `shop/49@Shop`. The slash may be written as it is.",
            "49",
        ),
        Kind::Price => (
            "`[ACCOUNT/]AREA[@FROM]`: `49`, `262-01`, `mcc262`, `DE`, `shop/49@2027-01-01`. The slash may be written as it is.",
            "shop/49@2027-01-01",
        ),
        Kind::Sender => (
            "`ACCOUNT/SENDER`, or `*/SENDER` for all accounts. The slash may be written as it is.",
            "shop/Shop",
        ),
        Kind::Number => ("The digits, followed by `/KEYWORD` if the number has keywords.", "+4915799999999"),
    };
    in_path("name", description, example).build()
}

fn only_if_new() -> Parameter {
    ParameterBuilder::new()
        .name("If-None-Match")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("`*` creates the entry only if it does not exist; otherwise the response is 412."))
        .schema(Some(text().enum_values(Some(["*"]))))
        .build()
}

/// `Accounts`.
fn title(kind: Kind) -> String {
    capitalized(kind.plural())
}

fn id(verb: &str, kind: Kind) -> String {
    format!("{verb}{}", capitalized(kind.as_str()))
}

fn with_article(kind: Kind) -> String {
    let article = if matches!(kind, Kind::Account | Kind::Operator) { "an" } else { "a" };
    format!("{article} {kind}")
}
