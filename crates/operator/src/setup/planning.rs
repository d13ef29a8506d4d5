//! Plans the changes of a provision file before anything is written: assigns numbers to names, resolves references,
//! and builds the resulting catalogue to check it.

use crate::entry::draft::{Draft, FileEntry};
use crate::entry::last_applied::LastApplied;
use crate::entry::mentioned_fields::Mentioned;
use crate::entry::plan::Plan;
use crate::key;
use crate::kind::{Kind, kinds};
use crate::sender_lookalikes;
use crate::setup::ProvisionRefusal;
use crate::setup::file_entries::{Removal, WantedSetup};
use hermod_domain::time::Timestamp;
use hermod_gateway::secrets::Pepper;
use hermod_store::CatalogueRow;

pub(crate) fn plan(
    wanted: &WantedSetup,
    stored: Vec<CatalogueRow>,
    last_applied: LastApplied,
    pepper: &Pepper,
    now: Timestamp,
) -> Result<Plan, ProvisionRefusal> {
    let mut draft = Draft::over(stored, pepper, &wanted.rules, now)?;
    draft.last_applied = last_applied;
    draft.force = wanted.force;
    bring_setup(&mut draft, wanted)?;
    for Removal { kind, name } in &wanted.removals {
        match wanted.mentions {
            Some(_) => draft.bring_removal(*kind, name)?,
            None => draft.remove(*kind, name)?,
        }
    }
    sender_lookalikes::check(&draft, &wanted.senders)?;
    key::check_number_of_keys(&draft)?;
    draft.finish()
}

macro_rules! make_bring_setup {
    ($($kind:ident $name:tt $list:ident $entry:ident,)*) => {
        /// Applies the entries of every kind.
        fn bring_setup(draft: &mut Draft<'_>, wanted: &WantedSetup) -> Result<(), ProvisionRefusal> {
            $(number_all(draft, &wanted.$list);)*
            $(bring_all(draft, &wanted.$list, wanted)?;)*
            Ok(())
        }
    };
}

kinds!(make_bring_setup);

/// Assigns numbers to the entries that others refer to first, so that the order within a file does not matter.
fn number_all<T: FileEntry>(draft: &mut Draft<'_>, entries: &[T]) {
    for entry in entries.iter().filter(|_| T::INSTEAD_OF_REMOVING.is_some()) {
        draft.number(T::KIND, &entry.name());
    }
}

/// Applies entries: those of a file change only the fields they mention; those of a request are complete.
fn bring_all<T: FileEntry>(
    draft: &mut Draft<'_>,
    entries: &[T],
    wanted: &WantedSetup,
) -> Result<(), ProvisionRefusal> {
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
