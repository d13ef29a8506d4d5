//! Unit tests of `udh.rs`.

use super::*;

fn describe(user_data: &[u8]) -> String {
    match parse(user_data) {
        Ok(udh) => {
            let ids: Vec<u8> = udh.elements().map(|element| element.id).collect();
            let part = udh.concatenation().map(|c| format!("{} {}/{}", c.reference, c.part, c.total));
            format!(
                "{ids:?} {} {:?}",
                part.as_deref().unwrap_or("whole"),
                udh.text.escape_ascii().to_string()
            )
        }
        Err(BadUdh) => "bad".into(),
    }
}

#[test]
fn headers_are_parsed_by_element() {
    let cases: [(&[u8], &str); 14] = [
        (b"\x05\x00\x03\xab\x02\x01hi", r#"[0] 171 1/2 "hi""#),
        (b"\x06\x08\x04\x12\x34\x03\x03hi", r#"[8] 4660 3/3 "hi""#),
        // Application ports first, concatenation second: the fixed prefix 05 00 03 is not there.
        (b"\x0b\x05\x04\x0b\x84\x23\xf0\x00\x03\x01\x02\x02x", r#"[5, 0] 1 2/2 "x""#),
        (b"\x04\x24\x01\x05\x25text", "bad"),
        (b"\x03\x24\x01\x05text", r#"[36] whole "text""#),
        (b"\x00text", r#"[] whole "text""#),
        (b"\x05\x00\x03\xab\x02\x03hi", r#"[0] whole "hi""#),
        (b"\x05\x00\x03\xab\x02\x00hi", r#"[0] whole "hi""#),
        (b"\x04\x00\x02\xab\x02hi", r#"[0] whole "hi""#),
        (b"\x0a\x00\x03\x01\x02\x01\x00\x03\x09\x02\x02", r#"[0, 0] 9 2/2 """#),
        (b"\x05\x00\x03\xab\x02", "bad"),
        (b"\x05\x00\x04\xab\x02\x01hi", "bad"),
        (b"\xff", "bad"),
        (b"", "bad"),
    ];
    for (user_data, expect) in cases {
        assert_eq!(describe(user_data), expect, "{user_data:02x?}");
    }
}

#[test]
fn built_header_parses_to_the_same() {
    let header = concatenation_header(7, 3, 2);
    assert_eq!(header, [5, 0, 3, 7, 3, 2]);
    let udh = parse(&header).unwrap();
    assert_eq!(udh.concatenation(), Some(Concatenation { reference: 7, total: 3, part: 2 }));
}
