//! Which passwords a person may choose. Length is what helps (NIST SP 800-63B section 3.1.1.2), except for a password that others
//! guess first: a common one, a pattern, or one made of what is known about the person.

/// The shortest password that a person may choose.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// The longest one: a limit, so that hashing stays cheap.
pub const PASSWORD_CHARS_MAX: usize = 256;
/// Characters that a password needs beside known words.
const OWN_CHARS_MIN: usize = 8;
/// A known word that is shorter is in many good passwords.
const WORD_CHARS_MIN: usize = 4;

/// Words and patterns of the commonest passwords of breaches, in lower case and without what is put around them. A password of
/// at least twelve characters is common if nothing much is left without them. Between spaces.
const COMMON: &str = "0987654321 1029384756 11223344 112233 121212 123123 123321 12345 123456789 1234567890 \
     1q2w3e4r5t6y 1q2w3e4r 1qaz2wsx3edc 1qaz2wsx abc123 abcd1234 abcdefgh access admin administrator \
     adobe123 america angel asdf1234 asdfasdf asdfghjkl baseball basketball batman blink182 butterfly \
     changeme charlie chocolate computer correcthorsebatterystaple daniel default dragon football \
     freedom fuckyou hello hunter iloveyou internet jennifer jessica jordan jordan23 letmein \
     liverpool login loveme lovely master michael michelle monkey mustang myspace nothing password \
     passwort motdepasse contrasena wachtwoord pokemon princess purple q1w2e3r4t5y6 q1w2e3r4 \
     qazwsxedc qazwsx qwerty qwertyuiop qwertz qwertzuiop azerty azertyuiop samsung secret shadow \
     starwars sunshine superman test testing trustno1 unknown welcome whatever william winter summer \
     spring autumn monday january zaq12wsx zxcvbnm yxcvbnm";
/// Rows of keyboards and of the alphabet, along which patterns run.
const ROWS: &[&str] = &[
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890123456789",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
];

/// Why a password cannot be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    #[error(
        "choose a password of at least {PASSWORD_CHARS_MIN} characters, and at most {PASSWORD_CHARS_MAX}"
    )]
    Length,
    /// Many people have it, or it follows a pattern.
    #[error(
        "this password is among the first that are guessed; choose a few words that do not belong together"
    )]
    Common,
    /// It is made of the address, the name, an account of the person, or our name.
    #[error(
        "this password is made of your address, your name or your account; choose one that cannot be guessed from them"
    )]
    Personal,
}

/// Checks a password that a person chooses. `known` is what others know about the person.
pub fn check_new<'a>(password: &str, known: impl IntoIterator<Item = &'a str>) -> Result<(), WeakPassword> {
    let length = password.chars().count();
    if !(PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&length) {
        return Err(WeakPassword::Length);
    }
    let known: Vec<String> = known.into_iter().flat_map(words_of).collect();
    if is_made_of(password, known.iter().map(String::as_str)) {
        return Err(WeakPassword::Personal);
    }
    let is_common = is_made_of(password, COMMON.split(' ')) || is_pattern(&plain(password));
    if is_common { Err(WeakPassword::Common) } else { Ok(()) }
}

/// Returns the letters and digits in lower case. Other characters make a common password no better.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns a text with the letters that digits and signs stand for in passwords; a one is `l` or `i`.
fn with_letters(text: &str, one: char) -> String {
    let letter = |c| match c {
        '0' => 'o',
        '1' => one,
        '3' => 'e',
        '@' => 'a',
        '$' => 's',
        other => other,
    };
    text.chars().map(letter).collect()
}

/// Whether not much of a password is left without these words, as it is written or with letters for digits and signs.
fn is_made_of<'a>(password: &str, words: impl Iterator<Item = &'a str> + Clone) -> bool {
    let as_written = own_chars(&plain(password), words.clone().map(str::to_owned));
    let spelt = |one| {
        let words = words.clone().map(|word| with_letters(word, one));
        own_chars(&plain(&with_letters(password, one)), words)
    };
    [as_written, spelt('l'), spelt('i')].into_iter().any(|left| left < OWN_CHARS_MIN)
}

/// Returns the words that a text about a person is made of, and all of them together.
fn words_of(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.chain([text]).map(plain).filter(|word| word.chars().count() >= WORD_CHARS_MIN).collect()
}

/// Counts the characters that are left without these words, the longest words first.
fn own_chars(plain: &str, words: impl Iterator<Item = String>) -> usize {
    let mut words: Vec<String> = words.collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let left = words.iter().fold(plain.to_owned(), |left, word| left.replace(word.as_str(), ""));
    let has_word = left.len() < plain.len();
    // A password without a known word is judged by its pattern alone.
    if has_word { left.chars().count() } else { usize::MAX }
}

/// Whether a text repeats a few characters, or follows rows of a keyboard.
fn is_pattern(plain: &str) -> bool {
    let letters: Vec<char> = plain.chars().collect();
    let repeats = (1..=letters.len() / 2)
        .any(|length| letters.iter().enumerate().skip(length).all(|(at, c)| letters[at - length] == *c));
    let different = letters.iter().collect::<std::collections::BTreeSet<_>>().len();
    let follows = |pair: &[char]| {
        ROWS.iter().any(|row| {
            let step: String = pair.iter().collect();
            let back: String = pair.iter().rev().collect();
            row.contains(&step) || row.contains(&back)
        })
    };
    let steps = letters.windows(2).filter(|pair| pair[0] != pair[1] && follows(pair)).count();
    repeats || different < 5 || steps * 4 >= letters.len().saturating_sub(1) * 3
}

#[cfg(test)]
#[path = "password_tests.rs"]
mod tests;
