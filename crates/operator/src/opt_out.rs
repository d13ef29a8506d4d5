//! Opt-outs: phone numbers that opted out of an account's messages.

use crate::author::Acting;
use crate::find::find_account;
use crate::http::routes::{Routes, doc};
use crate::input::{number, words};
use crate::refusal::{OperatorRefusal, Result};
use crate::views::Created;
use crate::views::masking::HandsetNumber;
use crate::views::paging::{Limit, Page, paged};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::phone::masked;
use hermod_gateway::gateway::Gateway;
use hermod_store::{OptOut, OptOutSource};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct OptOutsQuery {
    /// `next` of the previous page.
    #[param(pattern = r"^\+[1-9][0-9]{6,14}$")]
    pub after: Option<String>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A phone number that opted out of an account's messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OptOutView {
    pub number: HandsetNumber,
    /// Where it comes from: `keyword` (the handset sent one), `portal`, `operator` or `import`.
    #[schema(pattern = "^(keyword|portal|operator|import)$", examples("operator"))]
    pub source: String,
    /// How the opt-out was made.
    pub how: String,
    pub at: String,
}

paged!(OptOutView, String, |row| row.number.to_string());

impl From<OptOut> for OptOutView {
    fn from(OptOut { account: _, number, source, how, now }: OptOut) -> OptOutView {
        OptOutView {
            number: number.to_string().into(),
            source: source.as_str().to_owned(),
            how,
            at: now.to_iso(),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OptOutRequest {
    /// How the opt-out was made.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$",
        examples("asked by phone")
    )]
    pub how: String,
    /// Whether it is from a list of another system.
    #[serde(default)]
    pub imported: bool,
}

impl crate::views::JsonBody for OptOutRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OptOutRemovedView {
    pub number: HandsetNumber,
    pub removed: bool,
}

pub(crate) const HOW_CHARS_MAX: usize = 100;
/// How an opt-out was made, where the request has nothing about it.
const HOW_DEFAULT: &str = "the operator";

/// Lists opt-outs of an account in the order of their numbers.
pub async fn list_opt_outs(
    gateway: &Gateway,
    account: &str,
    query: OptOutsQuery,
) -> Result<Page<OptOutView>> {
    let after = query.after.map(|text| number(&text)).transpose()?;
    let id = find_account(gateway, account)?;
    let limit = Limit::of(query.limit);
    let found = gateway.store.opt_outs().list(id, after, limit).await?;
    Ok(Page::new(found.into_iter().map(OptOutView::from).collect(), limit))
}

/// Returns the opt-out of one number; `None` if it has not opted out.
pub async fn find_opt_out(gateway: &Gateway, account: &str, text: &str) -> Result<Option<OptOutView>> {
    let number = number(text)?;
    let id = find_account(gateway, account)?;
    Ok(gateway.store.opt_outs().find(id, number).await?.map(OptOutView::from))
}

/// Stores an opt-out and returns the stored one.
pub async fn add_opt_out(
    gateway: &Acting,
    account: &str,
    text: &str,
    request: Option<OptOutRequest>,
) -> Result<Created<OptOutView>> {
    let OptOutRequest { how, imported } =
        request.unwrap_or_else(|| OptOutRequest { how: HOW_DEFAULT.to_owned(), imported: false });
    let how = words("how", how, 1, HOW_CHARS_MAX)?;
    let number = number(text)?;
    let id = find_account(gateway, account)?;
    let source = match (imported, gateway.author.email()) {
        (true, _) => OptOutSource::Import,
        (false, Some(_)) => OptOutSource::Portal,
        (false, None) => OptOutSource::Operator,
    };
    let entry = OptOut { account: id, number, source, how, now: gateway.clock.now() };
    let is_new = store_opt_out(gateway, entry.clone()).await?;
    let stored = gateway.store.opt_outs().find(id, number).await?;
    Ok(Created { view: stored.unwrap_or(entry).into(), is_new })
}

/// Stores an opt-out with its line of the audit log. Returns whether it is new.
pub(crate) async fn store_opt_out(gateway: &Acting, entry: OptOut) -> Result<bool> {
    let detail = json!({ "how": &entry.how, "source": entry.source.as_str() });
    let subject = masked(&entry.number.to_string());
    let audited = gateway.audited(Some(entry.account), "opt_out.create", &subject, &detail);
    Ok(audited.opt_outs().add(entry).await?)
}

pub async fn remove_opt_out(gateway: &Acting, account: &str, text: &str) -> Result<OptOutRemovedView> {
    let number = number(text)?;
    let id = find_account(gateway, account)?;
    let audited = gateway.audited(Some(id), "opt_out.remove", &masked(&number.to_string()), &Value::Null);
    if audited.opt_outs().remove(id, number).await? {
        return Ok(OptOutRemovedView { number: number.to_string().into(), removed: true });
    }
    Err(OperatorRefusal::NotFound(format!("{number} has not opted out of account \"{account}\"")))
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Opt-outs", "Phone numbers that opted out of an account's messages.");
    routes.get(
        "/accounts/{name}/opt-outs",
        list_opt_outs,
        doc("listOptOuts", "List opt-outs", "In the order of the numbers.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Personal),
    );
    routes.put(
        "/accounts/{name}/opt-outs/{number}",
        add_opt_out,
        doc("putOptOut", "Add an opt-out", "It existed before.")
            .created("It is new.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"])
            .least(OperatorPermission::Customers),
    );
    routes.delete(
        "/accounts/{name}/opt-outs/{number}",
        remove_opt_out,
        doc("deleteOptOut", "Remove an opt-out", "The account may send to the number again.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"])
            .least(OperatorPermission::Customers),
    );
}
