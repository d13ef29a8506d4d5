//! The fields that a command changes. Fields without an option stay, and an empty text removes a field.

use crate::failure::Failure;
use hermod_gateway::provision::value_of;
use serde_json::{Map, Value};

#[derive(Clone, Default)]
pub(super) struct EntryFields(Map<String, Value>);

impl EntryFields {
    /// Sets a field, if the command line has it. An empty text removes the field.
    pub(super) fn with<T: Into<Value>>(mut self, name: &str, value: Option<T>) -> EntryFields {
        if let Some(value) = value {
            let value = value.into();
            let value = if value.as_str() == Some("") { Value::Null } else { value };
            self.0.insert(name.to_owned(), value);
        }
        self
    }

    /// Sets a field.
    pub(super) fn with_value(mut self, name: &str, value: Value) -> EntryFields {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Sets a list, if the command line has it. A single empty element is an empty list.
    pub(super) fn with_list(mut self, name: &str, values: &[String]) -> EntryFields {
        if !values.is_empty() {
            let values: Vec<&String> = values.iter().filter(|value| !value.is_empty()).collect();
            self.0.insert(name.to_owned(), serde_json::json!(values));
        }
        self
    }

    /// Sets the fields of `--set FIELD=VALUE`.
    pub(super) fn with_others(mut self, others: &[String]) -> Result<EntryFields, Failure> {
        for other in others {
            let (field, value) = other
                .split_once('=')
                .ok_or_else(|| Failure::usage(format!("--set {other}: write FIELD=VALUE")))?;
            self = self.with_value(field.trim(), value_of(value.trim()));
        }
        Ok(self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_given_fields_are_set() {
        let fields = EntryFields::default()
            .with("rate", Some(5))
            .with("account", None::<String>)
            .with("default_sender", Some(String::new()))
            .with_list("allow", &[])
            .with_list("carriers", &["a".to_owned(), "b".to_owned()])
            .with_list("senders", &[String::new()]);
        let expect = r#"{"carriers":["a","b"],"default_sender":null,"rate":5,"senders":[]}"#;
        assert_eq!(fields.into_value().to_string(), expect);
    }
}
