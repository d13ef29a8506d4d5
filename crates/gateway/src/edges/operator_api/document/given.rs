//! What a request may give of an entry: less than the whole, because the path has said some of it, null where it has
//! nothing to say, and bare numbers where a file takes them.

use crate::provision::{Kind, schema_of};
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{Object, OneOfBuilder, RefOr, Schema, Type};

/// The fields of an entry that must stand in the body of a `PUT`: all that are needed and do not follow from the name.
pub(super) fn whole(kind: Kind) -> RefOr<Schema> {
    let in_path = match kind {
        Kind::Carrier | Kind::Account | Kind::Connection | Kind::Screen | Kind::Control => "name",
        Kind::Key => "key",
        // A price is known by what it is for, and none of that is needed alone.
        Kind::Route | Kind::Price => "prefix",
        Kind::Sender => "sender",
        Kind::Number => "number",
    };
    asked_for(kind, |field| field != in_path)
}

/// The fields a `PATCH` may change: any of them, none of them needed.
pub(super) fn changes(kind: Kind) -> RefOr<Schema> {
    asked_for(kind, |_| false)
}

fn asked_for(kind: Kind, needed: impl Fn(&str) -> bool) -> RefOr<Schema> {
    let mut schema = schema_of(kind);
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        object.required.retain(|field| needed(field));
    }
    as_in_a_file(&mut schema);
    schema
}

/// Amounts and MCCs: texts of digits, which may be written without quotes where they are whole.
const OF_DIGITS: [&str; 2] = [r"^[0-9]+(\.[0-9]{1,6})?$", "^[0-9]{3}$"];

/// Whatever may be left out may be null as well, which means the same; and a text of digits may be a number.
pub(super) fn as_in_a_file(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(Object { properties, required, .. })) = schema else { return };
    for (name, field) in properties.iter_mut() {
        if let RefOr::T(Schema::Object(object)) = field
            && object.pattern.as_deref().is_some_and(|pattern| OF_DIGITS.contains(&pattern))
        {
            object.schema_type = or_also(std::mem::take(&mut object.schema_type), Type::Integer);
            object.minimum = Some(0.into());
        }
        if !required.contains(name) {
            *field = or_null(std::mem::take(field));
        }
    }
}

fn or_null(field: RefOr<Schema>) -> RefOr<Schema> {
    match field {
        RefOr::T(Schema::Object(mut object)) => {
            object.schema_type = or_also(object.schema_type, Type::Null);
            object.into()
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.schema_type = or_also(array.schema_type, Type::Null);
            array.into()
        }
        // A choice that has null already.
        RefOr::T(Schema::OneOf(choice)) if choice.items.iter().any(is_null) => RefOr::T(choice.into()),
        other => OneOfBuilder::new().item(Object::with_type(Type::Null)).item(other).into(),
    }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == Type::Null.into())
}

fn or_also(given: SchemaType, also: Type) -> SchemaType {
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
