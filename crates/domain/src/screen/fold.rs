//! Folds a text so that texts that look alike become equal: removes differences of compatibility forms (NFKC),
//! invisible characters, look-alikes (UTS #39 confusables) and case.

use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

/// Replaces characters that can be read as i, l or 1.
pub(super) const I_OR_L: char = '\u{e000}';
/// Replaces characters that can be read as o or 0.
pub(super) const O_OR_ZERO: char = '\u{e001}';

/// Returns the folded text in lower case. Accents stay, because they make other words ("año").
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return read_words(text);
    }
    let mut plain = String::with_capacity(text.len());
    text.nfkc().for_each(|character| push_plain(character, &mut plain));
    read_words(&plain)
}

/// Folds one letter of a pattern as [`fold`] does in texts.
pub(super) fn fold_character(character: char) -> String {
    let mut plain = String::new();
    std::iter::once(character).nfkc().for_each(|character| push_plain(character, &mut plain));
    plain.to_lowercase()
}

/// Appends the plain letters that a character looks like, in its own case.
fn push_plain(character: char, plain: &mut String) {
    if character.is_ascii() {
        return plain.push(character);
    }
    if is_stray_mark(character) {
        return;
    }
    // A skeleton omits zero-width characters.
    for prototype in skeleton(character.encode_utf8(&mut [0; 4])) {
        let letter = letter_of_symbol(prototype).or_else(|| letter_of_small_capital(prototype));
        match letter.unwrap_or(prototype) {
            // UTS #39 maps every capital I to l.
            'l' if character.is_uppercase() => plain.push('I'),
            letter => plain.push(letter),
        }
    }
}

/// Replaces I, 1 and 0 where their word makes them ambiguous: not in numbers, and not an I in a word of capitals, where
/// it does not look like an L.
fn read_words(plain: &str) -> String {
    let mut read = String::with_capacity(plain.len());
    for word in plain.split_inclusive(|character: char| !character.is_alphanumeric()) {
        let has_letter = word.chars().any(char::is_alphabetic);
        let has_small_letter = has_letter && word.chars().any(char::is_lowercase);
        for character in word.chars() {
            match character {
                'I' if has_small_letter => read.push(I_OR_L),
                '1' if has_letter => read.push(I_OR_L),
                '|' => read.push(I_OR_L),
                '0' if has_letter => read.push(O_OR_ZERO),
                other => read.extend(other.to_lowercase()),
            }
        }
    }
    read
}

/// Whether this is a combining mark that NFKC could not compose with the letter before it, and thus decoration.
const fn is_stray_mark(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}

/// Returns the letter of a dark circle, dark square or flag symbol, which neither NFKC nor UTS #39 resolves.
fn letter_of_symbol(symbol: char) -> Option<char> {
    let first = [0x1f150, 0x1f170, 0x1f1e6].into_iter();
    let mut indexes =
        first.filter_map(|first| u32::from(symbol).checked_sub(first).filter(|index| *index < 26));
    indexes.next().and_then(|index| char::from_digit(index + 10, 36))
}

/// Returns the letter of a small capital. UTS #39 does not map them, and maps Cyrillic letters to them.
const fn letter_of_small_capital(character: char) -> Option<char> {
    Some(match character {
        'ᴀ' => 'a',
        'ʙ' => 'b',
        'ᴅ' => 'd',
        'ᴇ' => 'e',
        'ꜰ' => 'f',
        'ɢ' => 'g',
        'ʜ' => 'h',
        'ɪ' => 'i',
        'ᴊ' => 'j',
        'ᴋ' | 'ĸ' => 'k',
        'ʟ' => 'l',
        'ᴍ' => 'm',
        'ɴ' => 'n',
        'ᴘ' => 'p',
        'ʀ' => 'r',
        'ꜱ' => 's',
        'ᴛ' => 't',
        'ᴜ' => 'u',
        'ʏ' => 'y',
        _ => return None,
    })
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
