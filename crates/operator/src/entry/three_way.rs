//! Applies an entry of a provision file by a three-way comparison of the file as last applied, the file now, and the
//! store. A field is applied if the file changed it. Otherwise it keeps its stored value, which may have been changed
//! by command or API. Fields that the file does not mention keep their value.

use crate::entry::draft::{Draft, FileEntry};
use crate::entry::last_applied::{AppliedEntry, AppliedField};
use crate::entry::mentioned_fields::Mentioned;
use crate::entry::plan::{Change, Effect, FieldLeft};
use crate::entry::{documents, names};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::catalogue::SenderState;
use serde_json::{Map, Value, json};

/// An entry of a file, and its fields.
struct Said<'w, T> {
    wanted: &'w T,
    fields: Map<String, Value>,
}

/// The result of comparing a stored entry.
struct Comparison {
    stored: Map<String, Value>,
    /// The fields that the file changes, with their values; `None` removes one.
    applied: Vec<(String, Option<Value>)>,
    left: Vec<FieldLeft>,
    applies_secret: bool,
}

impl Draft<'_> {
    /// Applies the changed fields of a file's entry, or creates the entry. An entry that was removed since the file
    /// was last applied is not created again unless the file changed it.
    pub(crate) fn bring<T: FileEntry>(&mut self, wanted: &T, mentioned: &Mentioned) -> ProvisionResult<()> {
        let name = wanted.name();
        self.see(T::KIND, &name)?;
        let last = self.last_applied.of(T::KIND, &name).cloned().unwrap_or_default();
        let said = Said { wanted, fields: documents::fields(wanted) };
        let Some(before) = self.stored::<T::Document>(T::KIND, &name)? else {
            let known = !last.fields.is_empty() && !self.force;
            // What is kept of the secret of a removed account cannot be compared: it depends on the number.
            let is_lost = |field: &str| T::INSTEAD_OF_REMOVING.is_some() && T::SECRET == Some(field);
            let is_as_before = |field: &String| is_lost(field) || self.says_as_before(&said, field, &last);
            if known && mentioned.iter().all(is_as_before) {
                self.forget_number(T::KIND, &name);
                self.leave_entry(T::KIND, name);
                return Ok(());
            }
            let number = self.number(T::KIND, &name);
            let document = wanted.document(self, None)?;
            self.remember(&name, &said, mentioned, &[], (&document, None), last);
            self.write::<T>(name, number, None, &document, Vec::new());
            return Ok(());
        };
        let Comparison { stored, applied, left, applies_secret } =
            self.compare(&said, mentioned, &before, &last);
        let (document, stored) = if applied.is_empty() && !applies_secret {
            (before.clone(), Some(stored))
        } else {
            let merged = merge(stored, applied);
            (self.read_entry(wanted, merged, applies_secret)?.document(self, Some(&before))?, None)
        };
        self.remember(&name, &said, mentioned, &left, (&document, stored), last);
        let number = self.number(T::KIND, &name);
        self.write::<T>(name, number, Some(before), &document, left);
        Ok(())
    }

    /// Removes an entry that the file removes. An entry created again since then stays.
    pub(crate) fn bring_removal(&mut self, kind: Kind, name: &str) -> ProvisionResult<()> {
        let (name, _) = names::read(kind, name)?;
        let removed_before = self.last_applied.of(kind, &name).is_some_and(|last| last.removed);
        if removed_before && !self.force && self.has(kind, &name) {
            self.see(kind, &name)?;
            self.leave_entry(kind, name);
            return Ok(());
        }
        self.remove(kind, &name)?;
        self.last_applied.remember(kind, &name, AppliedEntry::REMOVED);
        Ok(())
    }

    fn compare<T: FileEntry>(
        &self,
        said: &Said<'_, T>,
        mentioned: &Mentioned,
        before: &T::Document,
        last: &AppliedEntry,
    ) -> Comparison {
        let Said { wanted, fields } = said;
        let stored = documents::fields(&T::shown(&wanted.name(), before.clone(), self.names()));
        let (mut applied, mut left, mut applies_secret) = (Vec::new(), Vec::new(), false);
        for field in mentioned.iter().filter(|field| !T::ONLY_WHEN_NEW.contains(&field.as_str())) {
            let is_secret = T::SECRET == Some(field.as_str());
            if self.force || !self.says_as_before(said, field, last) {
                if is_secret {
                    applies_secret = wanted.secret().is_some();
                } else if fields.get(field) != stored.get(field) {
                    applied.push((field.clone(), fields.get(field).cloned()));
                }
                continue;
            }
            let now = if is_secret { T::kept_secret(before) } else { value_of(&stored, field) };
            if last.fields.get(field).is_some_and(|last| last.stored != now) {
                let (stored, file) =
                    if is_secret { (hidden(), hidden()) } else { (now, value_of(fields, field)) };
                left.push(FieldLeft { field: field.clone(), stored, file });
            }
        }
        Comparison { stored, applied, left, applies_secret }
    }

    /// Whether a field of the file is the same as when it was last applied.
    fn says_as_before<T: FileEntry>(&self, said: &Said<'_, T>, field: &str, last: &AppliedEntry) -> bool {
        let Said { wanted, fields } = said;
        let Some(AppliedField { file, stored: _ }) = last.fields.get(field) else {
            return T::ONLY_WHEN_NEW.contains(&field);
        };
        if T::SECRET == Some(field) {
            return match (wanted.secret(), file) {
                (Some(given), Value::String(kept)) => T::secret_fits(given, kept, &wanted.name(), self),
                (None, kept) => kept.is_null(),
                (Some(_), _) => false,
            };
        }
        fields.get(field).unwrap_or(&Value::Null) == file
    }

    /// Parses the entry from its fields. The secret is put in, because the fields hide it.
    fn read_entry<T: FileEntry>(
        &self,
        wanted: &T,
        mut fields: Map<String, Value>,
        with_secret: bool,
    ) -> ProvisionResult<T> {
        if let Some(field) = T::SECRET {
            fields.remove(field);
            let given = wanted.secret().filter(|_| with_secret);
            fields.extend(given.map(|secret| (field.to_owned(), Value::from(secret.reveal()))));
        }
        let what = format!("{} \"{}\":", T::KIND, wanted.name());
        let read = serde_json::from_value::<T>(Value::Object(fields));
        read.map_err(|error| ProvisionRefusal::about(&what, error.to_string()))
    }

    /// Records the file's values and the stored values of the applied fields, over what it said when it was last applied. What a
    /// request says is not recorded. `stored`: the fields of the document, where they are known.
    fn remember<T: FileEntry>(
        &mut self,
        name: &str,
        said: &Said<'_, T>,
        mentioned: &Mentioned,
        left: &[FieldLeft],
        (document, stored): (&T::Document, Option<Map<String, Value>>),
        last: AppliedEntry,
    ) {
        if !self.last_applied.is_of_file() {
            return;
        }
        let Said { wanted, fields } = said;
        let stored =
            stored.unwrap_or_else(|| documents::fields(&T::shown(name, document.clone(), self.names())));
        let mut entry = AppliedEntry { removed: false, ..last };
        let brought = mentioned.iter().filter(|field| !left.iter().any(|left| left.field == **field));
        for field in brought.filter(|field| !T::ONLY_WHEN_NEW.contains(&field.as_str())) {
            let (file, stored) = if T::SECRET == Some(field.as_str()) {
                let given = wanted.secret();
                let file = given.map_or(Value::Null, |given| T::given_secret(given, document, name, self));
                (file, T::kept_secret(document))
            } else {
                (value_of(fields, field), value_of(&stored, field))
            };
            entry.fields.insert(field.clone(), AppliedField { file, stored });
        }
        self.last_applied.remember(T::KIND, name, entry);
    }

    /// Reports a sender that an account lists and the operator blocked.
    pub(crate) fn leave_blocked(&mut self, name: String) {
        let [stored, file] = [SenderState::Blocked, SenderState::Approved].map(|state| json!(state));
        let left = vec![FieldLeft { field: "state".to_owned(), stored, file }];
        self.changes.push(Change { left, ..Change::of(Kind::Sender, name, Effect::Same) });
    }

    fn leave_entry(&mut self, kind: Kind, name: String) {
        self.changes.push(Change::of(kind, name, Effect::Left));
    }
}

fn merge(mut fields: Map<String, Value>, applied: Vec<(String, Option<Value>)>) -> Map<String, Value> {
    for (field, value) in applied {
        match value {
            Some(value) => drop(fields.insert(field, value)),
            None => drop(fields.remove(&field)),
        }
    }
    fields
}

fn value_of(fields: &Map<String, Value>, field: &str) -> Value {
    fields.get(field).cloned().unwrap_or(Value::Null)
}

fn hidden() -> Value {
    Value::String("(hidden)".to_owned())
}
