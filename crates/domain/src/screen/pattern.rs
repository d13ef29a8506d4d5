//! Folds a screening pattern as texts are folded, so that it matches look-alikes of its words.

use super::fold::{I_OR_L, O_OR_ZERO, fold_character};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Capture, Class, ClassUnicode, Hir, HirKind, Literal, Repetition};
use std::collections::BTreeSet;

/// Classes up to this size are folded character by character, such as a letter in both cases or `[a-z]`. Larger ones
/// (`\w`, `\d`, `[^x]`) do not name characters and stay unchanged.
const FOLDED_CLASS_MAX: usize = 64;

/// Returns the pattern for folded texts, in lower case and with its flags applied; `None` if the pattern is invalid.
pub(super) fn fold_pattern(pattern: &str) -> Option<String> {
    let mut builder = ParserBuilder::new();
    builder.case_insensitive(true).dot_matches_new_line(true);
    let parsed = builder.build().parse(pattern).ok()?;
    Some(folded(&parsed).to_string())
}

fn folded(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Literal(Literal(octets)) => match std::str::from_utf8(octets) {
            Ok(text) => Hir::concat(text.chars().map(folded_literal).collect()),
            Err(_) => hir.clone(),
        },
        HirKind::Class(Class::Unicode(class)) => folded_class(class).unwrap_or_else(|| hir.clone()),
        HirKind::Class(Class::Bytes(_)) | HirKind::Empty | HirKind::Look(_) => hir.clone(),
        HirKind::Repetition(repeated) => {
            Hir::repetition(Repetition { sub: Box::new(folded(&repeated.sub)), ..repeated.clone() })
        }
        HirKind::Capture(group) => {
            Hir::capture(Capture { sub: Box::new(folded(&group.sub)), ..group.clone() })
        }
        HirKind::Concat(all) => Hir::concat(all.iter().map(folded).collect()),
        HirKind::Alternation(all) => Hir::alternation(all.iter().map(folded).collect()),
    }
}

fn folded_literal(character: char) -> Hir {
    let readings = match character {
        '1' => vec![character.to_string(), I_OR_L.to_string()],
        '0' => vec![character.to_string(), O_OR_ZERO.to_string()],
        other => readings_of(&fold_character(other)),
    };
    Hir::alternation(readings.iter().map(|reading| literal(reading)).collect())
}

/// Returns everything that looks like this letter in a folded text.
fn readings_of(letter: &str) -> Vec<String> {
    let imitation = match letter {
        "i" | "l" | "|" => I_OR_L.to_string(),
        "o" => O_OR_ZERO.to_string(),
        "m" => "rn".to_owned(),
        "w" => "vv".to_owned(),
        _ => return vec![letter.to_owned()],
    };
    vec![letter.to_owned(), imitation]
}

/// Folds a class. Its digits stay digits, because a class of digits means numbers.
fn folded_class(class: &ClassUnicode) -> Option<Hir> {
    let size: usize = class.ranges().iter().map(regex_syntax::hir::ClassUnicodeRange::len).sum();
    if !(1..=FOLDED_CLASS_MAX).contains(&size) {
        return None;
    }
    let members = class.ranges().iter().flat_map(|range| range.start()..=range.end());
    let letters: BTreeSet<String> = members.map(fold_character).collect();
    let readings: BTreeSet<String> = letters.iter().flat_map(|letter| readings_of(letter)).collect();
    Some(Hir::alternation(readings.iter().map(|reading| literal(reading)).collect()))
}

fn literal(text: &str) -> Hir {
    Hir::literal(text.as_bytes())
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
