//! A carrier's profile: all settings that differ between carriers, with defaults that suit most. It is part of the
//! carrier's document; unset fields have the values of [`Profile::default`].

use crate::carrier::{ErrorClass, IdConversion, RetryOverride};
use crate::hex;
use crate::lifecycle::DoubtPolicy;
use crate::numbers::Country;
use crate::sender::{Sender, SenderKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::time::Duration;

/// The maximum number of links of a carrier.
pub const LINKS_MAX: u8 = 16;
/// The longest wait for a receipt after the end of validity, limited by the retention of carrier ids.
pub const RECEIPT_WAIT_MAX_S: u32 = 48 * 3600;
/// The maximum number of added TLVs, and of passed ones.
pub const TLVS_MAX: usize = 16;
pub const TLV_OCTETS_MAX: usize = 256;
/// The maximum number of sender rewrites.
pub const REWRITES_MAX: usize = 1_000;
/// The maximum number of error status overrides.
const OVERRIDES_MAX: usize = 256;
/// TLVs that Hermod writes itself: sar_msg_ref_num, sar_total_segments, sar_segment_seqnum, message_payload.
const OWN_TLVS: [u16; 4] = [0x020C, 0x020E, 0x020F, 0x0424];

/// The settings of one carrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    pub version: SmppVersion,
    pub binds: LinkBinds,
    /// The number of links; a transmitter and its receiver count as one.
    pub links: u8,
    /// Parts per second of one link. `None`: only the carrier's total rate applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_rate: Option<u32>,
    /// The timeout of connecting, and of the bind response.
    pub bind_wait_ms: u64,
    /// The timeout of an enquire_link response.
    pub enquire_wait_ms: u64,
    pub ids: IdConversion,
    pub receipts: ReceiptSyntax,
    /// The wait for a receipt after the end of validity.
    pub receipt_wait_s: u32,
    /// The alphabet of data_coding 0.
    pub alphabet: DefaultAlphabet,
    pub long_messages: LongMessages,
    pub source: Addressing,
    pub destination: TonNpi,
    /// Write international numbers with a plus.
    pub plus: bool,
    pub service_type: String,
    pub validity: ValidityFormat,
    pub registered_delivery: u8,
    /// Error statuses with another meaning.
    pub retry: Vec<RetryOverride>,
    /// Sender rewrites; the first that applies is used.
    pub senders: Vec<SenderRewrite>,
    /// TLVs added to every submit_sm.
    pub tlvs: Vec<VendorTlv>,
    /// Tags of customers' TLVs that are passed on.
    pub pass_tlvs: Vec<u16>,
    /// The policy for parts in doubt, unless the route sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_doubt: Option<DoubtPolicy>,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile {
            version: SmppVersion::V34,
            binds: LinkBinds::Transceiver,
            links: 1,
            link_rate: None,
            bind_wait_ms: 10_000,
            enquire_wait_ms: 10_000,
            ids: IdConversion::None,
            receipts: ReceiptSyntax::Standard,
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

/// Why a profile is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileRefusal {
    #[error("links must be from 1 to {LINKS_MAX}")]
    Links,
    #[error("SMPP 3.3 has no transceiver: set binds to \"transmitter-and-receiver\"")]
    TransceiverOf33,
    #[error("SMPP 3.3 has no TLVs: long_messages must be \"udh\", tlvs and pass_tlvs empty")]
    ParametersOf33,
    #[error("receipt_wait must be at most 48 hours")]
    ReceiptWait,
    #[error("service_type must have at most 5 ASCII characters")]
    ServiceType,
    #[error("the TLV {0:#06x} is written by Hermod itself")]
    OwnParameter(u16),
    #[error("a TLV must have at most {TLV_OCTETS_MAX} octets")]
    ParameterTooLong,
    #[error("tlvs and pass_tlvs must have at most {TLVS_MAX} entries each")]
    TooManyParameters,
    #[error("senders must have at most {REWRITES_MAX} rewrites")]
    TooManyRewrites,
    #[error("retry must have at most {OVERRIDES_MAX} entries, one per status")]
    Overrides,
    #[error("registered_delivery must ask for receipts: its lowest two bits are 1, 2 or 3")]
    NoReceipts,
}

impl Profile {
    /// Checks the settings and their combinations.
    pub fn check(&self) -> Result<(), ProfileRefusal> {
        if !(1..=LINKS_MAX).contains(&self.links) {
            return Err(ProfileRefusal::Links);
        }
        if self.version == SmppVersion::V33 {
            if self.binds == LinkBinds::Transceiver {
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
        let is_duplicate =
            |index: usize| retry[..index].iter().any(|before| before.status == retry[index].status);
        if retry.len() > OVERRIDES_MAX || (0..retry.len()).any(is_duplicate) {
            return Err(ProfileRefusal::Overrides);
        }
        Ok(())
    }

    /// Returns the class of an error status, and the wait of its override if there is one.
    pub fn class_of(&self, status: u32) -> (ErrorClass, Option<Duration>) {
        match self.retry.iter().find(|entry| entry.status == status) {
            Some(entry) => (entry.class, entry.wait_ms.map(Duration::from_millis)),
            None => (ErrorClass::of_status(status), None),
        }
    }

    /// Returns the sender after this carrier's rewrites for the country.
    pub fn sender_for(&self, sender: &Sender, country: Option<Country>) -> Sender {
        let rule = self.senders.iter().find(|rule| rule.applies(sender, country));
        rule.map_or(*sender, |rule| rule.to)
    }

    /// Whether a long message is sent as one submit_sm, which the carrier splits.
    pub fn carrier_splits_messages(&self) -> bool {
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

/// The SMPP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SmppVersion {
    #[serde(rename = "3.3")]
    V33,
    #[serde(rename = "3.4")]
    V34,
}

/// The binds of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkBinds {
    /// One bind for both directions.
    Transceiver,
    /// One bind to send and one to receive.
    TransmitterAndReceiver,
}

/// The format of receipt texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptSyntax {
    /// `id:... stat:...`, in any order and case; any field may be missing.
    Standard,
    /// Values separated by commas.
    Commas,
}

/// The alphabet of data_coding 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultAlphabet {
    /// GSM 03.38, unpacked.
    Gsm,
    Ascii,
    Latin1,
}

impl DefaultAlphabet {
    /// Whether the alphabet has every character of a GSM-7 text.
    pub fn has_all_of(self, text: &str) -> bool {
        match self {
            DefaultAlphabet::Gsm => true,
            DefaultAlphabet::Ascii => text.is_ascii(),
            DefaultAlphabet::Latin1 => text.chars().all(|character| u8::try_from(character).is_ok()),
        }
    }
}

/// How a message of several parts is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongMessages {
    /// A user data header before each part's text.
    Udh,
    /// The sar_* TLVs with each part.
    Sar,
    /// The whole message in one submit_sm, in the message_payload TLV; the carrier splits it.
    Payload,
}

/// Type of number (TON) and numbering plan indicator (NPI).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TonNpi {
    pub ton: u8,
    pub npi: u8,
}

/// TON and NPI of senders, by kind.
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

/// The format of validity_period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValidityFormat {
    Off,
    /// The remaining time.
    Relative,
    /// The end in UTC.
    Absolute,
}

/// Replaces a sender ID for a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SenderRewrite {
    /// Applies only to destinations in this country.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    /// Applies only to this sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Sender>,
    pub to: Sender,
}

impl SenderRewrite {
    fn applies(&self, sender: &Sender, country: Option<Country>) -> bool {
        self.country.is_none_or(|only| Some(only) == country) && self.from.is_none_or(|only| only == *sender)
    }
}

/// A vendor TLV of the carrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VendorTlv {
    pub tag: u16,
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    pub value: Vec<u8>,
}

fn to_hex<S: Serializer>(octets: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::hex(octets))
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let wrong = "a TLV's value must be hexadecimal, two digits per octet";
    hex::from_hex(&String::deserialize(deserializer)?).ok_or_else(|| de::Error::custom(wrong))
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
