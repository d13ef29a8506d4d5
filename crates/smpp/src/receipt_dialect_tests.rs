//! Receipts in both dialects.

use super::*;

fn describe(receipt: &ReceiptText<'_>) -> String {
    let fields = ReceiptField::ALL.iter().filter_map(|field| Some((field.name(), receipt.get(*field)?)));
    let words: Vec<String> = fields.map(|(name, value)| format!("{name}={}", value.escape_ascii())).collect();
    words.join(" ")
}

#[test]
fn values_are_read_by_position() {
    let cases = [
        (
            "7a31,DELIVRD,000,2504011230,2504011231",
            "id=7a31 submit_date=2504011230 done_date=2504011231 stat=DELIVRD err=000",
        ),
        // Spaces around values are trimmed; absent fields are missing; extra values are ignored.
        (" 7a31 , DELIVRD ", "id=7a31 stat=DELIVRD"),
        ("7a31,DELIVRD,000,1,2,more", "id=7a31 submit_date=1 done_date=2 stat=DELIVRD err=000"),
        ("7a31", "id=7a31"),
        (",,", "id= stat= err="),
        ("", "id="),
        // Labels are not recognised in a positional dialect.
        ("id:9 stat:DELIVRD", "id=id:9 stat:DELIVRD"),
    ];
    for (text, expect) in cases {
        for read in [ReceiptDialect::read, ReceiptDialect::read_before_text] {
            assert_eq!(describe(&read(ReceiptDialect::Commas, text.as_bytes())), expect, "{text}");
        }
    }
    let standard = ReceiptDialect::default().read(b"id:9 stat:DELIVRD text:id:5");
    assert_eq!(describe(&standard), "id=9 stat=DELIVRD text=id:5");
}

#[test]
fn quoted_message_can_be_omitted() {
    let cases = [
        ("id:9 stat:DELIVRD err:000 text:my pin", "id=9 stat=DELIVRD err=000"),
        ("id:9 text:my err:1234 stat:ABC", "id=9"),
        ("text:my id:9 stat:DELIVRD", ""),
    ];
    for (text, expect) in cases {
        let read = ReceiptDialect::Standard.read_before_text(text.as_bytes());
        assert_eq!(describe(&read), expect, "{text}");
    }
}
