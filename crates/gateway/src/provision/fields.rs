//! The fields of each kind of entry, from the same schema as the documentation.

use crate::provision::account::WantedAccount;
use crate::provision::api_key::WantedKey;
use crate::provision::carrier::WantedCarrier;
use crate::provision::connection::WantedConnection;
use crate::provision::control::WantedControl;
use crate::provision::inbound_number::WantedNumber;
use crate::provision::kind::Kind;
use crate::provision::operator::WantedOperator;
use crate::provision::price::WantedPrice;
use crate::provision::route::WantedRoute;
use crate::provision::screen::WantedScreen;
use crate::provision::sender::WantedSender;
use crate::provision::user::WantedUser;
use std::collections::BTreeMap;
use utoipa::openapi::schema::ArrayItems;
use utoipa::openapi::{Object, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Returns the schema of an entry of this kind.
pub fn schema_of(kind: Kind) -> RefOr<Schema> {
    match kind {
        Kind::Carrier => WantedCarrier::schema(),
        Kind::Route => WantedRoute::schema(),
        Kind::Price => WantedPrice::schema(),
        Kind::Account => WantedAccount::schema(),
        Kind::Sender => WantedSender::schema(),
        Kind::Number => WantedNumber::schema(),
        Kind::Connection => WantedConnection::schema(),
        Kind::Key => WantedKey::schema(),
        Kind::Screen => WantedScreen::schema(),
        Kind::Control => WantedControl::schema(),
        Kind::User => WantedUser::schema(),
        Kind::Operator => WantedOperator::schema(),
    }
}

pub(super) fn has_field(kind: Kind, field: &str) -> bool {
    let RefOr::T(Schema::Object(entry)) = schema_of(kind) else { return false };
    entry.properties.contains_key(field)
}

/// Whether a table inside a field has the field `inner`.
pub(super) fn has_inner_field(kind: Kind, field: &str, inner: &str) -> bool {
    let RefOr::T(Schema::Object(entry)) = schema_of(kind) else { return false };
    let Some(schema) = entry.properties.get(field) else { return false };
    let named: Named = schemas_inside(kind).into_iter().collect();
    let mut tables = Vec::new();
    tables_in(schema, &named, &mut tables);
    tables.iter().any(|table| table.properties.contains_key(inner))
}

type Named = BTreeMap<String, RefOr<Schema>>;

fn tables_in<'a>(schema: &'a RefOr<Schema>, named: &'a Named, tables: &mut Vec<&'a Object>) {
    match schema {
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
            named.get(name).into_iter().for_each(|schema| tables_in(schema, named, tables));
        }
        RefOr::T(Schema::Object(object)) => tables.push(object),
        RefOr::T(Schema::OneOf(choice)) => {
            choice.items.iter().for_each(|schema| tables_in(schema, named, tables));
        }
        RefOr::T(Schema::Array(list)) => {
            if let ArrayItems::RefOrSchema(items) = &list.items {
                tables_in(items, named, tables);
            }
        }
        RefOr::T(_) => {}
    }
}

/// Returns the schemas of the tables inside an entry.
fn schemas_inside(kind: Kind) -> Vec<(String, RefOr<Schema>)> {
    let mut inside = Vec::new();
    match kind {
        Kind::Carrier => WantedCarrier::schemas(&mut inside),
        Kind::Route => WantedRoute::schemas(&mut inside),
        Kind::Price => WantedPrice::schemas(&mut inside),
        Kind::Account => WantedAccount::schemas(&mut inside),
        Kind::Sender => WantedSender::schemas(&mut inside),
        Kind::Number => WantedNumber::schemas(&mut inside),
        Kind::Connection => WantedConnection::schemas(&mut inside),
        Kind::Key => WantedKey::schemas(&mut inside),
        Kind::Screen => WantedScreen::schemas(&mut inside),
        Kind::Control => WantedControl::schemas(&mut inside),
        Kind::User => WantedUser::schemas(&mut inside),
        Kind::Operator => WantedOperator::schemas(&mut inside),
    }
    inside
}
