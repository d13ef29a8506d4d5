//! Messages that need a decision or were not delivered: review cases, opt-outs, unassigned MO messages, reports that
//! were given up.

use crate::author::Acting;
use crate::find::{account_name, carrier_name, find_account};
use crate::inbound::views::{
    AssignRequest, AssignedView, DecisionRequest, GivenUpQuery, GivenUpView, OptOutRemovedView,
    OptOutRequest, OptOutView, OptOutsQuery, ReviewView, ReviewsQuery, UnassignedQuery, UnassignedView,
    review_state_text,
};
use crate::input::{invalid, number, one_of, words};
use crate::refusal::OperatorRefusal;
use crate::views::Created;
use crate::views::paging::{Limit, Page};
use hermod_domain::ids::MessageId;
use hermod_domain::phone::masked;
use hermod_gateway::gateway::Gateway;
use hermod_store::{OptOut, OptOutSource, ReportId, ReviewCase, ReviewState};
use serde_json::{Value, json};

const DECIDED_BY_CHARS_MAX: usize = 100;
const REASON_CHARS_MAX: usize = 500;
const HOW_CHARS_MAX: usize = 100;
/// How an opt-out was made, where the request has nothing about it.
const HOW_DEFAULT: &str = "the operator";

/// Lists opt-outs of an account in the order of their numbers.
pub async fn list_opt_outs(
    gateway: &Gateway,
    account: &str,
    query: OptOutsQuery,
) -> Result<Page<OptOutView>, OperatorRefusal> {
    let after = query.after.map(|text| number(&text)).transpose()?;
    let id = find_account(gateway, account)?;
    let limit = Limit::of(query.limit);
    let found = gateway.store.opt_outs().list(id, after, limit).await?;
    Ok(Page::new(found.into_iter().map(OptOutView::from).collect(), limit))
}

/// Returns the opt-out of one number; `None` if it has not opted out.
pub async fn find_opt_out(
    gateway: &Gateway,
    account: &str,
    text: &str,
) -> Result<Option<OptOutView>, OperatorRefusal> {
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
) -> Result<Created<OptOutView>, OperatorRefusal> {
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
    let detail = json!({ "how": &entry.how, "source": source.as_str() });
    let audited = gateway.audited(Some(id), "opt_out.create", &masked(&number.to_string()), &detail);
    let is_new = audited.opt_outs().add(entry.clone()).await?;
    let stored = gateway.store.opt_outs().find(id, number).await?;
    Ok(Created { view: stored.unwrap_or(entry).into(), is_new })
}

pub async fn remove_opt_out(
    gateway: &Acting,
    account: &str,
    text: &str,
) -> Result<OptOutRemovedView, OperatorRefusal> {
    let number = number(text)?;
    let id = find_account(gateway, account)?;
    let audited = gateway.audited(Some(id), "opt_out.remove", &masked(&number.to_string()), &Value::Null);
    if audited.opt_outs().remove(id, number).await? {
        return Ok(OptOutRemovedView { number: number.to_string(), removed: true });
    }
    Err(OperatorRefusal::NotFound(format!("{number} has not opted out of account \"{account}\"")))
}

/// Lists review cases, the newest first.
pub async fn list_reviews(
    gateway: &Gateway,
    query: ReviewsQuery,
) -> Result<Page<ReviewView>, OperatorRefusal> {
    let states = [ReviewState::Open, ReviewState::Approved, ReviewState::Rejected];
    let state = query.state.map(|text| one_of("state", &text, states, review_state_text)).transpose()?;
    let account = query.account.map(|name| find_account(gateway, &name)).transpose()?;
    let limit = Limit::of(query.limit);
    let cases = gateway.store.reviews().list(account, state, query.before.map(u64::from), limit).await?;
    Ok(Page::new(cases.into_iter().map(|case| review_view(gateway, case)).collect(), limit))
}

pub async fn show_review(gateway: &Gateway, id: u64) -> Result<ReviewView, OperatorRefusal> {
    let found = gateway.store.reviews().find(id).await?;
    found.map(|case| review_view(gateway, case)).ok_or_else(|| no_case(id))
}

/// Approves or rejects a held message; the last decision holds. An approval lets the customer's retry pass for a week.
pub async fn decide_review(
    gateway: &Acting,
    id: u64,
    approve: bool,
    request: DecisionRequest,
) -> Result<ReviewView, OperatorRefusal> {
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

/// Lists reports that were not delivered to customers' binds, the oldest first.
pub async fn list_given_up(
    gateway: &Gateway,
    query: GivenUpQuery,
) -> Result<Page<GivenUpView>, OperatorRefusal> {
    let account = query.account.map(|name| find_account(gateway, &name)).transpose()?;
    let limit = Limit::of(query.limit);
    let after = query.after.map(|after| ReportId(after.into()));
    let given_up = gateway.store.reports().given_up(account, after, limit).await?;
    let catalogue = gateway.catalogue();
    let items = given_up.iter().map(|report| {
        let smpp = catalogue.connection(report.connection).and_then(|connection| connection.smpp.as_ref());
        let system_id = smpp.map(|smpp| smpp.system_id.clone());
        GivenUpView::new(report, account_name(gateway, report.account), system_id)
    });
    Ok(Page::new(items.collect(), limit))
}

/// Lists MO messages that belong to no account, the oldest first.
pub async fn list_unassigned(
    gateway: &Gateway,
    query: UnassignedQuery,
) -> Result<Page<UnassignedView>, OperatorRefusal> {
    let parse = |text: String| {
        let wrong = || invalid("after", format!("\"{text}\" is not the next of an earlier page"));
        MessageId::parse(&text).ok_or_else(wrong)
    };
    let after = query.after.map(parse).transpose()?;
    let limit = Limit::of(query.limit);
    let found = gateway.store.inbound().unassigned(after, limit).await?;
    let catalogue = gateway.catalogue();
    let items = found.into_iter().map(|message| {
        let carrier = carrier_name(&catalogue, message.carrier);
        UnassignedView::new(message, carrier)
    });
    Ok(Page::new(items.collect(), limit))
}

/// Assigns an MO message to an account, which receives it like any other.
pub async fn assign_inbound(
    gateway: &Acting,
    message: &str,
    request: AssignRequest,
) -> Result<AssignedView, OperatorRefusal> {
    let missing = || OperatorRefusal::NotFound(format!("there is no unassigned message {message}"));
    let id = MessageId::parse(message).ok_or_else(missing)?;
    let account = find_account(gateway, &request.account)?;
    let audited = gateway.audited(Some(account), "inbound.assign", &id.to_string(), &Value::Null);
    let record = audited.inbound().assign(id, account, gateway.clock.now()).await?.ok_or_else(missing)?;
    tracing::info!(message.id = %id, account.id = %account, "The operator assigned an MO message to an account");
    Ok(AssignedView { message_id: id.to_string(), account: account_name(gateway, account), id: record.id })
}
