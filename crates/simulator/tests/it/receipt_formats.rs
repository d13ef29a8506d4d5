//! Receipt texts in the dialects of real carriers.

use hermod_simulator::carrier::{DateDigits, Outcome, ReceiptFormat, Script, SubmitFilter};

use crate::esme::Esme;
use crate::helpers::{carrier, ms};

/// Returns the parsed receipt, and its text with dates as zeros.
async fn parse_sent_receipt(wording: ReceiptFormat) -> (String, String) {
    let script = Script::new().receipt_after(ms(0), Outcome::Undeliverable).receipt_format(wording);
    let carrier = carrier(script).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    (esme.next().await, without_dates(&esme.last_text))
}

/// Replaces every run of more than nine digits by zeros.
fn without_dates(text: &str) -> String {
    let mut words = String::new();
    let mut digits = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        words += &if digits.len() > 9 { "0".repeat(digits.len()) } else { std::mem::take(&mut digits) };
        digits.clear();
        words.push(c);
    }
    words.trim_end_matches('\0').to_owned()
}

#[tokio::test]
async fn every_receipt_dialect_is_sent_as_scripted() {
    let [ten, twelve, fourteen] = [10, 12, 14].map(|digits| "0".repeat(digits));
    let usual = |date: &str| {
        format!("id:1 sub:001 dlvrd:000 submit date:{date} done date:{date} stat:UNDELIV err:000 text:")
    };
    let short = format!("id:1 submit date:{ten} done date:{ten} stat:UNDELIV err:000");
    let odd = format!("Stat:UNDELIV  ERR: 000 Done_Date:{ten} SubmitDate:{ten} DLVRD:000 SUB:001 ID:1 Text:");
    let spoken = "receipt 1 UNDELIV -";
    for (wording, expect, text) in [
        (ReceiptFormat::standard(), "receipt 1 UNDELIV 5", usual(&ten)),
        (ReceiptFormat::text_only(), spoken, usual(&ten)),
        (ReceiptFormat::tlvs_only(), "receipt 1 - 5", String::new()),
        (ReceiptFormat::in_payload(), spoken, usual(&ten)),
        (ReceiptFormat::short(), spoken, short),
        (ReceiptFormat::shortest(), spoken, "id:1 stat:UNDELIV".to_owned()),
        (ReceiptFormat::odd_labels(), spoken, odd),
        (ReceiptFormat::labels_and_commas(), spoken, usual(&ten).replace(' ', ",").replace(",date", " date")),
        (ReceiptFormat::text_only().dates(DateDigits::Seconds), spoken, usual(&twelve)),
        (ReceiptFormat::text_only().dates(DateDigits::LongYear), spoken, usual(&fourteen)),
        (
            ReceiptFormat::text_only().err("ABSENT-SUBSCRIBER"),
            spoken,
            usual(&ten).replace("err:000", "err:ABSENT-SUBSCRIBER"),
        ),
        (ReceiptFormat::shortest().stat("BUFFRED"), "receipt 1 BUFFRED -", "id:1 stat:BUFFRED".to_owned()),
        (
            ReceiptFormat::shortest().with_tlvs().with_unknown_tlv(),
            "receipt 1 UNDELIV 5",
            "id:1 stat:UNDELIV".to_owned(),
        ),
        (ReceiptFormat::standard().by_data_sm(), "by data_sm: receipt 1 UNDELIV 5", usual(&ten)),
        (ReceiptFormat::tlvs_only().by_data_sm(), "by data_sm: receipt 1 - 5", String::new()),
        (ReceiptFormat::commas(), "receipt - - -", format!("1,UNDELIV,000,{ten},{ten}")),
    ] {
        assert_eq!(parse_sent_receipt(wording.clone()).await, (expect.to_owned(), text), "{wording:?}");
    }
}

#[tokio::test]
async fn one_carrier_can_mix_receipt_dialects() {
    let script = Script::new()
        .receipt_format(ReceiptFormat::text_only())
        .receipt_format_when(SubmitFilter::text("tlv"), ReceiptFormat::tlvs_only())
        .receipt_after(ms(50), Outcome::Delivered);
    let carrier = carrier(script).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("tlv").await;
    esme.submit("text").await;
    assert_eq!(esme.next_many(4).await, ["tlv: 1", "text: 2", "receipt 1 - 2", "receipt 2 DELIVRD -"]);
}

#[tokio::test]
async fn error_code_is_in_the_receipt_text() {
    let script = Script::new().receipt_after(ms(0), Outcome::Undeliverable).receipt_error(11);
    let carrier = carrier(script).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 UNDELIV 5"]);
    assert!(esme.last_text.ends_with("stat:UNDELIV err:011 text:"), "{}", esme.last_text);
}
