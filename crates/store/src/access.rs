//! What reaches an open store: the queue of operations, the reads, and the state beside them.

use crate::backend::Backend;
use crate::shared::Shared;
use crate::writer::queue::Callers;
use std::sync::Arc;

pub(crate) struct Access {
    pub queue: Callers,
    pub backend: Backend,
    pub shared: Arc<Shared>,
}
