//! Opt-out and opt-in keywords of MO messages. The whole message must be the keyword: "stop by on Monday" is not one.

/// Additional opt-out keywords of one account.
pub const OPT_OUT_KEYWORDS_MAX: usize = 50;
/// Characters of an opt-out keyword, which may have several words.
pub const OPT_OUT_KEYWORD_CHARS_MAX: usize = 40;

/// Opt-out keywords of every account, in capitals.
pub const OPT_OUT_KEYWORDS: [&str; 12] = [
    "STOP",
    "STOPALL",
    "STOP ALL",
    "UNSUBSCRIBE",
    "CANCEL",
    "END",
    "QUIT",
    "REVOKE",
    "OPTOUT",
    "OPT OUT",
    "REMOVE",
    "ARRET",
];
const START: [&str; 2] = ["START", "UNSTOP"];

/// What an MO message requests from an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptKeyword {
    /// Opt out: no more messages.
    Stop,
    /// Opt in again.
    Start,
}

/// Returns the keyword, if the message is nothing else. `own` are the account's additional opt-out keywords.
pub fn opt_keyword(text: &str, own: &[String]) -> Option<OptKeyword> {
    // No keyword is longer.
    if text.chars().filter(|character| character.is_alphanumeric()).nth(OPT_OUT_KEYWORD_CHARS_MAX).is_some() {
        return None;
    }
    let keyword = normalized(text);
    if keyword.is_empty() {
        return None;
    }
    if OPT_OUT_KEYWORDS.contains(&keyword.as_str()) || own.iter().any(|word| normalized(word) == keyword) {
        return Some(OptKeyword::Stop);
    }
    START.contains(&keyword.as_str()).then_some(OptKeyword::Start)
}

/// Whether a word is valid as an account's opt-out keyword: not empty, not too long, and not an opt-in keyword.
pub fn is_opt_out_keyword(word: &str) -> bool {
    let keyword = normalized(word);
    !keyword.is_empty()
        && word.chars().count() <= OPT_OUT_KEYWORD_CHARS_MAX
        && !START.contains(&keyword.as_str())
}

/// Returns the text in capitals, without punctuation, with single spaces.
fn normalized(text: &str) -> String {
    let kept = text.chars().filter(|character| character.is_alphanumeric() || character.is_whitespace());
    let capitals: String = kept.flat_map(char::to_uppercase).collect();
    capitals.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "opt_keywords_tests.rs"]
mod tests;
