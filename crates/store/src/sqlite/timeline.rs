//! SQL for what happened to a message beyond its ordinary course.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::TimelineRows;

impl TimelineRows for SqliteTables<'_> {}
