//! Block entries: numbers that customers may not send to, and whose MO messages they do not get.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry};
use crate::entry::names::{NameForm, ReadName};
use crate::entry::{checks, names, values};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::block::{BlockDirection, BlockedNumbers, NumberList, NumberRange};
use hermod_domain::catalogue::BlockEntry;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::prefix::Prefix;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Blocked numbers. Needs exactly one of `prefix`, `range` and `list`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Block)]
pub struct WantedBlock {
    #[serde(default, with = "values::number_prefix", skip_serializing_if = "Option::is_none")]
    /// The first digits of the numbers, or one whole number; `*` is every number.
    #[schema(value_type = Option<String>, pattern = r"^(\*|\+?[0-9]{1,15})$", examples("49900"))]
    pub prefix: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// The first and the last number, or their first digits, with the same number of digits.
    #[schema(value_type = Option<String>, pattern = r"^\+?[0-9]{1,15}-\+?[0-9]{1,15}$", examples("4990000-4990099"))]
    pub range: Option<NumberRange>,
    #[serde(default, deserialize_with = "values::number_list", skip_serializing_if = "Option::is_none")]
    /// A built-in list.
    #[schema(value_type = Option<String>, pattern = "^(premium-and-satellite)$")]
    pub list: Option<NumberList>,
    /// Default: every account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    #[serde(default = "both")]
    /// `sent`: messages to the numbers are rejected. `received`: MO messages from them are dropped.
    #[schema(value_type = String, pattern = "^(sent|received|both)$", examples("both"))]
    pub direction: BlockDirection,
    /// Why, for operators. Customers do not see it.
    #[serde(default, deserialize_with = "checks::block_reason", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200, examples("Fraud in ticket 4711."))]
    pub reason: Option<String>,
    #[serde(default, with = "values::when", skip_serializing_if = "Option::is_none")]
    /// It no longer applies from this day or time on.
    #[schema(value_type = Option<String>, examples("2027-01-01"))]
    pub until: Option<Timestamp>,
}

impl FileEntry for WantedBlock {
    const KIND: Kind = Kind::Block;
    const ABOUT: &'static str =
        "Blocked numbers: nothing is sent to them, and their MO messages are dropped.";
    const NAME_FORM: NameForm = NameForm {
        form: "`[ACCOUNT/]NUMBERS`: `49900`, `4990000-4990099`, `shop/4915112345678`, `premium-and-satellite`.",
        example: "49900",
        expected: "expected a prefix such as 49900, a range such as 4990000-4990099, or premium-and-satellite, with ACCOUNT/ \
                   before it for one account",
    };
    const PRIVATE: &'static [&'static str] = &["reason"];
    const IN_NAME: &'static [&'static str] = &["prefix", "range", "list", "account"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Operations;
    // A block can name a whole number.
    const READ_WITH: OperatorPermission = OperatorPermission::Personal;
    type Document = BlockEntry;

    fn name(&self) -> String {
        names::of_block(self.account.as_deref(), self.numbers())
    }

    fn read_name(name: &str) -> Option<ReadName> {
        names::read_block(name)
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&BlockEntry>) -> ProvisionResult<BlockEntry> {
        let what = format!("block \"{}\"", self.name());
        let numbers = self.numbers();
        let numbers = numbers
            .ok_or_else(|| ProvisionRefusal::about(&what, "needs exactly one of prefix, range and list"))?;
        let account = draft.find_account(self.account.as_deref(), &what)?;
        let WantedBlock { direction, reason, until, .. } = self;
        Ok(BlockEntry { account, numbers, direction: *direction, reason: reason.clone(), until: *until })
    }

    fn shown(_: &str, document: BlockEntry, names: &EntryNames) -> WantedBlock {
        let BlockEntry { account, numbers, direction, reason, until } = document;
        let account = account.map(|account| names.of(Kind::Account, account.get()));
        let (prefix, range, list) = match numbers {
            BlockedNumbers::Prefix(prefix) => (Some(prefix), None, None),
            BlockedNumbers::Range(range) => (None, Some(range), None),
            BlockedNumbers::List(list) => (None, None, Some(list)),
        };
        WantedBlock { prefix, range, list, account, direction, reason, until }
    }
}

impl WantedBlock {
    fn numbers(&self) -> Option<BlockedNumbers> {
        BlockedNumbers::one_of(self.prefix, self.range, self.list)
    }
}

fn both() -> BlockDirection {
    BlockDirection::Both
}
