//! Provisioning: applies carriers, routes, prices, accounts, connections, keys, senders, numbers, screening rules,
//! traffic controls, users and operators from a file or the operator API to the store's catalogue. Entries are identified by name, so a
//! file can be applied repeatedly. A change is applied completely or not at all.

pub mod csv_file;
pub mod file_entries;
pub mod json;
pub(crate) mod provision_export;
pub(crate) mod routes;
pub(crate) mod schemas;
#[cfg(test)]
mod tests;
pub mod use_cases;

use crate::author::Author;
use crate::entry::carry_out::carry_out;
use crate::entry::draft::{Draft, FileEntry};
use crate::entry::last_applied::LastApplied;
use crate::entry::mentioned_fields::Mentioned;
use crate::entry::plan::Plan;
use crate::key::check_number_of_keys;
use crate::kind::{Kind, kinds};
use crate::price;
use crate::refusal::{ProvisionError, ProvisionRefusal, ProvisionResult};
use crate::sender::check_lookalikes;
use crate::setup::file_entries::{Removal, WantedSetup};
use hermod_domain::time::Timestamp;
use hermod_gateway::secrets::Pepper;
use hermod_store::{CatalogueRow, EntryUse, Store};

/// Plans the changes of a file without applying them.
pub async fn prepare(
    store: &Store,
    pepper: &Pepper,
    wanted: &WantedSetup,
    now: Timestamp,
) -> Result<Plan, ProvisionError> {
    let stored = (store.setup().rows().await?, store.setup().entry_uses().await?);
    let last_applied =
        LastApplied::read(store.setup().provisioned().await?).map_err(ProvisionRefusal::from)?;
    Ok(plan(wanted, stored, last_applied, pepper, now)?)
}

/// Plans the changes of a request to the given rows. Earlier provision files do not count, and for the next one this is a change
/// by a request. A request that creates an account, carrier or connection needs the uses of entries, because none gets the number of
/// a removed one.
pub fn prepare_over(
    rows: Vec<CatalogueRow>,
    uses: Vec<EntryUse>,
    pepper: &Pepper,
    wanted: &WantedSetup,
    now: Timestamp,
) -> ProvisionResult<Plan> {
    plan(wanted, (rows, uses), LastApplied::default(), pepper, now)
}

pub async fn apply(
    store: &Store,
    pepper: &Pepper,
    wanted: &WantedSetup,
    author: &Author,
    now: Timestamp,
) -> Result<Plan, ProvisionError> {
    let plan = prepare(store, pepper, wanted, now).await?;
    carry_out(store, &plan, author, now).await?;
    Ok(plan)
}

fn plan(
    wanted: &WantedSetup,
    (stored, uses): (Vec<CatalogueRow>, Vec<EntryUse>),
    last_applied: LastApplied,
    pepper: &Pepper,
    now: Timestamp,
) -> ProvisionResult<Plan> {
    let mut draft = Draft::over(stored, pepper, &wanted.rules, now)?;
    draft.add_uses(uses);
    draft.last_applied = last_applied;
    draft.force = wanted.force;
    bring_setup(&mut draft, wanted)?;
    for Removal { kind, name } in &wanted.removals {
        match wanted.mentions {
            Some(_) => draft.bring_removal(*kind, name)?,
            None => draft.remove(*kind, name)?,
        }
    }
    draft.check_references()?;
    check_lookalikes(&draft, &wanted.senders)?;
    check_number_of_keys(&draft)?;
    let not_in_force = price::warnings(&draft);
    let mut plan = draft.finish()?;
    plan.warnings.extend(not_in_force);
    Ok(plan)
}

macro_rules! make_bring_setup {
    ($($kind:ident $name:tt $list:ident $entry:ident,)*) => {
        /// Applies the entries of every kind.
        fn bring_setup(draft: &mut Draft<'_>, wanted: &WantedSetup) -> ProvisionResult<()> {
            $(number_all(draft, &wanted.$list);)*
            $(bring_all(draft, &wanted.$list, wanted)?;)*
            Ok(())
        }
    };
}

kinds!(make_bring_setup);

/// Assigns numbers to the entries that others refer to first, so that the order within a file does not matter.
fn number_all<T: FileEntry>(draft: &mut Draft<'_>, entries: &[T]) {
    for entry in entries.iter().filter(|_| T::IS_REFERRED_TO) {
        draft.number(T::KIND, &entry.name());
    }
}

/// Applies entries: those of a file change only the fields they mention; those of a request are complete.
fn bring_all<T: FileEntry>(
    draft: &mut Draft<'_>,
    entries: &[T],
    wanted: &WantedSetup,
) -> ProvisionResult<()> {
    for (index, entry) in entries.iter().enumerate() {
        match mentioned(wanted, T::KIND, index) {
            Some(mentioned) => draft.bring(entry, mentioned)?,
            None => draft.put(entry)?,
        }
    }
    if T::KIND == Kind::Sender {
        for (index, account) in wanted.accounts.iter().enumerate() {
            account.approve_senders(draft, mentioned(wanted, Kind::Account, index).is_some())?;
        }
    }
    Ok(())
}

fn mentioned(wanted: &WantedSetup, kind: Kind, index: usize) -> Option<&Mentioned> {
    wanted.mentions.as_ref().and_then(|mentions| mentions.of(kind, index))
}
