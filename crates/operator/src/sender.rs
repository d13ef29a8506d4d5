//! Sender ID entries: approved, pending or blocked.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry};
use crate::entry::names::{NameForm, ReadName};
use crate::entry::{checks, documents, names};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::catalogue::{SenderEntry, SenderState};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::sender::{Sender, SenderKind};
use hermod_store::CatalogueRow;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use utoipa::ToSchema;

/// A sender ID and its state.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Sender)]
pub struct WantedSender {
    /// 1 to 11 characters with a letter among them, or a number.
    #[schema(value_type = String, examples("Shop"))]
    pub sender: Sender,
    /// Default: every account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    #[serde(default = "approved")]
    #[schema(value_type = String, pattern = "^(approved|pending|blocked)$", examples("approved"))]
    pub state: SenderState,
    /// Why it has this state. The customer reads it in the portal.
    #[serde(default, deserialize_with = "checks::sender_reason", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200, examples("The name of another brand."))]
    pub reason: Option<String>,
    /// A note for operators, such as who asked for it. Customers do not see it.
    #[serde(default, deserialize_with = "checks::sender_note", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500, examples("Letter of authorisation in ticket 4711."))]
    pub note: Option<String>,
    /// Approve it although it looks like an approved sender of another account.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub look_alike: bool,
}

impl WantedSender {
    /// Returns the entry of a sender that an account lists.
    pub(crate) fn approved(sender: Sender, account: &str) -> WantedSender {
        let (account, state) = (Some(account.to_owned()), SenderState::Approved);
        WantedSender { sender, account, state, reason: None, note: None, look_alike: false }
    }
}

impl FileEntry for WantedSender {
    const KIND: Kind = Kind::Sender;
    const ABOUT: &'static str = "Sender ids: approved for an account, or blocked.";
    const NAME_FORM: NameForm = NameForm {
        form: "`ACCOUNT/SENDER`, or `*/SENDER` for all accounts.",
        example: "shop/Shop",
        expected: "expected ACCOUNT/SENDER, or */SENDER for every account",
    };
    const PRIVATE: &'static [&'static str] = &["note"];
    const IN_NAME: &'static [&'static str] = &["sender", "account"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Customers;
    type Document = SenderEntry;

    fn name(&self) -> String {
        names::of_sender(self.account.as_deref(), &self.sender)
    }

    fn read_name(name: &str) -> Option<ReadName> {
        names::read_sender(name)
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&SenderEntry>) -> ProvisionResult<SenderEntry> {
        let WantedSender { sender, account, state, reason, note, look_alike: _ } = self;
        let what = format!("sender \"{}\"", self.name());
        let account = draft.find_account(account.as_deref(), &what)?;
        if account.is_none() && *state != SenderState::Blocked {
            let sentence = "has no account: only a blocked sender can apply to every account";
            return Err(ProvisionRefusal::about(&what, sentence));
        }
        let (reason, note) = (reason.clone(), note.clone());
        Ok(SenderEntry { account, sender: *sender, state: *state, reason, note })
    }

    fn shown(_: &str, document: SenderEntry, names: &EntryNames) -> WantedSender {
        let SenderEntry { account, sender, state, reason, note } = document;
        let account = account.map(|account| names.of(Kind::Account, account.get()));
        WantedSender { sender, account, state, reason, note, look_alike: false }
    }

    fn confirmed(rows: &[CatalogueRow]) -> Option<(&'static str, HashSet<&str>)> {
        Some(("look_alike", look_alikes(rows)))
    }
}

fn approved() -> SenderState {
    SenderState::Approved
}

/// Rejects sender IDs that a change approves and that look like another account's approved one, such as `PayPa1` and `PayPal`,
/// unless the entry has `look_alike = true`. The same sender ID, in the same case, is allowed for two accounts. Look-alikes of a
/// globally blocked sender ID are blocked when they are used.
pub(crate) fn check_lookalikes(draft: &Draft<'_>, wanted: &[WantedSender]) -> ProvisionResult<()> {
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
    let protected = protected(draft.rows_of(Kind::Sender));
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

/// Returns the names of the approved sender IDs that look like an approved one of another account.
fn look_alikes(rows: &[CatalogueRow]) -> HashSet<&str> {
    let senders = rows.iter().filter(|row| row.kind == Kind::Sender.as_str());
    let protected = protected(senders.map(|row| (row.name.as_str(), row)));
    let alike = protected.into_values().filter(|alike| {
        alike.iter().any(|(_, one)| {
            alike.iter().any(|(_, other)| other.account != one.account && other.sender != one.sender)
        })
    });
    alike.flatten().map(|(name, _)| name).collect()
}

/// Returns the approved alphanumeric sender IDs, by appearance.
fn protected<'a>(
    rows: impl Iterator<Item = (&'a str, &'a CatalogueRow)>,
) -> HashMap<Sender, Vec<(&'a str, SenderEntry)>> {
    let mut protected: HashMap<Sender, Vec<(&str, SenderEntry)>> = HashMap::new();
    for (name, row) in rows {
        let Ok(entry) = documents::read::<SenderEntry>(row) else { continue };
        if entry.state == SenderState::Approved && entry.sender.kind() == SenderKind::Alphanumeric {
            protected.entry(entry.sender.appearance()).or_default().push((name, entry));
        }
    }
    protected
}
