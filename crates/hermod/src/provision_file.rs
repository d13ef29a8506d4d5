//! A provision file at the start of a gateway: read before anything is opened, applied before anything runs.

use crate::ending::Failure;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::Source;
use hermod_gateway::provision::{self, Effect, Plan, ProvisionError, Wanted};
use hermod_gateway::running::Opened;
use std::path::Path;

pub(crate) fn read(file: &Path) -> Result<Wanted, Failure> {
    Source::read(file).and_then(|source| Wanted::parse(&source)).map_err(Failure::mend)
}

pub(crate) async fn apply(
    opened: &Opened,
    wanted: &Wanted,
    file: &Path,
    clock: &Clock,
) -> Result<Plan, Failure> {
    let plan = provision::apply(&opened.store, &opened.pepper, wanted, clock.now()).await;
    let plan = plan.map_err(|error| match error {
        ProvisionError::Refused(refusal) => Failure::mend(format!("{}: {refusal}", file.display())),
        ProvisionError::Store(fault) => Failure::failed(fault),
    })?;
    for change in plan.changes.iter().filter(|change| change.effect != Effect::Same) {
        tracing::info!(kind = %change.kind, name = change.name, effect = change.effect.as_str(), "Provisioned");
    }
    Ok(plan)
}
