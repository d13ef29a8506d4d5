//! Why a message goes where it goes, in words: which route is taken and why the others are not, and how each carrier of it
//! stands.

use crate::app::operator::find_account;
use crate::app::operator::refusal::OperatorRefusal;
use crate::provision::route_name;
use crate::world::World;
use hermod_domain::area::Area;
use hermod_domain::carrier::Health;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId};
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;
use hermod_domain::route::{
    CarrierDecision, ConsideredCarrier, ConsideredRoute, RouteDecision, RouteQuery, RouteScope,
};
use hermod_domain::sender::Sender;

/// Numbers of accounts begin at 1: this one is nobody's.
const NOBODY: u32 = 0;

/// What somebody wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub to: Msisdn,
    /// Without one: an account that has no routes of its own.
    pub account: Option<String>,
    /// Without one: a sender that has none.
    pub from: Option<Sender>,
}

/// Where it would go, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    pub sentence: String,
    /// The name of the route that is taken.
    pub route: Option<String>,
    pub area: Option<Area>,
    /// The carrier that would get the message.
    pub carrier: Option<String>,
    /// About parts in doubt: what the route says, or else the carrier.
    pub in_doubt: Option<DoubtPolicy>,
    pub fail_over_refusals: bool,
    /// The one that is taken first.
    pub routes: Vec<ExplainedRoute>,
    /// In the order in which they are tried.
    pub carriers: Vec<ExplainedCarrier>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedRoute {
    pub route: String,
    pub verdict: RouteDecision,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedCarrier {
    pub carrier: String,
    pub priority: u8,
    pub weight: u16,
    /// Not known where no gateway runs.
    pub health: Option<Health>,
    pub standing: CarrierDecision,
    pub why: &'static str,
}

/// `running` says whether links are kept here, so that anybody knows how carriers are doing.
pub fn explain(world: &World, question: &Question, running: bool) -> Result<Explained, OperatorRefusal> {
    let Question { to, account, from } = question;
    let account = account.as_deref().map(|name| find_account(world, name)).transpose()?;
    let catalogue = world.catalogue();
    let from = from.unwrap_or_else(|| unmentioned_sender(&catalogue));
    let health = |carrier: CarrierId| match catalogue.carrier(carrier) {
        Some(known) if known.disabled => Health::Disabled,
        // As if everything were well.
        _ if !running => Health::Up,
        _ => world.carriers.health(carrier),
    };
    let sending = RouteQuery {
        account: account.unwrap_or(AccountId::new(NOBODY)),
        from: &from,
        to: *to,
        destination: Numbers::embedded().find(*to),
    };
    let told = catalogue.routes().explain(&sending, &health);
    let taken = catalogue.routes().serving(&sending);
    let chosen = told.carriers.iter().find(|one| one.decision == CarrierDecision::Chosen);
    let name_of = |whose: &RouteScope| named(&catalogue, whose);
    let explained = Explained {
        sentence: sentence(*to, taken.map(|(whose, _)| name_of(whose)), chosen, &catalogue),
        route: taken.map(|(whose, _)| name_of(whose)),
        area: taken.map(|(whose, _)| whose.area),
        carrier: chosen.map(|one| carrier_name(&catalogue, one.candidate.carrier)),
        in_doubt: taken.map(|(_, route)| {
            let of_carrier = || catalogue.carrier(chosen?.candidate.carrier)?.profile.in_doubt;
            route.doubt().or_else(of_carrier).unwrap_or_default()
        }),
        fail_over_refusals: taken.is_some_and(|(_, route)| route.fails_over_refusals()),
        routes: told.routes.iter().map(|looked| route_told(&catalogue, looked)).collect(),
        carriers: told.carriers.iter().map(|one| carrier_told(&catalogue, one, running)).collect(),
    };
    Ok(explained)
}

/// One that no route is for.
fn unmentioned_sender(catalogue: &Catalogue) -> Sender {
    let mentioned = |sender: &Sender| {
        catalogue.routes().entries().iter().any(|(whose, _)| whose.sender.as_ref() == Some(sender))
    };
    let invented = (0_u32..).map(|n| Sender::parse(&format!("a{n}")).expect("a letter and digits"));
    let mut unmentioned = invented.filter(|sender| !mentioned(sender));
    unmentioned.next().expect("there are more names than routes")
}

pub(super) fn carrier_name(catalogue: &Catalogue, id: CarrierId) -> String {
    let named = catalogue.carriers().iter().find(|(carrier, ..)| *carrier == id);
    named.map_or_else(|| id.to_string(), |(_, name, _)| name.clone())
}

fn account_name(catalogue: &Catalogue, id: AccountId) -> String {
    catalogue.account(id).map_or_else(|| id.to_string(), |view| view.name.clone())
}

fn named(catalogue: &Catalogue, whose: &RouteScope) -> String {
    let account = whose.account.map(|id| account_name(catalogue, id));
    route_name(account.as_deref(), whose.area, whose.sender.as_ref())
}

fn sentence(
    to: Msisdn,
    route: Option<String>,
    chosen: Option<&ConsideredCarrier>,
    catalogue: &Catalogue,
) -> String {
    let (Some(route), Some(chosen)) = (route, chosen) else {
        return format!("No route is for {to}: such a message is refused with NO_ROUTE.");
    };
    let carrier = carrier_name(catalogue, chosen.candidate.carrier);
    let then = match chosen.health {
        Health::Up | Health::Poor => "",
        Health::Down => ", and waits there until a link is bound",
        Health::Stopped => ", and waits there until somebody resumes it",
        Health::Disabled => ", and waits there until somebody enables it",
    };
    format!("A message to {to} goes by route {route} to carrier {carrier}{then}.")
}

fn route_told(catalogue: &Catalogue, looked: &ConsideredRoute) -> ExplainedRoute {
    let RouteScope { account, sender, area } = &looked.scope;
    let who = match (account.map(|id| account_name(catalogue, id)), sender) {
        (Some(account), Some(sender)) => format!("messages of account {account} from {sender}"),
        (Some(account), None) => format!("messages of account {account}"),
        (None, Some(sender)) => format!("messages from {sender}"),
        (None, None) => "everyone's messages".to_owned(),
    };
    let place = match area {
        Area::Prefix(prefix) if prefix.is_empty() => "every number".to_owned(),
        Area::Prefix(prefix) => format!("numbers that begin with {prefix}"),
        Area::Network(network) => format!("the network {network}"),
        Area::Mcc(mcc) => format!("networks of MCC {mcc}"),
        Area::Country(country) => country.name().to_owned(),
    };
    let verdict = match looked.decision {
        RouteDecision::Chosen => "taken, because none says more exactly who sends and where to",
        RouteDecision::LessExact => {
            "not taken, because the one that is says more exactly who sends or where to"
        }
        RouteDecision::OtherAccount => "not taken, because another account sends",
        RouteDecision::OtherSender => "not taken, because the message is from another sender",
        RouteDecision::NoCountry => "not taken, because the number belongs to no country",
    };
    ExplainedRoute {
        route: named(catalogue, &looked.scope),
        verdict: looked.decision,
        why: format!("for {who} to {place}: {verdict}"),
    }
}

fn carrier_told(catalogue: &Catalogue, one: &ConsideredCarrier, running: bool) -> ExplainedCarrier {
    let why = match (one.decision, one.health) {
        _ if !running && one.health == Health::Up => match one.decision {
            CarrierDecision::Chosen => {
                "would take it, if a link is bound; no gateway runs here that would know"
            }
            CarrierDecision::InReserve | CarrierDecision::Skipped => {
                "stands in if those before it cannot take it"
            }
        },
        (CarrierDecision::Chosen, Health::Up) => "takes it",
        (CarrierDecision::Chosen, Health::Poor) => {
            "takes it although it refuses or loses much: nobody better is there"
        }
        (CarrierDecision::Chosen, Health::Down) => {
            "keeps it until a link is bound: nobody else could send it now"
        }
        (CarrierDecision::Chosen, Health::Stopped) => {
            "keeps it until somebody resumes it: nobody else could send it"
        }
        (CarrierDecision::Chosen, Health::Disabled) => {
            "keeps it until somebody enables it: nobody else could send it"
        }
        (CarrierDecision::InReserve, Health::Up | Health::Poor) => {
            "stands in if those before it cannot take it"
        }
        (CarrierDecision::InReserve | CarrierDecision::Skipped, Health::Down) => {
            "could not: no link that sends is bound"
        }
        (CarrierDecision::InReserve | CarrierDecision::Skipped, Health::Stopped) => {
            "could not: it is stopped"
        }
        (CarrierDecision::InReserve | CarrierDecision::Skipped, Health::Disabled) => {
            "could not: it is disabled"
        }
        (CarrierDecision::Skipped, Health::Up | Health::Poor) => {
            "passed over: it refuses or loses much, and one behind it does better"
        }
    };
    ExplainedCarrier {
        carrier: carrier_name(catalogue, one.candidate.carrier),
        priority: one.candidate.priority,
        weight: one.candidate.weight,
        health: (running || one.health != Health::Up).then_some(one.health),
        standing: one.decision,
        why,
    }
}
