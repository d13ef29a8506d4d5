//! SQL for which account last wrote to whom from a shared number.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::ConversationRows;

impl ConversationRows for SqliteTables<'_> {}
