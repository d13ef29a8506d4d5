//! Warns about prices and routes that match no number, because the number data lacks their network.

use crate::provision::documents;
use crate::provision::kind::Kind;
use hermod_domain::area::Area;
use hermod_domain::catalogue::{Price, RouteEntry};
use hermod_domain::numbers::{Numbers, country_of_mcc};
use hermod_store::CatalogueRow;

/// Returns a warning about an entry that matches nothing, with an alternative.
pub(super) fn warning(row: &CatalogueRow) -> Option<String> {
    let area = match documents::kind_of(row).ok()? {
        Kind::Price => {
            let Price { prefix, network, mcc, country, .. } = documents::read(row).ok()?;
            Area::one_of(prefix, network, mcc, country)
        }
        Kind::Route => {
            let RouteEntry { prefix, network, mcc, country, .. } = documents::read(row).ok()?;
            Area::one_of(prefix, network, mcc, country)
        }
        Kind::Carrier
        | Kind::Account
        | Kind::Sender
        | Kind::Number
        | Kind::Connection
        | Kind::Key
        | Kind::Screen
        | Kind::Control
        | Kind::User
        | Kind::Operator => None,
    }?;
    let (what, mcc) = match area {
        Area::Mcc(mcc) if !Numbers::embedded().has_mcc(mcc) => (format!("MCC {mcc}"), mcc),
        Area::Network(network) if !Numbers::embedded().has_network(network) => {
            (format!("network {network}"), network.mcc)
        }
        Area::Mcc(_) | Area::Network(_) | Area::Prefix(_) | Area::Country(_) => return None,
    };
    let (kind, name) = (&row.kind, &row.name);
    let sentence = match country_of_mcc(mcc) {
        Some(country) => {
            let land = country.name();
            format!(
                "matches no number of {land}: the number data has no numbers of {what}. Use the country, {country}, or a prefix"
            )
        }
        None => {
            format!("matches no number: the number data has no numbers of {what}. Use a country or a prefix")
        }
    };
    Some(format!("{kind} \"{name}\" {sentence}"))
}
