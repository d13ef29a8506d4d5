//! The setup in force as a provision file, as a person would write one. The order is always the same, and nothing in it is of the
//! time or of the store, so that two exports of the same setup are equal and can be compared.

use crate::entry::export::exported;
use crate::entry::fields::{EntryField, fields_of, toml_text};
use crate::kind::Kind;
use crate::refusal::ProvisionResult;
use hermod_store::CatalogueRow;
use serde_json::{Map, Value};

const HEADING: &str = "\
# The setup of a gateway, as hermod config export writes it. hermod apply FILE applies it: where it was exported, that changes
# nothing. Nothing is removed.
#
# Secrets are left out. Entries that exist keep theirs. On an empty store, those of carriers must be given; the others are
# generated and shown once (--secrets-to FILE writes them to a file). Not in here either: balances, messages, opt-outs, and the
# passwords and second factors of users, who are invited again.
";
const DEFAULTS_LEFT_OUT: &str = "#\n# Fields that have their default are left out; --full writes them too.\n";

/// The characters of a line of a comment.
const COMMENT_WIDTH: usize = 120;

/// Which fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Those that do not have their default.
    Told,
    Full,
}

/// Writes the entries of these kinds that `includes` accepts.
pub(crate) fn written(
    rows: &[CatalogueRow],
    kinds: &[Kind],
    extent: Extent,
    includes: impl Fn(Kind, &str, &Map<String, Value>) -> bool,
) -> ProvisionResult<String> {
    let mut file = HEADING.to_owned();
    if extent == Extent::Told {
        file.push_str(DEFAULTS_LEFT_OUT);
    }
    for kind in Kind::ALL.into_iter().filter(|kind| kinds.contains(kind)) {
        let mut entries = exported(rows, kind)?;
        entries.retain(|name, entry| includes(kind, name, entry));
        let Some(first) = entries.values().next() else { continue };
        file.push_str(&section(kind));
        let defaults = Defaults::of(kind, first);
        for entry in entries.values() {
            push_entry(&mut file, kind, entry, Some(&defaults).filter(|_| extent == Extent::Told));
        }
    }
    Ok(file)
}

/// Returns the comment above the entries of a kind: what they are, and what becomes of secrets that are left out.
fn section(kind: Kind) -> String {
    let mut text = format!("\n{}", comment(&format!("{}: {}", kind.in_words(), kind.about())));
    for EntryField { name, help, .. } in fields_of(kind).iter().filter(|field| field.is_secret) {
        text.push_str(&comment(format!("Left out: {name}. {help}").trim_end()));
    }
    text
}

/// Breaks a text into the lines of a comment.
fn comment(text: &str) -> String {
    let mut lines = vec!["#".to_owned()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if last.len() > 1 && last.chars().count() + 1 + word.chars().count() > COMMENT_WIDTH {
            lines.push(format!("# {word}"));
        } else {
            last.push_str(&format!(" {word}"));
        }
    }
    lines.join("\n") + "\n"
}

/// The values that fields have where an entry does not say them. A default never depends on other fields of the entry.
struct Defaults(Map<String, Value>);

impl Defaults {
    /// Finds them by leaving each field out of an entry.
    fn of(kind: Kind, entry: &Map<String, Value>) -> Defaults {
        let without = |name: &String| {
            let mut fields = entry.clone();
            fields.remove(name);
            let complete = (kind.description().complete)(fields)?;
            Some((name.clone(), complete.get(name)?.clone()))
        };
        Defaults(fields_of(kind).iter().filter_map(|field| without(&field.name)).collect())
    }
}

fn push_entry(file: &mut String, kind: Kind, entry: &Map<String, Value>, defaults: Option<&Defaults>) {
    file.push_str(&format!("\n[[{kind}]]\n"));
    for EntryField { name, is_shown_only, .. } in fields_of(kind) {
        let Some(value) = entry.get(name).filter(|_| !is_shown_only) else { continue };
        let is_default = defaults.is_some_and(|Defaults(defaults)| defaults.get(name) == Some(value));
        if !is_default {
            file.push_str(&format!("{name} = {}\n", toml_text(value)));
        }
    }
}
