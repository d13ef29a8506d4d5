//! Unit tests of `remedies.rs`.

use super::*;

#[test]
fn codes_of_the_table_exist_and_lead_only_to_pages_of_the_role() {
    for (code, ..) in PLACES {
        assert!(PUBLISHED.iter().any(|row| row.code == *code), "{code}");
    }
    let mut shell = Shell { account: "shop".to_owned(), ..Shell::default() };
    assert_eq!(place(&shell, "SENDER_NOT_APPROVED").href, "/docs#error-SENDER_NOT_APPROVED");
    assert_eq!(place(&shell, "0x00000400").href, "/docs#errors");
    shell.visible = vec![NavEntry::Senders];
    assert_eq!(place(&shell, "SENDER_NOT_APPROVED").href, "/accounts/shop/senders");
}

#[test]
fn words_for_customers_name_no_command_of_the_operator() {
    assert!(STATUSES.iter().all(|(_, words)| !words.contains("hermod")));
    assert!(PUBLISHED.iter().all(|row| !words(row.code).contains("hermod")));
    assert!(words("RATE_LIMITED").contains("Retry-After"));
    assert!(words("ESME_RTHROTTLED").contains("Send more slowly"));
    assert_eq!(words("0x00000400"), UNKNOWN);
}
