//! Unit tests of `errors.rs`.

use super::*;

#[test]
fn error_codes_are_parsed_as_decimal_hexadecimal_and_words() {
    for (word, expect) in [
        ("000", 0),
        ("034", 34),
        (" 7 ", 7),
        ("00000000012", 12),
        ("9999", 9_999),
        ("10000", 20_000),
        ("65536", 20_000),
        ("", 0),
        ("OK", 0),
        ("none", 0),
        ("-1", 20_000),
        ("0x0B", 11),
        ("0X1b", 27),
        ("0x", 20_000),
        ("0xZZ", 20_000),
        ("EC_7", 20_000),
        ("EC_TELESERVICE_NOT_PROVISIONED", 11),
        ("ABSENT", 27),
        ("absent-subscriber", 27),
        ("Absent Subscriber", 27),
        ("Memory.Full", 32),
        ("SPAM", 20_001),
        ("0x1F-ABSENT", 20_000),
    ] {
        assert_eq!(ErrCode::parse(word).get(), expect, "{word:?}");
    }
    assert_eq!(ErrCode::of_network_error([3, 0x01, 0x02]).get(), 258);
    assert_eq!(ErrCode::of_network_error([3, 0xff, 0xff]).get(), 20_000);
}

#[test]
fn rejection_status_has_its_own_range_and_is_sent_unchanged_over_smpp() {
    for (status, code, wire) in [
        (0x0b, 10_011, 0x0b),
        (0x45, 10_069, 0x45),
        (0x0401, 11_025, 0x0401),
        (9_998, 19_998, 9_998),
        (9_999, 19_999, 19_999),
        (u32::MAX, 19_999, 19_999),
    ] {
        let read = ErrCode::of_status(status);
        assert_eq!((read.get(), read.smpp_code()), (code, wire), "{status:#x}");
    }
    assert_eq!(ErrCode::new(27).smpp_code(), 27);
}

#[test]
fn every_code_has_a_description() {
    let unknown = ReportStatus::Final(DlrCode::Undeliv);
    for (code, status, expect) in [
        (27, unknown, "Absent subscriber"),
        (99, unknown, "Carrier error 99"),
        (10_011, unknown, "Rejected by the carrier: invalid destination address"),
        (11_025, unknown, "Rejected by the carrier with status 0x0401"),
        (20_000, unknown, "Unknown error code from the carrier"),
        (0, unknown, "Undeliverable, no reason given"),
        (0, ReportStatus::Enroute, "No error"),
        (0, ReportStatus::Final(DlrCode::Delivrd), "No error"),
        (0, ReportStatus::Final(DlrCode::Rejectd), "Rejected, no reason given"),
        (0, ReportStatus::Final(DlrCode::Expired), "Validity period elapsed"),
        (0, ReportStatus::Final(DlrCode::Unknown), "No receipt from the carrier"),
    ] {
        assert_eq!(ErrCode::new(code).description(status), expect, "{code} {status:?}");
    }
}

#[test]
fn table_is_in_order_and_no_word_has_two_codes() {
    assert!(DLR_ERRORS.windows(2).all(|pair| pair[0].code < pair[1].code));
    let mut words: Vec<&str> = DLR_ERRORS.iter().flat_map(|row| row.words).copied().collect();
    let all = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), all, "a word stands twice");
    for row in DLR_ERRORS {
        for word in row.words {
            assert_eq!(ErrCode::parse(word).get(), row.code, "{word}");
        }
    }
}

#[test]
fn docs_print_the_table() {
    let docs = include_str!("../../../../docs/webhooks.md");
    for DlrError { code, description, words } in DLR_ERRORS {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let line = format!("| {code} | {description} | {} |", words.join(" ")).replace("|  |", "| |");
        assert!(docs.contains(&line), "docs/webhooks.md lacks this line:\n{line}");
    }
}
