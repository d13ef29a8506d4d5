//! What keeps messages from being sent, seen by the operator: opt-outs, review cases, traffic controls.

use crate::app::operator::refusal::OperatorRefusal;
use crate::app::operator::{account_name, find_account};
use crate::world::World;
use hermod_domain::phone::Msisdn;
use hermod_domain::traffic::Control;
use hermod_store::{DayTotals, OptOut, ReviewCase, ReviewState};

/// In order of their numbers, and the one to go on behind, if there is more.
pub async fn opt_outs(
    world: &World,
    account: &str,
    after: Option<Msisdn>,
    limit: u32,
) -> Result<(Vec<OptOut>, Option<Msisdn>), OperatorRefusal> {
    let id = find_account(world, account)?;
    let found = world.store.opt_outs(id, after, limit).await?;
    let next = found.last().filter(|_| is_full(found.len(), limit)).map(|last| last.number);
    Ok((found, next))
}

/// What is kept of it, and whether it is new.
pub async fn opt_out(
    world: &World,
    account: &str,
    number: Msisdn,
    how: String,
) -> Result<(OptOut, bool), OperatorRefusal> {
    let id = find_account(world, account)?;
    let entry = OptOut { account: id, number, how, now: world.clock.now() };
    let new = world.store.opt_out(entry.clone()).await?;
    let kept = world.store.opted_out(id, number).await?;
    Ok((kept.unwrap_or(entry), new))
}

pub async fn forget_opt_out(world: &World, account: &str, number: Msisdn) -> Result<(), OperatorRefusal> {
    let id = find_account(world, account)?;
    if world.store.opt_in(id, number).await? {
        return Ok(());
    }
    Err(OperatorRefusal::NotFound(format!("{number} has not opted out of account \"{account}\"")))
}

/// A case, with the name of its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewed {
    pub account: String,
    pub case: ReviewCase,
}

/// Newest first, and the id to go on before, if there is more.
pub async fn reviews(
    world: &World,
    state: Option<ReviewState>,
    before: Option<u64>,
    limit: u32,
) -> Result<(Vec<Reviewed>, Option<u64>), OperatorRefusal> {
    let cases = world.store.reviews(state, before, limit).await?;
    let next = cases.last().filter(|_| is_full(cases.len(), limit)).map(|last| last.id);
    Ok((cases.into_iter().map(|case| named(world, case)).collect(), next))
}

pub async fn review(world: &World, id: u64) -> Result<Reviewed, OperatorRefusal> {
    let found = world.store.review(id).await?;
    found.map(|case| named(world, case)).ok_or_else(|| no_case(id))
}

/// The last decision holds. An approval lets the customer's own retry pass for a week.
pub async fn decide(world: &World, id: u64, approve: bool, by: String) -> Result<Reviewed, OperatorRefusal> {
    let decided = world.store.decide_review(id, approve, by.clone(), world.clock.now()).await?;
    let decided = decided.ok_or_else(|| no_case(id))?;
    tracing::info!(case = id, approve, by, "Decided by the operator");
    Ok(named(world, decided))
}

fn no_case(id: u64) -> OperatorRefusal {
    OperatorRefusal::NotFound(format!("there is no review case {id}"))
}

fn named(world: &World, case: ReviewCase) -> Reviewed {
    Reviewed { account: account_name(world, case.account), case }
}

/// What an account sent today, and what it is held to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    pub today: DayTotals,
    pub controls: Vec<ControlToday>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlToday {
    pub control: Control,
    /// Messages that it would have refused if it did more than watch, since the gateway started.
    pub would_have_refused: u64,
}

pub async fn traffic_today(world: &World, account: &str) -> Result<Traffic, OperatorRefusal> {
    let id = find_account(world, account)?;
    let today = world.clock.now().day();
    let totals = world.store.day_totals(id, today, today).await?;
    let catalogue = world.catalogue();
    let controls = catalogue.account(id).map(|view| view.controls()).unwrap_or_default();
    let controls = controls.iter().map(|control| ControlToday {
        control: control.clone(),
        would_have_refused: world.times_watched(id, &control.name),
    });
    Ok(Traffic {
        today: totals.first().copied().unwrap_or(DayTotals::none(today)),
        controls: controls.collect(),
    })
}

/// A page with room left was the last.
fn is_full(rows: usize, limit: u32) -> bool {
    rows >= usize::try_from(limit).unwrap_or(usize::MAX)
}
