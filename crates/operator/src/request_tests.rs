//! Unit tests of `request.rs`.

use super::*;
use hermod_domain::time::Timestamp;
use hermod_store::record::Replay;

fn entry(kind: RequestKind, reason: &str) -> RequestEntry {
    RequestEntry {
        at: Timestamp::EPOCH,
        account: None,
        connection: None,
        kind,
        operation: "x".into(),
        who: "x".into(),
        address: None,
        status: 1,
        code: None,
        reason: reason.into(),
        took_ms: 0,
        request: None,
        replay: Replay::No,
        message: None,
        recipient: None,
    }
}

#[test]
fn remedy_of_a_code_is_for_the_operator_or_names_the_customer() {
    for row in PUBLISHED {
        let words = remedy(row.code, Some(&entry(RequestKind::Http, "")));
        let own = found(OPERATOR_REMEDIES, row.code);
        assert_eq!(words, own.map_or_else(|| format!("For the customer: {}", row.what_to_do), str::to_owned));
        assert!(!words.contains("the operator") && !words.contains("client portal"), "{words}");
    }
    for (code, _) in OPERATOR_REMEDIES {
        assert!(PUBLISHED.iter().any(|row| row.code == *code), "{code}");
    }
}

#[test]
fn remedy_of_invalid_credentials_follows_from_what_is_wrong_with_them() {
    let named: Vec<SignInFault> = SIGN_IN_REMEDIES.iter().map(|(fault, _)| *fault).collect();
    assert_eq!(named, SignInFault::ALL);
    let of = |fault: SignInFault| remedy("INVALID_API_KEY", Some(&entry(RequestKind::Http, fault.as_str())));
    assert!(of(SignInFault::AccountClosed).contains("hermod account set"));
    assert!(of(SignInFault::WrongSecret).contains("hermod key rotate"));
}

#[test]
fn remedy_of_a_bind_follows_from_its_reason() {
    let bind = entry(RequestKind::Bind, "address not allowed");
    assert!(remedy("ESME_RBINDFAIL", Some(&bind)).starts_with("Add the address"));
    let other = entry(RequestKind::Bind, "a new reason");
    assert!(remedy("ESME_RBINDFAIL", Some(&other)).starts_with("The reason of the latest"));
    assert!(remedy("ESME_RTHROTTLED", Some(&entry(RequestKind::Submit, ""))).starts_with("Send more slowly"));
    assert_eq!(remedy("0x00000400", Some(&entry(RequestKind::Submit, ""))), UNKNOWN);
}
