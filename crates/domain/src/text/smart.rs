//! Smart encoding: replaces typographic characters by plain ones where that makes the whole text GSM-7. One curly quote
//! otherwise turns 160 characters into three parts of UCS-2. A text that needs UCS-2 anyway stays unchanged.

use super::gsm7;
use super::{MessageText, TEXT_CHARS_MAX};

/// Returns the plain form of a typographic character, which may be empty; `None` for any other.
pub const fn plain(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' | '\u{2032}' | '\u{2035}' | '\u{02BC}'
        | '\u{00B4}' => "'",
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' | '\u{2033}' | '\u{2036}' | '\u{00AB}'
        | '\u{00BB}' => "\"",
        '\u{2039}' => "<",
        '\u{203A}' => ">",
        '\u{2010}' | '\u{2011}' | '\u{2012}' | '\u{2013}' | '\u{2014}' | '\u{2015}' | '\u{2212}' => "-",
        '\u{2026}' => "...",
        '\u{2022}' | '\u{2023}' | '\u{00B7}' | '\u{2219}' => "*",
        '\u{2044}' => "/",
        '\u{00A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{0009}' => " ",
        '\u{2028}' | '\u{2029}' => "\n",
        // Invisible characters: soft hyphen, zero-width characters, byte order mark, variation selectors.
        '\u{00AD}' | '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' | '\u{FE0E}' | '\u{FE0F}' => "",
        '\u{2122}' => "TM",
        '\u{00A9}' => "(c)",
        '\u{00AE}' => "(r)",
        '\u{00BD}' => "1/2",
        '\u{00BC}' => "1/4",
        '\u{00BE}' => "3/4",
        '\u{00D7}' => "x",
        _ => return None,
    })
}

/// Returns the text in GSM-7 if only typographic characters prevented that; `None` to leave it unchanged.
pub(super) fn in_gsm7(text: &MessageText) -> Option<MessageText> {
    if text.as_str().chars().all(|character| gsm7::code(character).is_some()) {
        return None;
    }
    let mut replaced = String::with_capacity(text.as_str().len());
    for character in text.as_str().chars() {
        match plain(character) {
            _ if gsm7::code(character).is_some() => replaced.push(character),
            Some(plain) => replaced.push_str(plain),
            None => return None,
        }
    }
    // The replacement may be too long or empty; then the text stays unchanged.
    if replaced.chars().count() > TEXT_CHARS_MAX { None } else { MessageText::parse(&replaced).ok() }
}

#[cfg(test)]
#[path = "smart_tests.rs"]
mod tests;
