//! Screening: the operator's patterns on text and sender. A message that one of them finds is held for a person to look
//! at. Patterns ignore case, a dot also stands for a line's end, and they are matched in time linear in the text,
//! whatever they are.

use crate::sender::Sender;
use crate::text::MessageText;
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
    set: Option<RegexSet>,
    names: Vec<Arc<str>>,
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
        self.text.set.is_none() && self.sender.set.is_none()
    }

    /// The names of the rules that find something.
    pub fn hits(&self, from: &Sender, text: &MessageText) -> Vec<Arc<str>> {
        let mut hits = self.sender.hits(from.as_str());
        hits.extend(self.text.hits(text.as_str()));
        hits
    }
}

impl Named {
    fn build(patterns: &[Pattern<'_>]) -> Result<Named, PatternRefusal> {
        if patterns.is_empty() {
            return Ok(Named::default());
        }
        let all: Vec<&str> = patterns.iter().map(|pattern| pattern.pattern).collect();
        let set = compile(&all).map_err(|reason| blame(patterns, reason))?;
        Ok(Named { set: Some(set), names: patterns.iter().map(|pattern| pattern.name.into()).collect() })
    }

    fn hits(&self, subject: &str) -> Vec<Arc<str>> {
        let Some(set) = &self.set else { return Vec::new() };
        set.matches(subject).into_iter().map(|place| self.names[place].clone()).collect()
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

fn compile(patterns: &[&str]) -> Result<RegexSet, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn screens(patterns: &[(&str, Field, &str)]) -> Result<Screens, PatternRefusal> {
        Screens::build(patterns.iter().map(|(name, field, pattern)| Pattern { name, field: *field, pattern }))
    }

    #[track_caller]
    fn check(screens: &Screens, from: &str, text: &str, expect: &[&str]) {
        let hits = screens.hits(&Sender::parse(from).unwrap(), &MessageText::parse(text).unwrap());
        assert_eq!(hits.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), expect, "{from}: {text}");
    }

    #[test]
    fn patterns_find_texts_and_senders_in_any_case() {
        let screens = screens(&[
            ("links", Field::Text, r"https?://"),
            ("bank", Field::Sender, "bank"),
            ("pin", Field::Text, r"\bpin\b"),
        ])
        .unwrap();
        check(&screens, "Shop", "hello", &[]);
        check(&screens, "MyBANK", "your PIN at HTTP://x.example", &["bank", "links", "pin"]);
        check(&screens, "Shop", "spinning", &[]);
        check(&Screens::default(), "Bank", "pin", &[]);
    }

    #[test]
    fn a_new_line_hides_nothing() {
        let screens = screens(&[("prize", Field::Text, "won.*prize")]).unwrap();
        check(&screens, "Shop", "you won\na\r\nprize", &["prize"]);
    }

    #[test]
    fn a_pattern_that_cannot_be_used_is_named() {
        let told = |pattern| screens(&[("ok", Field::Text, "a"), ("bad", Field::Text, pattern)]).unwrap_err();
        assert_eq!(told("(").name, "bad");
        assert_eq!(told("(").reason, "unclosed group");
        assert_eq!(told(r"\w{1000}{1000}").reason, "it is too large");
    }
}
