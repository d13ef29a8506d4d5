//! What the routes of every subject share: how a request is admitted, read and answered, and how a route is declared.

pub(crate) mod body;
pub(crate) mod caller;
mod csv_body;
pub(crate) mod guard;
pub(crate) mod json;
pub(crate) mod response;
pub(crate) mod routes;
pub(crate) mod use_case;

pub use crate::http::body::FILE_BYTES_MAX;
pub use hermod_gateway::http::{Reach, Source};

use hermod_gateway::gateway::Gateway;
use hermod_gateway::secrets::operator_token::OperatorToken;
use hermod_gateway::workers::Workers;
use std::sync::Arc;

/// The prefix of every path of the API.
pub const BASE: &str = "/operator/v1";

/// What the routes share.
#[derive(Clone)]
pub struct OperatorApi {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) token: OperatorToken,
    /// Runs each request to its end even if the caller disconnects: a stored change must come into force.
    pub(crate) workers: Workers,
    pub(crate) reach: Reach,
    /// Whether this process has links to carriers and customers' binds.
    pub(crate) is_running: bool,
}

impl OperatorApi {
    /// The API of a process without links, for callers in this process.
    pub fn new(gateway: Arc<Gateway>, token: OperatorToken, workers: Workers) -> OperatorApi {
        OperatorApi { gateway, token, workers, reach: Reach::Anywhere, is_running: false }
    }

    /// The API of a running gateway, which has links.
    #[must_use]
    pub fn of_running_gateway(self) -> OperatorApi {
        OperatorApi { is_running: true, ..self }
    }

    /// Restricts the callers by their address.
    #[must_use]
    pub fn reachable_from(self, reach: Reach) -> OperatorApi {
        OperatorApi { reach, ..self }
    }
}
