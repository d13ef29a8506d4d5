//! Entries of one kind as a CSV file, with a column for each field. What is exported is imported without a change.

use crate::csv::{Cell, push_headings, push_row};
use crate::csv_table::{CsvError, CsvTable};
use crate::entry::fields::{EntryField, fields_of, removable};
use crate::entry::mentioned_fields::Mentions;
use crate::kind::Kind;
use crate::refusal::ProvisionRefusal;
use crate::setup::file_entries::WantedSetup;
use crate::setup::json::read;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Returns the fields of a kind that a file has: no secrets, and none that is only shown.
pub fn columns(kind: Kind) -> impl Iterator<Item = &'static EntryField> {
    fields_of(kind).iter().filter(|field| !field.is_secret && !field.is_shown_only)
}

/// Writes entries.
pub(crate) fn written<'e>(kind: Kind, entries: impl IntoIterator<Item = &'e Map<String, Value>>) -> String {
    let mut csv = String::new();
    push_headings(&mut csv, &columns(kind).map(|field| field.name.as_str()).collect::<Vec<_>>());
    for entry in entries {
        let cell = |field: &EntryField| entry.get(&field.name).map(|value| field.cell(value));
        let texts: Vec<String> = columns(kind).map(|field| cell(field).unwrap_or_default()).collect();
        push_row(&mut csv, &texts.iter().map(|text| Cell::Text(text)).collect::<Vec<_>>());
    }
    csv
}

/// The entries of a file, and where they are.
#[derive(Debug)]
pub(crate) struct FileOfKind {
    pub(crate) wanted: WantedSetup,
    kind: Kind,
    /// The line of each entry.
    lines: Vec<u64>,
}

impl FileOfKind {
    /// Reads a file. Its entries change only the fields that have a column. An empty cell removes an optional field, and leaves
    /// any other as it is.
    pub(crate) fn read(kind: Kind, file: &[u8]) -> Result<FileOfKind, CsvError> {
        let CsvTable { columns: names, rows } = CsvTable::read(file)?;
        let fields: Vec<(&EntryField, bool)> =
            names.iter().map(|name| known(kind, name)).collect::<Result<_, _>>()?;
        if !fields.iter().any(|(field, _)| field.is_in_name) {
            let named = columns(kind).filter(|field| field.is_in_name).map(|field| field.name.as_str());
            let named = named.collect::<Vec<_>>().join(", ");
            let sentence = format!("no column says which {kind} a row is; there must be some of {named}");
            return Err(CsvError::at(1, None, sentence));
        }
        let lines: Vec<u64> = rows.iter().map(|row| row.line).collect();
        let entries = rows.iter().map(|row| {
            let mut entry = Map::new();
            for ((field, is_removable), cell) in fields.iter().zip(&row.cells) {
                if cell.is_empty() && !is_removable {
                    continue;
                }
                let value = if cell.is_empty() { Ok(Value::from("")) } else { field.parse(cell) };
                let value = value
                    .map_err(|sentence| CsvError::at(row.line, Some(&field.name), told(cell, &sentence)))?;
                entry.insert(field.name.clone(), value);
            }
            Ok(Value::Object(entry))
        });
        let entries: Vec<Value> = entries.collect::<Result<_, CsvError>>()?;
        let mut object = Map::from_iter([(kind.to_string(), Value::Array(entries))]);
        let mentions = Some(Mentions::take_from_json(&mut object));
        let wanted = read(object).map_err(|(key, sentence)| error_at(kind, &lines, &key, &sentence))?;
        Ok(FileOfKind { wanted: WantedSetup { mentions, ..wanted }, kind, lines })
    }

    /// Returns what is wrong with an entry, with its line where the refusal names one.
    pub(crate) fn placed(&self, refusal: ProvisionRefusal) -> ProvisionRefusal {
        let ProvisionRefusal::Wrong { what, sentence } = refusal else { return refusal };
        let begin = format!("{} \"", self.kind);
        let named = what.strip_prefix(&begin).and_then(|rest| rest.split('"').next());
        // Of two entries of one name the later one is wrong.
        let lines: HashMap<String, u64> = self.wanted.names().zip(self.lines.iter().copied()).collect();
        let what = match named.and_then(|name| lines.get(name)) {
            Some(line) => format!("line {line}: {what}"),
            None => what,
        };
        ProvisionRefusal::Wrong { what, sentence }
    }
}

/// Returns the field of a column, and whether an empty cell removes it.
fn known(kind: Kind, name: &str) -> Result<(&'static EntryField, bool), CsvError> {
    let field = columns(kind).find(|field| field.name == name).ok_or_else(|| {
        let names = columns(kind).map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ");
        CsvError::at(
            1,
            Some(name),
            format!("there is no such column for {}; there are {names}", kind.in_words()),
        )
    })?;
    Ok((field, removable(kind).any(|removable| removable.name == name)))
}

/// The error about a value of an entry, whose key is such as `price 17.per_part`.
fn error_at(kind: Kind, lines: &[u64], key: &str, sentence: &str) -> CsvError {
    let place = key.strip_prefix(kind.as_str()).unwrap_or_default().trim_start();
    let (number, column) = match place.split_once('.') {
        Some((number, column)) => (number, Some(column)),
        None => (place, None),
    };
    let index = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let line = index.and_then(|index| lines.get(index)).copied().unwrap_or(1);
    CsvError::at(line, column, sentence)
}

/// Returns the error about a cell that is no value, with the cell as far as it fits.
fn told(cell: &str, sentence: &str) -> String {
    const CELL_CHARS_MAX: usize = 60;
    let shown: String = cell.chars().take(CELL_CHARS_MAX).collect();
    format!("\"{shown}\": {sentence}")
}
