//! Rejects sender IDs that look like another account's approved one, such as `PayPa1` and `PayPal`, unless the entry has
//! `look_alike = true`. The same sender ID, in the same case, is allowed for two accounts. Look-alikes of a globally blocked sender ID are blocked
//! when they are used.

use crate::entry::draft::Draft;
use crate::entry::{documents, names};
use crate::kind::Kind;
use crate::sender::WantedSender;
use crate::setup::ProvisionRefusal;
use hermod_domain::catalogue::{SenderEntry, SenderState};
use hermod_domain::sender::{Sender, SenderKind};
use std::collections::{HashMap, HashSet};

/// Checks the sender IDs that a change approves. Earlier approvals stay.
pub(crate) fn check(draft: &Draft<'_>, wanted: &[WantedSender]) -> Result<(), ProvisionRefusal> {
    let permitted = wanted.iter().filter(|sender| sender.look_alike);
    let permitted: HashSet<String> =
        permitted.map(|sender| names::of_sender(sender.account.as_deref(), &sender.sender)).collect();
    let written = draft.written_of(Kind::Sender).filter(|name| !permitted.contains(*name));
    let approved: Vec<(&str, SenderEntry)> = written
        .filter_map(|name| Some((name, draft.stored::<SenderEntry>(Kind::Sender, name).ok()??)))
        .filter(|(_, entry)| entry.state == SenderState::Approved)
        .collect();
    // Most changes approve none: skip reading all senders.
    if approved.is_empty() {
        return Ok(());
    }
    let protected = protected(draft);
    for (name, entry) in approved {
        let alike = protected
            .get(&entry.sender.appearance())
            .into_iter()
            .flatten()
            .find(|(_, other)| other.account != entry.account && other.sender != entry.sender);
        if let Some((other, _)) = alike {
            let sentence = format!(
                "looks like sender \"{other}\"; choose another name, or approve it in an entry of its own with \
                 look_alike = true"
            );
            return Err(ProvisionRefusal::about(&format!("sender \"{name}\""), sentence));
        }
    }
    Ok(())
}

/// Returns the approved alphanumeric sender IDs, by appearance.
fn protected<'a>(draft: &'a Draft<'_>) -> HashMap<Sender, Vec<(&'a str, SenderEntry)>> {
    let mut protected: HashMap<Sender, Vec<(&str, SenderEntry)>> = HashMap::new();
    for (name, row) in draft.rows_of(Kind::Sender) {
        let Ok(entry) = documents::read::<SenderEntry>(row) else { continue };
        if entry.state == SenderState::Approved && entry.sender.kind() == SenderKind::Alphanumeric {
            protected.entry(entry.sender.appearance()).or_default().push((name, entry));
        }
    }
    protected
}
