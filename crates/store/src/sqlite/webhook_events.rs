//! SQL for webhook events and their attempts.

use crate::sqlite::SqliteTables;
use hermod_engine::tables::WebhookEventRows;

impl WebhookEventRows for SqliteTables<'_> {}
