//! Requests of customers: a customer makes and withdraws them, the operator accepts or declines them. Accepting makes the change
//! in the same transaction.

use crate::author::Acting;
use crate::customer_request::changes::{check_subject, find_reason_not_needed, plan_change};
use crate::customer_request::views::{
    AcceptRequest, CustomerRequestDraft, CustomerRequestView, CustomerRequestsQuery, DeclineRequest,
};
use crate::entry::carry_out;
use crate::find::{account_name, connection_names, find_account};
use crate::input::{invalid, one_of, words};
use crate::refusal;
use crate::refusal::{OperatorRefusal, Result};
use crate::views::paging::{Limit, Page};
use hermod_domain::customer_request::{CustomerRequestKind, CustomerRequestState};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_gateway::gateway::Gateway;
use hermod_store::{
    CustomerRequest, CustomerRequestEnd, MadeCustomerRequest, NewCustomerRequest, OPEN_CUSTOMER_REQUESTS_MAX,
    StoreError,
};
use serde_json::{Value, json};

const DETAILS_CHARS_MAX: usize = 1_000;
const REASON_CHARS_MAX: usize = 500;

/// Makes a request of a customer. Returns its id; the id of the open one if there is one for the same.
pub async fn make_customer_request(
    gateway: &Acting,
    account: &str,
    draft: CustomerRequestDraft,
) -> Result<u64> {
    let id = find_account(gateway, account)?;
    let kind = one_of("kind", &draft.kind, CustomerRequestKind::ALL, CustomerRequestKind::as_str)?;
    let subject = check_subject(gateway, id, kind, &draft.subject, "subject")?;
    let connection = find_connection(gateway, id, kind, &draft.connection)?;
    if let Some(reason) = find_reason_not_needed(gateway, id, kind, &subject) {
        return Err(invalid("subject", reason));
    }
    // A form's lines are joined: the text is shown on one line.
    let details = draft.details.split_whitespace().collect::<Vec<_>>().join(" ");
    let details = words("details", details, 0, DETAILS_CHARS_MAX)?;
    let by = gateway.author.name();
    let by = by.strip_prefix("user ").unwrap_or(by).to_owned();
    let now = gateway.clock.now();
    let detail = json!({ "details": details });
    let audited = gateway.audited(Some(id), "request.create", &format!("{kind} {subject}"), &detail);
    let new = NewCustomerRequest { account: id, kind, subject, connection, details, by, now };
    match audited.customer_requests().make(new).await? {
        MadeCustomerRequest::New(request) | MadeCustomerRequest::Same(request) => Ok(request),
        MadeCustomerRequest::TooMany => Err(OperatorRefusal::TooMuch(format!(
            "the account has {OPEN_CUSTOMER_REQUESTS_MAX} open requests: wait for the answers, or withdraw one"
        ))),
    }
}

/// Finds the connection that a request is about: the named one, or the only one of the account.
fn find_connection(
    gateway: &Gateway,
    account: AccountId,
    kind: CustomerRequestKind,
    name: &str,
) -> Result<Option<ConnectionId>> {
    if !kind.is_of_connection() {
        return Ok(None);
    }
    let catalogue = gateway.catalogue();
    let fits = |id: &ConnectionId| {
        let connection = catalogue.connection(*id);
        connection.is_some_and(|one| kind != CustomerRequestKind::Window || one.smpp.is_some())
    };
    let own = connection_names(gateway, account);
    let mut own = own.iter().filter(|(id, _)| fits(id));
    let found = match name {
        "" => own.next().filter(|_| own.next().is_none()),
        name => own.find(|(_, own)| own == name),
    };
    let rule = match (name, kind) {
        ("", _) => "choose a connection".to_owned(),
        (name, CustomerRequestKind::Window) => format!("there is no connection \"{name}\" with SMPP access"),
        (name, _) => format!("there is no connection \"{name}\""),
    };
    found.map(|(id, _)| Some(*id)).ok_or_else(|| invalid("connection", rule))
}

/// Lists requests, the newest first.
pub async fn list_customer_requests(
    gateway: &Gateway,
    query: CustomerRequestsQuery,
) -> Result<Page<CustomerRequestView>> {
    let account = query.account.map(|name| find_account(gateway, &name)).transpose()?;
    let states = CustomerRequestState::ALL;
    let state = query.state.map(|text| one_of("state", &text, states, CustomerRequestState::as_str));
    let limit = Limit::of(query.limit);
    let before = query.before.map(u64::from);
    let found = gateway.store.customer_requests().list(account, state.transpose()?, before, limit).await?;
    Ok(Page::new(found.into_iter().map(|request| view(gateway, request)).collect(), limit))
}

pub async fn show_customer_request(gateway: &Gateway, id: u64) -> Result<CustomerRequestView> {
    let found = gateway.store.customer_requests().find(id).await?;
    found.map(|request| view(gateway, request)).ok_or_else(|| no_request(id))
}

/// Accepts an open request and makes its change, both in one transaction.
pub async fn accept_customer_request(
    gateway: &Acting,
    id: u64,
    decision: Option<AcceptRequest>,
) -> Result<CustomerRequestView> {
    let AcceptRequest { value, done, note } = decision.unwrap_or_default();
    let note = words("note", note, 0, REASON_CHARS_MAX)?;
    if done && value.is_some() {
        return Err(invalid("done", "the change was made by hand: leave value out"));
    }
    let _alone = gateway.change_alone().await?;
    let request = find_open(gateway, id).await?;
    let (account, subject) = (request.request.account, subject_line(&request));
    let rows = gateway.store.setup().rows().await?;
    let (plan, ledger) = plan_change(gateway, rows, &request, value.as_deref(), done)?;
    let detail = json!({ "value": value, "done": done, "note": note });
    let reason = match (value, note) {
        (Some(value), note) if note.is_empty() => format!("Granted: {value}"),
        (Some(value), note) => format!("Granted: {value}. {note}"),
        (None, note) => note,
    };
    let now = gateway.clock.now();
    let entry = gateway.author.entry(now, Some(account), "request.accept", &subject, &detail);
    let end = end_of(gateway, id, CustomerRequestState::Accepted, reason);
    let done = carry_out::fulfil(&gateway.store, &plan, (&gateway.author, entry), (end, ledger), now).await;
    done.map_err(|error| match error {
        refusal::ProvisionError::Store(StoreError::RequestEnded) => no_longer_open(id),
        other => other.into(),
    })?;
    gateway.set_catalogue(plan.catalogue);
    tracing::info!(request = id, account.id = %account, "The operator accepted a customer's request");
    show_customer_request(gateway, id).await
}

/// Declines an open request.
pub async fn decline_customer_request(
    gateway: &Acting,
    id: u64,
    decision: DeclineRequest,
) -> Result<CustomerRequestView> {
    let reason = words("reason", decision.reason, 1, REASON_CHARS_MAX)?;
    let request = find_open(gateway, id).await?;
    let detail = json!({ "reason": reason });
    let end = end_of(gateway, id, CustomerRequestState::Declined, reason);
    end_request(gateway, &request, end, "request.decline", &detail).await?;
    tracing::info!(request = id, "The operator declined a customer's request");
    show_customer_request(gateway, id).await
}

/// Withdraws an open request of this account.
pub async fn withdraw_customer_request(
    gateway: &Acting,
    account: &str,
    id: u64,
) -> Result<CustomerRequestView> {
    let owner = find_account(gateway, account)?;
    let stored = gateway.store.customer_requests().find(id).await?;
    if stored.is_none_or(|stored| stored.request.account != owner) {
        return Err(no_request(id));
    }
    let request = find_open(gateway, id).await?;
    let end = end_of(gateway, id, CustomerRequestState::Withdrawn, String::new());
    end_request(gateway, &request, end, "request.withdraw", &Value::Null).await?;
    show_customer_request(gateway, id).await
}

fn end_of(gateway: &Acting, id: u64, state: CustomerRequestState, reason: String) -> CustomerRequestEnd {
    CustomerRequestEnd { id, state, by: gateway.author.name().to_owned(), reason, now: gateway.clock.now() }
}

async fn end_request(
    gateway: &Acting,
    request: &CustomerRequest,
    end: CustomerRequestEnd,
    action: &str,
    detail: &Value,
) -> Result<()> {
    let audited = gateway.audited(Some(request.request.account), action, &subject_line(request), detail);
    let was_open = audited.customer_requests().end(end).await?;
    if was_open { Ok(()) } else { Err(no_longer_open(request.id)) }
}

/// Finds a request that is open.
async fn find_open(gateway: &Gateway, id: u64) -> Result<CustomerRequest> {
    let request = gateway.store.customer_requests().find(id).await?.ok_or_else(|| no_request(id))?;
    match request.state {
        CustomerRequestState::Open => Ok(request),
        state => Err(OperatorRefusal::AlreadyDecided { id, state: state.as_str() }),
    }
}

/// Returns the request in words, for the audit log, which customers read: `sender Shop`.
fn subject_line(request: &CustomerRequest) -> String {
    format!("{} {}", request.request.kind, request.request.subject)
}

fn no_request(id: u64) -> OperatorRefusal {
    OperatorRefusal::NotFound(format!("there is no request {id}"))
}

fn no_longer_open(id: u64) -> OperatorRefusal {
    OperatorRefusal::AlreadyDecided { id, state: "decided" }
}

fn view(gateway: &Gateway, request: CustomerRequest) -> CustomerRequestView {
    let account = request.request.account;
    let names = connection_names(gateway, account);
    let wanted = request.request.connection;
    let connection = names.into_iter().find(|(id, _)| Some(*id) == wanted).map(|(_, name)| name);
    CustomerRequestView::new(request, account_name(gateway, account), connection)
}
