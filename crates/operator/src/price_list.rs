//! Price list entries: named lists of prices in one currency, which accounts use instead of the general prices.

use crate::entry::checks;
use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::NameForm;
use crate::kind::Kind;
use crate::refusal::ProvisionResult;
use hermod_domain::catalogue::PriceListEntry;
use hermod_domain::money::Currency;
use hermod_domain::operator_role::OperatorPermission;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A price list. Its prices name it; accounts that name it pay them.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PriceList)]
pub struct WantedPriceList {
    #[serde(deserialize_with = "checks::name")]
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$", examples("standard"))]
    pub name: String,
    /// The currency of its prices, a code of ISO 4217. Accounts that name the list have their balance in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = String, pattern = "^[A-Z]{3}$", examples("EUR"))]
    pub currency: Option<Currency>,
}

impl FileEntry for WantedPriceList {
    const KIND: Kind = Kind::PriceList;
    const ABOUT: &'static str = "Price lists: prices in one currency, for the accounts that name the list. Removed only without prices and accounts.";
    const NAME_FORM: NameForm = NameForm::of_word("The name of the price list.", "standard");
    const IS_REFERRED_TO: bool = true;
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Money;
    type Document = PriceListEntry;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn document(&self, _: &mut Draft<'_>, _: Option<&PriceListEntry>) -> ProvisionResult<PriceListEntry> {
        let WantedPriceList { name, currency } = self;
        Ok(PriceListEntry { currency: required(currency, &format!("price list \"{name}\""), "currency")? })
    }

    fn shown(name: &str, document: PriceListEntry, _: &EntryNames) -> WantedPriceList {
        let PriceListEntry { currency } = document;
        WantedPriceList { name: name.to_owned(), currency: Some(currency) }
    }
}
