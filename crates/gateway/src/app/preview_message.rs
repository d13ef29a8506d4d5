//! Previews a message: runs every check of a submission without storing, counting or charging anything, and without
//! stopping at the first refusal.

use crate::app::authenticate::Caller;
use crate::app::refusal_of;
use crate::app::submit_message::{draining, held, in_time, opted_out, review_digest, whole_seconds};
use crate::gateway::Gateway;
use hermod_domain::money::Money;
use hermod_domain::policy::{SubmissionPreview, preview_submission};
use hermod_domain::refusal::{Refusal, Unavailable};
use hermod_domain::submission::Submission;
use hermod_domain::time::Timestamp;
use hermod_domain::traffic::{Daily, enforced_daily, velocity_limits};
use hermod_store::{DailyLimits, DayTotals};

/// What a submission would get now.
#[derive(Clone, Debug)]
pub struct MessagePreview {
    /// What the setup of the account says: text, parts, price and route.
    pub checked: SubmissionPreview,
    /// Every refusal that the submission would get, in the order of the checks. Empty if it would be accepted.
    pub refusals: Vec<Refusal>,
}

impl MessagePreview {
    /// Returns the cost, if there is a price.
    pub fn cost(&self) -> Option<Money> {
        self.checked.priced.as_ref()?.as_ref().ok().map(|allowed| allowed.cost)
    }
}

/// Returns what [`submit_message`](super::submit_message()) would decide now. Fails if the store does not answer.
pub async fn preview_message(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
) -> Result<MessagePreview, Refusal> {
    let now = gateway.clock.now();
    let (catalogue, view) = (caller.catalogue(), caller.account());
    let checked =
        preview_submission(catalogue, view, caller.connection(), submission, now, &gateway.carriers);
    let mut refusals: Vec<Refusal> = gateway.is_draining().then(draining).into_iter().collect();
    refusals.extend(gateway.is_closed_by_hold().then(held));
    refusals.extend(checked.sender_refusals.iter().cloned());
    if opted_out(gateway, caller, submission).await? {
        refusals.push(Refusal::RecipientOptedOut);
    }
    refusals.extend(checked.country_blocked.then_some(Refusal::CountryBlocked));
    refusals.extend(checked.destination_blocked.then_some(Refusal::DestinationBlocked));
    if is_held(gateway, caller, submission, &checked, now).await? {
        refusals.push(Refusal::HeldForReview);
    }
    match &checked.priced {
        Some(Ok(allowed)) => {
            refusals.extend(over_limits(gateway, caller, submission, allowed.cost, now).await?)
        }
        Some(Err(refusal)) => refusals.push(refusal.clone()),
        None => {}
    }
    Ok(MessagePreview { checked, refusals })
}

/// Whether screening rules match and the text was not approved recently.
async fn is_held(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
    checked: &SubmissionPreview,
    now: Timestamp,
) -> Result<bool, Refusal> {
    let Some(from) = checked.from.filter(|_| !checked.rules.is_empty()) else { return Ok(false) };
    let digest = review_digest(caller.account, from, submission.text.as_str());
    let approved = gateway.store.reviews().is_approved(caller.account, digest, now);
    in_time(gateway, approved, Unavailable::QueueFull).await.map(|approved| !approved)
}

/// Returns the refusals by traffic controls, daily limits and credit.
async fn over_limits(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
    cost: Money,
    now: Timestamp,
) -> Result<Vec<Refusal>, Refusal> {
    let view = caller.account();
    let mut refusals = Vec::new();
    let velocity = velocity_limits(caller.account, view.controls(), submission.to);
    if !velocity.is_empty() {
        let over =
            in_time(gateway, gateway.store.velocity_refusal(velocity, now), Unavailable::QueueFull).await?;
        refusals.extend(over.map(|over| Refusal::TrafficControl { retry_after_s: whole_seconds(over.wait) }));
    }
    let Daily { messages_max, spend_max } = enforced_daily(view.controls());
    let today = now.day();
    let totals = gateway.store.money().day_totals(caller.account, today, today).await;
    let totals = totals.map_err(|fault| refusal_of(&fault))?.into_iter().find(|totals| totals.day == today);
    let limits = DailyLimits { messages_max, spend_max };
    if totals.unwrap_or(DayTotals::none(today)).with_message(cost, limits).is_err() {
        let reopens = today.next().start().since(now);
        refusals.push(Refusal::TrafficControl { retry_after_s: whole_seconds(reopens) });
    }
    let balance = gateway.store.money().balance(caller.account).await.map_err(|fault| refusal_of(&fault))?;
    let available = balance.spendable(view.account.credit_limit, view.account.minimum);
    if available.is_none_or(|available| cost > available) {
        let available = available.unwrap_or(Money::ZERO);
        refusals.push(Refusal::InsufficientCredit { cost, available });
    }
    Ok(refusals)
}
