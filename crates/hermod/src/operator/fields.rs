//! The fields that a command line wants changed: what it does not name stays as it is, and an empty text takes a field
//! away.

use crate::ending::Failure;
use hermod_gateway::provision::value_of;
use serde_json::{Map, Value};

#[derive(Clone, Default)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    /// A field, if the command line has it.
    pub(super) fn with<T: Into<Value>>(mut self, name: &str, value: Option<T>) -> Fields {
        if let Some(value) = value {
            let value = value.into();
            let value = if value.as_str() == Some("") { Value::Null } else { value };
            self.0.insert(name.to_owned(), value);
        }
        self
    }

    /// A field as it is.
    pub(super) fn with_value(mut self, name: &str, value: Value) -> Fields {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// A list, if the command line has it. One empty element is an empty list.
    pub(super) fn with_list(mut self, name: &str, values: &[String]) -> Fields {
        if !values.is_empty() {
            let values: Vec<&String> = values.iter().filter(|value| !value.is_empty()).collect();
            self.0.insert(name.to_owned(), serde_json::json!(values));
        }
        self
    }

    /// Fields without a flag of their own, as `--set FIELD=VALUE` gives them.
    pub(super) fn with_others(mut self, others: &[String]) -> Result<Fields, Failure> {
        for other in others {
            let (field, value) = other.split_once('=').ok_or_else(|| {
                Failure::mend(format!("--set {other}: a field and its value are written FIELD=VALUE"))
            })?;
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
    fn only_what_was_said_is_changed() {
        let fields = Fields::default()
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
