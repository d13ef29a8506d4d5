//! What the requests of the operator API share.

use crate::app::operator::OperatorRefusal;
use crate::operator_token::OperatorToken;
use crate::workers::Workers;
use crate::world::World;
use axum::http::{Extensions, HeaderMap};
use std::net::IpAddr;
use std::sync::Arc;

/// Tells who sent a request, if that is known.
pub type CallerOf = fn(&Extensions, &HeaderMap) -> Option<IpAddr>;

/// From where the API may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Anywhere,
    ThisMachine,
}

#[derive(Clone)]
pub struct Desk {
    pub(super) world: Arc<World>,
    pub(super) token: OperatorToken,
    /// Carries requests to their end even if the caller goes away: a change that is stored must come into force.
    pub(super) workers: Workers,
    pub(super) caller_of: CallerOf,
    pub(super) reach: Reach,
    /// Links to carriers are kept in this process, so that there is something to see of them.
    pub(super) running: bool,
}

impl Desk {
    /// For callers in this process.
    pub fn new(world: Arc<World>, token: OperatorToken, workers: Workers) -> Desk {
        Desk { world, token, workers, caller_of: |_, _| None, reach: Reach::Anywhere, running: false }
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
    pub fn reached_by(self, caller_of: CallerOf, reach: Reach) -> Desk {
        Desk { caller_of, reach, ..self }
    }
}
