//! Traffic control entries: limits on an account's messages and spend.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry};
use crate::entry::names::NameForm;
use crate::entry::{checks, values};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::catalogue::ControlEntry;
use hermod_domain::money::Money;
use hermod_domain::numbers::Country;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::traffic::{Mode, TrafficRule};
use hermod_gateway::config::Period;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::ToSchema;

/// A traffic control with exactly one of the five limits.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Control)]
pub struct WantedControl {
    #[serde(deserialize_with = "checks::name")]
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$", examples("shop-day"))]
    pub name: String,
    /// Default: every account, each counted separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    #[serde(default = "enforce")]
    /// `enforce` rejects messages over the limit; `watch` only counts them.
    #[schema(value_type = String, pattern = "^(enforce|watch)$", examples("enforce"))]
    pub mode: Mode,
    #[serde(default, deserialize_with = "values::amount", skip_serializing_if = "Option::is_none")]
    /// Per UTC day, in the account's currency.
    #[schema(value_type = Option<String>, pattern = r"^[0-9]+(\.[0-9]{1,6})?$", examples("50"))]
    pub spend_per_day: Option<Money>,
    #[serde(default, deserialize_with = "checks::messages", skip_serializing_if = "Option::is_none")]
    /// Per UTC day.
    #[schema(minimum = 1)]
    pub messages_per_day: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// Messages to one number.
    pub per_recipient: Option<Most>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// Messages to numbers that differ only in the last four digits.
    pub per_range: Option<Most>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// Messages to one country, except the listed ones.
    pub per_country: Option<MostAbroad>,
}

/// At most `most` messages per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Most {
    #[serde(deserialize_with = "checks::most")]
    #[schema(minimum = 1)]
    pub most: u32,
    #[serde(deserialize_with = "checks::velocity_period")]
    #[schema(value_type = String, examples("10m"))]
    pub per: Period,
}

/// At most `most` messages to a country per period, except the listed countries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MostAbroad {
    #[serde(deserialize_with = "checks::most")]
    #[schema(minimum = 1)]
    pub most: u32,
    #[serde(deserialize_with = "checks::velocity_period")]
    #[schema(value_type = String, examples("1h"))]
    pub per: Period,
    /// Countries without this limit, by two-letter code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub except: Vec<Country>,
}

impl MostAbroad {
    pub(crate) fn of(most: u32, per_ms: u64, except: Vec<Country>) -> MostAbroad {
        MostAbroad { most, per: Period(Duration::from_millis(per_ms)), except }
    }
}

impl Most {
    fn per_ms(self) -> u64 {
        u64::try_from(self.per.0.as_millis()).expect("checked when it was read")
    }

    fn of(most: u32, per_ms: u64) -> Most {
        Most { most, per: Period(Duration::from_millis(per_ms)) }
    }
}

impl FileEntry for WantedControl {
    const KIND: Kind = Kind::Control;
    const ABOUT: &'static str = "Traffic controls: limits on messages and spend.";
    const NAME_FORM: NameForm = NameForm::of_word("The name of the traffic control.", "shop-day");
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Operations;
    type Document = ControlEntry;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&ControlEntry>) -> ProvisionResult<ControlEntry> {
        let WantedControl {
            name,
            account,
            mode,
            spend_per_day,
            messages_per_day,
            per_recipient,
            per_range,
            per_country,
        } = self;
        let what = format!("control \"{name}\"");
        let rule = match (spend_per_day, messages_per_day, per_recipient, per_range, per_country) {
            (Some(most), None, None, None, None) => TrafficRule::SpendPerDay { most: *most },
            (None, Some(most), None, None, None) => TrafficRule::MessagesPerDay { most: *most },
            (None, None, Some(limit), None, None) => {
                TrafficRule::PerRecipient { most: limit.most, per_ms: limit.per_ms() }
            }
            (None, None, None, Some(limit), None) => {
                TrafficRule::PerRange { most: limit.most, per_ms: limit.per_ms() }
            }
            (None, None, None, None, Some(limit)) => {
                let per_ms = Most { most: limit.most, per: limit.per }.per_ms();
                TrafficRule::PerCountry { most: limit.most, per_ms, except: limit.except.clone() }
            }
            _ => {
                let sentence = "has exactly one of spend_per_day, messages_per_day, per_recipient, per_range and \
                                per_country";
                return Err(ProvisionRefusal::about(&what, sentence));
            }
        };
        Ok(ControlEntry { account: draft.find_account(account.as_deref(), &what)?, mode: *mode, rule })
    }

    fn shown(name: &str, document: ControlEntry, names: &EntryNames) -> WantedControl {
        let ControlEntry { account, mode, rule } = document;
        let mut shown = WantedControl {
            name: name.to_owned(),
            account: account.map(|account| names.of(Kind::Account, account.get())),
            mode,
            spend_per_day: None,
            messages_per_day: None,
            per_recipient: None,
            per_range: None,
            per_country: None,
        };
        match rule {
            TrafficRule::SpendPerDay { most } => shown.spend_per_day = Some(most),
            TrafficRule::MessagesPerDay { most } => shown.messages_per_day = Some(most),
            TrafficRule::PerRecipient { most, per_ms } => shown.per_recipient = Some(Most::of(most, per_ms)),
            TrafficRule::PerRange { most, per_ms } => shown.per_range = Some(Most::of(most, per_ms)),
            TrafficRule::PerCountry { most, per_ms, except } => {
                shown.per_country = Some(MostAbroad::of(most, per_ms, except));
            }
        }
        shown
    }
}

fn enforce() -> Mode {
    Mode::Enforce
}
