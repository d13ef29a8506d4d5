//! Unit tests of `receipt_format.rs`.

use super::*;

#[track_caller]
fn check(format: &ReceiptFormat, expect: &str) {
    let values = ReceiptValues {
        id: "1f",
        delivered: 0,
        stat: "UNDELIV",
        error_code: 11,
        submitted: "2402282359",
        done: "2402290001",
    };
    let mut text = "an earlier text".to_owned();
    format.write(&values, &mut text);
    assert_eq!(text, expect);
}

#[test]
fn formats_write_the_same_values_in_their_own_text() {
    let standard =
        "id:1f sub:001 dlvrd:000 submit date:2402282359 done date:2402290001 stat:UNDELIV err:011 text:";
    check(&ReceiptFormat::standard(), standard);
    check(&ReceiptFormat::text_only(), standard);
    check(&ReceiptFormat::in_payload(), standard);
    check(&ReceiptFormat::tlvs_only(), "");
    check(&ReceiptFormat::short(), "id:1f submit date:2402282359 done date:2402290001 stat:UNDELIV err:011");
    check(&ReceiptFormat::shortest().stat("BUFFRED"), "id:1f stat:BUFFRED");
    check(
        &ReceiptFormat::odd_labels(),
        "Stat:UNDELIV  ERR: 011 Done_Date:2402290001 SubmitDate:2402282359 DLVRD:000 SUB:001 ID:1f Text:",
    );
    check(&ReceiptFormat::labels_and_commas(), &standard.replace(' ', ",").replace(",date", " date"));
    check(&ReceiptFormat::commas(), "1f,UNDELIV,011,2402282359,2402290001");
    check(&ReceiptFormat::standard().err("0x1F-ABSENT"), &standard.replace("011", "0x1F-ABSENT"));
    check(&ReceiptFormat::text("{id}|{stat}|{text}"), "1f|UNDELIV|");
    check(&ReceiptFormat::text(&"x".repeat(999)), &"x".repeat(254));
}

#[test]
fn dates_have_ten_twelve_or_fourteen_digits() {
    let time = Timestamp::from_utc((2024, 2, 29), (23, 59, 58)).unwrap();
    assert_eq!(write_date(DateDigits::Minutes, time), "2402292359");
    assert_eq!(write_date(DateDigits::Seconds, time), "240229235958");
    assert_eq!(write_date(DateDigits::LongYear, time), "20240229235958");
}
