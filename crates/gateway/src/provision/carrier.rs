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
use utoipa::ToSchema;

/// An upstream SMSC.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Carrier)]
pub struct WantedCarrier {
    #[serde(deserialize_with = "checks::name")]
    #[schema(examples("acme"))]
    pub name: String,
    /// `host:port` of its SMPP 3.4 server.
    #[serde(deserialize_with = "checks::address")]
    #[schema(examples("smsc.example:2775"))]
    pub address: String,
    #[serde(deserialize_with = "checks::system_id")]
    #[schema(max_length = 15)]
    pub system_id: String,
    /// A carrier that is there already keeps the one it has.
    #[serde(
        default,
        deserialize_with = "checks::smpp_password",
        serialize_with = "values::hidden",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<String>, write_only, max_length = 8)]
    pub password: Option<Secret>,
    #[serde(default, deserialize_with = "checks::system_type", skip_serializing_if = "String::is_empty")]
    pub system_type: String,
    /// Parts sent and not answered yet, at most.
    #[serde(deserialize_with = "checks::window")]
    #[schema(minimum = 1, maximum = 10000)]
    pub window: u16,
    /// Parts per second, at most.
    #[serde(deserialize_with = "checks::rate")]
    #[schema(minimum = 1, maximum = 1000000)]
    pub rate: u32,
    /// After this long without an answer a part is in doubt.
    #[serde(default = "one_minute", deserialize_with = "checks::link_wait")]
    #[schema(value_type = String, examples("60s"))]
    pub response_timeout: Period,
    /// A link without traffic is probed this often.
    #[serde(default = "thirty_seconds", deserialize_with = "checks::link_wait")]
    #[schema(value_type = String, examples("30s"))]
    pub enquire_link: Period,
    /// No link is kept; what is routed here waits.
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
            tls: before.and_then(|before| before.tls.clone()),
            profile: before.map(|before| before.profile.clone()).unwrap_or_default(),
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
            tls: _,
            profile: _,
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
