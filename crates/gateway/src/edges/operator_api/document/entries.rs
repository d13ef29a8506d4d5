//! The requests about the things of the catalogue, the same five for each kind.

use super::{WITH_BODY, answer, body, given, in_path, in_query, limit, of, operation, text, title};
use crate::edges::operator_api::shapes::AppliedShape;
use crate::provision::{
    Kind, WantedAccount, WantedCarrier, WantedConnection, WantedControl, WantedKey, WantedNumber,
    WantedPrice, WantedRoute, WantedScreen, WantedSender,
};
use utoipa::openapi::path::{HttpMethod, Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{AllOfBuilder, ArrayBuilder, ObjectBuilder, Ref, Required, Type};

pub(super) fn all() -> Vec<(String, PathItem)> {
    let mut paths = Vec::new();
    for kind in Kind::ALL {
        paths.push((format!("/{}", kind.plural()), PathItem::new(HttpMethod::Get, list(kind))));
        let mut one = PathItem::new(HttpMethod::Get, show(kind));
        one.put = Some(put(kind));
        one.patch = Some(patch(kind));
        one.delete = Some(remove(kind));
        paths.push((format!("/{}/{{name}}", kind.plural()), one));
    }
    let rotate = operation("Keys", "rotateKey", "Give a key a new secret", &[&["NOT_FOUND"]])
        .description(Some("The old secret opens nothing any more. The new one is shown this once."))
        .parameter(name(Kind::Key))
        .response("200", answer("The new secret is in `secrets`.", of::<AppliedShape>()));
    paths.push(("/keys/{name}/rotate".to_owned(), PathItem::new(HttpMethod::Post, rotate.build())));
    paths
}

pub(super) const fn about(kind: Kind) -> &'static str {
    match kind {
        Kind::Carrier => {
            "The upstream SMSCs that messages are handed to. They are never removed; disable one instead."
        }
        Kind::Route => {
            "Which carriers serve a destination, for everyone or for one account or sender. Who sends goes before where to."
        }
        Kind::Price => {
            "What one part costs. The network goes before the longest prefix, that before the country."
        }
        Kind::Account => "Customers. They are never removed; close one instead.",
        Kind::Sender => "Sender ids and what may be done with them.",
        Kind::Number => "Numbers that handsets can write to, and whose they are.",
        Kind::Connection => "The ways into an account. They are never removed; close one instead.",
        Kind::Key => "What customers' programs call with.",
        Kind::Screen => "Patterns that hold messages for somebody to look at.",
        Kind::Control => "How much may be sent before somebody should look.",
    }
}

fn entry(kind: Kind) -> Ref {
    match kind {
        Kind::Carrier => of::<WantedCarrier>(),
        Kind::Route => of::<WantedRoute>(),
        Kind::Price => of::<WantedPrice>(),
        Kind::Account => of::<WantedAccount>(),
        Kind::Sender => of::<WantedSender>(),
        Kind::Number => of::<WantedNumber>(),
        Kind::Connection => of::<WantedConnection>(),
        Kind::Key => of::<WantedKey>(),
        Kind::Screen => of::<WantedScreen>(),
        Kind::Control => of::<WantedControl>(),
    }
}

fn name(kind: Kind) -> Parameter {
    let (description, example) = match kind {
        Kind::Carrier => ("Its name.", "acme"),
        Kind::Account => ("Its name.", "shop"),
        Kind::Connection => ("Its name.", "shop-http"),
        Kind::Screen => ("Its name.", "short-links"),
        Kind::Control => ("Its name.", "shop-day"),
        Kind::Key => ("The key.", "shop-key-1"),
        Kind::Route => (
            "`[ACCOUNT/]AREA[@SENDER]`: `49`, `262-01`, `mcc262`, `DE`, `*`, `shop/49@Shop`. The slash may be written as it is.",
            "49",
        ),
        Kind::Price => (
            "`[ACCOUNT/]WHAT[@FROM]`: `49`, `262-01`, `mcc262`, `DE`, `shop/49@2027-01-01`. The slash may be written as it is.",
            "shop/49@2027-01-01",
        ),
        Kind::Sender => {
            ("`ACCOUNT/SENDER`, for everyone `*/SENDER`. The slash may be written as it is.", "shop/Shop")
        }
        Kind::Number => ("Its digits, with `/KEYWORD` behind them if it has one.", "+4915799999999"),
    };
    in_path("name", description, example).build()
}

fn id(verb: &str, kind: Kind) -> String {
    let word = kind.as_str();
    format!("{verb}{}{}", word[..1].to_uppercase(), &word[1..])
}

/// A name and what stands under it.
fn item(kind: Kind) -> ObjectBuilder {
    ObjectBuilder::new()
        .property("name", text())
        .required("name")
        .property("entry", entry(kind))
        .required("entry")
}

fn list(kind: Kind) -> Operation {
    let plural = kind.plural();
    let page = ObjectBuilder::new()
        .property("items", ArrayBuilder::new().items(item(kind)))
        .required("items")
        .property("next", ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null])))
        .required("next");
    let mut list = operation(
        &title(kind),
        &format!("list{}", title(kind)),
        &format!("List {plural}"),
        &[&["INVALID_FIELD"]],
    )
    .parameter(in_query(
        "after",
        "Only what stands behind this name: `next` of the page before.",
        text(),
        Required::False,
    ));
    if !matches!(kind, Kind::Carrier | Kind::Account) {
        list = list.parameter(in_query(
            "account",
            "Only what belongs to this account.",
            text(),
            Required::False,
        ));
    }
    list.parameter(limit(1000)).response("200", answer("A page, in order of the names.", page)).build()
}

fn with_article(kind: Kind) -> String {
    let article = if kind == Kind::Account { "an" } else { "a" };
    format!("{article} {kind}")
}

fn show(kind: Kind) -> Operation {
    operation(&title(kind), &id("get", kind), &format!("Read {}", with_article(kind)), &[&["NOT_FOUND"]])
        .parameter(name(kind))
        .response("200", answer("Secrets are left out.", item(kind)))
        .build()
}

/// What a change answers: what it did, and what stands there now.
fn changed(kind: Kind) -> AllOfBuilder {
    AllOfBuilder::new().item(item(kind)).item(of::<AppliedShape>())
}

fn put(kind: Kind) -> Operation {
    operation(
        &title(kind),
        &id("put", kind),
        &format!("Make or replace {}", with_article(kind)),
        &[&["REFUSED", "THERE_ALREADY", "INVALID_FIELD"], &WITH_BODY],
    )
    .description(Some("What follows from the name in the path can be left out of the body."))
    .parameter(name(kind))
    .parameter(only_if_new())
    .parameters(Some(unbind(kind)))
    .request_body(Some(body(given::whole(kind))))
    .response("200", answer("It was there, and is now as given.", changed(kind)))
    .response("201", answer("It was made.", changed(kind)))
    .build()
}

fn only_if_new() -> Parameter {
    ParameterBuilder::new()
        .name("If-None-Match")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "`*` makes the thing only if there is none of that name; otherwise the answer is 412.",
        ))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["*"]))))
        .build()
}

/// Only connections have binds.
fn unbind(kind: Kind) -> Option<Parameter> {
    let description = "`true` also unbinds every live bind of the connection, after a changed password above all. Binds \
                       that the change does not admit any more are unbound in any case.";
    let unbind = ParameterBuilder::new()
        .name("unbind")
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::Boolean)))
        .build();
    (kind == Kind::Connection).then_some(unbind)
}

fn patch(kind: Kind) -> Operation {
    operation(
        &title(kind),
        &id("patch", kind),
        &format!("Change fields of {}", with_article(kind)),
        &[&["NOT_FOUND", "REFUSED", "INVALID_FIELD"], &WITH_BODY],
    )
    .description(Some(
        "A JSON merge patch (RFC 7396): what is given is changed, what is null is taken away, the rest stays.",
    ))
    .parameter(name(kind))
    .parameters(Some(unbind(kind)))
    .request_body(Some(body(given::changes(kind))))
    .response("200", answer("Changed, or the same as before.", changed(kind)))
    .build()
}

fn remove(kind: Kind) -> Operation {
    let refused: &[&str] = match kind.instead_of_removing() {
        Some(_) => &["NOT_REMOVABLE"],
        None => &["NOT_FOUND", "REFUSED"],
    };
    let remove =
        operation(&title(kind), &id("delete", kind), &format!("Remove {}", with_article(kind)), &[refused]);
    let remove = remove.parameter(name(kind));
    match kind.instead_of_removing() {
        Some(_) => remove.description(Some("Always refused: messages and money refer to it.")).build(),
        None => remove.response("200", answer("It is gone.", of::<AppliedShape>())).build(),
    }
}
