//! Exchange rate entries: what one unit of a currency is worth in another, from a day on.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::{NameForm, ReadName};
use crate::entry::{names, values};
use crate::kind::Kind;
use crate::refusal::ProvisionResult;
use hermod_domain::catalogue::ExchangeRateEntry;
use hermod_domain::exchange::{CurrencyPair, ExchangeRate};
use hermod_domain::money::Currency;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One unit of `base` is worth `rate` of `quote`. The reverse follows from it; rates are not chained.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ExchangeRate)]
pub struct WantedExchangeRate {
    /// A code of ISO 4217.
    #[schema(value_type = String, pattern = "^[A-Z]{3}$", examples("USD"))]
    pub base: Currency,
    /// A code of ISO 4217.
    #[schema(value_type = String, pattern = "^[A-Z]{3}$", examples("EUR"))]
    pub quote: Currency,
    /// With at most ten decimals, in quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = String, pattern = r"^[0-9]{1,9}(\.[0-9]{1,10})?$", examples("0.9214"))]
    pub rate: Option<ExchangeRate>,
    #[serde(default, with = "values::when", skip_serializing_if = "Option::is_none")]
    /// Valid from this day or time on. Earlier days keep the rate that they had.
    #[schema(value_type = Option<String>, examples("2027-01-01"))]
    pub from: Option<Timestamp>,
}

impl FileEntry for WantedExchangeRate {
    const KIND: Kind = Kind::ExchangeRate;
    const ABOUT: &'static str = "Exchange rates, for comparing prices with costs in other currencies. No customer is charged by them.";
    const NAME_FORM: NameForm = NameForm {
        form: "`BASE-QUOTE[@FROM]`: `USD-EUR`, `USD-EUR@2027-01-01`.",
        example: "USD-EUR@2027-01-01",
        expected: "expected two currencies such as USD-EUR, with @DAY after them for the first day of the rate",
    };
    const IN_NAME: &'static [&'static str] = &["base", "quote", "from"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Money;
    type Document = ExchangeRateEntry;

    fn name(&self) -> String {
        names::of_exchange_rate(CurrencyPair { base: self.base, quote: self.quote }, self.from)
    }

    fn read_name(name: &str) -> Option<ReadName> {
        names::read_exchange_rate(name)
    }

    fn document(
        &self,
        _: &mut Draft<'_>,
        _: Option<&ExchangeRateEntry>,
    ) -> ProvisionResult<ExchangeRateEntry> {
        let WantedExchangeRate { base, quote, rate, from } = self;
        let what = format!("exchange rate \"{}\"", self.name());
        Ok(ExchangeRateEntry {
            base: *base,
            quote: *quote,
            rate: required(rate, &what, "rate")?,
            from: *from,
        })
    }

    fn shown(_: &str, document: ExchangeRateEntry, _: &EntryNames) -> WantedExchangeRate {
        let ExchangeRateEntry { base, quote, rate, from } = document;
        WantedExchangeRate { base, quote, rate: Some(rate), from }
    }
}
