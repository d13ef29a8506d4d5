//! Unit tests of blocks.

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_750_000_000_000);

fn numbers(text: &str) -> BlockedNumbers {
    let list = NumberList::parse(text);
    let range = text.contains('-').then(|| NumberRange::parse(text).ok()).flatten();
    let prefix = Prefix::parse(text).ok();
    BlockedNumbers::one_of(prefix, range, list).unwrap()
}

fn block(text: &'static str, direction: BlockDirection, until: Option<i64>) -> Block<'static> {
    let until = until.map(|ms| Timestamp::from_millis(NOW.as_millis() + ms));
    Block { name: text, numbers: numbers(text), direction, until }
}

fn number(text: &str) -> Msisdn {
    Msisdn::parse(text).unwrap()
}

#[test]
fn number_is_blocked_by_prefix_range_list_and_in_its_direction_only() {
    let blocks = Blocks::build([
        block("49900", BlockDirection::Both, None),
        block("4915112345678", BlockDirection::Sent, None),
        block("3361000-3361299", BlockDirection::Received, None),
        block("premium-and-satellite", BlockDirection::Sent, None),
    ]);
    for (text, sent, received) in [
        ("+4990012345", Some("49900"), Some("49900")),
        ("+4915112345678", Some("4915112345678"), None),
        ("+4915112345679", None, None),
        ("+33609999999", None, None),
        ("+33610000000", None, Some("3361000-3361299")),
        ("+33612999999", None, Some("3361000-3361299")),
        ("+33613000000", None, None),
        ("+881612345678", Some("premium-and-satellite"), None),
    ] {
        assert_eq!(blocks.of_recipient(number(text), NOW), sent, "{text}");
        assert_eq!(blocks.of_handset(number(text), NOW), received, "{text}");
    }
    assert_eq!(Blocks::default().of_recipient(number("+4990012345"), NOW), None);
}

#[test]
fn block_ends_at_its_time() {
    let blocks = Blocks::build([block("49", BlockDirection::Both, Some(1))]);
    let to = number("+4915112345678");
    assert_eq!(blocks.of_recipient(to, NOW), Some("49"));
    assert_eq!(blocks.of_recipient(to, NOW.plus(std::time::Duration::from_millis(1))), None);
}

#[test]
fn of_several_blocks_around_a_number_the_one_that_lasts_longest_applies() {
    let to = number("+4915112345678");
    for (name, blocks) in [
        ("49", [("49", None), ("49151", Some(-1)), ("491511", Some(10))]),
        ("491511", [("49", Some(-1)), ("49151", Some(10)), ("491511", None)]),
        ("49151", [("49", Some(5)), ("49151", Some(10)), ("491511", Some(-5))]),
    ] {
        let listed = blocks.map(|(text, until)| block(text, BlockDirection::Both, until));
        for order in [listed.to_vec(), listed.into_iter().rev().collect()] {
            assert_eq!(Blocks::build(order).of_recipient(to, NOW), Some(name));
        }
    }
    let over = ["49", "49151"].map(|text| block(text, BlockDirection::Both, Some(0)));
    assert_eq!(Blocks::build(over).of_recipient(to, NOW), None);
}

#[test]
fn same_numbers_of_several_blocks_are_blocked_in_every_direction_that_one_names() {
    let blocks = Blocks::build([
        block("49", BlockDirection::Sent, None),
        block("49", BlockDirection::Received, Some(-1)),
        block("4910-4919", BlockDirection::Received, None),
    ]);
    assert_eq!(blocks.of_recipient(number("+4915112345678"), NOW), Some("49"));
    assert_eq!(blocks.of_handset(number("+4915112345678"), NOW), Some("4910-4919"));
    assert_eq!(blocks.of_handset(number("+4930123456"), NOW), None);
}
