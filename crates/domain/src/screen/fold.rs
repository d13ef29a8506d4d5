//! Folds a text to what a reader takes it for, so that two texts that look alike fold to the same characters: compatibility
//! forms (NFKC), invisible characters, look-alikes (UTS #39 confusables) and capitals make no difference any more.

use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

/// Stands in a folded text for what can be read as i, l or 1.
pub(super) const I_OR_L: char = '\u{e000}';
/// Stands in a folded text for what can be read as o or 0.
pub(super) const O_OR_ZERO: char = '\u{e001}';

/// Returns the text as it looks, in lower case. Accents stay, because they make other words ("año").
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return read_words(text);
    }
    let mut plain = String::with_capacity(text.len());
    text.nfkc().for_each(|character| push_plain(character, &mut plain));
    read_words(&plain)
}

/// Returns one letter of a pattern as [`fold`] has it in a text.
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
    // A skeleton leaves zero-width characters out.
    for prototype in skeleton(character.encode_utf8(&mut [0; 4])) {
        let letter = letter_of_symbol(prototype).or_else(|| letter_of_small_capital(prototype));
        match letter.unwrap_or(prototype) {
            // UTS #39 takes every capital I for an l.
            'l' if character.is_uppercase() => plain.push('I'),
            letter => plain.push(letter),
        }
    }
}

/// Decides by the word they stand in what I, 1 and 0 can be read as: a number has no letters, and in a word of capitals an I
/// does not look like an L.
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

/// A mark that NFKC could not join with the letter before it: no alphabet has that letter, so it is decoration.
const fn is_stray_mark(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}

/// Letters in dark circles and squares, and the letters of flags, which neither NFKC nor UTS #39 resolves.
fn letter_of_symbol(symbol: char) -> Option<char> {
    let first = [0x1f150, 0x1f170, 0x1f1e6].into_iter();
    let mut places =
        first.filter_map(|first| u32::from(symbol).checked_sub(first).filter(|place| *place < 26));
    places.next().and_then(|place| char::from_digit(place + 10, 36))
}

/// UTS #39 keeps small capitals apart from letters, and names them as the look-alikes of Cyrillic letters.
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
mod tests {
    use super::*;

    #[test]
    fn texts_that_look_alike_fold_to_the_same() {
        for (plain, disguised) in [
            ("bank", "BANK"),
            ("bank", "b\u{200b}a\u{200d}n\u{feff}k\u{ad}"),
            ("bank", "\u{202e}bank\u{2060}"),
            ("bank", "ｂａｎｋ"),
            ("bank", "𝐛𝒂𝓷𝕜"),
            ("bank", "ⓑⓐⓝⓚ"),
            ("bank", "🅱🅰🅽🅺"),
            ("bank", "🇧🇦🇳🇰"),
            ("bank", "ВАNК"),
            ("bank", "bаnk"),
            ("bank", "bаnк"),
            ("bank", "ʙᴀɴᴋ"),
            ("bank", "b\u{336}a\u{336}n\u{336}k\u{336}"),
            ("банк", "бaнк"),
            ("банк", "банk"),
            ("paypal", "раураl"),
            ("https://bit.ly", "ｈttps：∕∕bit․ly"),
            ("año", "an\u{303}o"),
        ] {
            assert_eq!(fold(disguised), fold(plain), "{plain} {disguised}");
        }
        for (one, other) in [("año", "ano"), ("über", "uber"), ("банк", "банка"), ("mail", "mall")]
        {
            assert_ne!(fold(one), fold(other), "{one} {other}");
        }
        assert_eq!(fold("Call 0110 in May"), "call 0110 in may");
    }
}
