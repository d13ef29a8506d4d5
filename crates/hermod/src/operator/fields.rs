//! `FIELD=VALUE` on the command line: parsed by the description of the kind, and completed from it.

use crate::failure::Failure;
use crate::input_file::first_line;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};
use hermod_operator::entry::fields::{EntryField, field_of, fields_of};
use hermod_operator::kind::Kind;
use serde_json::{Map, Value};
use std::ffi::OsStr;
use std::path::Path;

/// The width of the list of fields in the help.
const HELP_WIDTH: usize = 105;

/// The fields that a command changes; all others stay.
#[derive(Clone, Default)]
pub(super) struct EntryFields(Map<String, Value>);

impl EntryFields {
    /// Parses `FIELD=VALUE`, each field once.
    pub(super) fn parse(kind: Kind, assignments: &[String]) -> Result<EntryFields, Failure> {
        let mut fields = Map::new();
        for assignment in assignments {
            let (field, value) = parse_one(kind, assignment).map_err(Failure::usage)?;
            if fields.insert(field.name.clone(), read_value(field, value)?).is_some() {
                return Err(Failure::usage(format!("{} is given twice", field.name)));
            }
        }
        Ok(EntryFields(fields))
    }

    /// One field.
    pub(super) fn one(name: &str, value: impl Into<Value>) -> EntryFields {
        EntryFields::default().with(name, value)
    }

    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> EntryFields {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

fn parse_one(kind: Kind, assignment: &str) -> Result<(&'static EntryField, &str), String> {
    let (name, value) =
        assignment.split_once('=').ok_or_else(|| format!("{assignment}: write FIELD=VALUE"))?;
    let field = field_of(kind, name).ok_or_else(|| {
        format!("unknown field {name}: hermod {kind} set --help lists the fields of a {kind}")
    })?;
    Ok((field, value))
}

/// Returns the value of a field. A secret is read from a file, because other users of the machine can see command lines.
fn read_value(field: &EntryField, text: &str) -> Result<Value, Failure> {
    let name = &field.name;
    if !field.is_secret || text.is_empty() {
        return field.parse(text).map_err(|error| Failure::usage(format!("{name}={text}: {error}")));
    }
    let file = text.strip_prefix('@').ok_or_else(|| {
        let forms = format!("{name}=@FILE, or {name}=@- for standard input");
        Failure::usage(format!("{name} is a secret and is read from the first line of a file: {forms}"))
    })?;
    first_line(Path::new(file)).map(Value::from)
}

/// Takes any text and completes the fields of a kind.
#[derive(Clone)]
pub(super) struct AssignmentParser(pub(super) Kind);

impl TypedValueParser for AssignmentParser {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = settable(self.0).flat_map(|field| {
            let help = first_sentence(&field.help);
            let values = match field.choices.as_slice() {
                [] if field.is_secret => vec![format!("{}=@", field.name)],
                [] => vec![format!("{}=", field.name)],
                choices => choices.iter().map(|choice| format!("{}={choice}", field.name)).collect(),
            };
            values.into_iter().map(move |value| PossibleValue::new(value).help(help.clone()))
        });
        Some(Box::new(values))
    }
}

/// Returns the fields that a command may set; the name of the entry gives the others.
fn settable(kind: Kind) -> impl Iterator<Item = &'static EntryField> {
    fields_of(kind).iter().filter(|field| !field.is_in_name)
}

pub(super) fn first_sentence(text: &str) -> String {
    text.split(". ").next().unwrap_or_default().trim_end_matches('.').replace('`', "")
}

/// Returns the fields of a kind with their help, for the help of a command.
pub(super) fn fields_help(kind: Kind) -> String {
    let width = settable(kind).map(|field| field.name.len()).max().unwrap_or(0);
    let lines = settable(kind).map(|field| {
        let mut help = field.help.replace('`', "");
        if let Some(first) = field.choices.first()
            && !field.forms.flag
            && !help.contains(first.as_str())
        {
            help = format!("{help} Values: {}.", field.choices.join(", "));
        }
        if field.is_secret {
            help = format!("{help} Read from a file: {}=@FILE.", field.name);
        }
        format!("  {:width$}  {}\n", field.name, wrapped(help.trim(), HELP_WIDTH - width, width + 4))
    });
    let fields: String = lines.map(|line| format!("{}\n", line.trim_end())).collect();
    format!(
        "Fields:\n{fields}\nAn empty value removes a field. A list is written with commas, a table by its values with colons; \
         both may also be written as in TOML."
    )
}

/// Breaks a text into lines of a width; all but the first are indented.
fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push_str(&format!(" {word}"));
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join(&format!("\n{:indent$}", ""))
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
