//! Checks of profiles, overrides, sender rewrites and serialization.

use super::*;

#[track_caller]
fn check(change: impl FnOnce(&mut Profile), expect: Result<(), ProfileRefusal>) {
    let mut profile = Profile::default();
    change(&mut profile);
    assert_eq!(profile.check(), expect);
}

fn tlv(tag: u16, octets: usize) -> VendorTlv {
    VendorTlv { tag, value: vec![7; octets] }
}

#[test]
fn contradictory_settings_are_refused() {
    check(|_| {}, Ok(()));
    check(|profile| profile.links = 0, Err(ProfileRefusal::Links));
    check(|profile| profile.links = LINKS_MAX, Ok(()));
    check(|profile| profile.links = LINKS_MAX + 1, Err(ProfileRefusal::Links));
    check(|profile| profile.version = SmppVersion::V33, Err(ProfileRefusal::TransceiverOf33));
    let pair_of_33 = |profile: &mut Profile| {
        profile.version = SmppVersion::V33;
        profile.binds = LinkBinds::TransmitterAndReceiver;
    };
    check(pair_of_33, Ok(()));
    check(
        |profile| {
            pair_of_33(profile);
            profile.long_messages = LongMessages::Sar;
        },
        Err(ProfileRefusal::ParametersOf33),
    );
    check(|profile| profile.receipt_wait_s = RECEIPT_WAIT_MAX_S + 1, Err(ProfileRefusal::ReceiptWait));
    check(|profile| profile.service_type = "TOOLONG".into(), Err(ProfileRefusal::ServiceType));
    check(|profile| profile.registered_delivery = 0x10, Err(ProfileRefusal::NoReceipts));
    check(|profile| profile.registered_delivery = 0x11, Ok(()));
    check(|profile| profile.tlvs = vec![tlv(0x1400, 256)], Ok(()));
    check(|profile| profile.tlvs = vec![tlv(0x1400, 257)], Err(ProfileRefusal::ParameterTooLong));
    check(|profile| profile.tlvs = vec![tlv(0x0424, 1)], Err(ProfileRefusal::OwnParameter(0x0424)));
    check(|profile| profile.pass_tlvs = vec![0x020C], Err(ProfileRefusal::OwnParameter(0x020C)));
    check(|profile| profile.tlvs = vec![tlv(0x1400, 1); 17], Err(ProfileRefusal::TooManyParameters));
    let entry = RetryOverride { status: 0x45, class: ErrorClass::Temporary, wait_ms: None };
    check(|profile| profile.retry = vec![entry], Ok(()));
    check(|profile| profile.retry = vec![entry, entry], Err(ProfileRefusal::Overrides));
}

#[test]
fn override_takes_precedence_over_the_table() {
    let profile = Profile {
        retry: vec![RetryOverride { status: 0x45, class: ErrorClass::Temporary, wait_ms: Some(9_000) }],
        ..Profile::default()
    };
    assert_eq!(profile.class_of(0x45), (ErrorClass::Temporary, Some(Duration::from_secs(9))));
    assert_eq!(profile.class_of(0x58), (ErrorClass::Throttled, None));
    assert_eq!(profile.class_of(0x0400), (ErrorClass::Unknown, None));
}

#[test]
fn first_applicable_rewrite_replaces_the_sender() {
    let sender = |text| Sender::parse(text).unwrap();
    let (us, de) = (Country::parse("US").unwrap(), Country::parse("DE").unwrap());
    let profile = Profile {
        senders: vec![
            SenderRewrite { country: Some(us), from: Some(sender("ACME")), to: sender("+12025550100") },
            SenderRewrite { country: Some(us), from: None, to: sender("12345") },
            SenderRewrite { country: None, from: Some(sender("OLD")), to: sender("NEW") },
        ],
        ..Profile::default()
    };
    for (from, country, expect) in [
        ("ACME", Some(us), "+12025550100"),
        ("Other", Some(us), "12345"),
        ("ACME", Some(de), "ACME"),
        ("OLD", Some(de), "NEW"),
        ("OLD", None, "NEW"),
        ("ACME", None, "ACME"),
    ] {
        assert_eq!(profile.sender_for(&sender(from), country), sender(expect), "{from} {country:?}");
    }
}

#[test]
fn empty_document_is_the_default_and_all_fields_round_trip() {
    let empty: Profile = serde_json::from_str("{}").unwrap();
    assert_eq!(empty, Profile::default());
    let full = Profile {
        version: SmppVersion::V33,
        binds: LinkBinds::TransmitterAndReceiver,
        link_rate: Some(50),
        ids: IdConversion::HexToDecimal,
        alphabet: DefaultAlphabet::Latin1,
        validity: ValidityFormat::Absolute,
        tlvs: vec![VendorTlv { tag: 0x1401, value: vec![0, 0xAB] }],
        in_doubt: Some(DoubtPolicy::NeverResend),
        ..Profile::default()
    };
    let text = serde_json::to_string(&full).unwrap();
    assert!(text.contains(r#""value":"00ab""#), "{text}");
    assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), full);
    for wrong in [r#"{"links":"two"}"#, r#"{"window":7}"#, r#"{"tlvs":[{"tag":1,"value":"0"}]}"#] {
        assert!(serde_json::from_str::<Profile>(wrong).is_err(), "{wrong}");
    }
}
