//! What Hermod knows about a number before anything is sent to it: whose it is, which way it goes, what it costs.

use crate::app::operator::explain::{Explained, Question, explain};
use crate::app::operator::find_account;
use crate::app::operator::refusal::OperatorRefusal;
use crate::world::World;
use hermod_domain::money::Money;
use hermod_domain::numbers::{Destination, Numbers};
use hermod_domain::phone::Msisdn;
use hermod_domain::price::Asked;

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
    pub per_part: Option<Money>,
    pub country_enabled: bool,
}

pub fn look_up_number(world: &World, question: &Question, running: bool) -> Result<Looked, OperatorRefusal> {
    let number = question.to;
    let id = question.account.as_deref().map(|account| find_account(world, account)).transpose()?;
    let catalogue = world.catalogue();
    let destination = Numbers::embedded().find(number);
    let asked =
        Asked { to: number, network: destination.network, mcc: destination.mcc(), now: world.clock.now() };
    let account = id.and_then(|id| catalogue.account(id)).map(|view| ForAccount {
        per_part: view.prices().quote(asked, 1).map(|quote| quote.per_part),
        country_enabled: destination.country.is_none_or(|country| view.account.countries.allow(country)),
    });
    Ok(Looked { number, destination, explained: explain(world, question, running)?, account })
}
