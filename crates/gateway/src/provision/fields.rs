//! What fields an entry of each kind has, told by the same description that the documentation is made from.

use crate::provision::account::WantedAccount;
use crate::provision::carrier::WantedCarrier;
use crate::provision::connection::WantedConnection;
use crate::provision::control::WantedControl;
use crate::provision::key::WantedKey;
use crate::provision::kind::Kind;
use crate::provision::number::WantedNumber;
use crate::provision::price::WantedPrice;
use crate::provision::route::WantedRoute;
use crate::provision::screen::WantedScreen;
use crate::provision::sender::WantedSender;
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

/// An entry of the kind, as the documentation describes it.
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
    }
}

pub(super) fn has_field(kind: Kind, field: &str) -> bool {
    let RefOr::T(Schema::Object(entry)) = schema_of(kind) else { return false };
    entry.properties.contains_key(field)
}
