//! The tables inside a carrier's entry: TLS, TON/NPI of addresses, error code classes, sender rewrites and optional
//! parameters.

use crate::entry::checks;
use crate::entry::hex_codes::{HexCode, HexTag};
use hermod_domain::carrier::{Addressing, ErrorClass, RetryOverride, SenderRewrite, TonNpi, VendorTlv};
use hermod_domain::catalogue::CarrierTls;
use hermod_domain::numbers::Country;
use hermod_domain::sender::Sender;
use hermod_gateway::config::Period;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::time::Duration;
use utoipa::ToSchema;

/// TLS to a carrier: `true`, `false`, or how its certificate is verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = CarrierTls)]
pub enum WantedTls {
    Switched(bool),
    Proven(WantedCertificate),
}

/// How the carrier's certificate is verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CarrierCertificate)]
pub struct WantedCertificate {
    /// The name in its certificate, if it is not the host of its address.
    #[serde(default, deserialize_with = "checks::host_name", skip_serializing_if = "Option::is_none")]
    #[schema(examples("smsc.example"))]
    pub name: Option<String>,
    /// A PEM file with the trusted authorities. Default: those of this machine.
    #[serde(default, deserialize_with = "checks::file_path", skip_serializing_if = "Option::is_none")]
    #[schema(examples("/etc/hermod/acme-ca.pem"))]
    pub ca: Option<String>,
    /// The SHA-256 of its certificate, in hexadecimal. If set, nothing else is verified.
    #[serde(default, deserialize_with = "checks::fingerprint", skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl WantedTls {
    pub(crate) fn document(&self) -> Option<CarrierTls> {
        match self {
            WantedTls::Switched(false) => None,
            WantedTls::Switched(true) => Some(CarrierTls::default()),
            WantedTls::Proven(WantedCertificate { name, ca, fingerprint }) => {
                Some(CarrierTls { name: name.clone(), ca: ca.clone(), fingerprint: fingerprint.clone() })
            }
        }
    }

    pub(crate) fn shown(tls: CarrierTls) -> WantedTls {
        if tls == CarrierTls::default() {
            return WantedTls::Switched(true);
        }
        let CarrierTls { name, ca, fingerprint } = tls;
        WantedTls::Proven(WantedCertificate { name, ca, fingerprint })
    }
}

impl<'de> Deserialize<'de> for WantedTls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WantedTls, D::Error> {
        deserializer.deserialize_any(TlsVisitor)
    }
}

struct TlsVisitor;

impl<'de> Visitor<'de> for TlsVisitor {
    type Value = WantedTls;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, or a table with name, ca or fingerprint")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<WantedTls, E> {
        Ok(WantedTls::Switched(on))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WantedTls, A::Error> {
        WantedCertificate::deserialize(MapAccessDeserializer::new(map)).map(WantedTls::Proven)
    }
}

/// Type of number and numbering plan, written `TON/NPI`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed(pub TonNpi);

const TYPED_FORM: &str = "type of number and numbering plan, such as \"1/1\"";
/// No higher value is defined or used.
const TYPE_MAX: u8 = 99;

impl Serialize for Typed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}/{}", self.0.ton, self.0.npi))
    }
}

impl<'de> Deserialize<'de> for Typed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Typed, D::Error> {
        let text = String::deserialize(deserializer)?;
        let one = |text: &str| {
            let plain = text.len() <= 2 && text.bytes().all(|digit| digit.is_ascii_digit());
            text.parse::<u8>().ok().filter(|number| plain && *number <= TYPE_MAX)
        };
        let read =
            text.split_once('/').and_then(|(ton, npi)| Some(TonNpi { ton: one(ton)?, npi: one(npi)? }));
        read.map(Typed).ok_or_else(|| D::Error::custom(format!("\"{text}\" is not {TYPED_FORM}")))
    }
}

/// TON and NPI of senders, by their kind; each as `TON/NPI`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SenderTypes)]
pub struct SenderTypes {
    /// Alphanumeric senders. Default: `5/0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[0-9]{1,2}/[0-9]{1,2}$", examples("5/0"))]
    pub alphanumeric: Option<Typed>,
    /// International numbers. Default: `1/1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[0-9]{1,2}/[0-9]{1,2}$", examples("1/1"))]
    pub international: Option<Typed>,
    /// Short codes. Default: `3/0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^[0-9]{1,2}/[0-9]{1,2}$", examples("3/0"))]
    pub short_code: Option<Typed>,
}

impl SenderTypes {
    pub(crate) fn document(self) -> Addressing {
        let usual = Addressing::default();
        let or = |typed: Option<Typed>, usual: TonNpi| typed.map_or(usual, |Typed(typed)| typed);
        Addressing {
            alphanumeric: or(self.alphanumeric, usual.alphanumeric),
            international: or(self.international, usual.international),
            short_code: or(self.short_code, usual.short_code),
        }
    }

    pub(crate) fn shown(addressing: Addressing) -> SenderTypes {
        let usual = Addressing::default();
        let unusual = |typed: TonNpi, usual: TonNpi| (typed != usual).then_some(Typed(typed));
        SenderTypes {
            alphanumeric: unusual(addressing.alphanumeric, usual.alphanumeric),
            international: unusual(addressing.international, usual.international),
            short_code: unusual(addressing.short_code, usual.short_code),
        }
    }
}

/// The class of a carrier's error code, if it differs from the SMPP standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CarrierError)]
pub struct WantedRetry {
    // The command_status. (A doc comment would hide the schema of the type.)
    #[schema(inline)]
    pub status: HexCode,
    /// The error class.
    #[schema(
        value_type = String,
        pattern = "^(throttled|temporary|not-bound|rejected-route|rejected-message|rejected-destination|protocol-error|unknown)$",
        examples("temporary")
    )]
    pub class: ErrorClass,
    /// How long the link pauses (throttled) or the part waits (temporary).
    #[serde(default, deserialize_with = "checks::retry_wait", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("30s"))]
    pub wait: Option<Period>,
}

impl WantedRetry {
    pub(crate) fn document(&self) -> RetryOverride {
        let WantedRetry { status: HexCode(status), class, wait } = *self;
        RetryOverride { status, class, wait_ms: wait.map(Period::whole_ms) }
    }

    pub(crate) fn shown(entry: &RetryOverride) -> WantedRetry {
        let RetryOverride { status, class, wait_ms } = *entry;
        let wait = wait_ms.map(|ms| Period(Duration::from_millis(ms)));
        WantedRetry { status: HexCode(status), class, wait }
    }
}

/// Replaces the sender for this carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SenderRewrite)]
pub struct WantedRewrite {
    /// Only to this country.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("US"))]
    pub country: Option<Country>,
    /// Only this sender. Default: every sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("Shop"))]
    pub from: Option<Sender>,
    /// The replacement.
    #[schema(value_type = String, examples("12345"))]
    pub to: Sender,
}

impl WantedRewrite {
    pub(crate) fn document(&self) -> SenderRewrite {
        let WantedRewrite { country, from, to } = *self;
        SenderRewrite { country, from, to }
    }

    pub(crate) fn shown(rule: &SenderRewrite) -> WantedRewrite {
        let SenderRewrite { country, from, to } = *rule;
        WantedRewrite { country, from, to }
    }
}

/// An optional parameter (TLV) for the carrier, with exactly one of `text` and `hex`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CarrierParameter)]
pub struct WantedTlv {
    #[schema(inline)]
    pub tag: HexTag,
    /// The value in ASCII.
    #[serde(default, deserialize_with = "checks::tlv_text", skip_serializing_if = "Option::is_none")]
    #[schema(examples("promo"))]
    pub text: Option<String>,
    /// The value in hexadecimal, two digits per octet.
    #[serde(default, deserialize_with = "checks::hex", skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
}

impl WantedTlv {
    /// Returns `None` unless it has exactly one value.
    pub(crate) fn document(&self) -> Option<VendorTlv> {
        let value = match (&self.text, &self.hex) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(hex)) => checks::octets(hex)?,
            (None, None) | (Some(_), Some(_)) => return None,
        };
        Some(VendorTlv { tag: self.tag.0, value })
    }

    /// Shows the value as text if it is printable.
    pub(crate) fn shown(tlv: &VendorTlv) -> WantedTlv {
        let VendorTlv { tag, value } = tlv;
        let text = std::str::from_utf8(value).ok().filter(|text| checks::is_tlv_text(text));
        WantedTlv {
            tag: HexTag(*tag),
            text: text.map(str::to_owned),
            hex: text.is_none().then(|| value.iter().map(|octet| format!("{octet:02x}")).collect()),
        }
    }
}
