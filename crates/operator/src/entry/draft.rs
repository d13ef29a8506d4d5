//! A draft of a changed catalogue: the stored rows with the wanted entries applied. Writes nothing; it knows every
//! name's number and all changes.

use crate::entry::documents::{EntryNames, UnreadableRow};
use crate::entry::last_applied::LastApplied;
use crate::entry::names::{NameForm, ReadName};
use crate::entry::plan::{Change, Effect, FieldChange, FieldLeft, Made, Plan};
use crate::entry::{documents, names};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::area::Area;
use hermod_domain::catalogue::{Catalogue, CatalogueError, Connection, NumberEntry};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::numbers::{Country, Mcc, Network, Numbers, country_of_mcc};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::phone::hide_numbers;
use hermod_domain::prefix::Prefix;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::url::AddressRules;
use hermod_gateway::secrets::{Pepper, Secret};
use hermod_store::{CatalogueRow, EntryUse};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Entries that are named in the refusal to remove what they refer to.
const REFERENCES_LISTED_MAX: usize = 10;

/// An entry as in a provision file, with its stored form.
pub(crate) trait FileEntry: Serialize + DeserializeOwned {
    const KIND: Kind;
    /// What the entries of this kind are.
    const ABOUT: &'static str;
    const NAME_FORM: NameForm;
    /// What to do instead of removing one that was used, for kinds that messages and money refer to by number.
    const INSTEAD_OF_REMOVING: Option<&'static str> = None;
    /// Whether other entries refer to one by its number.
    const IS_REFERRED_TO: bool = Self::INSTEAD_OF_REMOVING.is_some();
    /// The field of its secret, if it can have one.
    const SECRET: Option<&'static str> = None;
    /// The fields that its name contains.
    const IN_NAME: &'static [&'static str] = &["name"];
    /// The fields that a list shows beside the name; empty: all.
    const COLUMNS: &'static [&'static str] = &[];
    /// Fields that only operators see. What an account reads of the audit log does not have them.
    const PRIVATE: &'static [&'static str] = &[];
    /// What an operator needs to create, change or remove one.
    const CHANGED_WITH: OperatorPermission;
    /// Fields for which an operator needs this permission as well.
    const FIELDS_CHANGED_WITH: &'static [(&'static str, OperatorPermission)] = &[];
    /// What an operator needs to read one.
    const READ_WITH: OperatorPermission = OperatorPermission::Reading;
    /// Fields that apply only when the entry is created.
    const ONLY_WHEN_NEW: &'static [&'static str] = &[];
    type Document: Clone + Serialize + DeserializeOwned + PartialEq;

    /// Returns the entry's name.
    fn name(&self) -> String;

    /// Parses a name: its canonical form, and the fields that follow from it.
    fn read_name(name: &str) -> Option<ReadName> {
        Some((name.to_owned(), vec![(Self::IN_NAME[0], name.to_owned())]))
    }

    /// Makes the stored form, with names replaced by numbers.
    fn document(
        &self,
        draft: &mut Draft<'_>,
        before: Option<&Self::Document>,
    ) -> ProvisionResult<Self::Document>;

    /// Makes the entry of a stored document, without secrets.
    fn shown(name: &str, document: Self::Document, names: &EntryNames) -> Self;

    /// Returns the entries that can only be created with this flag set, which is not stored.
    fn confirmed(_rows: &[CatalogueRow]) -> Option<(&'static str, HashSet<&str>)> {
        None
    }

    /// Returns the field of the secret if its stored form differs.
    fn secret_changed(before: &Self::Document, after: &Self::Document) -> Option<&'static str> {
        Self::SECRET.filter(|_| Self::kept_secret(before) != Self::kept_secret(after))
    }

    /// Returns the changes of fields that the entry does not show: the secret, hidden, and what belongs to it.
    fn unshown_changes(before: &Self::Document, after: &Self::Document) -> Vec<FieldChange> {
        Self::secret_changed(before, after).map(FieldChange::hidden).into_iter().collect()
    }

    /// Returns the secret in the entry.
    fn secret(&self) -> Option<&Secret> {
        None
    }

    /// Returns the stored form of the secret: encrypted, a digest or a hash.
    fn kept_secret(_document: &Self::Document) -> Value {
        Value::Null
    }

    /// Returns the stored form of a given secret after the entry is stored.
    fn given_secret(_given: &Secret, document: &Self::Document, _name: &str, _draft: &Draft<'_>) -> Value {
        Self::kept_secret(document)
    }

    /// Whether a secret matches this stored form.
    fn secret_fits(_given: &Secret, _kept: &str, _name: &str, _draft: &Draft<'_>) -> bool {
        false
    }
}

pub(crate) struct Draft<'a> {
    pub(crate) pepper: &'a Pepper,
    pub(crate) rules: &'a AddressRules,
    pub(crate) now: Timestamp,
    /// The provision files as last applied.
    pub(crate) last_applied: LastApplied,
    /// Apply every field of the file, even if it was changed since.
    pub(crate) force: bool,
    /// The stored rows, with the wanted entries applied so far.
    rows: BTreeMap<(Kind, String), CatalogueRow>,
    numbers: HashMap<(Kind, String), u32>,
    names: EntryNames,
    highest: HashMap<Kind, u32>,
    /// The first uses of entries that messages and money refer to, and those that were removed.
    uses: HashMap<(Kind, u32), EntryUse>,
    written: Vec<(Kind, String)>,
    removed: Vec<CatalogueRow>,
    pub(crate) changes: Vec<Change>,
    seen: HashSet<(Kind, String)>,
    /// Entries of the file that stay removed, with the numbers that they were to have.
    forgotten: Vec<((Kind, String), u32)>,
    /// New accounts and their opening balances.
    openings: Vec<(AccountId, Money)>,
    secrets: Vec<Made>,
}

impl<'a> Draft<'a> {
    pub(crate) fn over(
        stored: Vec<CatalogueRow>,
        pepper: &'a Pepper,
        rules: &'a AddressRules,
        now: Timestamp,
    ) -> Result<Draft<'a>, UnreadableRow> {
        let mut draft = Draft {
            pepper,
            rules,
            now,
            last_applied: LastApplied::default(),
            force: false,
            rows: BTreeMap::new(),
            numbers: HashMap::new(),
            names: EntryNames::default(),
            highest: HashMap::new(),
            uses: HashMap::new(),
            written: Vec::new(),
            removed: Vec::new(),
            changes: Vec::new(),
            seen: HashSet::new(),
            forgotten: Vec::new(),
            openings: Vec::new(),
            secrets: Vec::new(),
        };
        for row in stored {
            let place = (documents::kind_of(&row)?, row.name.clone());
            let highest = draft.highest.entry(place.0).or_default();
            *highest = row.id.max(*highest);
            draft.names.0.insert((place.0, row.id), row.name.clone());
            draft.numbers.insert(place.clone(), row.id);
            draft.rows.insert(place, row);
        }
        Ok(draft)
    }

    /// Adds what is known of the uses of entries, removed ones included: no new entry gets the number of any of them.
    pub(crate) fn add_uses(&mut self, uses: Vec<EntryUse>) {
        for entry_use in uses {
            let Some(kind) = Kind::named(&entry_use.kind) else { continue };
            let highest = self.highest.entry(kind).or_default();
            *highest = entry_use.id.max(*highest);
            self.uses.insert((kind, entry_use.id), entry_use);
        }
    }

    /// Returns the number of a name; a new name gets the next number, a new user one that nothing can be concluded from.
    pub(crate) fn number(&mut self, kind: Kind, name: &str) -> u32 {
        let place = (kind, name.to_owned());
        if let Some(number) = self.numbers.get(&place) {
            return *number;
        }
        let number = if kind == Kind::User {
            self.number_of_new_user(name)
        } else {
            let highest = self.highest.entry(kind).or_default();
            *highest += 1;
            *highest
        };
        self.names.0.insert((kind, number), place.1.clone());
        self.numbers.insert(place, number);
        number
    }

    /// Forgets the number of a name without an entry, so that nothing can refer to it.
    pub(crate) fn forget_number(&mut self, kind: Kind, name: &str) {
        let place = (kind, name.to_owned());
        self.forgotten.extend(self.numbers.remove(&place).map(|number| (place, number)));
    }

    /// Returns a number that no user has. It is not the next one: the number of a removed user must not come back, because tokens
    /// name their users by it.
    fn number_of_new_user(&self, email: &str) -> u32 {
        let now = self.now.as_millis().to_be_bytes();
        let tried = (0_u32..).map(|attempt| {
            let derived =
                self.pepper.derived(&[b"user number", email.as_bytes(), &now, &attempt.to_be_bytes()]);
            u32::from_be_bytes([derived[0], derived[1], derived[2], derived[3]]) >> 1
        });
        let mut free =
            tried.filter(|number| *number > 0 && !self.names.0.contains_key(&(Kind::User, *number)));
        free.next().expect("there are fewer users than numbers")
    }

    pub(crate) fn find(&self, kind: Kind, name: &str, wanted_by: &str) -> ProvisionResult<u32> {
        let number = self.numbers.get(&(kind, name.to_owned())).copied();
        number.ok_or_else(|| ProvisionRefusal::about(wanted_by, refers_to_none(kind, name)))
    }

    /// Returns the number of an optional account.
    pub(crate) fn find_account(
        &self,
        account: Option<&str>,
        wanted_by: &str,
    ) -> ProvisionResult<Option<AccountId>> {
        Ok(self.find_optional(Kind::Account, account, wanted_by)?.map(AccountId::new))
    }

    /// Returns the number of an entry that another may name.
    pub(crate) fn find_optional(
        &self,
        kind: Kind,
        name: Option<&str>,
        wanted_by: &str,
    ) -> ProvisionResult<Option<u32>> {
        name.map(|name| self.find(kind, name, wanted_by)).transpose()
    }

    pub(crate) fn stored<T: DeserializeOwned>(
        &self,
        kind: Kind,
        name: &str,
    ) -> Result<Option<T>, UnreadableRow> {
        self.rows.get(&(kind, name.to_owned())).map(documents::read).transpose()
    }

    /// Returns all rows of a kind, by name, with the changes so far.
    pub(crate) fn rows_of(&self, kind: Kind) -> impl Iterator<Item = (&str, &CatalogueRow)> {
        let rows = self.rows.range((kind, String::new())..).take_while(move |((of, _), _)| *of == kind);
        rows.map(|((_, name), row)| (name.as_str(), row))
    }

    /// Returns the names of a kind that this change creates or updates.
    pub(crate) fn written_of(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.written.iter().filter(move |(of, _)| *of == kind).map(|(_, name)| name.as_str())
    }

    pub(crate) fn has(&self, kind: Kind, name: &str) -> bool {
        self.rows.contains_key(&(kind, name.to_owned()))
    }

    /// Whether the account receives MO messages at this number, which permits it as a sender too.
    pub(crate) fn owns_number(&self, account: &str, number: &Sender) -> bool {
        let owner = self.numbers.get(&(Kind::Account, account.to_owned())).copied();
        let numbers = self.rows_of(Kind::Number);
        let mut entries = numbers.filter_map(|(_, row)| documents::read::<NumberEntry>(row).ok());
        entries.any(|entry| entry.number == *number && Some(entry.account.get()) == owner)
    }

    /// Whether the entry was mentioned already.
    pub(crate) fn has_seen(&self, kind: Kind, name: &str) -> bool {
        self.seen.contains(&(kind, name.to_owned()))
    }

    pub(crate) fn open_account(&mut self, account: AccountId, opening: Money) {
        self.openings.push((account, opening));
    }

    pub(crate) fn made_secret(&mut self, key: &str, secret: Secret) {
        self.secrets.push(Made { key: key.to_owned(), secret });
    }

    pub(crate) fn put<T: FileEntry>(&mut self, wanted: &T) -> ProvisionResult<()> {
        let name = wanted.name();
        self.see(T::KIND, &name)?;
        let number = self.number(T::KIND, &name);
        let before: Option<T::Document> = self.stored(T::KIND, &name)?;
        let document = wanted.document(self, before.as_ref())?;
        self.write::<T>(name, number, before, &document, Vec::new());
        Ok(())
    }

    /// Changes a stored document directly, for changes that an entry cannot express.
    pub(crate) fn rewrite<T: FileEntry>(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut T::Document) -> ProvisionResult<()>,
    ) -> ProvisionResult<()> {
        let number = self.find(T::KIND, name, "the change")?;
        let Some(before) = self.stored::<T::Document>(T::KIND, name)? else { return Ok(()) };
        let mut document = before.clone();
        change(&mut document)?;
        self.write::<T>(name.to_owned(), number, Some(before), &document, Vec::new());
        Ok(())
    }

    pub(crate) fn write<T: FileEntry>(
        &mut self,
        name: String,
        number: u32,
        before: Option<T::Document>,
        document: &T::Document,
        left: Vec<FieldLeft>,
    ) {
        let (effect, fields) = match before {
            None => (Effect::Created, Vec::new()),
            Some(before) if before == *document => (Effect::Same, Vec::new()),
            Some(before) => (Effect::Updated, self.differences::<T>(&name, before, document)),
        };
        if effect != Effect::Same {
            let place = (T::KIND, name.clone());
            self.rows.insert(place.clone(), documents::row(T::KIND, number, &name, document));
            self.written.push(place);
        }
        self.changes.push(Change { kind: T::KIND, name, effect, fields, left });
    }

    pub(crate) fn remove(&mut self, kind: Kind, name: &str) -> ProvisionResult<()> {
        let (name, _) = names::read(kind, name)?;
        self.see(kind, &name)?;
        let effect = match self.rows.remove(&(kind, name.clone())) {
            None => Effect::Absent,
            Some(row) => {
                if let Some(used) = self.uses.get(&(kind, row.id)) {
                    return Err(ProvisionRefusal::in_use(kind, name, used));
                }
                self.removed.push(row);
                Effect::Removed
            }
        };
        self.changes.push(Change::of(kind, name, effect));
        Ok(())
    }

    /// Checks that no entry refers to one that is removed, or that stays removed.
    pub(crate) fn check_references(&self) -> ProvisionResult<()> {
        for ((kind, name), number) in &self.forgotten {
            for row in self.written.iter().filter_map(|place| self.rows.get(place)) {
                if refers_to(&documents::read(row)?, kind.as_str(), *number) {
                    return Err(ProvisionRefusal::about(&told(row), refers_to_none(*kind, name)));
                }
            }
        }
        let numbered = |row: &&CatalogueRow| {
            Kind::named(&row.kind).is_some_and(|kind| kind.description().is_referred_to)
        };
        for CatalogueRow { kind, id, name, .. } in self.removed.iter().filter(numbered) {
            let mut referring = Vec::new();
            for row in self.rows.values() {
                if refers_to(&documents::read(row)?, kind, *id) {
                    referring.push(told(row));
                }
            }
            if !referring.is_empty() {
                let sentence = format!(
                    "cannot be removed: it is in {}; remove or change what refers to it first",
                    listed(&referring)
                );
                return Err(ProvisionRefusal::about(&format!("{kind} \"{name}\""), sentence));
            }
        }
        Ok(())
    }

    pub(crate) fn see(&mut self, kind: Kind, name: &str) -> ProvisionResult<()> {
        if self.seen.insert((kind, name.to_owned())) {
            return Ok(());
        }
        Err(ProvisionRefusal::about(&format!("{kind} \"{name}\""), "is mentioned twice"))
    }

    /// Returns the fields that differ, those that are not shown included.
    fn differences<T: FileEntry>(
        &self,
        name: &str,
        before: T::Document,
        after: &T::Document,
    ) -> Vec<FieldChange> {
        let unshown = T::unshown_changes(&before, after);
        let shown = |document| documents::fields(&T::shown(name, document, &self.names));
        let (before, after) = (shown(before), shown(after.clone()));
        let fields = before.keys().chain(after.keys().filter(|field| !before.contains_key(*field)));
        let changed = fields.filter(|field| before.get(*field) != after.get(*field));
        let changed = changed.map(|field| FieldChange {
            field: field.clone(),
            before: before.get(field).cloned().unwrap_or(Value::Null),
            after: after.get(field).cloned().unwrap_or(Value::Null),
        });
        changed.chain(unshown).collect()
    }

    pub(crate) fn names(&self) -> &EntryNames {
        &self.names
    }

    pub(crate) fn finish(self) -> ProvisionResult<Plan> {
        let Draft { rows, names, written, removed, changes, openings, secrets, last_applied, .. } = self;
        let catalogue = Catalogue::build(documents::documents(rows.values())?)
            .map_err(|fault| told_by_name(fault, &rows))?;
        let put = written.iter().map(|place| rows[place].clone()).collect();
        let warnings = written.iter().filter_map(|place| unreachable_warning(&rows[place])).collect();
        let provisioned = last_applied.into_rows();
        Ok(Plan { changes, secrets, catalogue, put, rows, names, removed, openings, provisioned, warnings })
    }
}

/// Names an entry. A block is named after its numbers, and not every operator may see them.
fn told(row: &CatalogueRow) -> String {
    format!("{} \"{}\"", row.kind, hide_numbers(&row.name))
}

fn refers_to_none(kind: Kind, name: &str) -> String {
    format!("refers to {kind} \"{name}\", which does not exist here or in the store")
}

/// Whether a stored document has the number of an entry in a field that is named after the kind, at any depth.
fn refers_to(document: &Value, kind: &str, id: u32) -> bool {
    match document {
        Value::Object(fields) => fields.iter().any(|(field, value)| {
            (field == kind && value.as_u64() == Some(id.into())) || refers_to(value, kind, id)
        }),
        Value::Array(values) => values.iter().any(|value| refers_to(value, kind, id)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Lists the first entries, and how many more there are.
fn listed(entries: &[String]) -> String {
    let first = entries.iter().take(REFERENCES_LISTED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match entries.len().saturating_sub(REFERENCES_LISTED_MAX) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Returns the value of a required field, which an entry of a file may leave to the store.
pub(crate) fn required<T: Clone>(value: &Option<T>, what: &str, field: &str) -> ProvisionResult<T> {
    value
        .clone()
        .ok_or_else(|| ProvisionRefusal::about(&format!("{what}:"), format!("missing field `{field}`")))
}

/// Describes a catalogue error by names instead of numbers.
fn told_by_name(fault: CatalogueError, rows: &BTreeMap<(Kind, String), CatalogueRow>) -> ProvisionRefusal {
    let CatalogueError::SystemIdTwice { system_id } = &fault else { return fault.into() };
    let binds_so = |row: &CatalogueRow| {
        let read = documents::read::<Connection>(row).ok().and_then(|connection| connection.smpp);
        read.is_some_and(|smpp| smpp.system_id == *system_id)
    };
    let connections = rows.iter().filter(|((kind, _), _)| *kind == Kind::Connection);
    let mut named = connections.filter(|(_, row)| binds_so(row)).map(|((_, name), _)| format!("\"{name}\""));
    let both = [named.next().unwrap_or_default(), named.next().unwrap_or_default()].join(" and ");
    let sentence = format!("both have the system_id \"{system_id}\"; it must be unique");
    ProvisionRefusal::about(&format!("connections {both}"), sentence)
}

/// The fields of an entry that is about an area.
#[derive(Deserialize)]
struct AreaFields {
    prefix: Option<Prefix>,
    network: Option<Network>,
    mcc: Option<Mcc>,
    country: Option<Country>,
}

/// Returns a warning about an entry that matches nothing, with an alternative.
fn unreachable_warning(row: &CatalogueRow) -> Option<String> {
    let AreaFields { prefix, network, mcc, country } = documents::read(row).ok()?;
    let area = Area::one_of(prefix, network, mcc, country)?;
    let (what, mcc) = match area {
        Area::Mcc(mcc) if !Numbers::embedded().has_mcc(mcc) => (format!("MCC {mcc}"), mcc),
        Area::Network(network) if !Numbers::embedded().has_network(network) => {
            (format!("network {network}"), network.mcc)
        }
        Area::Mcc(_) | Area::Network(_) | Area::Prefix(_) | Area::Country(_) => return None,
    };
    let (kind, name) = (&row.kind, &row.name);
    let sentence = match country_of_mcc(mcc) {
        Some(country) => {
            let land = country.name();
            format!(
                "matches no number of {land}: the number data has no numbers of {what}. Use the country, {country}, or a prefix"
            )
        }
        None => {
            format!("matches no number: the number data has no numbers of {what}. Use a country or a prefix")
        }
    };
    Some(format!("{kind} \"{name}\" {sentence}"))
}
