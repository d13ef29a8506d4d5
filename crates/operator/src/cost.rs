//! Cost entries: what a carrier asks for a part by prefix, network, MCC or country, from a day on.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::{NameForm, ReadName};
use crate::entry::{names, values};
use crate::kind::Kind;
use crate::price::{check_end, open_amount};
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::area::Area;
use hermod_domain::catalogue::Cost;
use hermod_domain::cost::{CostBasis, SenderClass};
use hermod_domain::ids::CarrierId;
use hermod_domain::money::{Currency, Money};
use hermod_domain::numbers::{Country, Mcc, Network};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::prefix::Prefix;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a carrier asks for one part. Needs exactly one of `prefix`, `network`, `mcc` and `country`, and `per_part` or
/// `closed = true`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Cost)]
pub struct WantedCost {
    #[schema(examples("north"))]
    pub carrier: String,
    #[serde(default, with = "values::prefix", skip_serializing_if = "Option::is_none")]
    /// The first digits of the number; `*` is every number.
    #[schema(value_type = Option<String>, pattern = r"^(\*|[0-9]{1,15})$", examples("49"))]
    pub prefix: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// One mobile network, by its MCC and MNC.
    #[schema(value_type = Option<String>, pattern = "^[0-9]{3}-[0-9]{2,3}$")]
    pub network: Option<Network>,
    #[serde(default, deserialize_with = "values::some_mcc", skip_serializing_if = "Option::is_none")]
    /// The networks of a mobile country code. The number data lacks many; prefer `country`.
    #[schema(value_type = Option<String>, pattern = "^[0-9]{3}$")]
    pub mcc: Option<Mcc>,
    #[serde(default, deserialize_with = "values::some_country", skip_serializing_if = "Option::is_none")]
    /// Every number of a country, by its two-letter code.
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z]{2}$", examples("DE"))]
    pub country: Option<Country>,
    /// For sender IDs of this kind: names, or numbers and short codes. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(alphanumeric|number)$")]
    pub sender_kind: Option<SenderClass>,
    #[serde(default, deserialize_with = "values::amount", skip_serializing_if = "Option::is_none")]
    /// Required, unless `closed` replaces it.
    #[schema(value_type = String, pattern = r"^[0-9]+(\.[0-9]{1,6})?$", examples("0.031"))]
    pub per_part: Option<Money>,
    /// The carrier does not deliver there, although a broader area has a cost. Replaces `per_part`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// The currency of the carrier's invoice, a code of ISO 4217.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = String, pattern = "^[A-Z]{3}$", examples("EUR"))]
    pub currency: Option<Currency>,
    /// What the carrier counts: parts that were submitted, or those that were delivered.
    #[serde(default)]
    #[schema(value_type = String, pattern = "^(submit|delivered)$", examples("submit"))]
    pub basis: CostBasis,
    #[serde(default, with = "values::when", skip_serializing_if = "Option::is_none")]
    /// Valid from this day or time on.
    #[schema(value_type = Option<String>, examples("2027-01-01"))]
    pub from: Option<Timestamp>,
    #[serde(default, with = "values::when", skip_serializing_if = "Option::is_none")]
    /// No longer valid from this day or time on. An earlier cost without an end then applies again.
    #[schema(value_type = Option<String>, examples("2027-02-01"))]
    pub until: Option<Timestamp>,
}

impl FileEntry for WantedCost {
    const KIND: Kind = Kind::Cost;
    const ABOUT: &'static str =
        "What carriers ask for one part. A network precedes the longest prefix, which precedes the country.";
    const NAME_FORM: NameForm = NameForm {
        form: "`CARRIER/AREA[:SENDER_KIND][@FROM]`: `north/49`, `north/262-01:alphanumeric`, `north/DE@2027-01-01`.",
        example: "north/262-01@2027-01-01",
        expected: "expected CARRIER/ and 49, 262-01, mcc262, DE or *, with :alphanumeric or :number after it for senders of one \
                   kind, and @DAY for its first day",
    };
    const IN_NAME: &'static [&'static str] =
        &["carrier", "prefix", "network", "mcc", "country", "sender_kind", "from"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Money;
    type Document = Cost;

    fn name(&self) -> String {
        names::of_cost(&self.carrier, self.area(), self.sender_kind, self.from)
    }

    fn read_name(name: &str) -> Option<ReadName> {
        names::read_cost(name)
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&Cost>) -> ProvisionResult<Cost> {
        let WantedCost { carrier, prefix, network, mcc, country, sender_kind, .. } = self;
        let WantedCost { per_part, closed, currency, basis, from, until, .. } = self;
        let what = format!("cost \"{}\"", self.name());
        if self.area().is_none() {
            return Err(ProvisionRefusal::about(&what, names::ONE_AREA));
        }
        check_end(*from, *until, &what)?;
        Ok(Cost {
            carrier: CarrierId::new(draft.find(Kind::Carrier, carrier, &what)?),
            prefix: *prefix,
            network: *network,
            mcc: *mcc,
            country: *country,
            sender_kind: *sender_kind,
            per_part: open_amount(per_part, *closed, &what)?,
            currency: required(currency, &what, "currency")?,
            basis: *basis,
            from: *from,
            until: *until,
        })
    }

    fn shown(_: &str, document: Cost, names: &EntryNames) -> WantedCost {
        let Cost { carrier, prefix, network, mcc, country, sender_kind, .. } = document;
        let Cost { per_part, currency, basis, from, until, .. } = document;
        WantedCost {
            carrier: names.of(Kind::Carrier, carrier.get()),
            prefix,
            network,
            mcc,
            country,
            sender_kind,
            per_part,
            closed: per_part.is_none(),
            currency: Some(currency),
            basis,
            from,
            until,
        }
    }
}

impl WantedCost {
    fn area(&self) -> Option<Area> {
        Area::one_of(self.prefix, self.network, self.mcc, self.country)
    }
}
