//! Which texts are screened together, and how much is kept.

use super::*;
use crate::screen::{Pattern, ScreenedField, Screens, Subject};
use crate::sender::Sender;
use crate::text::{Encoding, MessageText};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
const ACCOUNT: AccountId = AccountId::new(1);
const LINK: &str = "https://bit.ly/prize";

impl SplitMessages {
    /// Returns how many parts are kept for an account.
    fn parts_of(&self, account: AccountId) -> usize {
        self.0.get(&account).map_or(0, |account| account.parts)
    }
}

fn part(to: u64, reference: u16, part: u8, total: u8) -> SplitPart {
    let to = Msisdn::parse(&format!("+4915112{to:06}")).unwrap();
    SplitPart { account: ACCOUNT, to, place: ConcatPart { reference, total, part } }
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
    let joined = split.add(part, piece, NOW).unwrap();
    let is_held = joined.iter().any(|pieces| !screens.hits(&Subject::new(&from, pieces)).is_empty());
    split.settle(part, piece, !is_held);
    is_held
}

fn links() -> Screens {
    Screens::build([Pattern { name: "links", field: ScreenedField::Text, pattern: r"https?://bit\.ly" }])
        .unwrap()
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
    let screens =
        Screens::build([Pattern { name: "€", field: ScreenedField::Text, pattern: "€ 5 😀" }]).unwrap();
    let utf16: Vec<u8> = "€ 5 😀".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for at in 1..utf16.len() {
        let mut split = SplitMessages::default();
        let first = is_held(&mut split, part(1, 7, 1, 2), &octets(&utf16[..at]), &screens);
        // Without its last octet, which is 0, the text is read as if it were there.
        assert_eq!(first, at == utf16.len() - 1, "{at}");
        assert!(first || is_held(&mut split, part(1, 7, 2, 2), &octets(&utf16[at..]), &screens), "{at}");
    }
    // An escape at the end of a part of septets, and the rest of the text as GSM-7.
    let screens =
        Screens::build([Pattern { name: "[", field: ScreenedField::Text, pattern: r"a\[b" }]).unwrap();
    let mut split = SplitMessages::default();
    assert!(!is_held(&mut split, part(1, 7, 1, 2), &octets(b"a\x1b"), &screens));
    assert!(is_held(&mut split, part(1, 7, 2, 2), &piece("<b"), &screens));
}

/// Adds a part and accepts it. Returns the texts to screen.
fn accept(split: &mut SplitMessages, part: SplitPart, text: &str, now: Timestamp) -> Vec<String> {
    let joined = split.add(part, &piece(text), now).unwrap();
    split.settle(part, &piece(text), true);
    texts(&joined)
}

#[test]
fn parts_are_joined_by_account_recipient_and_reference() {
    let mut split = SplitMessages::default();
    let mut add = |part, text: &str| accept(&mut split, part, text, NOW);
    assert_eq!(add(part(1, 0x0107, 1, 3), "a"), ["a"]);
    let other = SplitPart { account: AccountId::new(2), ..part(1, 0x0107, 2, 3) };
    assert_eq!((add(other, "b"), add(part(2, 0x0107, 2, 3), "b")), (vec!["b".into()], vec!["b".into()]));
    assert_eq!(add(part(1, 8, 2, 3), "b"), ["b"]);
    assert_eq!(add(part(1, 0x0107, 3, 3), "c"), ["c"], "not a neighbour of the first");
    assert_eq!(add(part(1, 0x0107, 2, 3), "b"), ["abc"]);
    // Towards a carrier a 16-bit reference of sar parameters becomes an 8-bit one.
    assert_eq!(add(part(1, 6, 2, 3), "B"), ["B", "aBc"]);
}

#[test]
fn part_is_joined_with_every_text_of_its_neighbours() {
    let mut split = SplitMessages::default();
    let mut add = |number, text: &str| accept(&mut split, part(1, 7, number, 3), text, NOW);
    for text in ["a", "b", "c"] {
        assert_eq!(add(2, text), [text]);
    }
    assert_eq!(add(3, "x"), ["ax", "bx", "cx"]);
    assert_eq!(add(3, "y"), ["ay", "by", "cy"]);
    assert_eq!(add(1, "-"), ["-ax", "-ay", "-bx", "-by", "-cx", "-cy"]);
    assert_eq!(add(2, "b"), ["-bx", "-by"], "a repeated part is screened as itself");
}

#[test]
fn part_with_too_many_texts_is_refused_and_changes_nothing() {
    let mut split = SplitMessages::default();
    for number in 0..JOINS_MAX {
        accept(&mut split, part(1, 7, 2, 2), &number.to_string(), NOW);
    }
    assert_eq!(split.add(part(1, 7, 2, 2), &piece("more"), NOW), Err(TooManyVariants));
    assert_eq!(accept(&mut split, part(1, 7, 1, 2), "a", NOW).len(), JOINS_MAX);
    assert_eq!(split.parts_of(ACCOUNT), JOINS_MAX + 1);
    // Five neighbours with two texts each.
    for number in 2..=6 {
        for text in ["a", "b"] {
            split.add(part(2, 7, number, 6), &piece(text), NOW).unwrap();
        }
    }
    assert_eq!(split.add(part(2, 7, 1, 6), &piece("c"), NOW), Err(TooManyVariants));
    let later = NOW.plus(PARTS_KEPT_FOR);
    assert_eq!(accept(&mut split, part(2, 7, 1, 6), "c", later), ["c"], "the others have expired");
}

#[test]
fn messages_with_one_reference_are_accepted_however_many_they_are() {
    let mut split = SplitMessages::default();
    // One that stays incomplete.
    accept(&mut split, part(1, 7, 1, 4), "1 of 4", NOW);
    for message in 0..100 {
        for total in [2, 3] {
            for number in 1..=total {
                let text = format!("{number} of {message}.");
                let joined = accept(&mut split, part(1, 7, number, total), &text, NOW);
                assert!((1..=2).contains(&joined.len()), "{joined:?}");
            }
        }
    }
    assert_eq!(split.parts_of(ACCOUNT), 1 + 2 * (2 + 3), "and those of the last two messages");
    split.drop_expired(NOW.plus(PARTS_KEPT_FOR));
    assert_eq!(split.parts_of(ACCOUNT), 0);
}

#[test]
fn complete_message_is_kept_for_parts_that_replace_one_of_it() {
    let (screens, mut split) = (links(), SplitMessages::default());
    let [one, two] = [part(1, 7, 1, 2), part(1, 7, 2, 2)];
    assert!(!is_held(&mut split, one, &piece("see https://b"), &screens));
    assert!(!is_held(&mut split, two, &piece("ooks.example"), &screens));
    assert!(is_held(&mut split, two, &piece("it.ly/prize"), &screens), "as if the first two were cancelled");
    assert_eq!(split.parts_of(ACCOUNT), 2);
}

#[test]
fn part_that_was_never_accepted_is_forgotten() {
    let mut split = SplitMessages::default();
    let [one, two] = [part(1, 7, 1, 2), part(1, 7, 2, 2)];
    accept(&mut split, one, "a", NOW);
    split.add(two, &piece("b"), NOW).unwrap();
    split.settle(two, &piece("b"), false);
    split.add(one, &piece("a"), NOW).unwrap();
    split.settle(one, &piece("a"), false);
    assert_eq!(split.parts_of(ACCOUNT), 1, "a repeated part stays, because it was accepted before");
    assert_eq!(texts(&split.add(two, &piece("c"), NOW).unwrap()), ["ac"]);
    // The same part twice at a time, of which one submission is refused.
    split.add(two, &piece("c"), NOW).unwrap();
    split.settle(two, &piece("c"), false);
    assert_eq!(split.parts_of(ACCOUNT), 2, "kept until it is known whether the other was accepted");
    split.settle(two, &piece("c"), false);
    assert_eq!(split.parts_of(ACCOUNT), 1);
}

#[test]
fn part_expires_however_many_others_follow() {
    let mut split = SplitMessages::default();
    let step = PARTS_KEPT_FOR / 2;
    accept(&mut split, part(1, 7, 1, 4), "a", NOW);
    assert_eq!(accept(&mut split, part(1, 7, 2, 4), "b", NOW.plus(step)), ["ab"]);
    assert_eq!(accept(&mut split, part(1, 7, 3, 4), "c", NOW.plus(step * 2)), ["bc"]);
    assert_eq!(accept(&mut split, part(1, 7, 4, 4), "d", NOW.plus(step * 3)), ["cd"]);
    assert_eq!(split.parts_of(ACCOUNT), 2);
}

#[test]
fn parts_of_an_account_are_limited_and_complete_messages_are_dropped_first() {
    let mut split = SplitMessages::default();
    let other = SplitPart { account: AccountId::new(2), ..part(1, 7, 1, 2) };
    accept(&mut split, other, "a", NOW);
    accept(&mut split, part(1, 7, 1, 2), "a", NOW);
    accept(&mut split, part(2, 7, 1, 1), "complete", NOW);
    let incomplete = u64::try_from(PARTS_KEPT_MAX).unwrap() - 1;
    for recipient in 0..incomplete {
        accept(&mut split, part(1_000 + recipient, 7, 1, 2), "a", NOW);
    }
    assert_eq!(split.parts_of(ACCOUNT), PARTS_KEPT_MAX);
    assert_eq!(accept(&mut split, part(2, 7, 2, 2), "b", NOW), ["b"], "the complete message was dropped");
    assert_eq!(accept(&mut split, part(1, 7, 2, 2), "b", NOW), ["b"], "then the oldest");
    assert_eq!(split.parts_of(ACCOUNT), PARTS_KEPT_MAX);
    let second = SplitPart { account: AccountId::new(2), ..part(1, 7, 2, 2) };
    assert_eq!(accept(&mut split, second, "b", NOW), ["ab"], "another account's are not");
}

#[test]
fn joined_text_has_whole_neighbours_up_to_a_limit() {
    let mut split = SplitMessages::default();
    let text = "x".repeat(150);
    for number in (1..=255).filter(|number| *number != 128) {
        split.add(part(1, 7, number, 255), &piece(&text), NOW).unwrap();
    }
    let joined = split.add(part(1, 7, 128, 255), &piece("y"), NOW).unwrap();
    let sides = NEIGHBOUR_CHARS_MAX.div_ceil(150) * 2;
    assert_eq!(joined[0].len(), sides + 1);
}

#[test]
fn ten_parts_in_order_are_screened_with_5202_characters() {
    let mut split = SplitMessages::default();
    let text = "x".repeat(153);
    let chars = (1..=10).map(|number| accept(&mut split, part(1, 7, number, 10), &text, NOW).concat().len());
    assert_eq!(chars.sum::<usize>(), 5_202);
}

#[test]
fn parts_to_an_erased_number_are_forgotten() {
    let mut split = SplitMessages::default();
    let first = piece("Hello https://bit");
    for to in [1, 2] {
        split.add(part(to, 7, 1, 2), &first, NOW).unwrap();
        split.settle(part(to, 7, 1, 2), &first, true);
    }
    split.forget(part(1, 7, 1, 2).to, Some(AccountId::new(2)));
    assert_eq!(split.parts_of(ACCOUNT), 2, "parts of another account");
    split.forget(part(1, 7, 1, 2).to, None);
    assert_eq!(split.parts_of(ACCOUNT), 1);
    let second = piece(".ly/prize");
    assert_eq!(texts(&split.add(part(1, 7, 2, 2), &second, NOW).unwrap()), [".ly/prize"]);
    assert_eq!(texts(&split.add(part(2, 7, 2, 2), &second, NOW).unwrap()), ["Hello https://bit.ly/prize"]);
    // A part that is checked meanwhile ends as usual.
    split.forget(part(1, 7, 2, 2).to, None);
    split.settle(part(1, 7, 2, 2), &second, true);
    assert_eq!(split.parts_of(ACCOUNT), 2);
}
