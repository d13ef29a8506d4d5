//! Which carriers serve a destination. A route names them in order of preference; the longest matching prefix
//! decides which route a message takes.

use smallvec::SmallVec;

use crate::ids::{CarrierId, RouteId};
use crate::lifecycle::DoubtPolicy;
use crate::phone::Msisdn;
use crate::prefix::{DuplicatePrefix, Prefix, PrefixTable};

pub const ROUTE_CARRIERS_MAX: usize = 8;

/// Carriers for a destination, best first: at least one, none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    id: RouteId,
    carriers: SmallVec<[CarrierId; 4]>,
    doubt: DoubtPolicy,
}

/// Why carriers do not make a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteRefusal {
    #[error("route {0} names no carrier")]
    NoCarrier(RouteId),
    #[error("route {0} names more than {ROUTE_CARRIERS_MAX} carriers")]
    TooManyCarriers(RouteId),
    #[error("route {0} names carrier {1} twice")]
    CarrierTwice(RouteId, CarrierId),
}

impl Route {
    pub fn new(id: RouteId, carriers: &[CarrierId], doubt: DoubtPolicy) -> Result<Route, RouteRefusal> {
        if carriers.is_empty() {
            return Err(RouteRefusal::NoCarrier(id));
        }
        if carriers.len() > ROUTE_CARRIERS_MAX {
            return Err(RouteRefusal::TooManyCarriers(id));
        }
        for (place, carrier) in carriers.iter().enumerate() {
            if carriers[..place].contains(carrier) {
                return Err(RouteRefusal::CarrierTwice(id, *carrier));
            }
        }
        Ok(Route { id, carriers: SmallVec::from_slice(carriers), doubt })
    }

    pub const fn id(&self) -> RouteId {
        self.id
    }

    /// In order of preference, never empty.
    pub fn carriers(&self) -> &[CarrierId] {
        &self.carriers
    }

    pub fn first_choice(&self) -> CarrierId {
        self.carriers[0]
    }

    /// What to do on this route about a part whose answer never came.
    pub const fn doubt(&self) -> DoubtPolicy {
        self.doubt
    }
}

/// Every route by prefix.
#[derive(Clone, Debug, Default)]
pub struct Routes(PrefixTable<Route>);

impl Routes {
    pub fn new(routes: impl IntoIterator<Item = (Prefix, Route)>) -> Result<Routes, DuplicatePrefix> {
        PrefixTable::build(routes).map(Routes)
    }

    /// `None` when nobody serves the destination.
    pub fn find(&self, to: Msisdn) -> Option<(Prefix, &Route)> {
        self.0.find_entry(to).map(|(prefix, route)| (*prefix, route))
    }

    pub fn entries(&self) -> &[(Prefix, Route)] {
        self.0.entries()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(id: u32, carriers: &[u32]) -> Result<Route, RouteRefusal> {
        let carriers: Vec<CarrierId> = carriers.iter().copied().map(CarrierId::new).collect();
        Route::new(RouteId::new(id), &carriers, DoubtPolicy::ResendOnce)
    }

    #[track_caller]
    fn check(routes: &Routes, to: &str, expect: Option<(u32, &[u32])>) {
        let found = routes.find(Msisdn::parse(to).unwrap());
        let expect = expect.map(|(id, carriers)| route(id, carriers).unwrap());
        assert_eq!(found.map(|(_, route)| route), expect.as_ref(), "{to}");
    }

    #[test]
    fn the_longest_prefix_decides_the_carriers() {
        let prefixes = ["49", "49151"].map(|prefix| Prefix::parse(prefix).unwrap());
        let routes =
            Routes::new(prefixes.into_iter().zip([route(1, &[7, 8]).unwrap(), route(2, &[9]).unwrap()]))
                .unwrap();
        check(&routes, "+498912345678", Some((1, &[7, 8])));
        check(&routes, "+4915112345678", Some((2, &[9])));
        check(&routes, "+33612345678", None);
        let first = routes
            .find(Msisdn::parse("+498912345678").unwrap())
            .map(|(prefix, route)| (prefix.to_string(), route.first_choice()));
        assert_eq!(first, Some(("49".to_owned(), CarrierId::new(7))));
    }

    #[test]
    fn a_route_has_one_to_eight_different_carriers() {
        let told = |carriers: &[u32]| route(5, carriers).map_err(|refusal| refusal.to_string());
        assert_eq!(told(&[]), Err("route 5 names no carrier".to_owned()));
        assert_eq!(told(&[1, 2, 1]), Err("route 5 names carrier 1 twice".to_owned()));
        assert_eq!(told(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), Err("route 5 names more than 8 carriers".to_owned()));
        assert_eq!(told(&[1, 2, 3, 4, 5, 6, 7, 8]).map(|route| route.carriers().len()), Ok(8));
    }
}
