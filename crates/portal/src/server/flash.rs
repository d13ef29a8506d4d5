//! What the request before a page has done. A redirect names it by a code, so that no address can put words on a page.

use crate::elements::Tone;
use crate::layout::Flash;

/// The codes with their sentences, in the order of the alphabet.
const DONE: &[(&str, &str)] = &[
    ("confirmed", "You can go on: make the change again."),
    ("request-made", "The request is with the operator. You read the answer here."),
    ("request-withdrawn", "The request is withdrawn."),
];

/// Returns the code in a query string.
pub(super) fn code(query: &str) -> Option<String> {
    query.split('&').find_map(|pair| pair.strip_prefix("done=")).map(str::to_owned)
}

/// Returns what to show for a code.
pub(super) fn of(code: &str) -> Option<Flash> {
    let (_, text) = DONE.iter().find(|(known, _)| *known == code)?;
    Some(Flash { tone: Tone::Good, text: (*text).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_codes_have_words() {
        assert!(code("a=b&done=confirmed").as_deref().and_then(of).is_some());
        assert!(code("done=%3Cscript%3E").as_deref().and_then(of).is_none());
        assert!(DONE.is_sorted_by_key(|(code, _)| *code));
    }
}
