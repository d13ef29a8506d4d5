//! What the requests of the operator API share.

use crate::app::operator::OperatorRefusal;
use crate::http::Reach;
use crate::secrets::operator_token::OperatorToken;
use crate::workers::Workers;
use crate::world::World;
use std::sync::Arc;

#[derive(Clone)]
pub struct Desk {
    pub(super) world: Arc<World>,
    pub(super) token: OperatorToken,
    /// Carries requests to their end even if the caller goes away: a change that is stored must come into force.
    pub(super) workers: Workers,
    pub(super) reach: Reach,
    /// Links to carriers are kept in this process, so that there is something to see of them.
    pub(super) running: bool,
}

impl Desk {
    /// For callers in this process.
    pub fn new(world: Arc<World>, token: OperatorToken, workers: Workers) -> Desk {
        Desk { world, token, workers, reach: Reach::Anywhere, running: false }
    }

    /// Of a gateway that keeps links.
    #[must_use]
    pub fn of_a_running_gateway(self) -> Desk {
        Desk { running: true, ..self }
    }

    /// What is about links needs some.
    pub(super) fn must_run(&self) -> Result<(), OperatorRefusal> {
        if self.running { Ok(()) } else { Err(OperatorRefusal::NotRunning) }
    }

    #[must_use]
    pub fn reached_from(self, reach: Reach) -> Desk {
        Desk { reach, ..self }
    }
}
