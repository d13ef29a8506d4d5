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
mod tests {
    use super::*;
    use crate::audit_log::AuditRowView;
    use crate::bind::BindView;
    use crate::opt_out::OptOutView;
    use crate::queue::CarrierQueueView;

    #[test]
    fn columns_are_the_fields_of_the_view_and_of_tables_inside() {
        assert_eq!(headings::<OptOutView>(), "number,source,how,at\r\n");
        let queue = headings::<CarrierQueueView>();
        assert!(queue.starts_with("carrier,") && queue.contains("queue.waiting,"), "{queue}");
        assert!(BindView::columns().contains(&"last_error.text".to_owned()), "{:?}", BindView::columns());
        assert!(AuditRowView::columns().contains(&"detail".to_owned()));
    }

    #[test]
    fn cells_are_raw_and_guarded() {
        let view = |number: &str, how: &str| OptOutView {
            number: number.to_owned().into(),
            source: "operator".to_owned(),
            how: how.to_owned(),
            at: "2026-11-19T12:00:00Z".to_owned(),
        };
        let views = [view("+4915112345678", "=1+1"), view("+4915112345679", "a, b")];
        assert_eq!(
            rows(&views),
            "4915112345678,operator,'=1+1,2026-11-19T12:00:00Z\r\n\
             4915112345679,operator,\"a, b\",2026-11-19T12:00:00Z\r\n"
        );
        assert_eq!(text(&serde_json::json!(["DE", "AT"])), "DE, AT");
        assert_eq!(text(&serde_json::json!([{"a": 1}])), "[{\"a\":1}]");
    }
}
