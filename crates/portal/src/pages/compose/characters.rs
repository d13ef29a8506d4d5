//! Characters that GSM-7 lacks: each of them makes the whole text UCS-2.

use crate::pages::compose::ForcedCharacter;
use hermod_domain::text::{MessageText, gsm7, plain};

/// Names of characters that word processors write.
const NAMES: &[(char, &str)] = &[
    ('\u{0009}', "tab"),
    ('\u{00A0}', "no-break space"),
    ('\u{00AB}', "left angle quotation mark"),
    ('\u{00AD}', "soft hyphen"),
    ('\u{00B4}', "acute accent"),
    ('\u{00B7}', "middle dot"),
    ('\u{00BB}', "right angle quotation mark"),
    ('\u{2010}', "hyphen"),
    ('\u{2011}', "no-break hyphen"),
    ('\u{2013}', "en dash"),
    ('\u{2014}', "em dash"),
    ('\u{2018}', "left single quotation mark"),
    ('\u{2019}', "right single quotation mark"),
    ('\u{201A}', "low single quotation mark"),
    ('\u{201C}', "left double quotation mark"),
    ('\u{201D}', "right double quotation mark"),
    ('\u{201E}', "low double quotation mark"),
    ('\u{2022}', "bullet"),
    ('\u{2026}', "ellipsis"),
    ('\u{202F}', "narrow no-break space"),
    ('\u{200B}', "zero-width space"),
    ('\u{200D}', "zero-width joiner"),
    ('\u{FE0F}', "variation selector"),
    ('\u{FEFF}', "byte order mark"),
];

/// Whether GSM-7 lacks a character.
pub(super) fn is_forcing(character: char) -> bool {
    gsm7::code(character).is_none()
}

/// Returns each character of a text that GSM-7 lacks, with how often it occurs and what to write instead.
pub(super) fn forcing(text: &str) -> Vec<ForcedCharacter> {
    let mut found: Vec<(char, usize)> = Vec::new();
    for character in text.chars().filter(|character| is_forcing(*character)) {
        match found.iter_mut().find(|(known, _)| *known == character) {
            Some((_, count)) => *count += 1,
            None => found.push((character, 1)),
        }
    }
    let forced = found.into_iter().map(|(character, count)| ForcedCharacter {
        character: character.to_string(),
        name: name(character),
        count,
        replacement: plain(character).map(str::to_owned),
    });
    forced.collect()
}

fn name(character: char) -> String {
    let known = NAMES.iter().find(|(known, _)| *known == character);
    let code = format!("U+{:04X}", u32::from(character));
    known.map_or(code.clone(), |(_, name)| format!("{name} ({code})"))
}

/// Returns the text with every character replaced that has a replacement; `None` if nothing is left of it.
pub(super) fn replaced(text: &str) -> Option<MessageText> {
    let mut plain_text = String::with_capacity(text.len());
    for character in text.chars() {
        match plain(character) {
            Some(replacement) if is_forcing(character) => plain_text.push_str(replacement),
            _ => plain_text.push(character),
        }
    }
    MessageText::parse(&plain_text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forcing_characters_are_counted_with_their_replacement() {
        let found = forcing("“a” “b” ✓");
        let found: Vec<(&str, usize, Option<&str>)> = found
            .iter()
            .map(|forced| (forced.character.as_str(), forced.count, forced.replacement.as_deref()))
            .collect();
        assert_eq!(found, [("“", 2, Some("\"")), ("”", 2, Some("\"")), ("✓", 1, None)]);
        assert_eq!(replaced("“a” ✓").unwrap().as_str(), "\"a\" ✓");
        assert!(replaced("\u{200B}").is_none());
        assert_eq!(name('✓'), "U+2713");
    }
}
