//! Which texts are screened together, and how much is kept.

use super::*;
use crate::screen::{Field, Pattern, Screens, Subject};
use crate::sender::Sender;
use crate::text::{Encoding, MessageText};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
const LINK: &str = "https://bit.ly/prize";

fn part(to: u64, reference: u16, part: u8, total: u8) -> SplitPart {
    let to = Msisdn::parse(&format!("+4915112{to:06}")).unwrap();
    SplitPart { connection: ConnectionId::new(1), to, place: ConcatPart { reference, total, part } }
}

fn piece(text: &str) -> Piece {
    Piece { text: MessageText::parse(text).unwrap(), encoding: Encoding::choose(text) }
}

fn octets(octets: &[u8]) -> Piece {
    Piece { text: MessageText::of_octets(octets).unwrap(), encoding: Encoding::Octets }
}

fn texts(joined: &[Joined]) -> Vec<String> {
    joined.iter().map(|pieces| pieces.iter().map(|piece| piece.text.as_str()).collect()).collect()
}

/// Submits a part as the gateway does: a part with a match is not accepted.
fn is_held(split: &mut SplitMessages, part: SplitPart, piece: &Piece, screens: &Screens) -> bool {
    let from = Sender::parse("Shop").unwrap();
    let joined = split.add(part, piece, NOW);
    let is_held = joined.iter().any(|pieces| !screens.hits(&Subject::new(&from, pieces)).is_empty());
    split.settle(part, piece, !is_held);
    is_held
}

fn links() -> Screens {
    Screens::build([Pattern { name: "links", field: Field::Text, pattern: r"https?://bit\.ly" }]).unwrap()
}

#[test]
fn link_split_at_every_position_is_found_in_every_order() {
    let screens = links();
    let text = format!("Hello! {LINK} ends today");
    for first in 1..text.len() - 1 {
        for second in first + 1..text.len() {
            let pieces = [piece(&text[..first]), piece(&text[first..second]), piece(&text[second..])];
            for order in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
                let mut split = SplitMessages::default();
                let held = order.map(|number: u8| {
                    let piece = &pieces[usize::from(number) - 1];
                    is_held(&mut split, part(1, 7, number, 3), piece, &screens)
                });
                assert!(held.contains(&true), "{first} {second} {order:?}");
            }
        }
    }
}

#[test]
fn link_split_into_single_characters_is_found() {
    let (screens, mut split) = (links(), SplitMessages::default());
    let mut held = Vec::new();
    for (index, character) in LINK.chars().enumerate() {
        let number = u8::try_from(index + 1).unwrap();
        let place = part(1, 7, number, u8::try_from(LINK.len()).unwrap());
        held.push(is_held(&mut split, place, &piece(&character.to_string()), &screens));
    }
    assert_eq!(held.iter().position(|held| *held), Some("https://bit.ly".len() - 1));
}

#[test]
fn character_that_begins_in_one_part_and_ends_in_the_next_is_read() {
    let screens = Screens::build([Pattern { name: "€", field: Field::Text, pattern: "€ 5 😀" }]).unwrap();
    let utf16: Vec<u8> = "€ 5 😀".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for at in 1..utf16.len() {
        let mut split = SplitMessages::default();
        let first = is_held(&mut split, part(1, 7, 1, 2), &octets(&utf16[..at]), &screens);
        // Without its last octet, which is 0, the text is read as if it were there.
        assert_eq!(first, at == utf16.len() - 1, "{at}");
        assert!(first || is_held(&mut split, part(1, 7, 2, 2), &octets(&utf16[at..]), &screens), "{at}");
    }
    // An escape at the end of a part of septets, and the rest of the text as GSM-7.
    let screens = Screens::build([Pattern { name: "[", field: Field::Text, pattern: r"a\[b" }]).unwrap();
    let mut split = SplitMessages::default();
    assert!(!is_held(&mut split, part(1, 7, 1, 2), &octets(b"a\x1b"), &screens));
    assert!(is_held(&mut split, part(1, 7, 2, 2), &piece("<b"), &screens));
}

#[test]
fn parts_are_joined_by_connection_recipient_and_reference() {
    let mut split = SplitMessages::default();
    let mut add = |part, text: &str| texts(&split.add(part, &piece(text), NOW));
    assert_eq!(add(part(1, 0x0107, 1, 3), "a"), ["a"]);
    let other = SplitPart { connection: ConnectionId::new(2), ..part(1, 0x0107, 2, 3) };
    assert_eq!((add(other, "b"), add(part(2, 0x0107, 2, 3), "b")), (vec!["b".into()], vec!["b".into()]));
    assert_eq!(add(part(1, 8, 2, 3), "b"), ["b"]);
    assert_eq!(add(part(1, 0x0107, 3, 3), "c"), ["c"], "not a neighbour of the first");
    assert_eq!(add(part(1, 0x0107, 2, 3), "b"), ["abc"]);
    // Towards a carrier a 16-bit reference of sar parameters becomes an 8-bit one.
    assert_eq!(add(part(1, 6, 2, 3), "B"), ["aBc"]);
    assert_eq!(add(part(1, 0x0107, 1, 3), "A"), ["Abc", "ABc"], "as first and as last submitted");
}

#[test]
fn part_that_was_not_accepted_is_forgotten_and_a_complete_message_too() {
    let mut split = SplitMessages::default();
    let connection = ConnectionId::new(1);
    let [one, two] = [part(1, 7, 1, 2), part(1, 7, 2, 2)];
    split.add(one, &piece("a"), NOW);
    split.settle(one, &piece("a"), true);
    split.add(two, &piece("b"), NOW);
    split.settle(two, &piece("b"), false);
    split.add(one, &piece("a"), NOW);
    split.settle(one, &piece("a"), false);
    assert_eq!(split.parts_of(connection), 1, "a repeated part stays, because it was accepted before");
    assert_eq!(texts(&split.add(two, &piece("c"), NOW)), ["ac"]);
    assert_eq!(split.parts_of(connection), 2, "kept until it is known whether it was accepted");
    split.settle(two, &piece("c"), true);
    assert_eq!(split.parts_of(connection), 0);
    assert_eq!(texts(&split.add(two, &piece("d"), NOW)), ["d"], "a new message with this reference");
}

#[test]
fn parts_expire_and_their_number_is_limited() {
    let mut split = SplitMessages::default();
    let connection = ConnectionId::new(1);
    split.add(part(1, 7, 1, 3), &piece("a"), NOW);
    let later = NOW.plus(PARTS_KEPT_FOR / 2);
    assert_eq!(texts(&split.add(part(1, 7, 2, 3), &piece("b"), later)), ["ab"]);
    let end = later.plus(PARTS_KEPT_FOR);
    let before = Timestamp::from_millis(end.as_millis() - 1);
    assert_eq!(texts(&split.add(part(1, 7, 3, 3), &piece("c"), before)), ["abc"]);
    let end = before.plus(PARTS_KEPT_FOR);
    assert_eq!(texts(&split.add(part(1, 7, 3, 3), &piece("c"), end)), ["c"]);
    for recipient in 0..u64::try_from(PARTS_KEPT_MAX).unwrap() {
        split.add(part(1_000 + recipient, 7, 1, 2), &piece("a"), end);
    }
    assert_eq!(split.parts_of(connection), PARTS_KEPT_MAX);
    assert_eq!(texts(&split.add(part(1, 7, 2, 3), &piece("b"), end)), ["b"], "the oldest was dropped");
    assert_eq!(split.parts_of(connection), PARTS_KEPT_MAX);
}

#[test]
fn joined_text_has_whole_neighbours_up_to_a_limit() {
    let mut split = SplitMessages::default();
    let text = "x".repeat(150);
    for number in (1..=255).filter(|number| *number != 128) {
        split.add(part(1, 7, number, 255), &piece(&text), NOW);
    }
    let joined = split.add(part(1, 7, 128, 255), &piece("y"), NOW);
    let sides = NEIGHBOUR_CHARS_MAX.div_ceil(150) * 2;
    assert_eq!(joined[0].len(), sides + 1);
}
