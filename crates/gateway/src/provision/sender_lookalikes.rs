//! Sender ids that imitate another account's. A name is approved by a person, who may not see that `PayPa1` is not
//! `PayPal`: so a name that only looks like another account's approved one is rejected unless the entry says
//! `look_alike = true`. The same name for two accounts is the operator's own choice, and names that look like one that is
//! blocked for everyone are blocked when they are used.

use crate::provision::draft::Draft;
use crate::provision::kind::Kind;
use crate::provision::sender::WantedSender;
use crate::provision::{ProvisionRefusal, documents, names};
use hermod_domain::catalogue::{SenderEntry, SenderState};
use hermod_domain::sender::{Sender, SenderKind};
use std::collections::{HashMap, HashSet};

/// Rejects a change that approves a name which looks like somebody else's. What was approved before stays.
pub(super) fn check(draft: &Draft<'_>, wanted: &[WantedSender]) -> Result<(), ProvisionRefusal> {
    let permitted = wanted.iter().filter(|sender| sender.look_alike);
    let permitted: HashSet<String> =
        permitted.map(|sender| names::of_sender(sender.account.as_deref(), &sender.sender)).collect();
    let written = draft.written_of(Kind::Sender).filter(|name| !permitted.contains(*name));
    let approved: Vec<(&str, SenderEntry)> = written
        .filter_map(|name| Some((name, draft.stored::<SenderEntry>(Kind::Sender, name).ok()??)))
        .filter(|(_, entry)| entry.state == SenderState::Approved)
        .collect();
    // Looking through everybody's senders is for changes that approve one.
    if approved.is_empty() {
        return Ok(());
    }
    let protected = protected(draft);
    for (name, entry) in approved {
        let alike = protected.get(&entry.sender.appearance()).into_iter().flatten().find(|(_, other)| {
            let is_same = other.sender.as_str().eq_ignore_ascii_case(entry.sender.as_str());
            other.account != entry.account && !is_same
        });
        if let Some((other, _)) = alike {
            let sentence = format!(
                "looks like sender \"{other}\" and could be taken for it; choose another name, or approve it in an entry \
                 of its own with look_alike = true"
            );
            return Err(ProvisionRefusal::about(&format!("sender \"{name}\""), sentence));
        }
    }
    Ok(())
}

/// The approved names, which nobody else may imitate, by appearance.
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
