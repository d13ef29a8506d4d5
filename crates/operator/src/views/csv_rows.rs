//! Views as rows of a CSV file: a column for each field, named as in JSON. The fields of a table inside a view have columns of
//! their own, `queue.waiting`.

use crate::csv::{Cell, push_headings, push_row};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// A view that can be a row.
pub trait CsvView {
    /// Returns the names of its fields, in the order of the type.
    fn columns() -> Vec<String>;

    /// Returns the view as JSON.
    fn value(&self) -> Value;
}

type NamedSchemas = BTreeMap<String, RefOr<Schema>>;

impl<T: ToSchema + Serialize> CsvView for T {
    fn columns() -> Vec<String> {
        let mut inside = Vec::new();
        T::schemas(&mut inside);
        let mut columns = Vec::new();
        add_columns("", &T::schema(), &inside.into_iter().collect(), &mut columns);
        columns
    }

    fn value(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}

/// Writes the names of the columns.
pub fn headings<T: CsvView>() -> String {
    let mut csv = String::new();
    push_headings(&mut csv, &T::columns().iter().map(String::as_str).collect::<Vec<_>>());
    csv
}

/// Writes a row for each view.
pub fn rows<'v, T: CsvView + 'v>(views: impl IntoIterator<Item = &'v T>) -> String {
    let columns = T::columns();
    let mut csv = String::new();
    for view in views {
        let value = view.value();
        let texts: Vec<String> = columns.iter().map(|column| text(at(&value, column))).collect();
        push_row(&mut csv, &texts.iter().map(|text| Cell::of(text)).collect::<Vec<_>>());
    }
    csv
}

/// Writes views as a whole file.
pub fn file<'v, T: CsvView + 'v>(views: impl IntoIterator<Item = &'v T>) -> String {
    headings::<T>() + &rows(views)
}

fn add_columns(before: &str, schema: &RefOr<Schema>, named: &NamedSchemas, columns: &mut Vec<String>) {
    match resolved(schema, named) {
        Some(Schema::Object(table)) => {
            for (name, field) in &table.properties {
                let path = format!("{before}{name}");
                match table_in(field, named) {
                    Some(inner) => add_columns(&format!("{path}."), inner, named, columns),
                    None => columns.push(path),
                }
            }
        }
        Some(Schema::AllOf(parts)) => {
            parts.items.iter().for_each(|part| add_columns(before, part, named, columns));
        }
        Some(_) | None => {}
    }
}

/// Returns the schema of a field that is a table with known fields, or such a table or nothing.
fn table_in<'s>(field: &'s RefOr<Schema>, named: &'s NamedSchemas) -> Option<&'s RefOr<Schema>> {
    match resolved(field, named)? {
        Schema::Object(table) if !table.properties.is_empty() => Some(field),
        Schema::OneOf(choice) => choice.items.iter().find_map(|item| table_in(item, named)),
        _ => None,
    }
}

fn resolved<'s>(schema: &'s RefOr<Schema>, named: &'s NamedSchemas) -> Option<&'s Schema> {
    match schema {
        RefOr::T(schema) => Some(schema),
        RefOr::Ref(reference) => match named.get(reference.ref_location.rsplit('/').next()?)? {
            RefOr::T(schema) => Some(schema),
            RefOr::Ref(_) => None,
        },
    }
}

fn at<'v>(value: &'v Value, column: &str) -> &'v Value {
    column.split('.').fold(value, |value, field| &value[field])
}

fn text(value: &Value) -> String {
    let is_plain = |value: &Value| !value.is_array() && !value.is_object();
    match value {
        Value::Null => String::new(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.iter().all(is_plain) => {
            list.iter().map(text).collect::<Vec<_>>().join(", ")
        }
        Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
#[path = "csv_rows_tests.rs"]
mod tests;
