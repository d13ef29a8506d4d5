//! Unit tests of `masking.rs`.

use super::*;
use serde_json::json;

#[derive(Serialize)]
struct View {
    number: HandsetNumber,
    text: MessageText,
    empty: MessageText,
    subject: NamesHandsets,
    #[serde(serialize_with = "texts_masked")]
    detail: Value,
}

fn view() -> View {
    View {
        number: "+4915112345678".to_owned().into(),
        text: "Your code is 1234.".to_owned().into(),
        empty: String::new().into(),
        subject: "shop/4915112345678".to_owned().into(),
        detail: json!({ "prefix": [null, "4915112345678"], "parts": 12_345_678 }),
    }
}

#[test]
fn view_is_whole_except_while_a_masked_response_is_written() {
    let whole = json!({
        "number": "+4915112345678", "text": "Your code is 1234.", "empty": "", "subject": "shop/4915112345678",
        "detail": { "prefix": [null, "4915112345678"], "parts": 12_345_678 },
    });
    let write = || serde_json::to_value(view()).unwrap();
    assert_eq!(write(), whole);
    assert_eq!(Masking::Whole.write(write), whole);
    let masked = json!({
        "number": "+491********78", "text": "(hidden)", "empty": "", "subject": "shop/4915*******78",
        "detail": { "prefix": [null, "4915*******78"], "parts": 12_345_678 },
    });
    assert_eq!(Masking::Masked.write(write), masked);
    assert_eq!(write(), whole);
}

#[test]
fn debug_form_has_neither_number_nor_text() {
    let View { number, text, .. } = view();
    assert_eq!(format!("{number:?} {text:?}"), "\"+491********78\" \"(hidden)\"");
    assert_eq!((number.to_string().as_str(), &*text), ("+4915112345678", "Your code is 1234."));
}
