//! The delivery rates by which routes choose carriers, from the figures of the last days.

use crate::gateway::Gateway;
use hermod_domain::carrier::DeliveryRates;
use hermod_domain::route::ChooseBy;
use hermod_domain::time::Day;
use hermod_store::{DeliveryFigures, StoreError};

/// Days of which rates are made, today included.
const RATE_DAYS: i64 = 7;

/// Reads the rates, if a route chooses by cost or quality.
pub async fn read_delivery_rates(gateway: &Gateway) -> Result<(), StoreError> {
    let catalogue = gateway.catalogue();
    let mut routes = catalogue.routes().entries().iter();
    if routes.all(|(_, route)| route.rules().costs.choose == ChooseBy::Priority) {
        return Ok(());
    }
    let today = gateway.clock.now().day();
    let from = Day::new(today.get() - RATE_DAYS + 1);
    let rows = gateway.store.receipts().delivery_figures(from, today, None).await?;
    let counts = rows.into_iter().map(|row| {
        let DeliveryFigures { delivered, failed, expired, rejected, .. } = row.figures;
        (row.carrier, row.country, delivered, delivered + failed + expired + rejected)
    });
    gateway.carriers.set_delivery_rates(DeliveryRates::collect(counts));
    Ok(())
}
