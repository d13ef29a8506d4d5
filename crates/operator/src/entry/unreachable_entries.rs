//! Warns about prices and routes that match no number, because the number data lacks their network.

use crate::entry::documents;
use hermod_domain::area::Area;
use hermod_domain::numbers::{Country, Mcc, Network, Numbers, country_of_mcc};
use hermod_domain::prefix::Prefix;
use hermod_store::CatalogueRow;
use serde::Deserialize;

/// The fields of an entry that is about an area.
#[derive(Deserialize)]
struct AreaFields {
    prefix: Option<Prefix>,
    network: Option<Network>,
    mcc: Option<Mcc>,
    country: Option<Country>,
}

/// Returns a warning about an entry that matches nothing, with an alternative.
pub(crate) fn warning(row: &CatalogueRow) -> Option<String> {
    let AreaFields { prefix, network, mcc, country } = documents::read(row).ok()?;
    let area = Area::one_of(prefix, network, mcc, country)?;
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
