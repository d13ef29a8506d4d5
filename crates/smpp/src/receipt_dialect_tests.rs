//! Positional receipt dialects: parsing of layouts, and of receipts.

use super::*;

#[test]
fn layouts_are_written_as_parsed() {
    let cases = [
        "standard",
        "id,stat",
        "id,stat,err,submit_date,done_date",
        "-;-;stat;id;text",
        "stat id",
        "id|-|-|-|-|-|-|-|-|-|-|-|-|-|-|stat",
        "sub/dlvrd/id/stat",
        "id\tstat",
    ];
    for layout in cases {
        assert_eq!(layout.parse::<ReceiptDialect>().unwrap().to_string(), layout);
    }
    assert_eq!("standard".parse(), Ok(ReceiptDialect::default()));
    assert_eq!("commas".parse(), Ok(ReceiptDialect::COMMAS));
    assert_eq!("id,stat,err,submit_date,done_date".parse(), Ok(ReceiptDialect::COMMAS));
}

#[test]
fn invalid_layouts_are_refused() {
    let cases = [
        ("", "the fields of a receipt must be separated by one of , ; | / a tab or a space"),
        ("id", "the fields of a receipt must be separated by one of , ; | / a tab or a space"),
        ("id=stat", "the fields of a receipt must be separated by one of , ; | / a tab or a space"),
        ("id→stat", "the fields of a receipt must be separated by one of , ; | / a tab or a space"),
        (
            "id,state",
            r#""state" is not a field of a receipt: use id, sub, dlvrd, submit_date, done_date, stat, err, text or -"#,
        ),
        (
            "id,stat;err",
            r#""stat;err" is not a field of a receipt: use id, sub, dlvrd, submit_date, done_date, stat, err, text or -"#,
        ),
        (
            "id,,stat",
            r#""" is not a field of a receipt: use id, sub, dlvrd, submit_date, done_date, stat, err, text or -"#,
        ),
        ("id,stat,id", "id is named twice"),
        ("id,text,stat", "text must be the last field"),
        ("id,text,-", "text must be the last field"),
        ("err,-", "a receipt must have id or stat"),
        ("id,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-", "a receipt must have at most 16 fields"),
    ];
    for (layout, why) in cases {
        assert_eq!(layout.parse::<ReceiptDialect>().unwrap_err().to_string(), why, "{layout}");
    }
}

fn describe(receipt: &ReceiptText<'_>) -> String {
    let fields = ReceiptField::ALL.iter().filter_map(|field| Some((field.name(), receipt.get(*field)?)));
    let words: Vec<String> = fields.map(|(name, value)| format!("{name}={}", value.escape_ascii())).collect();
    words.join(" ")
}

#[test]
fn values_are_read_by_position() {
    let cases = [
        (
            "id,stat,err,submit_date,done_date",
            "7a31,DELIVRD,000,2504011230,2504011231",
            "id=7a31 submit_date=2504011230 done_date=2504011231 stat=DELIVRD err=000",
        ),
        // Spaces around values are trimmed; absent fields are missing; extra values are ignored.
        ("id,stat,err", " 7a31 , DELIVRD ", "id=7a31 stat=DELIVRD"),
        ("id,stat", "7a31,DELIVRD,000,more", "id=7a31 stat=DELIVRD"),
        ("id,stat", "7a31", "id=7a31"),
        ("id,stat,err", ",,", "id= stat= err="),
        ("id,stat", "", "id="),
        ("-,stat,-,id", "491701234567,UNDELIV,x,9", "id=9 stat=UNDELIV"),
        // The quoted message may contain labels and separators.
        ("id;stat;text", "9;DELIVRD;a;b id:5 stat:REJECTD", "id=9 stat=DELIVRD text=a;b id:5 stat:REJECTD"),
        ("stat id err", "DELIVRD   9  12 rest", "id=9 stat=DELIVRD err=12"),
        // Labels are not recognised in a positional dialect.
        ("id,stat", "id:9 stat:DELIVRD", "id=id:9 stat:DELIVRD"),
        ("standard", "id:9 stat:DELIVRD text:id:5", "id=9 stat=DELIVRD text=id:5"),
    ];
    for (layout, text, expect) in cases {
        let dialect: ReceiptDialect = layout.parse().unwrap();
        assert_eq!(describe(&dialect.read(text.as_bytes())), expect, "{layout}: {text}");
    }
}

#[test]
fn quoted_message_can_be_omitted() {
    let cases = [
        ("standard", "id:9 stat:DELIVRD err:000 text:my pin", "id=9 stat=DELIVRD err=000"),
        ("standard", "id:9 text:my err:1234 stat:ABC", "id=9"),
        ("standard", "text:my id:9 stat:DELIVRD", ""),
        ("id,stat,text", "9,DELIVRD,my pin,stat", "id=9 stat=DELIVRD"),
    ];
    for (layout, text, expect) in cases {
        let dialect: ReceiptDialect = layout.parse().unwrap();
        assert_eq!(describe(&dialect.read_before_text(text.as_bytes())), expect, "{layout}: {text}");
    }
}
