//! What a handset says to be left alone, and to be written to again. The whole message has to be it: whoever writes "stop
//! by on Monday" means something else.

/// Words of its own that an account can have.
pub const STOP_WORDS_MAX: usize = 50;
/// Characters of such a word, or of several.
pub const STOP_WORD_CHARS_MAX: usize = 40;

/// As [`plain`] writes them.
const STOP: [&str; 12] = [
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

/// What a handset wants of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptKeyword {
    /// No more messages.
    Stop,
    /// Messages again.
    Start,
}

/// What a message asks for, if it is nothing but that. `own`: the account's words beside the usual ones.
pub fn opt_keyword(text: &str, own: &[String]) -> Option<OptKeyword> {
    // No stop word is longer, whatever stands around it.
    if text.chars().filter(|character| character.is_alphanumeric()).nth(STOP_WORD_CHARS_MAX).is_some() {
        return None;
    }
    let said = plain(text);
    if said.is_empty() {
        return None;
    }
    if STOP.contains(&said.as_str()) || own.iter().any(|word| plain(word) == said) {
        return Some(OptKeyword::Stop);
    }
    START.contains(&said.as_str()).then_some(OptKeyword::Start)
}

/// Can it be one of an account's own? It must say something, and not be what lifts an opt-out.
pub fn is_stop_word(word: &str) -> bool {
    let said = plain(word);
    !said.is_empty() && word.chars().count() <= STOP_WORD_CHARS_MAX && !START.contains(&said.as_str())
}

/// In capitals, without punctuation, one space between words.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(|character| character.is_alphanumeric() || character.is_whitespace());
    let capitals: String = kept.flat_map(char::to_uppercase).collect();
    capitals.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_message_is_a_stop_word_or_it_is_none() {
        let own = ["Basta".to_owned(), "no more!".to_owned(), "СТОП".to_owned()];
        let stop = [
            "STOP",
            "stop",
            " Stop. ",
            "stop!!!",
            "\"STOP\"",
            "S.T.O.P",
            "STOPALL",
            "stop all",
            "Stop   All!",
            "UNSUBSCRIBE",
            "cancel",
            "End",
            "QUIT\n",
            "revoke",
            "OPTOUT",
            "opt out",
            "OPT-OUT",
            "Remove",
            "arret",
            "basta",
            "BASTA?",
            "No more",
            "стоп",
        ];
        for text in stop {
            assert_eq!(opt_keyword(text, &own), Some(OptKeyword::Stop), "{text:?}");
        }
        for text in ["START", "start.", " Unstop "] {
            assert_eq!(opt_keyword(text, &own), Some(OptKeyword::Start), "{text:?}");
        }
        let long = format!("stop{}", "x".repeat(5_000));
        for text in
            ["", "...", "stop it", "please stop", "stop by on Monday", "restart", "stopp", "the end", &long]
        {
            assert_eq!(opt_keyword(text, &own), None, "{text:?}");
        }
        assert_eq!(opt_keyword("basta", &[]), None);
        assert_eq!(
            opt_keyword(&format!("{}stop{}", ".".repeat(500), " ".repeat(500)), &[]),
            Some(OptKeyword::Stop)
        );
    }

    #[test]
    fn an_accounts_own_words_say_something_and_never_start() {
        for word in ["BASTA", "no more", "停止", "stop"] {
            assert!(is_stop_word(word), "{word}");
        }
        for word in ["", "!?", "start", "UNSTOP.", &"x".repeat(41)] {
            assert!(!is_stop_word(word), "{word}");
        }
    }
}
