//! Inbound number entries: numbers that receive MO messages, and their accounts.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::{NameForm, ReadName};
use crate::entry::{checks, names};
use crate::kind::Kind;
use crate::refusal::ProvisionResult;
use hermod_domain::catalogue::NumberEntry;
use hermod_domain::ids::AccountId;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::sender::Sender;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A number that receives MO messages.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Number)]
pub struct WantedNumber {
    #[serde(deserialize_with = "checks::number")]
    #[schema(value_type = String, pattern = r"^\+?[0-9]{3,15}$", examples("+4915799999999"))]
    pub number: Sender,
    /// The account that receives its messages and may send from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = String, examples("shop"))]
    pub account: Option<String>,
    /// The keyword of the account, for a shared number.
    #[serde(default, deserialize_with = "checks::keyword", skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
}

impl FileEntry for WantedNumber {
    const KIND: Kind = Kind::Number;
    const ABOUT: &'static str = "Numbers that receive MO messages, and the account that owns each.";
    const NAME_FORM: NameForm = NameForm {
        form: "The digits, followed by `/KEYWORD` if the number has keywords.",
        example: "+4915799999999",
        expected: "expected its digits, with /KEYWORD after them if it is shared",
    };
    const IN_NAME: &'static [&'static str] = &["number", "keyword"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Operations;
    type Document = NumberEntry;

    fn name(&self) -> String {
        names::of_number(&self.number, self.keyword.as_deref())
    }

    fn read_name(name: &str) -> Option<ReadName> {
        names::read_number(name)
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&NumberEntry>) -> ProvisionResult<NumberEntry> {
        let WantedNumber { number, account, keyword } = self;
        let what = format!("number \"{}\"", self.name());
        let account = draft.find(Kind::Account, &required(account, &what, "account")?, &what)?;
        Ok(NumberEntry { number: *number, account: AccountId::new(account), keyword: keyword.clone() })
    }

    fn shown(_: &str, document: NumberEntry, names: &EntryNames) -> WantedNumber {
        let NumberEntry { number, account, keyword } = document;
        WantedNumber { number, account: Some(names.of(Kind::Account, account.get())), keyword }
    }
}
