//! Converts between a carrier's entry and its profile. Defaults are left out of the entry.

use crate::carrier::entry::WantedCarrier;
use crate::carrier::entry::details::{SenderTypes, Typed, WantedRetry, WantedRewrite, WantedTlv};
use crate::entry::hex_codes::HexTag;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::carrier::Profile;
use hermod_gateway::config::Period;
use std::time::Duration;

pub(crate) fn document(wanted: &WantedCarrier) -> ProvisionResult<Profile> {
    let usual = Profile::default();
    let seconds = |period: Period| u32::try_from(period.0.as_secs()).expect("checked when it was read");
    let one_value = |tlv: &WantedTlv| {
        tlv.document().ok_or_else(|| {
            let sentence = format!("has a parameter {} that needs exactly one of text and hex", tlv.tag);
            ProvisionRefusal::about(&format!("carrier \"{}\"", wanted.name), sentence)
        })
    };
    let profile = Profile {
        version: wanted.version.unwrap_or(usual.version),
        binds: wanted.binds.unwrap_or(usual.binds),
        links: wanted.links.unwrap_or(usual.links),
        link_rate: wanted.link_rate,
        bind_wait_ms: wanted.bind_wait.map_or(usual.bind_wait_ms, Period::whole_ms),
        enquire_wait_ms: wanted.enquire_wait.map_or(usual.enquire_wait_ms, Period::whole_ms),
        ids: wanted.ids.unwrap_or(usual.ids),
        receipts: wanted.receipts.unwrap_or(usual.receipts),
        receipt_wait_s: wanted.receipt_wait.map_or(usual.receipt_wait_s, seconds),
        alphabet: wanted.alphabet.unwrap_or(usual.alphabet),
        long_messages: wanted.long_messages.unwrap_or(usual.long_messages),
        source: wanted.source.map_or(usual.source, SenderTypes::document),
        destination: wanted.destination.map_or(usual.destination, |Typed(typed)| typed),
        plus: wanted.plus,
        service_type: wanted.service_type.clone(),
        validity: wanted.validity.unwrap_or(usual.validity),
        registered_delivery: wanted.registered_delivery.unwrap_or(usual.registered_delivery),
        retry: wanted.retry.iter().map(WantedRetry::document).collect(),
        senders: wanted.senders.iter().map(WantedRewrite::document).collect(),
        tlvs: wanted.tlvs.iter().map(one_value).collect::<Result<_, _>>()?,
        pass_tlvs: wanted.pass_tlvs.iter().map(|HexTag(tag)| *tag).collect(),
        in_doubt: wanted.in_doubt,
    };
    let what = format!("carrier \"{}\":", wanted.name);
    profile.check().map_err(|refusal| ProvisionRefusal::about(&what, refusal.to_string()))?;
    Ok(profile)
}

pub(crate) fn shown(profile: Profile, wanted: WantedCarrier) -> WantedCarrier {
    let usual = Profile::default();
    let ms = |ms: u64, usual: u64| (ms != usual).then(|| Period(Duration::from_millis(ms)));
    let seconds = |s: u32, usual: u32| (s != usual).then(|| Period::from_secs(s.into()));
    WantedCarrier {
        version: unusual(profile.version, usual.version),
        binds: unusual(profile.binds, usual.binds),
        links: unusual(profile.links, usual.links),
        link_rate: profile.link_rate,
        bind_wait: ms(profile.bind_wait_ms, usual.bind_wait_ms),
        enquire_wait: ms(profile.enquire_wait_ms, usual.enquire_wait_ms),
        ids: unusual(profile.ids, usual.ids),
        receipts: unusual(profile.receipts, usual.receipts),
        receipt_wait: seconds(profile.receipt_wait_s, usual.receipt_wait_s),
        alphabet: unusual(profile.alphabet, usual.alphabet),
        long_messages: unusual(profile.long_messages, usual.long_messages),
        source: unusual(profile.source, usual.source).map(SenderTypes::shown),
        destination: unusual(profile.destination, usual.destination).map(Typed),
        plus: profile.plus,
        service_type: profile.service_type,
        validity: unusual(profile.validity, usual.validity),
        registered_delivery: unusual(profile.registered_delivery, usual.registered_delivery),
        retry: profile.retry.iter().map(WantedRetry::shown).collect(),
        senders: profile.senders.iter().map(WantedRewrite::shown).collect(),
        tlvs: profile.tlvs.iter().map(WantedTlv::shown).collect(),
        pass_tlvs: profile.pass_tlvs.iter().map(|tag| HexTag(*tag)).collect(),
        in_doubt: profile.in_doubt,
        ..wanted
    }
}

fn unusual<T: PartialEq>(value: T, usual: T) -> Option<T> {
    (value != usual).then_some(value)
}
