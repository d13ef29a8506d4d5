//! Carriers: the upstream SMSCs that messages are handed to.

use crate::config::Period;
use crate::provision::checks;
use crate::provision::draft::{Draft, Entry, Names};
use crate::provision::kind::Kind;
use crate::provision::{ProvisionRefusal, values};
use crate::sealed;
use crate::secrets::Secret;
use hermod_domain::catalogue::Carrier;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedCarrier {
    #[serde(deserialize_with = "checks::name")]
    pub name: String,
    #[serde(deserialize_with = "checks::address")]
    pub address: String,
    #[serde(deserialize_with = "checks::system_id")]
    pub system_id: String,
    /// A carrier that is there already keeps the one it has.
    #[serde(
        default,
        deserialize_with = "checks::smpp_password",
        serialize_with = "values::hidden",
        skip_serializing_if = "Option::is_none"
    )]
    pub password: Option<Secret>,
    #[serde(default, deserialize_with = "checks::system_type", skip_serializing_if = "String::is_empty")]
    pub system_type: String,
    #[serde(deserialize_with = "checks::window")]
    pub window: u16,
    #[serde(deserialize_with = "checks::rate")]
    pub rate: u32,
    #[serde(default = "one_minute", deserialize_with = "checks::link_wait")]
    pub response_timeout: Period,
    #[serde(default = "thirty_seconds", deserialize_with = "checks::link_wait")]
    pub enquire_link: Period,
    #[serde(default)]
    pub disabled: bool,
}

impl Entry for WantedCarrier {
    const KIND: Kind = Kind::Carrier;
    type Document = Carrier;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn document(&self, draft: &mut Draft<'_>, before: Option<&Carrier>) -> Result<Carrier, ProvisionRefusal> {
        let WantedCarrier {
            name,
            address,
            system_id,
            password,
            system_type,
            window,
            rate,
            response_timeout,
            enquire_link,
            disabled,
        } = self;
        let given = password.as_ref().map(|password| sealed::seal(draft.pepper, name, password));
        let kept = || before.map(|before| before.password.clone());
        let password = given.or_else(kept).ok_or_else(|| {
            let sentence = "is new and has no password; an empty one is written \"\"";
            ProvisionRefusal::about(&format!("carrier \"{name}\""), sentence)
        })?;
        Ok(Carrier {
            address: address.clone(),
            system_id: system_id.clone(),
            password,
            system_type: system_type.clone(),
            window: *window,
            parts_per_second: *rate,
            response_timeout_ms: whole_ms(response_timeout.0),
            enquire_link_ms: whole_ms(enquire_link.0),
            disabled: *disabled,
        })
    }

    fn shown(name: &str, document: Carrier, _: &Names) -> WantedCarrier {
        let Carrier {
            address,
            system_id,
            password: _,
            system_type,
            window,
            parts_per_second,
            response_timeout_ms,
            enquire_link_ms,
            disabled,
        } = document;
        WantedCarrier {
            name: name.to_owned(),
            address,
            system_id,
            password: None,
            system_type,
            window,
            rate: parts_per_second,
            response_timeout: Period(Duration::from_millis(response_timeout_ms)),
            enquire_link: Period(Duration::from_millis(enquire_link_ms)),
            disabled,
        }
    }

    fn secret_changed(before: &Carrier, after: &Carrier) -> Option<&'static str> {
        (before.password != after.password).then_some("password")
    }
}

fn one_minute() -> Period {
    Period::from_secs(60)
}

fn thirty_seconds() -> Period {
    Period::from_secs(30)
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("checked when it was read")
}
