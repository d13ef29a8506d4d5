//! Looks a number up before a message is sent to it: network, price and route, and every reason for a rejection.

use crate::entry::names::price_name;
use crate::find::find_account;
use crate::input::{number, sender};
use crate::lookup::explain::{Question, explain};
use crate::lookup::views::{ErrorView, ErrorsView, ExplainQuery, ExplanationView, LookupQuery, LookupView};
use crate::money::use_cases::account_balance;
use crate::refusal::{OperatorRefusal, Result};
use crate::views::amount::Amount;
use hermod_domain::catalogue::{AccountView, Countries, SenderStatus};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;
use hermod_domain::refusal::Refusal;
use hermod_domain::refusal::published::PUBLISHED;
use hermod_domain::traffic::{Daily, enforced_daily};
use hermod_gateway::gateway::Gateway;

/// Whether this process has links to carriers and customers' binds, so that the health of carriers is known.
#[derive(Clone, Copy, Debug)]
pub struct HasLinks(pub bool);

/// Explains the route of a message.
pub fn explain_route(
    gateway: &Gateway,
    query: ExplainQuery,
    HasLinks(running): HasLinks,
) -> Result<ExplanationView> {
    let ExplainQuery { to, account, from } = query;
    let from = from.as_deref().map(sender).transpose()?;
    explain(gateway, &Question { to: number(&to)?, account, from }, running)
}

/// Looks up a number, for an account if the query names one.
pub async fn look_up_number(
    gateway: &Gateway,
    text: &str,
    query: LookupQuery,
    HasLinks(running): HasLinks,
) -> Result<LookupView> {
    let LookupQuery { account, from } = query;
    let from = from.as_deref().map(sender).transpose()?;
    let question = Question { to: number(text)?, account, from };
    let destination = Numbers::embedded().find(question.to);
    let explanation = explain(gateway, &question, running)?;
    let view = LookupView {
        number: question.to.to_string(),
        country: destination.country_name().to_owned(),
        country_code: destination.country.map(|country| country.to_string()).unwrap_or_default(),
        operator: destination.operator.to_owned(),
        mcc: destination.mcc().map(|mcc| mcc.to_string()).unwrap_or_default(),
        mnc: destination.network.map(|network| network.mnc.to_string()).unwrap_or_default(),
        per_part: None,
        currency: None,
        price: None,
        country_enabled: None,
        block: None,
        refusals: Vec::new(),
        explanation,
    };
    match question.account.as_deref() {
        Some(name) => with_account(gateway, name, &question, view).await,
        None => Ok(view),
    }
}

/// Adds the price for an account, and why its message would be rejected.
async fn with_account(
    gateway: &Gateway,
    name: &str,
    question: &Question,
    view: LookupView,
) -> Result<LookupView> {
    let id = find_account(gateway, name)?;
    let catalogue = gateway.catalogue();
    let account = catalogue.account(id).ok_or_else(|| OperatorRefusal::no_such("account", name))?;
    let destination = Numbers::embedded().find(question.to);
    let now = gateway.clock.now();
    let price = account.prices().find(question.to, &destination, now);
    let per_part = price.and_then(|found| found.price.value);
    let has_route = view.explanation.route.is_some();
    let country_enabled = match (&account.account.countries, destination.country) {
        (_, Some(country)) => account.account.may_send_to(country),
        (Countries::All, None) => true,
        // A number of no country is on no list; without a route it is rejected for that.
        (Countries::Only(_), None) => !has_route,
    };
    let mut refused = standing_refusals(account, question);
    if !country_enabled {
        refused.push(Refusal::CountryBlocked);
    }
    let block = account.block_to(question.to, now);
    if block.is_some() {
        refused.push(Refusal::DestinationBlocked);
    }
    if per_part.is_none() {
        refused.push(Refusal::NoPrice);
    }
    if view.explanation.carrier.is_none() {
        refused.push(Refusal::NoRoute);
    }
    let cost = per_part.unwrap_or(Money::ZERO);
    refused.extend(stored_refusals(gateway, id, account, question.to, cost).await?);
    let mut refusals: Vec<String> =
        refused.iter().map(|refusal| format!("{}: {}", refusal.code(), refusal.sentence())).collect();
    if account.account.closed {
        refusals.insert(0, "The account is closed: none of its customers can sign in or bind.".to_owned());
    }
    Ok(LookupView {
        per_part: per_part.map(Amount),
        currency: Some(account.account.currency.to_string()),
        price: price.map(|found| price_name(name, &found, &catalogue)),
        country_enabled: Some(country_enabled),
        block: block.map(str::to_owned),
        refusals,
        ..view
    })
}

/// Returns the rejections that depend on the account and the sender alone.
fn standing_refusals(view: &AccountView, question: &Question) -> Vec<Refusal> {
    let suspended = view.account.suspended.is_some().then_some(Refusal::AccountSuspended);
    let unverified = (!view.account.verified).then_some(Refusal::VerificationRequired);
    let sender = question.from.and_then(|from| match view.sender_status(&from) {
        SenderStatus::Approved => None,
        SenderStatus::NotApproved => Some(Refusal::SenderNotApproved(from)),
        SenderStatus::Blocked => Some(Refusal::SenderBlocked(from)),
    });
    suspended.into_iter().chain(unverified).chain(sender).collect()
}

/// Returns the rejections that depend on the store, for a message of one part: opt-out, daily limits, credit.
async fn stored_refusals(
    gateway: &Gateway,
    id: AccountId,
    view: &AccountView,
    to: Msisdn,
    cost: Money,
) -> Result<Vec<Refusal>> {
    let mut refused = Vec::new();
    if gateway.store.opt_outs().find(id, to).await?.is_some() {
        refused.push(Refusal::RecipientOptedOut);
    }
    let now = gateway.clock.now();
    let Daily { messages_max, spend_max } = enforced_daily(view.controls());
    let today = gateway.store.money().day_totals(id, now.day(), now.day()).await?;
    let (messages, spend) = today.first().map_or((0, Money::ZERO), |today| (today.messages, today.spend));
    let spent = spend.checked_add(cost).unwrap_or(spend);
    if messages_max.is_some_and(|max| messages >= max) || spend_max.is_some_and(|max| spent > max) {
        let reopens = now.day().next().start().since(now).as_secs();
        refused.push(Refusal::TrafficControl { retry_after_s: u32::try_from(reopens).unwrap_or(u32::MAX) });
    }
    let available = account_balance(gateway, id, gateway.store.money().balance(id).await?)?.available;
    let available = available.checked_sub(view.account.minimum).unwrap_or(available);
    if cost > available {
        refused.push(Refusal::InsufficientCredit { cost, available });
    }
    Ok(refused)
}

/// Lists the error codes of the customer API.
pub fn list_errors(_: &Gateway) -> Result<ErrorsView> {
    Ok(ErrorsView { items: PUBLISHED.iter().map(ErrorView::from).collect() })
}
