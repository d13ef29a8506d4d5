//! Sender ID entries: approved, pending or blocked.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry};
use crate::entry::names::{NameForm, ReadName};
use crate::entry::{checks, names};
use crate::kind::Kind;
use crate::setup::ProvisionRefusal;
use hermod_domain::catalogue::{SenderEntry, SenderState};
use hermod_domain::sender::Sender;
use serde::{Deserialize, Serialize};
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
    type Document = SenderEntry;

    fn name(&self) -> String {
        names::of_sender(self.account.as_deref(), &self.sender)
    }

    fn read_name(name: &str) -> Option<ReadName> {
        names::read_sender(name)
    }

    fn document(
        &self,
        draft: &mut Draft<'_>,
        _: Option<&SenderEntry>,
    ) -> Result<SenderEntry, ProvisionRefusal> {
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
}

fn approved() -> SenderState {
    SenderState::Approved
}
