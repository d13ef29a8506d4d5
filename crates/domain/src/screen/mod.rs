//! Screening rules: the operator's patterns on text and sender. A message that matches one is held for review. Patterns
//! ignore case, a dot also matches a line break, and matching takes time linear in the text.
//!
//! Each pattern is matched twice: against the text as written, and folded against the folded text, so that disguised
//! words match.

mod fold;
mod pattern;
mod reading;
mod split;
#[cfg(test)]
mod tests;

pub use split::{Joined, PARTS_KEPT_FOR, PARTS_KEPT_MAX, SplitMessages, SplitPart, TooManyVariants};

use crate::sender::Sender;
use crate::text::{Encoding, MessageText};
use reading::ScreenedText;
use regex::{RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Memory of a compiled set of patterns. A pattern that needs more is refused when it is provisioned.
const COMPILED_BYTES_MAX: usize = 4 << 20;

/// The field that a pattern is matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScreenedField {
    Text,
    Sender,
}

/// A named pattern.
#[derive(Clone, Debug)]
pub struct Pattern<'a> {
    pub name: &'a str,
    pub field: ScreenedField,
    pub pattern: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid pattern in screening rule \"{name}\": {reason}")]
pub struct PatternRefusal {
    pub name: String,
    pub reason: String,
}

/// Compiled patterns.
#[derive(Clone, Debug, Default)]
pub struct Screens {
    text: NamedSets,
    sender: NamedSets,
}

#[derive(Clone, Debug, Default)]
struct NamedSets {
    sets: Option<Sets>,
    names: Vec<Arc<str>>,
}

/// The same patterns for written and for folded texts.
#[derive(Clone, Debug)]
struct Sets {
    as_written: RegexSet,
    folded: RegexSet,
}

/// A message prepared for matching, once for all patterns.
#[derive(Debug)]
pub struct Subject {
    sender: ScreenedText,
    texts: Vec<ScreenedText>,
}

/// A text in its encoding: a whole message, or one part of a message that its customer has split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: MessageText,
    pub encoding: Encoding,
}

impl Subject {
    /// Prepares the sender and the text, in every decoding that a handset may use.
    pub fn new(from: &Sender, text: &[Piece]) -> Subject {
        Subject { sender: ScreenedText::new(from.as_str().to_owned()), texts: reading::of(text) }
    }
}

impl Screens {
    pub fn build<'a>(patterns: impl IntoIterator<Item = Pattern<'a>>) -> Result<Screens, PatternRefusal> {
        let (mut text, mut sender) = (Vec::new(), Vec::new());
        for pattern in patterns {
            match pattern.field {
                ScreenedField::Text => text.push(pattern),
                ScreenedField::Sender => sender.push(pattern),
            }
        }
        Ok(Screens { text: NamedSets::build(&text)?, sender: NamedSets::build(&sender)? })
    }

    pub const fn is_empty(&self) -> bool {
        self.text.sets.is_none() && self.sender.sets.is_none()
    }

    /// Returns the names of the rules that match.
    pub fn hits(&self, subject: &Subject) -> Vec<Arc<str>> {
        let mut hits = self.sender.hits(std::slice::from_ref(&subject.sender));
        hits.extend(self.text.hits(&subject.texts));
        hits
    }
}

impl NamedSets {
    fn build(patterns: &[Pattern<'_>]) -> Result<NamedSets, PatternRefusal> {
        if patterns.is_empty() {
            return Ok(NamedSets::default());
        }
        let all: Vec<&str> = patterns.iter().map(|pattern| pattern.pattern).collect();
        let as_written = compile(&all).map_err(|reason| find_faulty(patterns, reason))?;
        let folded: Vec<String> =
            all.iter().map(|one| pattern::fold_pattern(one).unwrap_or_else(|| (*one).to_owned())).collect();
        // Stored patterns must keep working: if folding makes them too large, they are used unfolded.
        let folded = compile(&folded).unwrap_or_else(|_| as_written.clone());
        let names = patterns.iter().map(|pattern| pattern.name.into()).collect();
        Ok(NamedSets { sets: Some(Sets { as_written, folded }), names })
    }

    /// Returns the matching rules in the order of the patterns, each once.
    fn hits(&self, readings: &[ScreenedText]) -> Vec<Arc<str>> {
        let Some(Sets { as_written, folded }) = &self.sets else { return Vec::new() };
        let mut found = vec![false; self.names.len()];
        for ScreenedText { written, looks } in readings {
            let indexes = as_written.matches(written).into_iter().chain(folded.matches(looks));
            indexes.for_each(|index| found[index] = true);
        }
        self.names.iter().zip(found).filter(|(_, found)| *found).map(|(name, _)| name.clone()).collect()
    }
}

/// Names the pattern that caused the error; the last one if each compiles alone and only all together are too large.
fn find_faulty(patterns: &[Pattern<'_>], together: String) -> PatternRefusal {
    let alone = patterns.iter().find_map(|pattern| {
        compile(&[pattern.pattern])
            .err()
            .map(|reason| PatternRefusal { name: pattern.name.to_owned(), reason })
    });
    let last = patterns.last().map_or("", |pattern| pattern.name);
    alone.unwrap_or_else(|| PatternRefusal { name: last.to_owned(), reason: together })
}

fn compile(patterns: &[impl AsRef<str>]) -> Result<RegexSet, String> {
    let mut builder = RegexSetBuilder::new(patterns);
    // A line break must not hide a match.
    builder.case_insensitive(true).dot_matches_new_line(true);
    builder.size_limit(COMPILED_BYTES_MAX).dfa_size_limit(COMPILED_BYTES_MAX);
    builder.build().map_err(|error| {
        if matches!(error, regex::Error::CompiledTooBig(_)) {
            return "it is too large".to_owned();
        }
        // The last line is the message; the lines before show the pattern.
        let message = error.to_string();
        message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    })
}
