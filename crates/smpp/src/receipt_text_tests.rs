//! Receipt texts of carriers, and the format that Hermod writes.

use super::*;

/// Returns the parsed fields, without missing ones.
fn describe(text: &str) -> String {
    let receipt = parse(text.as_bytes());
    let ReceiptText { id, sub, dlvrd, submit_date, done_date, stat, err, text } = receipt;
    let fields = [
        ("id", id),
        ("sub", sub),
        ("dlvrd", dlvrd),
        ("submit", submit_date),
        ("done", done_date),
        ("stat", stat),
        ("err", err),
        ("text", text.map(|text| text.0)),
    ];
    let words = fields.iter().filter_map(|(name, value)| Some((name, (*value)?)));
    let words: Vec<String> = words.map(|(name, value)| format!("{name}={}", value.escape_ascii())).collect();
    words.join(" ")
}

#[test]
fn texts_are_parsed_in_every_variation() {
    let cases = [
        (
            "id:0123456789 sub:001 dlvrd:001 submit date:2504011230 done date:2504011231 stat:DELIVRD err:000 text:Hello",
            "id=0123456789 sub=001 dlvrd=001 submit=2504011230 done=2504011231 stat=DELIVRD err=000 text=Hello",
        ),
        // No sub, no dlvrd, no text; seconds in the dates; a long err.
        (
            "id:a-b submit date:250401123005 done date:20250401123105 stat:UNDELIV err:0x0000000B",
            "id=a-b submit=250401123005 done=20250401123105 stat=UNDELIV err=0x0000000B",
        ),
        // Capitals, spaces around the colon, another order.
        (
            "STAT : Expired ID: 99 Done Date : 2504011231 ERR:abc Text:",
            "id=99 done=2504011231 stat=Expired err=abc text=",
        ),
        (
            "Id:7 Submit_Date:2504011230 donedate:2504011231 Stat:ACCEPTD",
            "id=7 submit=2504011230 done=2504011231 stat=ACCEPTD",
        ),
        // No spaces after a value, and other separators.
        ("id:1,sub:1,stat:REJECTD;err:12\0", "id=1 sub=1 stat=REJECTD err=12"),
        // The quoted message may contain labels; the first of a repeated label counts.
        ("id:1 id:2 stat:DELIVRD text:id:9 stat:UNDELIV", "id=1 stat=DELIVRD text=id:9 stat:UNDELIV"),
        ("text:hello id:9 stat:UNDELIV", "id=9 stat=UNDELIV text=hello"),
        ("valid:1 resub:2 stat:ENROUTE", "stat=ENROUTE"),
        ("id: stat:", "id= stat="),
        ("hello there", ""),
        ("", ""),
        (":::: id", ""),
        ("submit date", ""),
    ];
    for (text, expect) in cases {
        assert_eq!(describe(text), expect, "{text}");
    }
}

#[test]
fn dates_of_ten_twelve_and_fourteen_digits_are_parsed() {
    let cases = [
        ("2504011230", Some("2025-04-01 12:30:00")),
        ("250401123059", Some("2025-04-01 12:30:59")),
        ("20250401123059", Some("2025-04-01 12:30:59")),
        // There is no month 25, so the year has four digits.
        ("202504011230", Some("2025-04-01 12:30:00")),
        ("180711070003912+", Some("2018-07-11 07:00:03")),
        ("1807110700039120", None),
        ("9912312359", Some("1999-12-31 23:59:00")),
        ("2502301230", None),
        ("2504012430", None),
        ("25040112", None),
        ("", None),
        ("25o4011230", None),
    ];
    for (digits, expect) in cases {
        let date = ReceiptDate::parse(digits.as_bytes()).map(|d| {
            format!("{}-{:02}-{:02} {:02}:{:02}:{:02}", d.year, d.month, d.day, d.hour, d.minute, d.second)
        });
        assert_eq!(date.as_deref(), expect, "{digits}");
    }
}

fn fields() -> ReceiptFields<'static> {
    let date = |minute| ReceiptDate { year: 2025, month: 4, day: 1, hour: 9, minute, second: 59 };
    ReceiptFields {
        id: b"314159265358979",
        sub: 2,
        dlvrd: 1,
        submit_date: date(5),
        done_date: date(6),
        stat: b"UNDELIV",
        err: b"011",
        text: crate::Hidden(b""),
    }
}

#[test]
fn written_text_has_every_label_in_order_with_single_spaces() {
    let mut out = BytesMut::from(&b"before "[..]);
    write(&fields(), &mut out).unwrap();
    let expect = "before id:314159265358979 sub:002 dlvrd:001 submit date:2504010905 done date:2504010906 \
                  stat:UNDELIV err:011 text:";
    assert_eq!(&out[..], expect.as_bytes());
    let read = parse(&out);
    assert_eq!(read.id, Some(&b"314159265358979"[..]));
    assert_eq!(read.stat, Some(&b"UNDELIV"[..]));
    assert_eq!(read.done_date.and_then(ReceiptDate::parse).unwrap().minute, 6);
}

#[test]
fn invalid_fields_are_not_written() {
    let no_day = ReceiptDate { day: 31, ..fields().submit_date };
    let cases = [
        (ReceiptFields { id: b"", ..fields() }, "id"),
        (ReceiptFields { id: b"a b", ..fields() }, "id"),
        (ReceiptFields { id: b"a:b", ..fields() }, "id"),
        (ReceiptFields { sub: 1000, ..fields() }, "sub"),
        (ReceiptFields { dlvrd: 1000, ..fields() }, "dlvrd"),
        (ReceiptFields { submit_date: no_day, ..fields() }, "submit date"),
        (ReceiptFields { done_date: no_day, ..fields() }, "done date"),
        (ReceiptFields { stat: b"deliver", ..fields() }, "stat"),
        (ReceiptFields { err: b" 11", ..fields() }, "err"),
        (ReceiptFields { text: crate::Hidden(b"123456789012345678901"), ..fields() }, "text"),
    ];
    for (fields, field) in cases {
        let mut out = BytesMut::new();
        assert_eq!(write(&fields, &mut out), Err(Unwritable(field)));
        assert!(out.is_empty());
    }
}
