//! Shapes as profiles write them, and receipts in those shapes.

use super::*;

#[test]
fn shapes_are_written_as_they_are_read() {
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
    for shape in cases {
        assert_eq!(shape.parse::<ReceiptDialect>().unwrap().to_string(), shape);
    }
    assert_eq!("standard".parse(), Ok(ReceiptDialect::default()));
    assert_eq!("commas".parse(), Ok(ReceiptDialect::COMMAS));
    assert_eq!("id,stat,err,submit_date,done_date".parse(), Ok(ReceiptDialect::COMMAS));
}

#[test]
fn shapes_that_cannot_be_used_say_why() {
    let cases = [
        ("", "the places of a receipt are separated by one of , ; | / a tab or a space"),
        ("id", "the places of a receipt are separated by one of , ; | / a tab or a space"),
        ("id=stat", "the places of a receipt are separated by one of , ; | / a tab or a space"),
        ("id→stat", "the places of a receipt are separated by one of , ; | / a tab or a space"),
        (
            "id,state",
            r#""state" is no value of a receipt: id, sub, dlvrd, submit_date, done_date, stat, err, text or -"#,
        ),
        (
            "id,stat;err",
            r#""stat;err" is no value of a receipt: id, sub, dlvrd, submit_date, done_date, stat, err, text or -"#,
        ),
        (
            "id,,stat",
            r#""" is no value of a receipt: id, sub, dlvrd, submit_date, done_date, stat, err, text or -"#,
        ),
        ("id,stat,id", "id stands at two places"),
        ("id,text,stat", "text has to be the last place"),
        ("id,text,-", "text has to be the last place"),
        ("err,-", "a receipt has to name id or stat"),
        ("id,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-", "a receipt has at most 16 places"),
    ];
    for (shape, why) in cases {
        assert_eq!(shape.parse::<ReceiptDialect>().unwrap_err().to_string(), why, "{shape}");
    }
}

fn shown(receipt: &ReceiptText<'_>) -> String {
    let fields = ReceiptField::ALL.iter().filter_map(|field| Some((field.name(), receipt.get(*field)?)));
    let words: Vec<String> = fields.map(|(name, value)| format!("{name}={}", value.escape_ascii())).collect();
    words.join(" ")
}

#[test]
fn values_are_found_by_their_place() {
    let cases = [
        (
            "id,stat,err,submit_date,done_date",
            "7a31,DELIVRD,000,2504011230,2504011231",
            "id=7a31 submit_date=2504011230 done_date=2504011231 stat=DELIVRD err=000",
        ),
        // Spaces around values mean nothing; what is not there is missing; what is more is passed by.
        ("id,stat,err", " 7a31 , DELIVRD ", "id=7a31 stat=DELIVRD"),
        ("id,stat", "7a31,DELIVRD,000,more", "id=7a31 stat=DELIVRD"),
        ("id,stat", "7a31", "id=7a31"),
        ("id,stat,err", ",,", "id= stat= err="),
        ("id,stat", "", "id="),
        ("-,stat,-,id", "491701234567,UNDELIV,x,9", "id=9 stat=UNDELIV"),
        // The message's own words may hold anything, labels and separators too.
        ("id;stat;text", "9;DELIVRD;a;b id:5 stat:REJECTD", "id=9 stat=DELIVRD text=a;b id:5 stat:REJECTD"),
        ("stat id err", "DELIVRD   9  12 rest", "id=9 stat=DELIVRD err=12"),
        // A labelled text in a shape without labels is not guessed at.
        ("id,stat", "id:9 stat:DELIVRD", "id=id:9 stat:DELIVRD"),
        ("standard", "id:9 stat:DELIVRD text:id:5", "id=9 stat=DELIVRD text=id:5"),
    ];
    for (shape, text, expect) in cases {
        let dialect: ReceiptDialect = shape.parse().unwrap();
        assert_eq!(shown(&dialect.read(text.as_bytes())), expect, "{shape}: {text}");
    }
}

/// A customer's text stands in his receipts. It must not come out where texts are hidden.
#[test]
fn the_messages_own_words_can_be_left_out() {
    let cases = [
        ("standard", "id:9 stat:DELIVRD err:000 text:my pin", "id=9 stat=DELIVRD err=000"),
        ("standard", "id:9 text:my err:1234 stat:ABC", "id=9"),
        ("standard", "text:my id:9 stat:DELIVRD", ""),
        ("id,stat,text", "9,DELIVRD,my pin,stat", "id=9 stat=DELIVRD"),
    ];
    for (shape, text, expect) in cases {
        let dialect: ReceiptDialect = shape.parse().unwrap();
        assert_eq!(shown(&dialect.read_before_text(text.as_bytes())), expect, "{shape}: {text}");
    }
}
