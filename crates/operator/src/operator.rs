//! Operator entries: people and programs that use the operator API, each with a role and a token of its own.

use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry, required};
use crate::entry::names::NameForm;
use crate::entry::{checks, values};
use crate::key::made_secret;
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::catalogue::OperatorEntry;
use hermod_domain::operator_role::{OperatorPermission, OperatorRole};
use hermod_domain::time::Timestamp;
use hermod_gateway::secrets::Secret;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Operators beside the token of the data folder. Each request compares its token with all of them.
const OPERATORS_MAX: usize = 100;

/// The label of a generated token in a plan.
const TOKEN_OF: &str = "token of operator ";

/// An operator with a token of its own.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Operator)]
pub struct WantedOperator {
    /// The name in the audit log.
    #[serde(deserialize_with = "checks::name")]
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$", examples("ann"))]
    pub name: String,
    /// What the operator may do: `reader`, `support`, `finance`, `operations` or `admin`. A new operator needs one; an existing
    /// operator keeps its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required, value_type = String, pattern = "^(reader|support|finance|operations|admin)$", examples("support"))]
    pub role: Option<OperatorRole>,
    /// The token is invalid from this day or time on. Default: it has no end.
    #[serde(default, with = "values::when", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, examples("2027-01-01"))]
    pub until: Option<Timestamp>,
    /// Generated for a new operator if absent; an existing operator keeps its token.
    #[serde(
        default,
        deserialize_with = "checks::api_secret",
        serialize_with = "values::hidden",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<String>, write_only, min_length = 26, max_length = 128)]
    pub token: Option<Secret>,
}

impl FileEntry for WantedOperator {
    const KIND: Kind = Kind::Operator;
    const ABOUT: &'static str = "People and programs that use this API, each with a role and a token of its own. The audit log names them.";
    const NAME_FORM: NameForm = NameForm::of_word("The name of the operator.", "ann");
    const SECRET: Option<&'static str> = Some("token");
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Administration;
    type Document = OperatorEntry;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn document(
        &self,
        draft: &mut Draft<'_>,
        before: Option<&OperatorEntry>,
    ) -> ProvisionResult<OperatorEntry> {
        let WantedOperator { name, role, until, token } = self;
        let what = format!("operator \"{name}\"");
        if before.is_none() && draft.rows_of(Kind::Operator).count() >= OPERATORS_MAX {
            return Err(ProvisionRefusal::about(&what, format!("is one more than {OPERATORS_MAX}")));
        }
        let known = OperatorRole::ALL.map(OperatorRole::as_str).join(", ");
        let role = role.or(before.map(|before| before.role));
        let role = required(&role, &format!("{what} needs one of the roles {known}"), "role")?;
        let token_digest = match (token, before) {
            (Some(given), _) => draft.pepper.digest(given.reveal()),
            (None, Some(before)) => before.token_digest.clone(),
            (None, None) => {
                let made = made_secret(&what)?;
                let digest = draft.pepper.digest(made.reveal());
                draft.made_secret(&format!("{TOKEN_OF}{name}"), made);
                digest
            }
        };
        Ok(OperatorEntry { token_digest, role, until: *until })
    }

    fn shown(name: &str, document: OperatorEntry, _: &EntryNames) -> WantedOperator {
        let OperatorEntry { token_digest: _, role, until } = document;
        WantedOperator { name: name.to_owned(), role: Some(role), until, token: None }
    }

    fn secret(&self) -> Option<&Secret> {
        self.token.as_ref()
    }

    fn kept_secret(document: &OperatorEntry) -> Value {
        Value::from(document.token_digest.clone())
    }

    fn secret_fits(given: &Secret, kept: &str, _: &str, draft: &Draft<'_>) -> bool {
        draft.pepper.matches(given.reveal(), kept)
    }
}
