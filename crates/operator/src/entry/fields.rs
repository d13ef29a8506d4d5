//! The description of each kind of entry, from the same schema as the documentation: its fields with their help, the values
//! that they take, and whether a list shows them.

use crate::entry::documents;
use crate::entry::documents::{EntryNames, UnreadableRow};
use crate::entry::draft::FileEntry;
use crate::entry::names::{NameForm, ReadName};
use crate::kind::Kind;
use hermod_domain::operator_role::OperatorPermission;
use hermod_store::CatalogueRow;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayItems, SchemaType};
use utoipa::openapi::{Object, RefOr, Schema, Type};

/// A field of an entry, or of a table inside an entry.
#[derive(Clone, Debug)]
pub struct EntryField {
    pub name: String,
    /// What it is for; empty if its name says that.
    pub help: String,
    /// Its only values; empty if there are others.
    pub choices: Vec<String>,
    pub forms: ValueForms,
    /// Whether its value is never shown.
    pub is_secret: bool,
    /// Whether it is only shown: what a file or a request says of it is ignored.
    pub is_shown_only: bool,
    /// Whether only operators see it.
    pub is_private: bool,
    /// Whether the name of the entry contains it.
    pub is_in_name: bool,
    /// Whether a list of entries shows it.
    pub is_column: bool,
}

/// The forms that a value may have.
#[derive(Clone, Debug, Default)]
pub struct ValueForms {
    /// It may be absent, and then has no default.
    pub nothing: bool,
    pub text: bool,
    pub number: bool,
    pub flag: bool,
    /// The forms of an element.
    pub list: Option<Box<ValueForms>>,
    /// The fields of a table.
    pub table: Vec<EntryField>,
}

/// Makes the fields of a stored entry.
type Show = fn(&CatalogueRow, &EntryNames) -> Result<Map<String, Value>, UnreadableRow>;

/// Reads an entry from some of its fields and returns all fields, those that are absent with their defaults. None if a field that
/// has no default is absent.
type Complete = fn(Map<String, Value>) -> Option<Map<String, Value>>;

/// Returns a flag without which entries cannot be created, and the names of the entries that need it.
type Confirmed = fn(&[CatalogueRow]) -> Option<(&'static str, HashSet<&str>)>;

/// What the type of an entry says about its kind.
pub(crate) struct KindDescription {
    about: &'static str,
    pub(crate) name_form: NameForm,
    pub(crate) read_name: fn(&str) -> Option<ReadName>,
    instead_of_removing: Option<&'static str>,
    pub(crate) is_referred_to: bool,
    in_name: &'static [&'static str],
    columns: &'static [&'static str],
    private: &'static [&'static str],
    changed_with: OperatorPermission,
    fields_changed_with: &'static [(&'static str, OperatorPermission)],
    read_with: OperatorPermission,
    pub(crate) shown: Show,
    pub(crate) confirmed: Confirmed,
    pub(crate) complete: Complete,
    schema: fn() -> RefOr<Schema>,
    /// Adds the schemas of the tables inside.
    inside: fn(&mut Vec<(String, RefOr<Schema>)>),
}

impl KindDescription {
    pub(crate) const fn of<T: FileEntry + ToSchema>() -> KindDescription {
        KindDescription {
            about: T::ABOUT,
            name_form: T::NAME_FORM,
            read_name: T::read_name,
            instead_of_removing: T::INSTEAD_OF_REMOVING,
            is_referred_to: T::IS_REFERRED_TO,
            in_name: T::IN_NAME,
            columns: T::COLUMNS,
            private: T::PRIVATE,
            changed_with: T::CHANGED_WITH,
            fields_changed_with: T::FIELDS_CHANGED_WITH,
            read_with: T::READ_WITH,
            shown: |row, names| Ok(documents::fields(&T::shown(&row.name, documents::read(row)?, names))),
            confirmed: T::confirmed,
            complete: |fields| Some(documents::fields(&serde_json::from_value::<T>(fields.into()).ok()?)),
            schema: T::schema,
            inside: T::schemas,
        }
    }
}

/// The fields that name the account of an entry, or what the entry belongs to.
const OWNERS: [&str; 3] = ["account", "connection", "accounts"];

impl Kind {
    /// Returns what the entries of this kind are.
    pub const fn about(self) -> &'static str {
        self.description().about
    }

    /// Returns what an operator needs to create, change or remove an entry.
    pub const fn changed_with(self) -> OperatorPermission {
        self.description().changed_with
    }

    /// Returns what an operator needs as well to change this field.
    pub(crate) fn field_changed_with(self, field: &str) -> Option<OperatorPermission> {
        let mut fields = self.description().fields_changed_with.iter();
        fields.find(|(name, _)| *name == field).map(|(_, permission)| *permission)
    }

    /// Returns what an operator needs to read an entry.
    pub(crate) const fn read_with(self) -> OperatorPermission {
        self.description().read_with
    }

    /// Returns the form of a name, and an example.
    pub const fn name_form(self) -> (&'static str, &'static str) {
        let NameForm { form, example, .. } = self.description().name_form;
        (form, example)
    }

    /// Whether a name has several parts, with slashes between them.
    pub const fn has_slashes_in_names(self) -> bool {
        self.description().in_name.len() > 1
    }

    /// Returns the field that names the accounts of an entry, or the connection that it belongs to.
    pub fn owner_field(self) -> Option<&'static str> {
        OWNERS.into_iter().find(|owner| field_of(self, owner).is_some())
    }

    /// Returns what to do instead of removing one that was used, for kinds whose numbers are stored in messages.
    pub const fn instead_of_removing(self) -> Option<&'static str> {
        self.description().instead_of_removing
    }
}

/// Returns the schema of an entry of this kind.
pub fn schema_of(kind: Kind) -> RefOr<Schema> {
    (kind.description().schema)()
}

/// Returns the fields of an entry of this kind, in the order of its type.
pub fn fields_of(kind: Kind) -> &'static [EntryField] {
    static FIELDS: LazyLock<HashMap<Kind, Vec<EntryField>>> =
        LazyLock::new(|| Kind::ALL.into_iter().map(|kind| (kind, described(kind))).collect());
    FIELDS.get(&kind).map(Vec::as_slice).unwrap_or_default()
}

fn described(kind: Kind) -> Vec<EntryField> {
    let KindDescription { in_name, columns, private, .. } = kind.description();
    let RefOr::T(Schema::Object(entry)) = schema_of(kind) else { return Vec::new() };
    let mut inside = Vec::new();
    (kind.description().inside)(&mut inside);
    let mut fields = fields_in(&entry, &inside.into_iter().collect());
    for field in &mut fields {
        field.is_private = private.contains(&field.name.as_str());
        field.is_in_name = in_name.contains(&field.name.as_str());
        let is_listed = columns.is_empty() || columns.contains(&field.name.as_str());
        field.is_column = is_listed && !field.is_in_name && !field.is_secret;
    }
    fields
}

/// Returns the fields that an empty text removes: optional ones without a default. Every other field rejects an empty text or
/// has it as a value: an empty text never sets a price, a limit of access or a secret, and never selects another entry.
pub(crate) fn removable(kind: Kind) -> impl Iterator<Item = &'static EntryField> {
    fields_of(kind).iter().filter(|EntryField { forms, is_secret, is_in_name, .. }| {
        forms.nothing && !forms.flag && forms.list.is_none() && !is_secret && !is_in_name
    })
}

/// Returns the field with this name.
pub fn field_of(kind: Kind, name: &str) -> Option<&'static EntryField> {
    fields_of(kind).iter().find(|field| field.name == name)
}

impl ValueForms {
    /// Returns the fields of the table, or of each table in the list.
    pub(crate) fn inner_fields(&self) -> &[EntryField] {
        match &self.list {
            Some(elements) if self.table.is_empty() => elements.inner_fields(),
            Some(_) | None => &self.table,
        }
    }
}

type NamedSchemas = BTreeMap<String, RefOr<Schema>>;

fn fields_in(table: &Object, named: &NamedSchemas) -> Vec<EntryField> {
    let fields = table.properties.iter().map(|(name, schema)| {
        let mut field = EntryField {
            name: name.clone(),
            help: help_of(schema).unwrap_or_default().replace('\n', " "),
            choices: Vec::new(),
            forms: ValueForms::default(),
            is_secret: false,
            is_shown_only: false,
            is_private: false,
            is_in_name: false,
            is_column: false,
        };
        if let RefOr::T(Schema::Object(value)) = schema {
            field.is_secret = value.write_only == Some(true);
            field.choices = choices_of(value);
        }
        field.is_shown_only = is_read_only(schema);
        add_forms(schema, named, &mut field.forms);
        if field.forms.flag && field.forms.table.is_empty() {
            field.choices = ["true", "false"].map(str::to_owned).into();
        }
        field
    });
    fields.collect()
}

/// The schema of a list says it of the elements.
fn is_read_only(schema: &RefOr<Schema>) -> bool {
    match schema {
        RefOr::T(Schema::Object(value)) => value.read_only == Some(true),
        RefOr::T(Schema::Array(list)) => match &list.items {
            ArrayItems::RefOrSchema(items) => is_read_only(items),
            ArrayItems::False => false,
        },
        RefOr::T(_) | RefOr::Ref(_) => false,
    }
}

fn help_of(schema: &RefOr<Schema>) -> Option<String> {
    match schema {
        RefOr::Ref(reference) => Some(reference.description.clone()).filter(|help| !help.is_empty()),
        RefOr::T(Schema::Object(value)) => value.description.clone(),
        RefOr::T(Schema::Array(list)) => list.description.clone(),
        RefOr::T(Schema::OneOf(choice)) => {
            choice.description.clone().or_else(|| choice.items.iter().find_map(help_of))
        }
        RefOr::T(_) => None,
    }
}

/// Returns the values of a pattern such as `^(text|sender)$`.
fn choices_of(value: &Object) -> Vec<String> {
    let inner = value.pattern.as_deref().and_then(|pattern| pattern.strip_prefix("^(")?.strip_suffix(")$"));
    let words: Vec<String> =
        inner.into_iter().flat_map(|inner| inner.split('|')).map(str::to_owned).collect();
    let is_word = |word: &String| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if words.iter().all(is_word) { words } else { Vec::new() }
}

fn add_forms(schema: &RefOr<Schema>, named: &NamedSchemas, forms: &mut ValueForms) {
    match schema {
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
            named.get(name).into_iter().for_each(|schema| add_forms(schema, named, forms));
        }
        RefOr::T(Schema::Object(value)) => add_types(value, named, forms),
        RefOr::T(Schema::OneOf(choice)) => {
            choice.items.iter().for_each(|schema| add_forms(schema, named, forms));
        }
        RefOr::T(Schema::Array(list)) => {
            let mut elements = ValueForms::default();
            if let ArrayItems::RefOrSchema(items) = &list.items {
                add_forms(items, named, &mut elements);
            }
            forms.list = Some(Box::new(elements));
        }
        RefOr::T(_) => {}
    }
}

fn add_types(value: &Object, named: &NamedSchemas, forms: &mut ValueForms) {
    let types = match &value.schema_type {
        SchemaType::Type(one) => std::slice::from_ref(one),
        SchemaType::Array(several) => several.as_slice(),
        SchemaType::AnyValue => &[],
    };
    for one in types {
        match one {
            Type::String => forms.text = true,
            Type::Integer | Type::Number => forms.number = true,
            Type::Boolean => forms.flag = true,
            Type::Object => forms.table = fields_in(value, named),
            Type::Null => forms.nothing = true,
            Type::Array => {}
        }
    }
}

impl EntryField {
    /// Parses a value that is written on a command line. An empty text removes the field. A list is written with commas, a
    /// table by its values in their order with colons; lists and tables may also be written as in TOML.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        if text.is_empty() {
            return Ok(Value::Null);
        }
        self.forms.parse(text)
    }

    /// Writes a value for a cell of a CSV file, so that [`EntryField::parse`] returns the same value: short where that says it
    /// all, otherwise as in TOML.
    pub fn cell(&self, value: &Value) -> String {
        let text = self.text(value);
        let is_exact = value.is_string() || self.parse(&text).as_ref() == Ok(value);
        if is_exact { text } else { toml_text(value) }
    }

    /// Writes a value for people. True is `yes`.
    pub fn text(&self, value: &Value) -> String {
        self.forms.text(value)
    }
}

impl ValueForms {
    fn parse(&self, text: &str) -> Result<Value, String> {
        let has_parts = self.list.is_some() || !self.table.is_empty();
        if has_parts && text.starts_with(['[', '{']) {
            return toml_value(text);
        }
        // Spreadsheets write TRUE.
        if self.flag
            && let Ok(flag) = text.to_ascii_lowercase().parse::<bool>()
        {
            return Ok(Value::Bool(flag));
        }
        if self.number
            && let Ok(number) = text.parse::<i64>()
        {
            return Ok(Value::from(number));
        }
        match &self.list {
            // A text beside a list stands for all elements.
            Some(_) if self.text && text == "*" => return Ok(Value::from(text)),
            Some(elements) => return text.split(',').map(|one| elements.parse(one.trim())).collect(),
            None => {}
        }
        if !self.table.is_empty() && (text.contains(':') || !self.text) {
            return self.parse_table(text);
        }
        if self.text { Ok(Value::from(text)) } else { Err(format!("expected {}", self.expected())) }
    }

    /// Parses the values of a table, in the order of its fields.
    fn parse_table(&self, text: &str) -> Result<Value, String> {
        let values: Vec<&str> = text.split(':').collect();
        if values.len() > self.table.len() || (values.len() == 1 && self.table.len() > 1) {
            return Err(format!("expected {}", self.expected()));
        }
        let given = self.table.iter().zip(values).filter(|(_, value)| !value.is_empty());
        given.map(|(field, value)| Ok((field.name.clone(), field.forms.parse(value)?))).collect()
    }

    fn expected(&self) -> String {
        let table: Vec<String> = self.table.iter().map(|field| field.name.to_uppercase()).collect();
        let forms = [
            (self.flag, "true or false".to_owned()),
            (self.number, "a whole number".to_owned()),
            (!table.is_empty(), table.join(":")),
        ];
        forms
            .into_iter()
            .filter(|(is_taken, _)| *is_taken)
            .map(|(_, form)| form)
            .collect::<Vec<_>>()
            .join(", or ")
    }

    fn text(&self, value: &Value) -> String {
        match value {
            Value::Null => String::new(),
            Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.clone(),
            Value::Array(values) => {
                let elements = self.list.as_deref().unwrap_or(self);
                values.iter().map(|one| elements.text(one)).collect::<Vec<_>>().join(", ")
            }
            Value::Object(values) => {
                let value_of = |field: &EntryField| values.get(&field.name).map(|value| field.text(value));
                let texts: Vec<String> =
                    self.table.iter().map(|field| value_of(field).unwrap_or_default()).collect();
                texts.join(":").trim_end_matches(':').to_owned()
            }
        }
    }
}

/// Writes a value as in TOML.
pub(crate) fn toml_text(value: &Value) -> String {
    toml::Value::try_from(value).map_or_else(|_| String::new(), |value| value.to_string())
}

/// Parses a list or a table in TOML.
fn toml_value(text: &str) -> Result<Value, String> {
    let read = toml::from_str::<BTreeMap<String, toml::Value>>(&format!("value = {text}"));
    let value = read.ok().and_then(|mut table| table.remove("value").filter(|_| table.is_empty()));
    let value = value.and_then(|value| serde_json::to_value(value).ok());
    value.ok_or_else(|| "is not a list or table in TOML".to_owned())
}
