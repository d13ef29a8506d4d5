//! A run of a node in the tables and connections of PostgreSQL.

use crate::node_run::NodeRun;

/// The name under which PostgreSQL lists the connection that writes for a node.
pub(super) fn application_name(schema: &str, run: NodeRun) -> String {
    format!("hermod {:08x} {}.{}", crc32c::crc32c(schema.as_bytes()), run.id, run.epoch)
}

pub(super) fn as_values(run: NodeRun) -> (i64, i64) {
    (i64::from(run.id), run.epoch.cast_signed())
}
