//! What screening rules match, in plain and disguised texts.

use super::*;

fn screens(patterns: &[(&str, ScreenedField, &str)]) -> Result<Screens, PatternRefusal> {
    Screens::build(patterns.iter().map(|(name, field, pattern)| Pattern { name, field: *field, pattern }))
}

#[track_caller]
fn check(screens: &Screens, from: &str, text: &str, expect: &[&str]) {
    check_in(screens, from, &MessageText::parse(text).unwrap(), Encoding::choose(text), expect);
}

#[track_caller]
fn check_in(screens: &Screens, from: &str, text: &MessageText, encoding: Encoding, expect: &[&str]) {
    let hits =
        screens.hits(&Subject::new(&Sender::parse(from).unwrap(), &[Piece { text: text.clone(), encoding }]));
    let hits: Vec<&str> = hits.iter().map(AsRef::as_ref).collect();
    assert_eq!(hits, expect, "{from}: {}", text.as_str());
}

#[test]
fn patterns_match_texts_and_senders_in_any_case() {
    let screens = screens(&[
        ("links", ScreenedField::Text, r"https?://"),
        ("bank", ScreenedField::Sender, "bank"),
        ("pin", ScreenedField::Text, r"\bpin\b"),
    ])
    .unwrap();
    check(&screens, "Shop", "hello", &[]);
    check(&screens, "MyBANK", "your PIN at HTTP://x.example", &["bank", "links", "pin"]);
    check(&screens, "Shop", "spinning", &[]);
    check(&Screens::default(), "Bank", "pin", &[]);
}

#[test]
fn line_break_does_not_hide_a_match() {
    let screens = screens(&[("prize", ScreenedField::Text, "won.*prize")]).unwrap();
    check(&screens, "Shop", "you won\na\r\nprize", &["prize"]);
}

#[test]
fn invalid_pattern_is_named() {
    let refusal = |pattern| {
        screens(&[("ok", ScreenedField::Text, "a"), ("bad", ScreenedField::Text, pattern)]).unwrap_err()
    };
    assert_eq!(refusal("(").name, "bad");
    assert_eq!(refusal("(").reason, "unclosed group");
    assert_eq!(refusal(r"\w{1000}{1000}").reason, "it is too large");
}

#[test]
fn disguised_words_match_like_plain_ones() {
    let screens = screens(&[
        ("link", ScreenedField::Text, r"https?://bit\.ly"),
        ("bank", ScreenedField::Text, r"\byour bank\b"),
        ("pin", ScreenedField::Text, "пин-код"),
        ("payer", ScreenedField::Sender, "paypal"),
    ])
    .unwrap();
    for (text, rule) in [
        ("go to ht\u{200b}tp://b\u{200d}it.ly/x", "link"),
        ("go to ｈｔｔｐｓ：／／ｂｉｔ．ｌｙ/x", "link"),
        ("ask уоur ВАNК now", "bank"),
        ("ask y0ur b\u{ad}ank now", "bank"),
        ("ask your\u{a0}\u{fe0f}bank now", "bank"),
        ("ваш пин-koд", "pin"),
        ("ваш ПИН-КОД", "pin"),
    ] {
        check(&screens, "Shop", text, &[rule]);
    }
    check(&screens, "PayPaI", "hello", &["payer"]);
    check(&screens, "PAYPA1", "hello", &["payer"]);
    check(&screens, "PayPlan", "ask your banker", &[]);
}

#[test]
fn binary_messages_are_matched_in_every_plausible_decoding() {
    let screens = screens(&[("bank", ScreenedField::Text, "your bank")]).unwrap();
    let utf16 =
        |text: &str, unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    let broken =
        [&utf16("yo", u16::to_be_bytes)[..], &[0xd8, 0x3d], &utf16("ur bank", u16::to_be_bytes)].concat();
    for octets in [
        b"your bank".to_vec(),
        utf16("your bank", u16::to_be_bytes),
        utf16("your bank", u16::to_le_bytes),
        utf16("уоur bank", u16::to_be_bytes),
        "уоur bank".as_bytes().to_vec(),
        [&[7][..], &utf16("your bank", u16::to_be_bytes)].concat(),
        broken,
        // Packed septets, and the same after one fill bit.
        vec![0xf9, 0x77, 0x5d, 0x0e, 0x12, 0x87, 0xdd, 0x6b],
        vec![0xf2, 0xef, 0xba, 0x1c, 0x24, 0x0e, 0xbb, 0xd7],
    ] {
        check_in(&screens, "Shop", &MessageText::of_octets(&octets).unwrap(), Encoding::Octets, &["bank"]);
    }
    let other = MessageText::of_octets(&[0, 0x1b, 0xff, 0xd8, 0x3d]).unwrap();
    check_in(&screens, "Shop", &other, Encoding::Octets, &[]);
}

#[test]
fn numbers_do_not_match_words() {
    let screens =
        screens(&[("oil", ScreenedField::Text, "oil"), ("code", ScreenedField::Text, r"\b\d{6}\b")]).unwrap();
    check(&screens, "Shop", "call 0111 0110", &[]);
    check(&screens, "Shop", "hello hollow lolly", &[]);
    check(&screens, "Shop", "code 101010", &["code"]);
    check(&screens, "Shop", "0i1 and oil", &["oil"]);
    check(&screens, "Shop", "0i1", &["oil"]);
}
