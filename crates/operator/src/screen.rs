//! Screening rule entries: patterns that hold messages for review.

use crate::entry::checks;
use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::NameForm;
use crate::kind::Kind;
use crate::refusal::ProvisionResult;
use hermod_domain::catalogue::ScreenEntry;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::screen::ScreenedField;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A pattern that holds matching messages for review.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Screen)]
pub struct WantedScreen {
    #[serde(deserialize_with = "checks::name")]
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$", examples("short-links"))]
    pub name: String,
    #[serde(default, deserialize_with = "checks::pattern", skip_serializing_if = "Option::is_none")]
    /// A regular expression, not case-sensitive.
    #[schema(required, value_type = String, max_length = 1000, examples("https?://bit\\.ly/"))]
    pub pattern: Option<String>,
    #[serde(default = "text")]
    /// The field to search.
    #[schema(value_type = String, pattern = "^(text|sender)$", examples("text"))]
    pub field: ScreenedField,
    /// Default: every account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl FileEntry for WantedScreen {
    const KIND: Kind = Kind::Screen;
    const ABOUT: &'static str = "Screening rules: patterns that hold a message for review.";
    const NAME_FORM: NameForm = NameForm::of_word("The name of the screening rule.", "short-links");
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Operations;
    type Document = ScreenEntry;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn document(&self, draft: &mut Draft<'_>, _: Option<&ScreenEntry>) -> ProvisionResult<ScreenEntry> {
        let WantedScreen { name, pattern, field, account } = self;
        let what = format!("screen \"{name}\"");
        let account = draft.find_account(account.as_deref(), &what)?;
        Ok(ScreenEntry { account, field: *field, pattern: required(pattern, &what, "pattern")? })
    }

    fn shown(name: &str, document: ScreenEntry, names: &EntryNames) -> WantedScreen {
        let ScreenEntry { account, field, pattern } = document;
        let account = account.map(|account| names.of(Kind::Account, account.get()));
        WantedScreen { name: name.to_owned(), pattern: Some(pattern), field, account }
    }
}

fn text() -> ScreenedField {
    ScreenedField::Text
}
