//! Carriers: the upstream SMSCs that messages are handed to, and everything that is different about each.

mod details;
mod profile;

pub use details::{CertificateWanted, SenderTypes, Typed, WantedRetry, WantedRewrite, WantedTls, WantedTlv};

use crate::config::Period;
use crate::provision::checks;
use crate::provision::documents::Names;
use crate::provision::draft::{Draft, Entry};
use crate::provision::hex_codes::Tag;
use crate::provision::kind::Kind;
use crate::provision::{ProvisionRefusal, values};
use crate::secrets::Secret;
use crate::secrets::sealed;
use hermod_domain::carrier::{
    Binds, DefaultAlphabet, IdConversion, LongMessages, ReceiptDialect, SmppVersion, ValidityFormat,
};
use hermod_domain::catalogue::Carrier;
use hermod_domain::lifecycle::DoubtPolicy;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use utoipa::ToSchema;

/// An upstream SMSC. What is not said is as most carriers have it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Carrier)]
pub struct WantedCarrier {
    #[serde(deserialize_with = "checks::name")]
    #[schema(examples("acme"))]
    pub name: String,
    /// `host:port` of its SMPP server.
    #[serde(deserialize_with = "checks::address")]
    #[schema(examples("smsc.example:2775"))]
    pub address: String,
    /// Plain TCP unless said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<WantedTls>,
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
    /// Parts sent and not answered yet, at most, on each link.
    #[serde(deserialize_with = "checks::window")]
    #[schema(minimum = 1, maximum = 10000)]
    pub window: u16,
    /// Parts per second, at most, all links together.
    #[serde(deserialize_with = "checks::rate")]
    #[schema(minimum = 1, maximum = 1000000)]
    pub rate: u32,
    /// Parts per second of one link. Without it only `rate` counts.
    #[serde(default, deserialize_with = "checks::some_rate", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000000)]
    pub link_rate: Option<u32>,
    /// How many links; a transmitter and its receiver are one. One unless said otherwise.
    #[serde(default, deserialize_with = "checks::links", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 16)]
    pub links: Option<u8>,
    /// `transceiver`, or `transmitter-and-receiver` for a pair of binds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(transceiver|transmitter-and-receiver)$")]
    pub binds: Option<Binds>,
    /// The version of SMPP that is spoken: `3.4` or `3.3`.
    #[serde(default, deserialize_with = "checks::version", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = r"^3\.[34]$", examples("3.4"))]
    pub version: Option<SmppVersion>,
    /// After this long without an answer a part is in doubt.
    #[serde(default = "one_minute", deserialize_with = "checks::link_wait")]
    #[schema(value_type = String, examples("60s"))]
    pub response_timeout: Period,
    /// A link without traffic is probed this often.
    #[serde(default = "thirty_seconds", deserialize_with = "checks::link_wait")]
    #[schema(value_type = String, examples("30s"))]
    pub enquire_link: Period,
    /// How long the answer to such a probe is waited for. `10s` unless said otherwise.
    #[serde(default, deserialize_with = "checks::some_link_wait", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("10s"))]
    pub enquire_wait: Option<Period>,
    /// How long connecting may take, and the answer to a bind, each. `10s` unless said otherwise.
    #[serde(default, deserialize_with = "checks::some_link_wait", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("10s"))]
    pub bind_wait: Option<Period>,
    /// How the same message id is written in answers and in receipts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(none|hex-to-decimal|decimal-to-hex)$", examples("hex-to-decimal"))]
    pub ids: Option<IdConversion>,
    /// The shape of its receipts: `standard` or `commas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(standard|commas)$")]
    pub receipts: Option<ReceiptDialect>,
    /// How long after the end of validity a receipt is waited for. `24h` unless said otherwise.
    #[serde(default, deserialize_with = "checks::receipt_wait", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("24h"))]
    pub receipt_wait: Option<Period>,
    /// What data_coding 0 means to it: `gsm`, `ascii` or `latin1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(gsm|ascii|latin1)$")]
    pub alphabet: Option<DefaultAlphabet>,
    /// How a message of several parts is written: `udh`, `sar` or `payload`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(udh|sar|payload)$")]
    pub long_messages: Option<LongMessages>,
    /// Type of number and numbering plan of senders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SenderTypes>,
    /// Type of number and numbering plan of recipients. `1/1` unless said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[0-9]{1,2}/[0-9]{1,2}$", examples("1/1"))]
    pub destination: Option<Typed>,
    /// International numbers are written with a plus.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plus: bool,
    #[serde(default, deserialize_with = "checks::service_type", skip_serializing_if = "String::is_empty")]
    #[schema(max_length = 5)]
    pub service_type: String,
    /// Whether the end of validity is told, and how: `relative`, `absolute` or `off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(relative|absolute|off)$")]
    pub validity: Option<ValidityFormat>,
    /// What receipts are asked for with. 1 unless said otherwise.
    #[serde(
        default,
        deserialize_with = "checks::registered_delivery",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(minimum = 1, maximum = 255)]
    pub registered_delivery: Option<u8>,
    /// Error codes that mean something else here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retry: Vec<WantedRetry>,
    /// Senders that must be written differently; the first that applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub senders: Vec<WantedRewrite>,
    /// Optional parameters added to every submit_sm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tlvs: Vec<WantedTlv>,
    /// Optional parameters taken over from what a customer sent, by their tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(inline)]
    pub pass_tlvs: Vec<Tag>,
    /// What becomes of a part whose answer never came, where the route does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(resend|resend-once|never-resend)$", examples("resend"))]
    pub in_doubt: Option<DoubtPolicy>,
    /// No link is kept; what is routed here waits.
    #[serde(default)]
    pub disabled: bool,
}

impl Entry for WantedCarrier {
    const KIND: Kind = Kind::Carrier;
    const SECRET: Option<&'static str> = Some("password");
    type Document = Carrier;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn document(&self, draft: &mut Draft<'_>, before: Option<&Carrier>) -> Result<Carrier, ProvisionRefusal> {
        let given = self.password.as_ref().map(|password| sealed::seal(draft.pepper, &self.name, password));
        let kept = || before.map(|before| before.password.clone());
        let password = given.or_else(kept).ok_or_else(|| {
            let sentence = "is new and has no password; an empty one is written \"\"";
            ProvisionRefusal::about(&format!("carrier \"{}\"", self.name), sentence)
        })?;
        Ok(Carrier {
            address: self.address.clone(),
            system_id: self.system_id.clone(),
            password,
            system_type: self.system_type.clone(),
            window: self.window,
            parts_per_second: self.rate,
            response_timeout_ms: whole_ms(self.response_timeout.0),
            enquire_link_ms: whole_ms(self.enquire_link.0),
            disabled: self.disabled,
            tls: self.tls.as_ref().and_then(WantedTls::document),
            profile: profile::document(self)?,
        })
    }

    fn shown(name: &str, document: Carrier, _: &Names) -> WantedCarrier {
        let mut wanted = WantedCarrier::plain(name, &document);
        wanted.tls = document.tls.map(WantedTls::shown);
        profile::shown(document.profile, wanted)
    }

    fn secret_changed(before: &Carrier, after: &Carrier) -> Option<&'static str> {
        (before.password != after.password).then_some("password")
    }

    fn secret(&self) -> Option<&Secret> {
        self.password.as_ref()
    }

    fn give_secret(&mut self, secret: Secret) {
        self.password = Some(secret);
    }

    fn kept_secret(document: &Carrier) -> Value {
        Value::from(document.password.clone())
    }

    fn secret_fits(given: &Secret, kept: &str, name: &str, draft: &Draft<'_>) -> bool {
        sealed::open(draft.pepper, name, kept).is_ok_and(|secret| secret == *given)
    }
}

impl WantedCarrier {
    /// One that is as usual in everything that can be usual.
    fn plain(name: &str, document: &Carrier) -> WantedCarrier {
        WantedCarrier {
            name: name.to_owned(),
            address: document.address.clone(),
            tls: None,
            system_id: document.system_id.clone(),
            password: None,
            system_type: document.system_type.clone(),
            window: document.window,
            rate: document.parts_per_second,
            link_rate: None,
            links: None,
            binds: None,
            version: None,
            response_timeout: Period(Duration::from_millis(document.response_timeout_ms)),
            enquire_link: Period(Duration::from_millis(document.enquire_link_ms)),
            enquire_wait: None,
            bind_wait: None,
            ids: None,
            receipts: None,
            receipt_wait: None,
            alphabet: None,
            long_messages: None,
            source: None,
            destination: None,
            plus: false,
            service_type: String::new(),
            validity: None,
            registered_delivery: None,
            retry: Vec::new(),
            senders: Vec::new(),
            tlvs: Vec::new(),
            pass_tlvs: Vec::new(),
            in_doubt: None,
            disabled: document.disabled,
        }
    }
}

fn one_minute() -> Period {
    Period::from_secs(60)
}

fn thirty_seconds() -> Period {
    Period::from_secs(30)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(said: &bool) -> bool {
    !said
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("checked when it was read")
}
