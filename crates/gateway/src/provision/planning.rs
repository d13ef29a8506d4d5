//! Plans the changes of a provision file before anything is written: assigns numbers to names, resolves references,
//! and builds the resulting catalogue to check it.

use crate::provision::draft::{Draft, FileEntry};
use crate::provision::file_entries::WantedSetup;
use crate::provision::kind::Kind;
use crate::provision::last_applied::LastApplied;
use crate::provision::mentioned_fields::{Mentioned, Mentions};
use crate::provision::plan::Plan;
use crate::provision::{ProvisionRefusal, api_key, sender_lookalikes};
use crate::secrets::Pepper;
use hermod_domain::time::Timestamp;
use hermod_store::CatalogueRow;

pub(super) fn plan(
    wanted: &WantedSetup,
    stored: Vec<CatalogueRow>,
    last_applied: LastApplied,
    pepper: &Pepper,
    now: Timestamp,
) -> Result<Plan, ProvisionRefusal> {
    let WantedSetup {
        carriers,
        routes,
        prices,
        accounts,
        senders,
        numbers,
        connections,
        keys,
        screens,
        controls,
        users,
        operators,
        removals,
        rules,
        mentions,
        force,
    } = wanted;
    let mut draft = Draft::over(stored, pepper, rules, now)?;
    draft.last_applied = last_applied;
    draft.force = *force;
    let mentions = mentions.as_ref();
    // Assign numbers first, so that the order within a file does not matter.
    for name in carriers.iter().map(|carrier| &carrier.name) {
        draft.number(Kind::Carrier, name);
    }
    for name in accounts.iter().map(|account| &account.name) {
        draft.number(Kind::Account, name);
    }
    for name in connections.iter().map(|connection| &connection.name) {
        draft.number(Kind::Connection, name);
    }
    bring_all(&mut draft, carriers, mentions)?;
    bring_all(&mut draft, routes, mentions)?;
    bring_all(&mut draft, prices, mentions)?;
    bring_all(&mut draft, accounts, mentions)?;
    bring_all(&mut draft, senders, mentions)?;
    for (index, account) in accounts.iter().enumerate() {
        account.approve_senders(&mut draft, mentioned(mentions, Kind::Account, index).is_some())?;
    }
    bring_all(&mut draft, numbers, mentions)?;
    bring_all(&mut draft, connections, mentions)?;
    bring_all(&mut draft, keys, mentions)?;
    bring_all(&mut draft, screens, mentions)?;
    bring_all(&mut draft, controls, mentions)?;
    bring_all(&mut draft, users, mentions)?;
    bring_all(&mut draft, operators, mentions)?;
    for removal in removals {
        match mentions {
            Some(_) => draft.bring_removal(removal.kind, &removal.name)?,
            None => draft.remove(removal.kind, &removal.name)?,
        }
    }
    sender_lookalikes::check(&draft, senders)?;
    api_key::check_number_of_keys(&draft)?;
    draft.finish()
}

/// Applies entries: those of a file change only the fields they mention; those of a request are complete.
fn bring_all<T: FileEntry>(
    draft: &mut Draft<'_>,
    entries: &[T],
    mentions: Option<&Mentions>,
) -> Result<(), ProvisionRefusal> {
    for (index, entry) in entries.iter().enumerate() {
        match mentioned(mentions, T::KIND, index) {
            Some(mentioned) => draft.bring(entry, mentioned)?,
            None => draft.put(entry)?,
        }
    }
    Ok(())
}

fn mentioned(mentions: Option<&Mentions>, kind: Kind, index: usize) -> Option<&Mentioned> {
    mentions.and_then(|mentions| mentions.of(kind, index))
}
