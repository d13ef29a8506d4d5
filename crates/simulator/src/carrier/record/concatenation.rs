//! Joins the parts of messages, as a handset does: a message is complete when all its parts are there, in any order.

use std::collections::HashMap;

use super::ReceivedSubmit;

/// A complete message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMessage {
    pub source: String,
    pub destination: String,
    pub text: String,
    /// For each part: its link, and its position among all submits.
    pub parts: Vec<(u64, u64)>,
}

impl ReceivedMessage {
    /// Whether all parts arrived in order on one link.
    pub fn is_on_one_link_in_order(&self) -> bool {
        self.parts.is_sorted_by(|(link, order), (next_link, next)| link == next_link && order < next)
    }
}

/// Source, destination, reference and total of a message.
type TextKey<'a> = (&'a str, &'a str, u16, u8);
/// The received parts of one copy of a message.
type Copy<'a> = Vec<Option<&'a ReceivedSubmit>>;

/// Returns the complete messages among `submits`, in the order of their last parts. A part that arrives twice belongs to a
/// second copy of the message.
pub(super) fn join<'a>(submits: impl Iterator<Item = &'a ReceivedSubmit>) -> Vec<ReceivedMessage> {
    let mut open: HashMap<TextKey<'_>, Vec<Copy<'_>>> = HashMap::new();
    let mut whole = Vec::new();
    for submit in submits {
        let Some(part) = submit.part else {
            whole.push(received(&[submit]));
            continue;
        };
        if part.sequence == 0 || part.sequence > part.total {
            continue;
        }
        let key = (submit.source.as_str(), submit.destination.as_str(), part.reference, part.total);
        let copies = open.entry(key).or_default();
        let place = usize::from(part.sequence - 1);
        let copy = match copies.iter().position(|copy| copy[place].is_none()) {
            Some(copy) => copy,
            None => {
                copies.push(vec![None; usize::from(part.total)]);
                copies.len() - 1
            }
        };
        copies[copy][place] = Some(submit);
        if copies[copy].iter().all(Option::is_some) {
            let parts: Vec<&ReceivedSubmit> = copies.remove(copy).into_iter().flatten().collect();
            whole.push(received(&parts));
        }
    }
    whole
}

/// Joins at least one part.
fn received(parts: &[&ReceivedSubmit]) -> ReceivedMessage {
    ReceivedMessage {
        source: parts[0].source.clone(),
        destination: parts[0].destination.clone(),
        text: parts.iter().map(|part| part.text.as_str()).collect(),
        parts: parts.iter().map(|part| (part.link, part.order)).collect(),
    }
}

#[cfg(test)]
mod tests {
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
        let received = |parts: &[(u64, u64)]| ReceivedMessage {
            parts: parts.to_vec(),
            ..received(&[&submit("a", None)])
        };
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
}
