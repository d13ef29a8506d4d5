//! How each carrier is doing.

use hermod_domain::carrier::Health;
use hermod_domain::ids::CarrierId;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// One entry per carrier of the catalogue that links were ever kept to.
#[derive(Debug, Default)]
pub struct CarrierBoard {
    healths: RwLock<HashMap<CarrierId, Health>>,
}

impl CarrierBoard {
    /// Down, for one that nothing is known of.
    pub fn health(&self, carrier: CarrierId) -> Health {
        let healths = self.healths.read().unwrap_or_else(PoisonError::into_inner);
        healths.get(&carrier).copied().unwrap_or_default()
    }

    pub fn set_health(&self, carrier: CarrierId, health: Health) {
        self.healths.write().unwrap_or_else(PoisonError::into_inner).insert(carrier, health);
    }
}
