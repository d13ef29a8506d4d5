//! Segmentation at its boundaries, and properties that hold for every text. Counts are also checked against an
//! independent splitter.

use proptest::prelude::*;
use sms_splitter::SplitSms;

use super::*;
use crate::text::ucs2;

impl Segments<'_> {
    /// Returns the octets of one part as SMPP carries them, without a header: unpacked septets, UTF-16 or binary data.
    /// `None` past the last part.
    fn part(&self, part: PartNo) -> Option<Vec<u8>> {
        let slice = self.slice(part)?;
        let mut octets = Vec::new();
        match self.encoding {
            Encoding::Gsm7 => assert!(gsm7::encode(slice, &mut octets), "the text was found to be GSM-7"),
            Encoding::Ucs2 => ucs2::encode(slice, &mut octets),
            Encoding::Octets => write_octets(slice, &mut octets),
        }
        Some(octets)
    }
}

/// Compares the encoding, the number of parts and the units in each part.
#[track_caller]
fn check(text: &str, expect: &str) {
    let text = MessageText::parse(text).unwrap();
    let Measure { encoding, parts } = text.measure();
    let segments = text.segments();
    let units: Vec<String> = (PartNo::up_to(parts))
        .map(|part| {
            let octets = segments.part(part).unwrap().len();
            if encoding == Encoding::Gsm7 { octets } else { octets / 2 }.to_string()
        })
        .collect();
    assert_eq!(format!("{} {parts}: {}", encoding.as_str(), units.join(" ")), expect);
    check_properties(&text);
}

/// Checks the properties that hold for every text.
#[track_caller]
fn check_properties(text: &MessageText) {
    let (measure, segments) = (text.measure(), text.segments());
    assert_eq!(measure, segments.measure(), "counted and produced");
    assert_eq!(measure.encoding, Encoding::choose(text.as_str()));
    let past = PartNo::new(measure.parts + 1).unwrap();
    assert_eq!((segments.slice(past), segments.part(past)), (None, None));

    let mut slices = String::new();
    let mut decoded = String::new();
    for part in PartNo::up_to(measure.parts) {
        slices.push_str(segments.slice(part).unwrap());
        let octets = segments.part(part).unwrap();
        let header_octets = if measure.parts > 1 { 6 } else { 0 };
        let (packed_octets, part_text) = match measure.encoding {
            // A part that ended within an escape sequence would not decode to its own characters.
            Encoding::Gsm7 => {
                let header_septets = (header_octets * 8_usize).div_ceil(7);
                (((header_septets + octets.len()) * 7).div_ceil(8), gsm7::decode(&octets).unwrap())
            }
            Encoding::Octets => panic!("binary is never chosen for a text"),
            // Half a surrogate pair does not decode at all.
            Encoding::Ucs2 => (header_octets + octets.len(), ucs2::decode(&octets).unwrap()),
        };
        assert!(packed_octets <= 140, "part {part} takes {packed_octets} octets");
        assert_eq!(part_text, segments.slice(part).unwrap());
        decoded.push_str(&part_text);
    }
    assert_eq!(slices, text.as_str());
    assert_eq!(decoded, text.as_str());

    let oracle = SplitSms::default().split(String::from(text.as_str()));
    let expect = (if measure.encoding == Encoding::Gsm7 { "GSM" } else { "Unicode" }, measure.parts.into());
    assert_eq!((oracle.character_set.as_str(), oracle.parts.len()), expect, "{:?}", text.as_str());
}

fn letters(letter: &str, count: usize) -> String {
    letter.repeat(count)
}

#[test]
fn one_part_holds_160_septets() {
    check("a", "gsm7 1: 1");
    check(&letters("a", 153), "gsm7 1: 153");
    check(&letters("a", 154), "gsm7 1: 154");
    check(&letters("a", 160), "gsm7 1: 160");
    check(&letters("€", 80), "gsm7 1: 160");
}

#[test]
fn more_than_160_septets_are_split_into_parts_of_153() {
    check(&letters("a", 161), "gsm7 2: 153 8");
    check(&letters("a", 306), "gsm7 2: 153 153");
    check(&letters("a", 307), "gsm7 3: 153 153 1");
    check(&letters("a", 459), "gsm7 3: 153 153 153");
    check(&letters("a", 460), "gsm7 4: 153 153 153 1");
}

#[test]
fn escape_sequence_is_never_divided() {
    check(&(letters("a", 159) + "€"), "gsm7 2: 153 8");
    check(&(letters("a", 152) + "€" + &letters("a", 7)), "gsm7 2: 152 9");
    check(&(letters("a", 151) + "€" + &letters("a", 8)), "gsm7 2: 153 8");
    check(&letters("€", 81), "gsm7 2: 152 10");
    // 306 septets that would make two parts if pairs could be cut.
    check(&letters("€", 153), "gsm7 3: 152 152 2");
}

#[test]
fn one_part_holds_70_units() {
    check("я", "ucs2 1: 1");
    check(&letters("я", 67), "ucs2 1: 67");
    check(&letters("я", 70), "ucs2 1: 70");
    check(&letters("😀", 35), "ucs2 1: 70");
    check(&(letters("a", 69) + "`"), "ucs2 1: 70");
}

#[test]
fn more_than_70_units_are_split_into_parts_of_67() {
    check(&letters("я", 71), "ucs2 2: 67 4");
    check(&letters("я", 134), "ucs2 2: 67 67");
    check(&letters("я", 135), "ucs2 3: 67 67 1");
    check(&(letters("a", 70) + "`"), "ucs2 2: 67 4");
}

#[test]
fn surrogate_pair_is_never_divided() {
    check(&(letters("я", 69) + "😀"), "ucs2 2: 67 4");
    check(&(letters("я", 66) + "😀" + &letters("я", 3)), "ucs2 2: 66 5");
    check(&(letters("я", 65) + "😀" + &letters("я", 4)), "ucs2 2: 67 4");
    check(&letters("😀", 36), "ucs2 2: 66 6");
    // 134 units that would make two parts if pairs could be cut.
    check(&letters("😀", 67), "ucs2 3: 66 66 2");
}

#[test]
fn longest_texts_have_11_22_24_and_49_parts() {
    for (letter, expect) in [
        ("a", Measure { encoding: Encoding::Gsm7, parts: 11 }),
        ("€", Measure { encoding: Encoding::Gsm7, parts: 22 }),
        ("я", Measure { encoding: Encoding::Ucs2, parts: 24 }),
        ("😀", Measure { encoding: Encoding::Ucs2, parts: 49 }),
    ] {
        let text = MessageText::parse(&letters(letter, 1600)).unwrap();
        assert_eq!(text.measure(), expect, "{letter}");
        check_properties(&text);
    }
}

/// Texts of characters of one and two units, so that parts end near and within pairs.
fn gsm7_text() -> impl Strategy<Value = String> {
    let letter = prop_oneof![8 => Just('a'), 1 => Just('@'), 1 => Just('Δ'), 3 => Just('€'), 2 => Just('[')];
    prop::collection::vec(letter, 1..700).prop_map(String::from_iter)
}

fn ucs2_text() -> impl Strategy<Value = String> {
    let letter = prop_oneof![6 => Just('я'), 2 => Just('a'), 3 => Just('😀'), 1 => Just('€')];
    prop::collection::vec(letter, 1..400).prop_map(String::from_iter)
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<char>(), 1..200).prop_map(String::from_iter)
}

proptest! {
    #[test]
    fn gsm7_texts_are_split_correctly(text in gsm7_text()) {
        check_properties(&MessageText::parse(&text).unwrap());
    }

    #[test]
    fn ucs2_texts_are_split_correctly(text in ucs2_text()) {
        check_properties(&MessageText::parse(&text).unwrap());
    }

    #[test]
    fn any_text_is_split_correctly(text in any_text()) {
        check_properties(&MessageText::parse(&text).unwrap());
    }
}

#[test]
fn chosen_encoding_counts_its_own_units() {
    for (text, encoding, parts) in [
        ("a".repeat(70), Encoding::Ucs2, 1),
        ("a".repeat(71), Encoding::Ucs2, 2),
        ("a".repeat(160), Encoding::Gsm7, 1),
        ("\u{ff}".repeat(140), Encoding::Octets, 1),
        ("\u{0}".repeat(141), Encoding::Octets, 2),
        ("\u{80}".repeat(269), Encoding::Octets, 3),
    ] {
        let text = MessageText::parse(&text).unwrap();
        let segments = text.segments_in(encoding);
        assert_eq!(text.measure_in(encoding), Measure { encoding, parts });
        assert_eq!(segments.measure(), Measure { encoding, parts });
        let octets: Vec<u8> = PartNo::up_to(parts).flat_map(|part| segments.part(part).unwrap()).collect();
        let expect = encoding.units_of(text.as_str()) * if encoding == Encoding::Ucs2 { 2 } else { 1 };
        assert_eq!(octets.len(), expect);
    }
    let octets: Vec<u8> = (0..=255).collect();
    let text = MessageText::of_octets(&octets).unwrap();
    let both = text.segments_in(Encoding::Octets);
    let back: Vec<u8> = PartNo::up_to(2).flat_map(|part| both.part(part).unwrap()).collect();
    assert_eq!(back, octets);
    assert!(!Encoding::Octets.has_all_of("\u{100}") && Encoding::Octets.has_all_of(text.as_str()));
}
