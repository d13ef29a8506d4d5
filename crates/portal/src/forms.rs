//! Fields of forms: what the person typed, and what is wrong with it.

/// A text field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The value to show in the field.
    pub value: String,
    /// What is wrong and what to do; shown beside the field.
    pub error: Option<String>,
}

impl Field {
    /// Returns a field that shows this value without an error.
    pub fn new(value: impl Into<String>) -> Field {
        Field { value: value.into(), error: None }
    }

    /// Returns a field that shows this value and what is wrong with it.
    pub fn invalid(value: impl Into<String>, error: impl Into<String>) -> Field {
        Field { value: value.into(), error: Some(error.into()) }
    }
}

/// One option of a select or one radio button.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The value that the form sends.
    pub value: String,
    /// The text that the person reads.
    pub label: String,
    /// Whether it is chosen now.
    pub is_selected: bool,
}

/// Options, one of which may be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Select {
    /// The options in the order shown.
    pub choices: Vec<Choice>,
    /// What is wrong with the choice; shown beside the field.
    pub error: Option<String>,
}

impl Select {
    /// Returns options made of pairs of value and label, with the option of this value chosen.
    pub fn new<V, L>(pairs: impl IntoIterator<Item = (V, L)>, selected: &str) -> Select
    where
        V: Into<String>,
        L: Into<String>,
    {
        let choices = pairs.into_iter().map(|(value, label)| {
            let value = value.into();
            Choice { is_selected: value == selected, label: label.into(), value }
        });
        Select { choices: choices.collect(), error: None }
    }
}
