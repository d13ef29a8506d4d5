//! What Hermod knows about a number before anything is sent to it: whose it is, which way it goes, what it costs an account
//! and why, and everything that would refuse a message there.

use crate::app::operator::explain::{Explained, Question, explain};
use crate::app::operator::refusal::OperatorRefusal;
use crate::app::operator::{find_account, money};
use crate::provision::price_name;
use crate::world::World;
use hermod_domain::catalogue::{AccountView, Countries, SenderStatus};
use hermod_domain::ids::AccountId;
use hermod_domain::money::{Currency, Money};
use hermod_domain::numbers::{Destination, Numbers};
use hermod_domain::phone::Msisdn;
use hermod_domain::price::{FoundPrice, PriceQuery};
use hermod_domain::refusal::Refusal;
use hermod_domain::traffic::{Daily, enforced_daily};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    pub number: Msisdn,
    pub destination: Destination<'static>,
    pub explained: Explained,
    /// Only where an account was named.
    pub account: Option<ForAccount>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForAccount {
    /// What its prices are in.
    pub currency: Currency,
    /// The price that decides.
    pub price: Option<PriceFound>,
    pub country_enabled: bool,
    /// Each reason why a message would be refused now, as the customer would be told it.
    pub refusals: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceFound {
    /// What the price is known by: `shop/49@2027-01-01`, `US`.
    pub name: String,
    pub per_part: Money,
}

pub async fn look_up_number(
    world: &World,
    question: &Question,
    running: bool,
) -> Result<Looked, OperatorRefusal> {
    let number = question.to;
    let destination = Numbers::embedded().find(number);
    let explained = explain(world, question, running)?;
    let account = match question.account.as_deref() {
        Some(name) => Some(for_account(world, name, question, &destination, &explained).await?),
        None => None,
    };
    Ok(Looked { number, destination, explained, account })
}

async fn for_account(
    world: &World,
    name: &str,
    question: &Question,
    destination: &Destination<'static>,
    explained: &Explained,
) -> Result<ForAccount, OperatorRefusal> {
    let id = find_account(world, name)?;
    let catalogue = world.catalogue();
    let view = catalogue.account(id).ok_or_else(|| OperatorRefusal::no_such("account", name))?;
    let asked = PriceQuery {
        to: question.to,
        network: destination.network,
        mcc: destination.mcc(),
        country: destination.country,
        now: world.clock.now(),
    };
    let price = view.prices().find(asked).map(|FoundPrice { price, is_own }| PriceFound {
        name: price_name(is_own.then_some(name), price),
        per_part: price.per_part,
    });
    let country_enabled = match (&view.account.countries, destination.country) {
        (Countries::All, _) => true,
        (countries, Some(country)) => countries.allow(country),
        // A number of no country is on no list; where no route is for its digits, that is what refuses it.
        (Countries::Only(_), None) => explained.route.is_none(),
    };
    let mut refused = standing_refusals(view, question);
    if !country_enabled {
        refused.push(Refusal::CountryBlocked);
    }
    if price.is_none() {
        refused.push(Refusal::NoPrice);
    }
    if explained.route.is_none() {
        refused.push(Refusal::NoRoute);
    }
    let cost = price.as_ref().map_or(Money::ZERO, |price| price.per_part);
    refused.extend(stored_refusals(world, name, id, view, question.to, cost).await?);
    let mut refusals: Vec<String> =
        refused.iter().map(|refusal| format!("{}: {}", refusal.code(), refusal.sentence())).collect();
    if view.account.closed {
        refusals.insert(0, "The account is closed: none of its customers can sign in or bind.".to_owned());
    }
    Ok(ForAccount { currency: view.account.currency, price, country_enabled, refusals })
}

/// What the account and the sender are refused for, wherever the message goes.
fn standing_refusals(view: &AccountView, question: &Question) -> Vec<Refusal> {
    let unverified = (!view.account.verified).then_some(Refusal::VerificationRequired);
    let sender = question.from.and_then(|from| match view.sender_status(&from) {
        SenderStatus::Approved => None,
        SenderStatus::NotApproved => Some(Refusal::SenderNotApproved(from)),
        SenderStatus::Blocked => Some(Refusal::SenderBlocked(from)),
    });
    unverified.into_iter().chain(sender).collect()
}

/// What only the store knows: opt-outs, the day's totals and the money, for a message of one part.
async fn stored_refusals(
    world: &World,
    name: &str,
    id: AccountId,
    view: &AccountView,
    to: Msisdn,
    cost: Money,
) -> Result<Vec<Refusal>, OperatorRefusal> {
    let mut refused = Vec::new();
    if world.store.opted_out(id, to).await?.is_some() {
        refused.push(Refusal::RecipientOptedOut);
    }
    let now = world.clock.now();
    let Daily { messages_max, spend_max } = enforced_daily(view.controls());
    let today = world.store.day_totals(id, now.day(), now.day()).await?;
    let (messages, spend) = today.first().map_or((0, Money::ZERO), |today| (today.messages, today.spend));
    let spent = spend.checked_add(cost).unwrap_or(spend);
    if messages_max.is_some_and(|max| messages >= max) || spend_max.is_some_and(|max| spent > max) {
        let reopens = now.day().next().start().since(now).as_secs();
        refused.push(Refusal::TrafficControl { retry_after_s: u32::try_from(reopens).unwrap_or(u32::MAX) });
    }
    let available = money::show_balance(world, name).await?.available;
    let available = available.checked_sub(view.account.minimum).unwrap_or(available);
    if cost > available {
        refused.push(Refusal::InsufficientCredit { cost, available });
    }
    Ok(refused)
}
