//! Unit tests of `concatenation.rs`.

use super::super::tests::submit;
use super::*;
use crate::carrier::text::PartNumber;

/// Submits as "reference total/sequence text", or just "text".
#[track_caller]
fn check(submits: &[&str], expect: &[&str]) {
    let submits: Vec<ReceivedSubmit> = submits
        .iter()
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [text] => submit(text, None),
            [reference, place, text] => {
                let (total, sequence) = place.split_once('/').unwrap();
                let [total, sequence] = [total, sequence].map(|n| n.parse().unwrap());
                submit(text, Some(PartNumber { reference: reference.parse().unwrap(), total, sequence }))
            }
            _ => panic!("{line:?} is no submit"),
        })
        .collect();
    let texts: Vec<String> = join(submits.iter()).into_iter().map(|received| received.text).collect();
    assert_eq!(texts, expect);
}

#[test]
fn message_is_complete_with_its_last_part_in_any_order() {
    check(&["1 2/2 world", "other", "1 2/1 hello"], &["other", "helloworld"]);
}

#[test]
fn parts_with_different_references_are_not_joined() {
    check(&["1 2/1 a", "2 2/1 b", "2 2/2 B", "1 2/2 A"], &["bB", "aA"]);
}

#[test]
fn repeated_part_starts_a_second_copy() {
    check(&["1 2/1 a", "1 2/1 a", "1 2/2 b"], &["ab"]);
    check(&["1 2/1 a", "1 2/1 a", "1 2/2 b", "1 2/2 b"], &["ab", "ab"]);
}

#[test]
fn parts_in_order_on_one_link_are_recognised() {
    let received =
        |parts: &[(u64, u64)]| ReceivedMessage { parts: parts.to_vec(), ..received(&[&submit("a", None)]) };
    for (came, expect) in [
        (&[(1, 5)][..], true),
        (&[(1, 5), (1, 7), (1, 8)], true),
        (&[(1, 5), (1, 4)], false),
        (&[(1, 5), (2, 6)], false),
    ] {
        assert_eq!(received(came).is_on_one_link_in_order(), expect, "{came:?}");
    }
}

#[test]
fn incomplete_messages_and_invalid_part_numbers_are_left_out() {
    check(&["1 3/1 a", "1 3/3 c", "2 2/0 x", "2 2/3 y"], &[]);
}
