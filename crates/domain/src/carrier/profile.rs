//! Everything that differs from carrier to carrier, with the default that suits most of them. A profile is part of a
//! carrier's document; what is not said there is as it stands in [`Profile::default`].

use crate::carrier::{ErrorClass, IdConversion, RetryOverride};
use crate::lifecycle::DoubtPolicy;
use crate::numbers::Country;
use crate::sender::{Sender, SenderKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::time::Duration;

/// Links one carrier can have.
pub const LINKS_MAX: u8 = 16;
/// The longest wait for a receipt beyond the end of validity: carrier ids are kept no longer than that allows.
pub const RECEIPT_WAIT_MAX_S: u32 = 48 * 3600;
/// Parameters a carrier can have added, and passed through.
pub const TLVS_MAX: usize = 16;
pub const TLV_OCTETS_MAX: usize = 256;
/// Rules for rewriting senders.
pub const REWRITES_MAX: usize = 1_000;
/// Overrides of what error codes mean.
const OVERRIDES_MAX: usize = 256;
/// Parameters that Hermod writes itself: sar_msg_ref_num, sar_total_segments, sar_segment_seqnum, message_payload.
const OWN_TLVS: [u16; 4] = [0x020C, 0x020E, 0x020F, 0x0424];

/// How to talk to one carrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    pub version: SmppVersion,
    pub binds: Binds,
    /// How many links; a transmitter and its receiver are one.
    pub links: u8,
    /// Parts per second of one link. Nothing: only the carrier's whole rate counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_rate: Option<u32>,
    /// Connecting, and the answer to a bind, each.
    pub bind_wait_ms: u64,
    /// The answer to an enquire_link.
    pub enquire_wait_ms: u64,
    pub ids: IdConversion,
    pub receipts: ReceiptDialect,
    /// How long after the end of validity a receipt is waited for.
    pub receipt_wait_s: u32,
    /// What data_coding 0 means to it.
    pub alphabet: DefaultAlphabet,
    pub long_messages: LongMessages,
    pub source: Addressing,
    pub destination: TonNpi,
    /// International numbers are written with a plus.
    pub plus: bool,
    pub service_type: String,
    pub validity: ValidityFormat,
    pub registered_delivery: u8,
    /// Error codes that mean something else here.
    pub retry: Vec<RetryOverride>,
    /// Senders that must be written differently; the first that applies.
    pub senders: Vec<SenderRewrite>,
    /// Added to every submit_sm.
    pub tlvs: Vec<VendorTlv>,
    /// Taken over from what a customer sent, where there is something.
    pub pass_tlvs: Vec<u16>,
    /// About parts whose answer never came, where the route does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_doubt: Option<DoubtPolicy>,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile {
            version: SmppVersion::V34,
            binds: Binds::Transceiver,
            links: 1,
            link_rate: None,
            bind_wait_ms: 10_000,
            enquire_wait_ms: 10_000,
            ids: IdConversion::None,
            receipts: ReceiptDialect::Standard,
            receipt_wait_s: 24 * 3600,
            alphabet: DefaultAlphabet::Gsm,
            long_messages: LongMessages::Udh,
            source: Addressing::default(),
            destination: TonNpi { ton: 1, npi: 1 },
            plus: false,
            service_type: String::new(),
            validity: ValidityFormat::Relative,
            registered_delivery: 1,
            retry: Vec::new(),
            senders: Vec::new(),
            tlvs: Vec::new(),
            pass_tlvs: Vec::new(),
            in_doubt: None,
        }
    }
}

/// Why settings do not make a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileRefusal {
    #[error("links is from 1 to {LINKS_MAX}")]
    Links,
    #[error("SMPP 3.3 has no transceiver: set binds to \"transmitter-and-receiver\"")]
    TransceiverOf33,
    #[error("SMPP 3.3 has no optional parameters: long_messages must be \"udh\", tlvs and pass_tlvs empty")]
    ParametersOf33,
    #[error("receipt_wait is at most 48 hours")]
    ReceiptWait,
    #[error("service_type has at most 5 ASCII characters")]
    ServiceType,
    #[error("the parameter {0:#06x} is Hermod's own")]
    OwnParameter(u16),
    #[error("a parameter has at most {TLV_OCTETS_MAX} octets")]
    ParameterTooLong,
    #[error("at most {TLVS_MAX} parameters are added, and {TLVS_MAX} passed through")]
    TooManyParameters,
    #[error("at most {REWRITES_MAX} senders are rewritten")]
    TooManyRewrites,
    #[error("at most {OVERRIDES_MAX} error codes have another meaning, and each once")]
    Overrides,
    #[error("registered_delivery must ask for receipts: its lowest two bits are 1, 2 or 3")]
    NoReceipts,
}

impl Profile {
    /// Do the settings make sense together?
    pub fn check(&self) -> Result<(), ProfileRefusal> {
        if !(1..=LINKS_MAX).contains(&self.links) {
            return Err(ProfileRefusal::Links);
        }
        if self.version == SmppVersion::V33 {
            if self.binds == Binds::Transceiver {
                return Err(ProfileRefusal::TransceiverOf33);
            }
            if self.long_messages != LongMessages::Udh || !self.tlvs.is_empty() || !self.pass_tlvs.is_empty()
            {
                return Err(ProfileRefusal::ParametersOf33);
            }
        }
        if self.receipt_wait_s > RECEIPT_WAIT_MAX_S {
            return Err(ProfileRefusal::ReceiptWait);
        }
        if self.service_type.len() > 5 || !self.service_type.bytes().all(|octet| octet.is_ascii_graphic()) {
            return Err(ProfileRefusal::ServiceType);
        }
        if self.registered_delivery & 0x03 == 0 {
            return Err(ProfileRefusal::NoReceipts);
        }
        self.check_lists()
    }

    fn check_lists(&self) -> Result<(), ProfileRefusal> {
        let Profile { tlvs, pass_tlvs, senders, retry, .. } = self;
        if tlvs.len() > TLVS_MAX || pass_tlvs.len() > TLVS_MAX {
            return Err(ProfileRefusal::TooManyParameters);
        }
        let mut tags = tlvs.iter().map(|tlv| tlv.tag).chain(pass_tlvs.iter().copied());
        if let Some(own) = tags.find(|tag| OWN_TLVS.contains(tag)) {
            return Err(ProfileRefusal::OwnParameter(own));
        }
        if tlvs.iter().any(|tlv| tlv.value.len() > TLV_OCTETS_MAX) {
            return Err(ProfileRefusal::ParameterTooLong);
        }
        if senders.len() > REWRITES_MAX {
            return Err(ProfileRefusal::TooManyRewrites);
        }
        let twice = |place: usize| retry[..place].iter().any(|before| before.status == retry[place].status);
        if retry.len() > OVERRIDES_MAX || (0..retry.len()).any(twice) {
            return Err(ProfileRefusal::Overrides);
        }
        Ok(())
    }

    /// What a carrier's error code means, and how long to wait if this carrier has its own idea of that.
    pub fn class_of(&self, status: u32) -> (ErrorClass, Option<Duration>) {
        match self.retry.iter().find(|entry| entry.status == status) {
            Some(entry) => (entry.class, entry.wait_ms.map(Duration::from_millis)),
            None => (ErrorClass::of_status(status), None),
        }
    }

    /// The sender as this carrier must see it in that country.
    pub fn sender_for(&self, sender: &Sender, country: Option<Country>) -> Sender {
        let rule = self.senders.iter().find(|rule| rule.applies(sender, country));
        rule.map_or(*sender, |rule| rule.to)
    }

    /// A long message is one submit_sm, and the carrier splits it.
    pub fn takes_whole_messages(&self) -> bool {
        self.long_messages == LongMessages::Payload
    }

    pub const fn receipt_wait(&self) -> Duration {
        Duration::from_secs(seconds(self.receipt_wait_s))
    }
}

const fn seconds(seconds: u32) -> u64 {
    let [a, b, c, d] = seconds.to_be_bytes();
    u64::from_be_bytes([0, 0, 0, 0, a, b, c, d])
}

/// The protocol spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SmppVersion {
    #[serde(rename = "3.3")]
    V33,
    #[serde(rename = "3.4")]
    V34,
}

/// What a link is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binds {
    /// One bind for both directions.
    Transceiver,
    /// A bind to send and one for what comes back.
    TransmitterAndReceiver,
}

/// The shape of a receipt's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptDialect {
    /// `id:... stat:...`, in any order and case, whatever is missing.
    Standard,
    /// Values separated by commas.
    Commas,
}

/// What data_coding 0 means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultAlphabet {
    /// GSM 03.38, one character an octet.
    Gsm,
    Ascii,
    Latin1,
}

impl DefaultAlphabet {
    /// Whether every character of a text that is GSM-7 can be written in this alphabet.
    pub fn has_all_of(self, text: &str) -> bool {
        match self {
            DefaultAlphabet::Gsm => true,
            DefaultAlphabet::Ascii => text.is_ascii(),
            DefaultAlphabet::Latin1 => text.chars().all(|character| u8::try_from(character).is_ok()),
        }
    }
}

/// How a message of several parts is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongMessages {
    /// A user data header in front of each part's text.
    Udh,
    /// The sar_* parameters beside each part's text.
    Sar,
    /// The whole message in one submit_sm, in the message_payload parameter: the carrier splits it.
    Payload,
}

/// Type of number and numbering plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TonNpi {
    pub ton: u8,
    pub npi: u8,
}

/// TON and NPI of a sender, by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Addressing {
    pub alphanumeric: TonNpi,
    pub international: TonNpi,
    pub short_code: TonNpi,
}

impl Default for Addressing {
    fn default() -> Addressing {
        Addressing {
            alphanumeric: TonNpi { ton: 5, npi: 0 },
            international: TonNpi { ton: 1, npi: 1 },
            short_code: TonNpi { ton: 3, npi: 0 },
        }
    }
}

impl Addressing {
    pub const fn of(&self, kind: SenderKind) -> TonNpi {
        match kind {
            SenderKind::Alphanumeric => self.alphanumeric,
            SenderKind::International => self.international,
            SenderKind::ShortCode => self.short_code,
        }
    }
}

/// Whether the end of validity is told, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValidityFormat {
    Off,
    /// What is left of it.
    Relative,
    /// The time in UTC.
    Absolute,
}

/// A sender that a carrier wants to see as another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SenderRewrite {
    /// Only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    /// Only this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Sender>,
    pub to: Sender,
}

impl SenderRewrite {
    fn applies(&self, sender: &Sender, country: Option<Country>) -> bool {
        self.country.is_none_or(|only| Some(only) == country) && self.from.is_none_or(|only| only == *sender)
    }
}

/// An optional parameter of the carrier's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VendorTlv {
    pub tag: u16,
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    pub value: Vec<u8>,
}

fn to_hex<S: Serializer>(octets: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>())
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = || de::Error::custom("a parameter's value is written in hexadecimal, two digits an octet");
    if text.len() % 2 != 0 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let octets = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    octets.collect::<Result<_, _>>().map_err(|_| wrong())
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
