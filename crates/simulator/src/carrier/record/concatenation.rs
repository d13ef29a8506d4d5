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
#[path = "concatenation_tests.rs"]
mod tests;
