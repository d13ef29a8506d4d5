//! The schema of a store on a server: its version, and what is left to migrate.

use std::fmt;

/// Whether a migration may run beside gateways of earlier releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationKind {
    /// It only adds: gateways of earlier releases keep working. A gateway applies it at its start.
    Expand,
    /// It removes or changes what earlier releases use. `hermod migrate --contract` applies it once none of them runs.
    Contract,
}

impl fmt::Display for MigrationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            MigrationKind::Expand => "expand",
            MigrationKind::Contract => "contract",
        })
    }
}

/// One migration, as it is shown to the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationStep {
    /// The schema version after it.
    pub number: i64,
    pub kind: MigrationKind,
    /// What it does, as an imperative.
    pub what: &'static str,
}

/// The version of a schema, and what is left to migrate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaStatus {
    /// The server, its database and the schema, without the password.
    pub place: String,
    /// 0 if there are no tables yet.
    pub found: i64,
    /// The newest version that this release knows.
    pub known: i64,
    /// Releases that know this version or a later one can use the schema.
    pub compatible_from: i64,
    /// In the order in which they run.
    pub pending: Vec<MigrationStep>,
}

impl SchemaStatus {
    /// Returns the pending migrations that a run applies, which goes up to the first that is of another kind than `kinds`
    /// allow. An empty schema gets all of them, because no gateway uses it.
    pub fn runnable(&self, kinds: MigrationKind) -> &[MigrationStep] {
        let allowed = |step: &&MigrationStep| {
            self.found == 0 || kinds == MigrationKind::Contract || step.kind == MigrationKind::Expand
        };
        let length = self.pending.iter().take_while(allowed).count();
        &self.pending[..length]
    }
}
