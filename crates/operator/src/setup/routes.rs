//! Routes about the catalogue: provision files, and the same five routes for each kind of entry.

use crate::author::Acting;
use crate::csv_table::CsvFile;
use crate::entry::views::{AppliedView, ApplyQuery, ExportQuery, ImportQuery};
use crate::export::TextFile;
use crate::http::body::{RawBody, TOML};
use crate::http::caller::Caller;
use crate::http::response::CSV;
use crate::http::routes::{Doc, Routes, doc, in_path, text};
use crate::http::use_case::{Call, Described, Input, OfRequest, WITH_BODY, json_body};
use crate::kind::Kind;
use crate::refusal::{OperatorRefusal, Result};
use crate::rotation;
use crate::setup::csv_file::FileOfKind;
use crate::setup::file_entries::{EXAMPLE_TOML, WantedSetup};
use crate::setup::json::wanted_whole;
use crate::setup::schemas::{capitalized, entry_ref, fields_ref, page_ref, put_body, saved_ref};
use crate::setup::use_cases::{
    IfExists, apply_file, export_entries, export_setup, import_entries, kinds_named, list_entries,
    patch_entry, put_entry, remove_entry, show_entry,
};
use axum::http::header;
use hermod_domain::operator_role::OperatorPermission;
use hermod_gateway::config::Source;
use hermod_gateway::gateway::Gateway;
use serde_json::json;
use utoipa::ToSchema as _;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, Ref, Required};

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Provision files", "Many entries in one request.");
    routes.post("/apply", apply_permitted, apply_doc().least(OperatorPermission::Changes));
    routes.get("/export", export_permitted, export_doc().least(OperatorPermission::Personal));
    for kind in Kind::ALL {
        routes.section(&title(kind), kind.about());
        routes_of_kind(routes, kind);
    }
}

fn routes_of_kind(routes: &mut Routes, kind: Kind) {
    let (all, one) = (format!("/{}", kind.path()), entry_path(kind));
    let (to_read, to_change) = (kind.read_with(), kind.changed_with());
    routes.get(&all, list_entries, list_doc(kind).least(to_read));
    routes.get(&one, show_entry, show_doc(kind).least(to_read));
    routes.put(&one, put_entry, put_doc(kind).least(to_change));
    routes.patch(&one, patch_entry, patch_doc(kind).least(to_change));
    routes.delete(&one, remove_entry, remove_doc(kind).least(to_change));
    rotation::route_of(kind, routes, name(kind));
    let file = format!("{all}.csv");
    let to_export =
        if to_read == OperatorPermission::Reading { OperatorPermission::Personal } else { to_read };
    routes.get(&file, export_entries, export_entries_doc(kind).least(to_export));
    routes.post(&file, import_permitted, import_entries_doc(kind).least(to_change));
}

/// Exports the kinds that the caller may read, or those that are named if the caller may read them all.
async fn export_permitted(gateway: &Gateway, caller: &Caller, query: ExportQuery) -> Result<TextFile> {
    let kinds = match &query.kinds {
        Some(names) => kinds_named(names)?,
        None => Kind::ALL.into_iter().filter(|kind| caller.may(kind.read_with())).collect(),
    };
    kinds.iter().try_for_each(|kind| caller.expect(kind.read_with()))?;
    export_setup(gateway, &kinds, &query).await
}

/// Applies a provision file if the caller may change every kind that it has.
async fn apply_permitted(
    gateway: &Acting,
    caller: &Caller,
    query: &ApplyQuery,
    wanted: WantedSetup,
) -> Result<AppliedView> {
    wanted.permissions().try_for_each(|permission| caller.expect(permission))?;
    apply_file(gateway, query, wanted).await
}

/// Imports a CSV file if the caller may change every field that it has.
async fn import_permitted(
    gateway: &Acting,
    caller: &Caller,
    kind: Kind,
    query: &ImportQuery,
    file: CsvFile,
) -> Result<AppliedView> {
    let file = FileOfKind::read(kind, &file.0)?;
    file.wanted.permissions().try_for_each(|permission| caller.expect(permission))?;
    import_entries(gateway, query, file).await
}

/// Names with a slash may be written as they are.
fn entry_path(kind: Kind) -> String {
    let name = if kind.has_slashes_in_names() { "{*name}" } else { "{name}" };
    format!("/{}/{name}", kind.path())
}

/// A provision file as TOML or JSON.
impl Input<OfRequest> for WantedSetup {
    type Pointer = Box<WantedSetup>;

    fn describe(described: &mut Described) {
        described.errors.extend(WITH_BODY);
    }

    fn take(call: &mut Call) -> Result<Box<WantedSetup>> {
        parse_file(call.body()).map(Box::new)
    }
}

fn parse_file(body: &RawBody) -> Result<WantedSetup> {
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
    Ok(wanted_whole(object)?)
}

/// Reads `If-None-Match: *`, which creates and never replaces. There are no entity tags, so no other value is valid.
impl Input<OfRequest> for IfExists {
    type Pointer = Box<IfExists>;

    fn take(call: &mut Call) -> Result<Box<IfExists>> {
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
             is applied, or nothing. The role must permit to change every kind of entry in the file.",
        )
        .body(body.build())
        .errors(&["INVALID_TOML", "REFUSED", "NOT_REMOVABLE"])
}

fn export_doc() -> Doc {
    doc("export", "Export a provision file", "The setup in force.")
        .details(
            "All entries, in an order that is always the same, without secrets. `POST /apply` of the file changes nothing here; on \
             an empty store it makes the same entries, except that carriers need their passwords.",
        )
        .errors(&["NOT_FOUND"])
        .media(TOML)
}

fn export_entries_doc(kind: Kind) -> Doc {
    let (id, summary) = (format!("export{}", title(kind)), format!("Export {} as CSV", kind.in_words()));
    let doc = doc(id, summary, "A CSV file, in the order of the names.")
        .details(
            "A column for each field but secrets. Lists have commas, tables colons, or both are as in TOML. Texts that a \
             spreadsheet would run as a formula have an apostrophe in front, which an import takes away again.",
        )
        .media(CSV);
    if kind.owner_field().is_some() { doc } else { doc.without("account") }
}

fn import_entries_doc(kind: Kind) -> Doc {
    let (id, summary) = (format!("import{}", title(kind)), format!("Import {} from CSV", kind.in_words()));
    doc(id, summary, "What changed, or would change.")
        .details(
            "Creates and changes entries, and removes none. The first line names the columns, in any order. Fields without a \
             column keep their value; an empty cell removes an optional field and leaves any other as it is. All of the file is \
             applied, or nothing.",
        )
        .errors(&["REFUSED"])
}

fn list_doc(kind: Kind) -> Doc {
    let doc = doc(
        format!("list{}", title(kind)),
        format!("List {}", kind.in_words()),
        "A page, in the order of the names.",
    );
    let doc = doc.response(page_ref(kind));
    if kind.owner_field().is_some() { doc } else { doc.without("account") }
}

fn show_doc(kind: Kind) -> Doc {
    doc(id("get", kind), format!("Read {}", kind.with_article()), "The entry, without secrets.")
        .parameter(name(kind))
        .response(entry_ref(kind))
        .errors(&["NOT_FOUND"])
}

fn put_doc(kind: Kind) -> Doc {
    let summary = format!("Create or replace {}", kind.with_article());
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
        format!("Change fields of {}", kind.with_article()),
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
    let doc = doc(id("delete", kind), format!("Remove {}", kind.with_article()), "It was removed.")
        .parameter(name(kind));
    match kind.instead_of_removing() {
        Some(_) => {
            let details = "Only an entry that was never used can be removed. Close or disable one that messages or money refer to.";
            doc.details(details).errors(&["NOT_FOUND", "REFUSED", "NOT_REMOVABLE"])
        }
        None => doc.errors(&["NOT_FOUND", "REFUSED"]),
    }
}

fn name(kind: Kind) -> Parameter {
    let (form, example) = kind.name_form();
    let as_it_is = if kind.has_slashes_in_names() { " The slash may be written as it is." } else { "" };
    in_path("name", &format!("{form}{as_it_is}"), example).build()
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
