//! Unit tests of `signature.rs`.

use super::*;

#[test]
fn body_signature_is_hmac_sha256() {
    // RFC 4231, test case 2.
    let signer = Signer::new("Jefe");
    assert_eq!(
        signer.of_body(b"what do ya want for nothing?"),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    assert_eq!(format!("{signer:?}"), "Signer(…)");
}

#[test]
fn standard_signature_matches_the_convention() {
    // The example of the Standard Webhooks libraries, with the decoded key after `whsec_`.
    let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    let signer = Signer(Hmac::new_from_slice(&key).unwrap());
    let signed = signer.of_event("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, b"{\"test\": 2432232314}");
    assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

/// Returns the names of the headers that are valid for a secret.
fn valid_headers(secret: &str, signed: &Signatures, id: &str, body: &[u8]) -> String {
    let header = |name: &str| match name {
        SIGNATURE => Some(signed.current.as_str()),
        SIGNATURE_NEXT => signed.next.as_deref(),
        SIGNATURE_PREVIOUS => signed.previous.as_deref(),
        WEBHOOK_ID => Some(id),
        WEBHOOK_TIMESTAMP => Some("1763200000"),
        WEBHOOK_SIGNATURE => Some(signed.standard.as_str()),
        _ => None,
    };
    let valid_signatures = valid_signatures(secret, body, header);
    valid_signatures.iter().map(|kind| format!("{kind:?}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_secret_has_its_own_header() {
    let signers = Signers {
        current: Signer::new("current"),
        next: Some(Signer::new("next")),
        previous: Some(Signer::new("previous")),
    };
    let signed = signers.sign("evt_7", 1_763_200_000, b"{}");
    assert_eq!(signed.standard.split(' ').count(), 3);
    for (secret, expect) in [
        ("current", "Current Standard"),
        ("next", "Next Standard"),
        ("previous", "Previous Standard"),
        ("another", ""),
        ("", ""),
    ] {
        assert_eq!(valid_headers(secret, &signed, "evt_7", b"{}"), expect, "{secret}");
    }
    assert_eq!(valid_headers("current", &signed, "evt_8", b"{}"), "Current", "another event");
    assert_eq!(valid_headers("current", &signed, "evt_7", b"{} "), "", "another body");
    let later = signers.sign("evt_7", 1_763_200_001, b"{}");
    assert_eq!(valid_headers("current", &later, "evt_7", b"{}"), "Current", "another time");
}

#[test]
fn single_secret_gives_one_signature_of_each_kind() {
    let signers = Signers { current: Signer::new("s"), next: None, previous: None };
    let signed = signers.sign("evt_7", 1_763_200_000, b"{}");
    assert_eq!((signed.next.as_ref(), signed.previous.as_ref()), (None, None));
    assert_eq!(signed.standard.split(' ').count(), 1);
}

#[test]
fn garbled_signature_is_invalid() {
    let whole = Signer::new("s").of_body(b"{}");
    for (given, expect) in [
        (whole.clone(), true),
        (whole.to_ascii_uppercase(), true),
        (whole[..62].to_owned(), false),
        (format!("{whole}0"), false),
        (format!("{whole}00"), false),
        (format!(" {whole}"), false),
        (format!("sha256={whole}"), false),
        (String::new(), false),
        ("é".repeat(32), false),
    ] {
        let found = valid_signatures("s", b"{}", |name| (name == SIGNATURE).then_some(given.as_str()));
        assert_eq!(!found.is_empty(), expect, "{given}");
    }
}
