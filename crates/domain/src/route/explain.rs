//! Why a message goes where it goes: every route that has something to say about the destination with what became of
//! it, and every carrier of the chosen one with how it is doing and whether it would be taken.

use super::{Candidate, Route, RouteFor, Routes, Sending};
use crate::carrier::Health;
use crate::ids::{CarrierId, RouteId};

/// The whole story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The chosen one first, then those that would have been asked after it, then those of other people.
    pub routes: Vec<Looked>,
    /// In the order in which they are tried. Empty where there is no route.
    pub carriers: Vec<Considered>,
}

/// A route whose destinations include the one asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looked {
    pub route: RouteId,
    pub whose: RouteFor,
    pub verdict: RouteVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteVerdict {
    Chosen,
    /// Another one says more exactly who or where.
    LessExact,
    OtherAccount,
    OtherSender,
    /// A route for everywhere is for every country there is, and this number is of none.
    NoCountry,
}

impl RouteVerdict {
    pub const fn as_str(self) -> &'static str {
        match self {
            RouteVerdict::Chosen => "chosen",
            RouteVerdict::LessExact => "less-exact",
            RouteVerdict::OtherAccount => "other-account",
            RouteVerdict::OtherSender => "other-sender",
            RouteVerdict::NoCountry => "no-country",
        }
    }
}

/// One carrier of the chosen route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Considered {
    pub candidate: Candidate,
    pub health: Health,
    pub standing: Standing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It would take the message.
    Chosen,
    /// It would if those before it could not.
    InReserve,
    /// It stands before the chosen one and cannot be taken.
    Skipped,
}

impl Standing {
    pub const fn as_str(self) -> &'static str {
        match self {
            Standing::Chosen => "chosen",
            Standing::InReserve => "in-reserve",
            Standing::Skipped => "skipped",
        }
    }
}

impl Routes {
    pub fn explain(&self, sending: &Sending<'_>, health: &dyn Fn(CarrierId) -> Health) -> Explanation {
        let chosen = self.serving(sending);
        let mut routes: Vec<Looked> = self
            .entries()
            .iter()
            .filter(|(whose, _)| whose.area.covers(sending.to, &sending.destination))
            .map(|(whose, route)| Looked {
                route: route.id(),
                whose: *whose,
                verdict: verdict(whose, route, chosen.map(|(_, route)| route), sending),
            })
            .collect();
        routes.sort_by_key(|looked| {
            let RouteFor { account, sender, area } = looked.whose;
            let foreign = matches!(looked.verdict, RouteVerdict::OtherAccount | RouteVerdict::OtherSender);
            (foreign, account.is_none(), sender.is_none(), std::cmp::Reverse(area.rank()))
        });
        let carriers = chosen.map(|(_, route)| considered(route, sending, health)).unwrap_or_default();
        Explanation { routes, carriers }
    }
}

fn verdict(whose: &RouteFor, route: &Route, chosen: Option<&Route>, sending: &Sending<'_>) -> RouteVerdict {
    if whose.account.is_some_and(|account| account != sending.account) {
        return RouteVerdict::OtherAccount;
    }
    if whose.sender.is_some_and(|sender| sender != *sending.from) {
        return RouteVerdict::OtherSender;
    }
    match chosen {
        Some(chosen) if chosen.id() == route.id() => RouteVerdict::Chosen,
        _ if sending.destination.country.is_none() && whose.area.is_everywhere() => RouteVerdict::NoCountry,
        _ => RouteVerdict::LessExact,
    }
}

fn considered(route: &Route, sending: &Sending<'_>, health: &dyn Fn(CarrierId) -> Health) -> Vec<Considered> {
    let taken = route.choose(sending.to, health);
    let mut before = true;
    let stand = |candidate: Candidate| {
        let standing = if candidate.carrier == taken {
            before = false;
            Standing::Chosen
        } else if before {
            Standing::Skipped
        } else {
            Standing::InReserve
        };
        Considered { candidate, health: health(candidate.carrier), standing }
    };
    route.order(sending.to).into_iter().map(stand).collect()
}
