//! Carrier entries: the upstream SMSCs and their profiles.

mod details;
mod profile;

use crate::entry::{checks, values};
use crate::refusal::{ProvisionRefusal, ProvisionResult};
pub use details::{SenderTypes, Typed, WantedCertificate, WantedRetry, WantedRewrite, WantedTls, WantedTlv};

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::hex_codes::HexTag;
use crate::entry::names::NameForm;
use crate::kind::Kind;
use hermod_domain::carrier::{
    DefaultAlphabet, Draining, IdConversion, LinkBinds, LongMessages, ReceiptSyntax, SmppVersion,
    ValidityFormat,
};
use hermod_domain::catalogue::Carrier;
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::operator_role::OperatorPermission;
use hermod_gateway::config::Period;
use hermod_gateway::secrets::{Secret, sealed};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use utoipa::ToSchema;

/// An upstream SMSC. The defaults suit most carriers.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Carrier)]
pub struct WantedCarrier {
    #[serde(deserialize_with = "checks::name")]
    #[schema(examples("acme"))]
    pub name: String,
    /// `host:port` of its SMPP server.
    #[serde(default, deserialize_with = "checks::address", skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = String, examples("smsc.example:2775"))]
    pub address: Option<String>,
    /// Default: plain TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<WantedTls>,
    #[serde(default, deserialize_with = "checks::system_id", skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = String, max_length = 15)]
    pub system_id: Option<String>,
    /// An existing carrier keeps its password if none is given.
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
    /// The window of each link: the most outstanding submit_sm.
    #[serde(default, deserialize_with = "checks::window", skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = u16, minimum = 1, maximum = 10000)]
    pub window: Option<u16>,
    /// The most parts per second over all links.
    #[serde(default, deserialize_with = "checks::rate", skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = u32, minimum = 1, maximum = 1000000)]
    pub rate: Option<u32>,
    /// The most parts per second of one link. Default: only `rate` applies.
    #[serde(default, deserialize_with = "checks::rate", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000000)]
    pub link_rate: Option<u32>,
    /// The number of links; a transmitter and its receiver are one. Default: 1.
    #[serde(default, deserialize_with = "checks::links", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 16)]
    pub links: Option<u8>,
    /// `transceiver`, or `transmitter-and-receiver` for a pair of binds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(transceiver|transmitter-and-receiver)$")]
    pub binds: Option<LinkBinds>,
    /// The SMPP version: `3.4` or `3.3`.
    #[serde(default, deserialize_with = "checks::version", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = r"^3\.[34]$", examples("3.4"))]
    pub version: Option<SmppVersion>,
    /// After this long without a response a part is in doubt.
    #[serde(default = "one_minute", deserialize_with = "checks::link_wait")]
    #[schema(value_type = String, examples("60s"))]
    pub response_timeout: Period,
    /// The interval of enquire_link on an idle link.
    #[serde(default = "thirty_seconds", deserialize_with = "checks::link_wait")]
    #[schema(value_type = String, examples("30s"))]
    pub enquire_link: Period,
    /// The timeout for enquire_link_resp. Default: `10s`.
    #[serde(default, deserialize_with = "checks::link_wait", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("10s"))]
    pub enquire_wait: Option<Period>,
    /// The timeout for connecting, and for the bind response. Default: `10s`.
    #[serde(default, deserialize_with = "checks::link_wait", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("10s"))]
    pub bind_wait: Option<Period>,
    /// How receipts write the message id of the submit_sm_resp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(none|hex-to-decimal|decimal-to-hex)$", examples("hex-to-decimal"))]
    pub ids: Option<IdConversion>,
    /// The format of its receipts: `standard` or `commas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(standard|commas)$")]
    pub receipts: Option<ReceiptSyntax>,
    /// How long to wait for a receipt after the end of the validity. Default: `24h`.
    #[serde(default, deserialize_with = "checks::receipt_wait", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("24h"))]
    pub receipt_wait: Option<Period>,
    /// The alphabet of data_coding 0: `gsm`, `ascii` or `latin1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(gsm|ascii|latin1)$")]
    pub alphabet: Option<DefaultAlphabet>,
    /// How long messages are sent: `udh`, `sar` or `payload`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(udh|sar|payload)$")]
    pub long_messages: Option<LongMessages>,
    /// TON and NPI of senders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SenderTypes>,
    /// TON and NPI of recipients. Default: `1/1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[0-9]{1,2}/[0-9]{1,2}$", examples("1/1"))]
    pub destination: Option<Typed>,
    /// Write international numbers with a plus.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plus: bool,
    #[serde(default, deserialize_with = "checks::service_type", skip_serializing_if = "String::is_empty")]
    #[schema(max_length = 5)]
    pub service_type: String,
    /// The form of validity_period: `relative`, `absolute` or `off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(relative|absolute|off)$")]
    pub validity: Option<ValidityFormat>,
    /// The registered_delivery of submit_sm. Default: 1.
    #[serde(
        default,
        deserialize_with = "checks::registered_delivery",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(minimum = 1, maximum = 255)]
    pub registered_delivery: Option<u8>,
    /// Classes of error codes, if they differ from the standard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retry: Vec<WantedRetry>,
    /// Sender rewrites; the first match applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub senders: Vec<WantedRewrite>,
    /// Optional parameters added to every submit_sm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tlvs: Vec<WantedTlv>,
    /// Optional parameters passed on from the customer, by tag.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(inline)]
    pub pass_tlvs: Vec<HexTag>,
    /// The policy for a part in doubt, if the route has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(resend|resend-once|never-resend)$", examples("resend"))]
    pub in_doubt: Option<DoubtPolicy>,
    /// Sends nothing; the links stay bound for receipts. What waits moves to the next carriers of the routes (`move`) or stays
    /// (`stay`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(move|stay)$")]
    pub draining: Option<Draining>,
    /// Keeps no links; messages routed here wait.
    #[serde(default)]
    pub disabled: bool,
}

impl FileEntry for WantedCarrier {
    const KIND: Kind = Kind::Carrier;
    const ABOUT: &'static str =
        "SMSCs that messages are sent to. One that was never used can be removed; disable any other.";
    const NAME_FORM: NameForm = NameForm::of_word("The name of the carrier.", "acme");
    const INSTEAD_OF_REMOVING: Option<&'static str> = Some("set disabled = true instead");
    const COLUMNS: &'static [&'static str] =
        &["address", "tls", "system_id", "window", "rate", "links", "draining", "disabled"];
    const SECRET: Option<&'static str> = Some("password");
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Operations;
    type Document = Carrier;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn document(&self, draft: &mut Draft<'_>, before: Option<&Carrier>) -> ProvisionResult<Carrier> {
        let what = format!("carrier \"{}\"", self.name);
        let given = self.password.as_ref().map(|password| sealed::seal(draft.pepper, &self.name, password));
        let kept = || before.map(|before| before.password.clone());
        let password = given.or_else(kept).ok_or_else(|| {
            let sentence = "is new and has no password; write \"\" for an empty one";
            ProvisionRefusal::about(&what, sentence)
        })?;
        Ok(Carrier {
            address: required(&self.address, &what, "address")?,
            system_id: required(&self.system_id, &what, "system_id")?,
            password,
            system_type: self.system_type.clone(),
            window: required(&self.window, &what, "window")?,
            parts_per_second: required(&self.rate, &what, "rate")?,
            response_timeout_ms: self.response_timeout.whole_ms(),
            enquire_link_ms: self.enquire_link.whole_ms(),
            disabled: self.disabled,
            draining: self.draining,
            tls: self.tls.as_ref().and_then(WantedTls::document),
            profile: profile::document(self)?,
        })
    }

    fn shown(name: &str, document: Carrier, _: &EntryNames) -> WantedCarrier {
        let wanted = WantedCarrier {
            name: name.to_owned(),
            address: Some(document.address),
            tls: document.tls.map(WantedTls::shown),
            system_id: Some(document.system_id),
            system_type: document.system_type,
            window: Some(document.window),
            rate: Some(document.parts_per_second),
            response_timeout: Period::from_millis(document.response_timeout_ms),
            enquire_link: Period(Duration::from_millis(document.enquire_link_ms)),
            disabled: document.disabled,
            draining: document.draining,
            ..WantedCarrier::default()
        };
        profile::shown(document.profile, wanted)
    }

    fn secret(&self) -> Option<&Secret> {
        self.password.as_ref()
    }

    fn kept_secret(document: &Carrier) -> Value {
        Value::from(document.password.clone())
    }

    fn secret_fits(given: &Secret, kept: &str, name: &str, draft: &Draft<'_>) -> bool {
        sealed::open(draft.pepper, name, kept).is_ok_and(|secret| secret == *given)
    }
}

fn one_minute() -> Period {
    Period::from_secs(60)
}

fn thirty_seconds() -> Period {
    Period::from_secs(30)
}
