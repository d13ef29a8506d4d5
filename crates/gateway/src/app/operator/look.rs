//! What Hermod knows about a number before anything is sent to it: whose it is, which way it goes, what it costs.

use crate::app::operator::find_account;
use crate::app::operator::refusal::OperatorRefusal;
use crate::world::World;
use hermod_domain::area::Area;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::money::Money;
use hermod_domain::numbers::{Destination, Numbers};
use hermod_domain::phone::Msisdn;
use hermod_domain::price::Asked;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    pub number: Msisdn,
    pub destination: Destination<'static>,
    pub route: Option<WayOut>,
    /// Only where an account was named.
    pub account: Option<ForAccount>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayOut {
    pub area: Area,
    /// In order of preference.
    pub carriers: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForAccount {
    pub per_part: Option<Money>,
    pub country_enabled: bool,
}

pub fn look_up_number(
    world: &World,
    number: Msisdn,
    account: Option<&str>,
) -> Result<Looked, OperatorRefusal> {
    let id = account.map(|account| find_account(world, account)).transpose()?;
    let catalogue = world.catalogue();
    let destination = Numbers::embedded().find(number);
    let asked =
        Asked { to: number, network: destination.network, mcc: destination.mcc(), now: world.clock.now() };
    let account = id.and_then(|id| catalogue.account(id)).map(|view| ForAccount {
        per_part: view.prices().quote(asked, 1).map(|quote| quote.per_part),
        country_enabled: destination.country.is_none_or(|country| view.account.countries.allow(country)),
    });
    let everyones = catalogue.routes().entries().iter().filter(|(whose, _)| {
        whose.account.is_none_or(|account| Some(account) == id)
            && whose.sender.is_none()
            && whose.area.covers(number, &destination)
    });
    let route = everyones.max_by_key(|(whose, _)| (whose.account.is_some(), whose.area.rank())).map(
        |(whose, route)| WayOut {
            area: whose.area,
            carriers: route
                .candidates()
                .iter()
                .map(|candidate| carrier_name(&catalogue, candidate.carrier))
                .collect(),
        },
    );
    Ok(Looked { number, destination, route, account })
}

fn carrier_name(catalogue: &Catalogue, id: hermod_domain::ids::CarrierId) -> String {
    let named = catalogue.carriers().iter().find(|(carrier, ..)| *carrier == id);
    named.map_or_else(|| id.to_string(), |(_, name, _)| name.clone())
}
