//! Prices: what one part costs, by prefix, network or country, for everyone or for one account, from a day on.

use crate::provision::draft::{Draft, Entry, Names};
use crate::provision::kind::Kind;
use crate::provision::{ProvisionRefusal, names, values};
use hermod_domain::catalogue::Price;
use hermod_domain::money::Money;
use hermod_domain::numbers::{Mcc, Network};
use hermod_domain::prefix::Prefix;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What one part costs. It is for exactly one of `prefix`, `network` and `mcc`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Price)]
pub struct WantedPrice {
    #[serde(
        default,
        deserialize_with = "values::some_prefix",
        serialize_with = "values::some_prefix_text",
        skip_serializing_if = "Option::is_none"
    )]
    /// The first digits of the number; `*` is every number.
    #[schema(value_type = Option<String>, pattern = r"^(\*|[0-9]{1,15})$", examples("49"))]
    pub prefix: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// One mobile network, by its MCC and MNC.
    #[schema(value_type = Option<String>, pattern = "^[0-9]{3}-[0-9]{2,3}$")]
    pub network: Option<Network>,
    #[serde(default, deserialize_with = "values::some_mcc", skip_serializing_if = "Option::is_none")]
    /// Every network of a country, by its MCC.
    #[schema(value_type = Option<String>, pattern = "^[0-9]{3}$")]
    pub mcc: Option<Mcc>,
    #[serde(deserialize_with = "values::amount")]
    /// In the account's currency.
    #[schema(value_type = String, pattern = r"^[0-9]+(\.[0-9]{1,6})?$", examples("0.05"))]
    pub per_part: Money,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// For this account only.
    pub account: Option<String>,
    #[serde(
        default,
        deserialize_with = "values::when",
        serialize_with = "values::when_text",
        skip_serializing_if = "Option::is_none"
    )]
    /// In force from this day or time on.
    #[schema(value_type = Option<String>, examples("2027-01-01"))]
    pub from: Option<Timestamp>,
}

impl Entry for WantedPrice {
    const KIND: Kind = Kind::Price;
    type Document = Price;

    fn name(&self) -> String {
        let what = match (self.prefix, self.network, self.mcc) {
            (Some(prefix), ..) => names::of_prefix(prefix),
            (None, Some(network), _) => network.to_string(),
            (None, None, Some(mcc)) => format!("{}{mcc}", names::MCC),
            (None, None, None) => "?".to_owned(),
        };
        let owner = self.account.as_ref().map(|account| format!("{account}/")).unwrap_or_default();
        let from = self.from.map(|from| format!("@{}", values::when_shown(from))).unwrap_or_default();
        format!("{owner}{what}{from}")
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&Price>) -> Result<Price, ProvisionRefusal> {
        let WantedPrice { prefix, network, mcc, per_part, account, from } = self;
        let what = format!("price \"{}\"", self.name());
        if [prefix.is_some(), network.is_some(), mcc.is_some()].iter().filter(|said| **said).count() != 1 {
            return Err(ProvisionRefusal::about(&what, "is for exactly one of prefix, network and mcc"));
        }
        let account = draft.find_account(account.as_deref(), &what)?;
        Ok(Price { account, prefix: *prefix, network: *network, mcc: *mcc, per_part: *per_part, from: *from })
    }

    fn shown(_: &str, document: Price, names: &Names) -> WantedPrice {
        let Price { account, prefix, network, mcc, per_part, from } = document;
        let account = account.map(|account| names.of(Kind::Account, account.get()));
        WantedPrice { prefix, network, mcc, per_part, account, from }
    }
}
