//! Screening: the operator's patterns on text and sender. A message that one of them finds is held for a person to look
//! at. Patterns ignore case, a dot also stands for a line's end, and they are matched in time linear in the text,
//! whatever they are.
//!
//! Each pattern is matched twice: against the text as written, and, with both folded, against what the text looks like.

mod fold;
mod pattern;
mod reading;
#[cfg(test)]
mod tests;

use crate::sender::Sender;
use crate::text::{Encoding, MessageText};
use reading::Reading;
use regex::{RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a compiled set of patterns may take. A pattern that needs more is refused when it is made.
const COMPILED_BYTES_MAX: usize = 4 << 20;

/// What a pattern is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    Text,
    Sender,
}

/// A named pattern.
#[derive(Clone, Debug)]
pub struct Pattern<'a> {
    pub name: &'a str,
    pub field: Field,
    pub pattern: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern of the screening rule \"{name}\" cannot be used: {reason}")]
pub struct PatternRefusal {
    pub name: String,
    pub reason: String,
}

/// Compiled patterns.
#[derive(Clone, Debug, Default)]
pub struct Screens {
    text: Named,
    sender: Named,
}

#[derive(Clone, Debug, Default)]
struct Named {
    sets: Option<Sets>,
    names: Vec<Arc<str>>,
}

/// The same patterns for texts as written and for folded ones.
#[derive(Clone, Debug)]
struct Sets {
    as_written: RegexSet,
    folded: RegexSet,
}

/// A message as the patterns look at it, read once for all of them.
#[derive(Debug)]
pub struct Subject {
    sender: Reading,
    texts: Vec<Reading>,
}

impl Subject {
    /// What the sender is and what the text says, under every decoding that a handset may use.
    pub fn new(from: &Sender, text: &MessageText, encoding: Encoding) -> Subject {
        Subject { sender: Reading::new(from.as_str().to_owned()), texts: reading::of(text, encoding) }
    }
}

impl Screens {
    pub fn build<'a>(patterns: impl IntoIterator<Item = Pattern<'a>>) -> Result<Screens, PatternRefusal> {
        let (mut text, mut sender) = (Vec::new(), Vec::new());
        for pattern in patterns {
            match pattern.field {
                Field::Text => text.push(pattern),
                Field::Sender => sender.push(pattern),
            }
        }
        Ok(Screens { text: Named::build(&text)?, sender: Named::build(&sender)? })
    }

    pub const fn is_empty(&self) -> bool {
        self.text.sets.is_none() && self.sender.sets.is_none()
    }

    /// The names of the rules that find something.
    pub fn hits(&self, subject: &Subject) -> Vec<Arc<str>> {
        let mut hits = self.sender.hits(std::slice::from_ref(&subject.sender));
        hits.extend(self.text.hits(&subject.texts));
        hits
    }
}

impl Named {
    fn build(patterns: &[Pattern<'_>]) -> Result<Named, PatternRefusal> {
        if patterns.is_empty() {
            return Ok(Named::default());
        }
        let all: Vec<&str> = patterns.iter().map(|pattern| pattern.pattern).collect();
        let as_written = compile(&all).map_err(|reason| blame(patterns, reason))?;
        let folded: Vec<String> =
            all.iter().map(|one| pattern::fold_pattern(one).unwrap_or_else(|| (*one).to_owned())).collect();
        // Patterns that are stored must go on working: where folding makes them too large, they stay as they are.
        let folded = compile(&folded).unwrap_or_else(|_| as_written.clone());
        let names = patterns.iter().map(|pattern| pattern.name.into()).collect();
        Ok(Named { sets: Some(Sets { as_written, folded }), names })
    }

    /// In the order of the patterns, each once.
    fn hits(&self, readings: &[Reading]) -> Vec<Arc<str>> {
        let Some(Sets { as_written, folded }) = &self.sets else { return Vec::new() };
        let mut found = vec![false; self.names.len()];
        for Reading { written, looks } in readings {
            let places = as_written.matches(written).into_iter().chain(folded.matches(looks));
            places.for_each(|place| found[place] = true);
        }
        self.names.iter().zip(found).filter(|(_, found)| *found).map(|(name, _)| name.clone()).collect()
    }
}

/// An error must name the pattern that is at fault; where each would do alone, they are too much together.
fn blame(patterns: &[Pattern<'_>], together: String) -> PatternRefusal {
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
    // A text of two lines must not pass where the same words on one would not.
    builder.case_insensitive(true).dot_matches_new_line(true);
    builder.size_limit(COMPILED_BYTES_MAX).dfa_size_limit(COMPILED_BYTES_MAX);
    builder.build().map_err(|error| {
        if matches!(error, regex::Error::CompiledTooBig(_)) {
            return "it is too large".to_owned();
        }
        // The last line says what is wrong; the ones before draw the pattern.
        let told = error.to_string();
        told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    })
}
