//! Requests to the operator (senders, countries, limits, top-ups): what was requested, the answers, and a form for another one.

use crate::elements::{Chip, Tone};
use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell};
use crate::numbers::amount;
use crate::request::extract::{MemberForm, NoFields, Path, Query};
use crate::request::member::Member;
use crate::request::reply;
use crate::request::reply::{NoPage, Reply, page, page_again};
use crate::request::shown::{country_name, time_of};
use crate::time::Time;
use askama::Template;
use hermod_domain::customer_request::CustomerRequestKind;
use hermod_domain::permission::Permission;
use hermod_domain::shown_number::{NumberKind, ShownNumbers};
use hermod_operator::customer_request::use_cases::{
    list_customer_requests, make_customer_request, show_customer_request, withdraw_customer_request,
};
use hermod_operator::customer_request::views::{
    CustomerRequestDraft, CustomerRequestView, CustomerRequestsQuery,
};
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::views::paging::Limit;
use serde::Deserialize;

/// `GET /accounts/{account}/requests`. The form posts `kind`, `subject`, `connection` and `details` to the same address;
/// `requests/{id}/withdraw` is a post.
#[derive(Clone, Debug, Template)]
#[template(path = "requests.html")]
pub struct RequestsPage {
    pub shell: Shell,
    pub rows: Vec<CustomerRequestRow>,
    /// The address of the next page.
    pub next: Option<String>,
    /// `None` if the role may not make requests.
    pub form: Option<RequestForm>,
}

/// A request.
#[derive(Clone, Debug)]
pub struct CustomerRequestRow {
    pub id: String,
    pub at: Time,
    pub by: String,
    /// Such as `Sender`.
    pub kind: String,
    /// What was requested.
    pub subject: String,
    /// Open, accepted, declined or withdrawn.
    pub state: Chip,
    /// The operator's reason.
    pub reason: Option<String>,
    pub can_withdraw: bool,
}

/// The form for a request.
#[derive(Clone, Debug, Default)]
pub struct RequestForm {
    pub kind: Select,
    pub subject: Field,
    /// The connection of a rate or a window. Without choices it is left out.
    pub connection: Select,
    pub details: Field,
}

/// Rows of a page.
const ROWS: u32 = 50;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct RequestsPageQuery {
    /// The kind that the form begins with.
    kind: String,
    before: Option<u64>,
}

/// `GET /accounts/{account}/requests`.
pub(crate) async fn list(
    member: Member,
    Query(RequestsPageQuery { kind, before }): Query<RequestsPageQuery>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let draft = CustomerRequestDraft { kind, ..CustomerRequestDraft::default() };
    Ok(page(&requests_page(&member, before, form(&member, &draft)).await?))
}

async fn requests_page(
    member: &Member,
    before: Option<u64>,
    form: Option<RequestForm>,
) -> Result<RequestsPage, NoPage> {
    let numbers = &member.gateway().numbers;
    let query = CustomerRequestsQuery {
        account: Some(member.account_name.clone()),
        state: None,
        before: member.row_number(NumberKind::CustomerRequest, before),
        limit: Limit::try_from(ROWS.to_string()).ok(),
    };
    let found = list_customer_requests(member.gateway(), query).await?;
    let shell = member.shell(NavEntry::Requests);
    Ok(RequestsPage {
        next: member.next_rows("requests", NumberKind::CustomerRequest, found.next),
        rows: found.items.into_iter().map(|view| row(numbers, member, view)).collect(),
        form,
        shell,
    })
}

/// Whether the role may make and withdraw requests of this kind.
fn may_request(member: &Member, kind: CustomerRequestKind) -> bool {
    let of_money = kind == CustomerRequestKind::TopUp;
    member.may(Permission::MakeRequests) && (!of_money || member.may(Permission::ChangeMoney))
}

/// Returns the form with what was typed; none if the role may not make requests.
fn form(member: &Member, draft: &CustomerRequestDraft) -> Option<RequestForm> {
    let kinds = CustomerRequestKind::ALL.into_iter().filter(|kind| may_request(member, *kind));
    let kinds: Vec<_> = kinds.map(|kind| (kind.as_str(), words(kind).1)).collect();
    if kinds.is_empty() {
        return None;
    }
    let catalogue = member.gateway().catalogue();
    let mut connections: Vec<&str> =
        catalogue.connections_of(member.account).into_iter().map(|(_, name, _)| name).collect();
    connections.sort_unstable();
    let connections = connections.into_iter().map(|name| (name, name));
    Some(RequestForm {
        kind: Select::new(kinds, &draft.kind),
        subject: Field::new(draft.subject.clone()),
        connection: Select::new(connections, &draft.connection),
        details: Field::new(draft.details.clone()),
    })
}

/// Returns the name of a kind, and what a request of this kind asks for.
const fn words(kind: CustomerRequestKind) -> (&'static str, &'static str) {
    match kind {
        CustomerRequestKind::Sender => ("Sender", "A sender"),
        CustomerRequestKind::Country => ("Country", "A country"),
        CustomerRequestKind::Number => ("Number", "A number"),
        CustomerRequestKind::Verification => ("Verification", "The verification of our identity"),
        CustomerRequestKind::Rate => ("Rate", "A higher rate of a connection"),
        CustomerRequestKind::Window => ("Window", "A larger window of a connection"),
        CustomerRequestKind::Tier => ("Throughput", "More SMPP throughput"),
        CustomerRequestKind::TopUp => ("Top-up", "A top-up"),
    }
}

fn row(numbers: &ShownNumbers, member: &Member, view: CustomerRequestView) -> CustomerRequestRow {
    let kind = CustomerRequestKind::parse(&view.kind);
    let (tone, label) = match view.state.as_str() {
        "open" => (Tone::Waiting, "Open"),
        "accepted" => (Tone::Good, "Accepted"),
        "declined" => (Tone::Stopped, "Declined"),
        "withdrawn" => (Tone::Neutral, "Withdrawn"),
        other => (Tone::Neutral, other),
    };
    let is_open = view.state == "open";
    CustomerRequestRow {
        id: numbers.show(NumberKind::CustomerRequest, view.id).to_string(),
        at: time_of(&view.made_at),
        kind: kind.map_or("Request", |kind| words(kind).0).to_owned(),
        subject: subject(kind, &view),
        state: Chip::new(tone, label),
        reason: Some(view.reason).filter(|reason| !reason.is_empty()),
        can_withdraw: is_open && kind.is_some_and(|kind| may_request(member, kind)),
        by: view.by,
    }
}

/// Says what was requested.
fn subject(kind: Option<CustomerRequestKind>, view: &CustomerRequestView) -> String {
    let connection = view.connection.as_deref().map(|name| format!(" for {name}")).unwrap_or_default();
    match kind {
        Some(CustomerRequestKind::Country) => country_name(&view.subject),
        Some(CustomerRequestKind::Rate) => format!("{} requests a second{connection}", view.subject),
        Some(CustomerRequestKind::Window) => format!("Window of {}{connection}", view.subject),
        Some(CustomerRequestKind::Tier) if view.subject.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{} parts a second over SMPP", view.subject)
        }
        Some(CustomerRequestKind::Tier) => format!("Tier {}", view.subject),
        Some(CustomerRequestKind::TopUp) => amount(&view.subject),
        Some(CustomerRequestKind::Verification) if view.subject.is_empty() => "Identity".to_owned(),
        _ => view.subject.clone(),
    }
}

/// The form of a request. The page of senders posts it with fields of its own.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct NewRequest {
    kind: String,
    subject: String,
    connection: String,
    details: String,
    sender: String,
    countries: String,
    purpose: String,
}

impl NewRequest {
    fn into_draft(self) -> CustomerRequestDraft {
        let NewRequest { kind, subject, connection, details, sender, countries, purpose } = self;
        let for_countries = Some(countries).filter(|text| !text.is_empty());
        let said = [Some(details), for_countries.map(|codes| format!("Countries: {codes}.")), Some(purpose)];
        let said: Vec<String> = said.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        let subject = if subject.is_empty() { sender } else { subject };
        CustomerRequestDraft { kind, subject, connection, details: said.join(" ") }
    }
}

/// `POST /accounts/{account}/requests`.
pub(crate) async fn create(MemberForm { member, form: new }: MemberForm<NewRequest>) -> Reply {
    member.require(Permission::MakeRequests)?;
    let draft = new.into_draft();
    if CustomerRequestKind::parse(&draft.kind).is_some_and(|kind| !may_request(&member, kind)) {
        return Err(NoPage::Forbidden(member.role));
    }
    let acting = member.acting();
    match make_customer_request(&acting, &member.account_name, draft.clone()).await {
        Ok(_) => Ok(member.done("requests", "request-made")),
        Err(refusal) => {
            let form = form(&member, &draft).map(|form| with_error(form, &refusal));
            // Anything that is not about the form has its own page.
            reply::fault(refusal)?;
            let page = requests_page(&member, None, form).await?;
            Ok(page_again(&page))
        }
    }
}

/// Puts what is wrong beside its field.
fn with_error(mut form: RequestForm, refusal: &OperatorRefusal) -> RequestForm {
    let field = match refusal {
        OperatorRefusal::InvalidField { field, .. } => *field,
        _ => "subject",
    };
    let error = reply::fault(refusal.clone()).ok();
    match field {
        "kind" => form.kind.error = error,
        "connection" => form.connection.error = error,
        "details" => form.details.error = error,
        _ => form.subject.error = error,
    }
    form
}

/// `POST /accounts/{account}/requests/{id}/withdraw`.
pub(crate) async fn withdraw(
    Path((_, id)): Path<(String, u64)>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::MakeRequests)?;
    let id = member.gateway().numbers.read(NumberKind::CustomerRequest, id);
    let stored = show_customer_request(member.gateway(), id).await?;
    let is_own = stored.account == member.account_name;
    let kind = CustomerRequestKind::parse(&stored.kind).filter(|_| is_own).ok_or(NoPage::NotFound)?;
    if !may_request(&member, kind) {
        return Err(NoPage::Forbidden(member.role));
    }
    let acting = member.acting();
    match withdraw_customer_request(&acting, &member.account_name, id).await {
        Ok(_) => Ok(member.done("requests", "request-withdrawn")),
        // The operator was faster; the page shows the decision.
        Err(OperatorRefusal::AlreadyDecided { .. }) => Ok(reply::redirect(&member.path("requests"))),
        Err(refusal) => Err(refusal.into()),
    }
}
