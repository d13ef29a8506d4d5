//! The alarm about messages that leave less than the margin of their route.

use crate::gateway::Gateway;
use crate::live_status::{AlarmKind, Losses};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, RouteId};
use std::time::Duration;

/// A route of which no message of an account made a loss for this long makes none any more.
const LOSS_WITHIN: Duration = Duration::from_secs(15 * 60);

/// Raises `sold-at-loss` for the accounts and routes of which this node accepted such messages lately, and clears it when it
/// accepts no more.
pub fn check_losses(gateway: &Gateway) {
    let (catalogue, now) = (gateway.catalogue(), gateway.clock.now());
    let losses = gateway.losses.since(now.minus(LOSS_WITHIN));
    let mut causes: Vec<_> = losses
        .into_iter()
        .filter_map(|(account, route, losses)| cause(&catalogue, account, route, &losses))
        .collect();
    causes.sort();
    gateway.alarms.replace(AlarmKind::SoldAtLoss, "", &causes, now);
}

/// Returns what the alarm is about, and its detail; none if the account or the route is gone.
fn cause(
    catalogue: &Catalogue,
    account: AccountId,
    route: RouteId,
    losses: &Losses,
) -> Option<(String, String)> {
    let view = catalogue.account(account)?;
    let (scope, _) = catalogue.routes().entries().iter().find(|(_, known)| known.id() == route)?;
    let Losses { first_at, count, margin, last_at: _ } = losses;
    let messages = if *count == 1 { "1 message left".to_owned() } else { format!("{count} messages left") };
    let detail = format!(
        "{messages} less than the margin of the route for {} since {}; of the price of the last one {margin} {} remained",
        scope.area,
        first_at.to_iso(),
        view.account.currency
    );
    let sender = scope.sender.map(|sender| format!("@{sender}")).unwrap_or_default();
    Some((format!("{}/{}{sender}", view.name, scope.area.name()), detail))
}

#[cfg(test)]
#[path = "loss_alarms_tests.rs"]
mod tests;
