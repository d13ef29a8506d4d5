//! Rate profile entries: how the rate sheets of a carrier are read.

use crate::entry::checks;
use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry};
use crate::entry::names::NameForm;
use crate::kind::Kind;
use crate::refusal::ProvisionResult;
use hermod_domain::cost::{CostBasis, SenderClass};
use hermod_domain::ids::CarrierId;
use hermod_domain::money::Currency;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::rate_profile::{
    DateOrder, DecimalSign, PriceUnit, RateProfile, SheetColumns, SheetMode, UtcOffset,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the rate sheets of a carrier are read. What it does not say is recognised in each sheet, or the sheet is refused.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RateProfile)]
pub struct WantedRateProfile {
    #[schema(examples("north"))]
    pub carrier: String,
    /// The column of countries: its header, or its position from 1, as for all columns. Default: the one with a well-known header.
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("Country"))]
    pub country_column: Option<String>,
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("MCC"))]
    pub mcc_column: Option<String>,
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("MNC"))]
    pub mnc_column: Option<String>,
    /// The column with both codes.
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("MCCMNC"))]
    pub mccmnc_column: Option<String>,
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("Prefix"))]
    pub prefix_column: Option<String>,
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("New price"))]
    pub price_column: Option<String>,
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("Currency"))]
    pub currency_column: Option<String>,
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("Valid from"))]
    pub from_column: Option<String>,
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("Valid to"))]
    pub until_column: Option<String>,
    /// The column that says what is closed.
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("Change"))]
    pub change_column: Option<String>,
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("Sender"))]
    pub sender_kind_column: Option<String>,
    /// The order of the numbers in dates. Default: recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(day-month-year|month-day-year|iso)$")]
    pub dates: Option<DateOrder>,
    /// What stands before the decimals of prices. Default: recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(point|comma)$")]
    pub decimal: Option<DecimalSign>,
    /// What prices are in: the currency, hundredths of it, or the currency for a thousand parts.
    #[serde(default)]
    #[schema(value_type = String, pattern = "^(units|cents|per-thousand)$", examples("units"))]
    pub unit: PriceUnit,
    /// `full`: destinations that a sheet does not list are closed. `partial`: they stay as they are.
    #[serde(default)]
    #[schema(value_type = String, pattern = "^(full|partial)$", examples("partial"))]
    pub mode: SheetMode,
    /// Of rows that name none, a code of ISO 4217.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[A-Z]{3}$", examples("EUR"))]
    pub currency: Option<Currency>,
    /// What the carrier counts: parts that were submitted, or those that were delivered.
    #[serde(default)]
    #[schema(value_type = String, pattern = "^(submit|delivered)$", examples("submit"))]
    pub basis: CostBasis,
    /// Of rows that name none. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(alphanumeric|number)$")]
    pub sender_kind: Option<SenderClass>,
    /// The time zone in which days begin.
    #[serde(default, deserialize_with = "checks::utc_offset")]
    #[schema(value_type = String, pattern = r"^[+-][0-9]{2}:[0-9]{2}$", examples("+00:00"))]
    pub utc_offset: UtcOffset,
    /// How many days before it a higher price has to be announced.
    #[serde(default, deserialize_with = "checks::notice_days", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 365, examples(7))]
    pub notice_days: Option<u16>,
    /// Codes have six digits, with an MNC that is filled up with zeros: 262001 is 262-01.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub six_digits: bool,
    /// The sheet of a workbook. Default: its only one.
    #[serde(default, deserialize_with = "checks::sheet_text", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100, examples("Prices"))]
    pub sheet: Option<String>,
}

impl FileEntry for WantedRateProfile {
    const KIND: Kind = Kind::RateProfile;
    const ABOUT: &'static str = "How the rate sheets of carriers are read.";
    const NAME_FORM: NameForm = NameForm::of_word("The name of the carrier.", "north");
    const IN_NAME: &'static [&'static str] = &["carrier"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Money;
    type Document = RateProfile;

    fn name(&self) -> String {
        self.carrier.clone()
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&RateProfile>) -> ProvisionResult<RateProfile> {
        let wanted = self.clone();
        let what = format!("rate profile \"{}\"", self.name());
        Ok(RateProfile {
            carrier: CarrierId::new(draft.find(Kind::Carrier, &self.carrier, &what)?),
            columns: SheetColumns {
                country: wanted.country_column,
                mcc: wanted.mcc_column,
                mnc: wanted.mnc_column,
                mccmnc: wanted.mccmnc_column,
                prefix: wanted.prefix_column,
                price: wanted.price_column,
                currency: wanted.currency_column,
                from: wanted.from_column,
                until: wanted.until_column,
                change: wanted.change_column,
                sender_kind: wanted.sender_kind_column,
            },
            dates: wanted.dates,
            decimal: wanted.decimal,
            unit: wanted.unit,
            mode: wanted.mode,
            currency: wanted.currency,
            basis: wanted.basis,
            sender_kind: wanted.sender_kind,
            utc_offset: wanted.utc_offset,
            notice_days: wanted.notice_days,
            six_digits: wanted.six_digits,
            sheet: wanted.sheet,
        })
    }

    fn shown(_: &str, document: RateProfile, names: &EntryNames) -> WantedRateProfile {
        let RateProfile { carrier, columns, dates, decimal, unit, mode, currency, .. } = document;
        let RateProfile { basis, sender_kind, utc_offset, notice_days, six_digits, sheet, .. } = document;
        WantedRateProfile {
            carrier: names.of(Kind::Carrier, carrier.get()),
            country_column: columns.country,
            mcc_column: columns.mcc,
            mnc_column: columns.mnc,
            mccmnc_column: columns.mccmnc,
            prefix_column: columns.prefix,
            price_column: columns.price,
            currency_column: columns.currency,
            from_column: columns.from,
            until_column: columns.until,
            change_column: columns.change,
            sender_kind_column: columns.sender_kind,
            dates,
            decimal,
            unit,
            mode,
            currency,
            basis,
            sender_kind,
            utc_offset,
            notice_days,
            six_digits,
            sheet,
        }
    }
}
