//! Schemas of catalogue entries. Requests need fewer fields than an entry has, take null for a field that can be left out,
//! and take bare numbers where a provision file does.

use crate::entry::fields::{field_of, schema_of};
use crate::entry::views::AppliedView;
use crate::http::routes::text;
use crate::http::use_case::json_body;
use crate::kind::Kind;
use crate::setup::file_entries::WantedSetup;
use crate::views::paging::page_schema;
use std::collections::BTreeMap;
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{
    AllOfBuilder, Object, ObjectBuilder, OneOfBuilder, Ref, RefOr, Required, Schema, Type,
};
use utoipa::{PartialSchema, ToSchema};

type Schemas = BTreeMap<String, RefOr<Schema>>;

/// The schema of a provision file, and for each kind those of its entries, of a page, of the fields that can be changed and
/// of the result of a change.
pub(crate) fn schemas() -> Schemas {
    let mut schemas = Schemas::new();
    let mut entries = Vec::new();
    WantedSetup::schemas(&mut entries);
    schemas.insert(WantedSetup::name().into_owned(), WantedSetup::schema());
    schemas.extend(entries);
    // Each of them can be in a request, alone or in a file.
    schemas.values_mut().for_each(allow_file_forms);
    for kind in Kind::ALL {
        let title = capitalized(kind.as_str());
        let entry = ObjectBuilder::new()
            .property("name", text())
            .required("name")
            .property("entry", Ref::from_schema_name(&title))
            .required("entry");
        let saved =
            AllOfBuilder::new().item(entry_ref(kind)).item(Ref::from_schema_name(AppliedView::name()));
        schemas.insert(format!("{title}Entry"), entry.into());
        schemas.insert(format!("{title}Page"), page_schema(entry_ref(kind), String::schema()));
        schemas.insert(format!("{title}Saved"), saved.into());
        schemas.insert(format!("{title}Fields"), fields_schema(kind));
    }
    schemas
}

fn named(kind: Kind, role: &str) -> Ref {
    Ref::from_schema_name(format!("{}{role}", capitalized(kind.as_str())))
}

pub(crate) fn entry_ref(kind: Kind) -> Ref {
    named(kind, "Entry")
}

pub(crate) fn page_ref(kind: Kind) -> Ref {
    named(kind, "Page")
}

pub(crate) fn saved_ref(kind: Kind) -> Ref {
    named(kind, "Saved")
}

/// The fields that a `PATCH` may change, none of them required.
pub(crate) fn fields_ref(kind: Kind) -> Ref {
    named(kind, "Fields")
}

fn fields_schema(kind: Kind) -> RefOr<Schema> {
    let mut schema = schema_of(kind);
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        object.required.clear();
        object.description = None;
    }
    allow_file_forms(&mut schema);
    schema
}

/// The body of a `PUT`: all required fields, except those that follow from the name in the path.
pub(crate) fn put_body(kind: Kind) -> RequestBody {
    let RefOr::T(Schema::Object(Object { required, .. })) = schema_of(kind) else {
        return json_body(fields_ref(kind), Required::True);
    };
    let is_in_path = |name: &String| field_of(kind, name).is_some_and(|field| field.is_in_name);
    let needed = required.into_iter().filter(|name| !is_in_path(name));
    let needed = needed.fold(ObjectBuilder::new(), ObjectBuilder::required);
    json_body(RefOr::T(AllOfBuilder::new().item(fields_ref(kind)).item(needed).into()), Required::True)
}

/// Patterns of amounts and MCCs, whose digits may be written without quotes.
const DIGITS: [&str; 2] = [r"^[0-9]+(\.[0-9]{1,6})?$", "^[0-9]{3}$"];

/// Allows null for fields that can be left out, and bare numbers for texts of digits.
fn allow_file_forms(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(Object { properties, required, .. })) = schema else { return };
    for (name, field) in properties.iter_mut() {
        if let RefOr::T(Schema::Object(object)) = field
            && object.pattern.as_deref().is_some_and(|pattern| DIGITS.contains(&pattern))
        {
            object.schema_type = with_type(std::mem::take(&mut object.schema_type), Type::Integer);
            object.minimum = Some(0.into());
        }
        if !required.contains(name) {
            *field = with_null(std::mem::take(field));
        }
    }
}

fn with_null(field: RefOr<Schema>) -> RefOr<Schema> {
    match field {
        RefOr::T(Schema::Object(mut object)) => {
            object.schema_type = with_type(object.schema_type, Type::Null);
            object.into()
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.schema_type = with_type(array.schema_type, Type::Null);
            array.into()
        }
        RefOr::T(Schema::OneOf(choice)) if choice.items.iter().any(is_null) => RefOr::T(choice.into()),
        other => OneOfBuilder::new().item(Object::with_type(Type::Null)).item(other).into(),
    }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == Type::Null.into())
}

fn with_type(given: SchemaType, also: Type) -> SchemaType {
    match given {
        SchemaType::Type(one) => SchemaType::from_iter([one, also]),
        SchemaType::Array(mut several) => {
            if !several.contains(&also) {
                several.push(also);
            }
            SchemaType::Array(several)
        }
        SchemaType::AnyValue => SchemaType::AnyValue,
    }
}

/// `PriceList` of `price_list`.
pub(crate) fn capitalized(words: &str) -> String {
    words.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}
