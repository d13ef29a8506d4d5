//! Review cases: messages that screening rules hold.

use crate::author::Acting;
use crate::find::{account_name, find_account};
use crate::http::routes::{Routes, doc};
use crate::input::{one_of, words};
use crate::refusal::{OperatorRefusal, Result};
use crate::views::masking::{HandsetNumber, MessageText};
use crate::views::paging::{Limit, Page, RowNumber, paged};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::phone::masked;
use hermod_gateway::gateway::Gateway;
use hermod_store::{APPROVAL_LASTS, ReviewCase, ReviewState};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct ReviewsQuery {
    /// Only cases of this account.
    pub account: Option<String>,
    /// Only cases in this state: `open`, `approved` or `rejected`.
    #[param(pattern = "^(open|approved|rejected)$")]
    pub state: Option<String>,
    /// `next` of the previous page.
    pub before: Option<RowNumber>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A message that screening rules held for review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewView {
    pub id: u64,
    pub account: String,
    pub from: String,
    pub to: HandsetNumber,
    pub text: MessageText,
    /// The screening rules that matched.
    pub rules: Vec<String>,
    pub state: String,
    /// How many times the customer submitted it.
    pub seen: u64,
    pub opened_at: String,
    pub last_at: String,
    pub decided_at: Option<String>,
    pub decided_by: String,
    /// The reason that the customer reads; may be empty.
    pub reason: String,
    /// An approval is valid until then.
    pub valid_until: Option<String>,
}

paged!(ReviewView, u64, |row| row.id);

impl ReviewView {
    pub fn new(case: ReviewCase, account: String) -> ReviewView {
        let approved_at = case.decided_at.filter(|_| case.state == ReviewState::Approved);
        ReviewView {
            valid_until: approved_at.map(|at| at.plus(APPROVAL_LASTS).to_iso()),
            id: case.id,
            account,
            from: case.from.to_string(),
            to: case.to.to_string().into(),
            text: case.text.into(),
            rules: case.rules,
            state: review_state_text(case.state).to_owned(),
            seen: case.seen,
            opened_at: case.opened_at.to_iso(),
            last_at: case.last_at.to_iso(),
            decided_at: case.decided_at.map(|at| at.to_iso()),
            decided_by: case.decided_by,
            reason: case.reason,
        }
    }
}

pub const fn review_state_text(state: ReviewState) -> &'static str {
    match state {
        ReviewState::Open => "open",
        ReviewState::Approved => "approved",
        ReviewState::Rejected => "rejected",
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionRequest {
    /// Who decides, for the record.
    #[schema(min_length = 1, max_length = 100, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$", examples("Ada"))]
    pub by: String,
    /// The reason that the customer reads.
    #[serde(default)]
    #[schema(max_length = 500, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub reason: String,
}

impl crate::views::JsonBody for DecisionRequest {}

const DECIDED_BY_CHARS_MAX: usize = 100;
const REASON_CHARS_MAX: usize = 500;

/// Lists review cases, the newest first.
pub async fn list_reviews(gateway: &Gateway, query: ReviewsQuery) -> Result<Page<ReviewView>> {
    let states = [ReviewState::Open, ReviewState::Approved, ReviewState::Rejected];
    let state = query.state.map(|text| one_of("state", &text, states, review_state_text)).transpose()?;
    let account = query.account.map(|name| find_account(gateway, &name)).transpose()?;
    let limit = Limit::of(query.limit);
    let cases = gateway.store.reviews().list(account, state, query.before.map(u64::from), limit).await?;
    Ok(Page::new(cases.into_iter().map(|case| review_view(gateway, case)).collect(), limit))
}

pub async fn show_review(gateway: &Gateway, id: u64) -> Result<ReviewView> {
    let found = gateway.store.reviews().find(id).await?;
    found.map(|case| review_view(gateway, case)).ok_or_else(|| no_case(id))
}

/// Approves a held message: the customer's retry passes for a week.
pub async fn approve_review(gateway: &Acting, id: u64, request: DecisionRequest) -> Result<ReviewView> {
    decide_review(gateway, id, true, request).await
}

/// Rejects a held message.
pub async fn reject_review(gateway: &Acting, id: u64, request: DecisionRequest) -> Result<ReviewView> {
    decide_review(gateway, id, false, request).await
}

/// Decides a review case; the last decision holds.
async fn decide_review(
    gateway: &Acting,
    id: u64,
    approve: bool,
    request: DecisionRequest,
) -> Result<ReviewView> {
    let by = words("by", request.by, 1, DECIDED_BY_CHARS_MAX)?;
    let reason = words("reason", request.reason, 0, REASON_CHARS_MAX)?;
    let case = gateway.store.reviews().find(id).await?.ok_or_else(|| no_case(id))?;
    let action = if approve { "review.approve" } else { "review.reject" };
    // Customers read it, and ids count the cases of all accounts.
    let subject = format!("{} ({})", masked(&case.to.to_string()), case.rules.join(", "));
    let detail = json!({ "by": by, "reason": reason });
    let audited = gateway.audited(Some(case.account), action, &subject, &detail);
    let decided = audited.reviews().decide(id, approve, by.clone(), reason, gateway.clock.now()).await?;
    let decided = decided.ok_or_else(|| no_case(id))?;
    tracing::info!(case = id, approve, by, "The operator decided a review case");
    Ok(review_view(gateway, decided))
}

fn no_case(id: u64) -> OperatorRefusal {
    OperatorRefusal::NotFound(format!("there is no review case {id}"))
}

fn review_view(gateway: &Gateway, case: ReviewCase) -> ReviewView {
    let account = account_name(gateway, case.account);
    ReviewView::new(case, account)
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Reviews", "Messages that screening rules hold for review.");
    routes.get(
        "/reviews",
        list_reviews,
        doc("listReviews", "List review cases", "The newest first.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/reviews/{id}",
        show_review,
        doc("getReview", "Read a review case", "The case, with the text of the message.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.post(
        "/reviews/{id}/approve",
        approve_review,
        doc("approveReview", "Approve a held message", "The case as decided.")
            .details("The customer's retry passes for seven days.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"])
            .least(OperatorPermission::Customers),
    );
    routes.post(
        "/reviews/{id}/reject",
        reject_review,
        doc("rejectReview", "Reject a held message", "The case as decided.")
            .details("It stays rejected. The last decision holds.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"])
            .least(OperatorPermission::Customers),
    );
}
