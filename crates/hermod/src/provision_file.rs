//! The provision file of the settings: read before the store is opened, applied before the gateway starts.

use crate::failure::Failure;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::Source;
use hermod_gateway::running::Opened;
use hermod_operator::author::Author;
use hermod_operator::entry::plan::{Change, Effect, Plan};
use hermod_operator::refusal::ProvisionError;
use hermod_operator::setup;
use hermod_operator::setup::file_entries::WantedSetup;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The mode bit of a file that every user may read.
const READABLE_BY_OTHERS: u32 = 0o004;

pub(crate) fn read(file: &Path) -> Result<WantedSetup, Failure> {
    Source::read(file).and_then(|source| WantedSetup::parse(&source)).map_err(Failure::usage)
}

/// Returns a warning if the file holds secrets and every user of the machine may read it.
pub(crate) fn exposure(file: &Path, wanted: &WantedSetup) -> Option<String> {
    let mode = std::fs::metadata(file).ok()?.permissions().mode();
    let is_exposed = mode & READABLE_BY_OTHERS != 0 && wanted.has_secrets();
    let file = file.display();
    is_exposed
        .then(|| format!("{file} holds secrets and every user of this machine may read it: chmod 600 {file}"))
}

pub(crate) async fn apply(
    opened: &Opened,
    wanted: &WantedSetup,
    file: &Path,
    clock: &Clock,
) -> Result<Plan, Failure> {
    // Nodes that start together apply their files one after another: each sees what the one before has made.
    let _alone = opened.store.cluster().lock_catalogue().await.map_err(Failure::failed)?;
    let plan = setup::apply(&opened.store, &opened.pepper, wanted, &Author::file(file), clock.now()).await;
    let plan = plan.map_err(|error| match error {
        ProvisionError::Refused(refusal) => Failure::usage(format!("{}: {refusal}", file.display())),
        ProvisionError::Store(fault) => Failure::failed(fault),
    })?;
    for warning in &plan.warnings {
        tracing::warn!("{warning}");
    }
    for Change { kind, name, effect, left, .. } in &plan.changes {
        if effect.is_change() {
            tracing::info!(%kind, name, effect = effect.as_str(), "Provisioned");
        }
        if !left.is_empty() {
            let fields: Vec<&str> = left.iter().map(|left| left.field.as_str()).collect();
            tracing::info!(
                %kind,
                name,
                fields = fields.join(", "),
                "Not applied: changed since the provision file was last applied; hermod apply --force overwrites them"
            );
        }
        if *effect == Effect::Left {
            tracing::info!(
                %kind,
                name,
                "Not applied: removed or created again since the provision file was last applied; hermod apply --force overwrites it"
            );
        }
    }
    Ok(plan)
}
