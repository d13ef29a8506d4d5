//! Counts requests, and gathers what is learnt about a request while it is handled, for its response and for the record. The
//! handles of metrics are cached: looking a metric up by its labels costs more than counting.

use super::paths::ApiRoute;
use crate::app::{CallerName, SignInFault};
use crate::gateway::RateLeft;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_store::record::Replay;
use metrics::{Counter, Histogram, counter, histogram};
use std::sync::OnceLock;

/// Every status of the API. Any other is counted as 0, which a test checks.
const STATUSES: [u16; 15] = [0, 200, 202, 303, 400, 401, 402, 403, 404, 405, 413, 422, 429, 500, 503];

pub(super) struct RequestMeters {
    routes: [RouteMeters; ApiRoute::COUNT],
}

#[derive(Default)]
struct RouteMeters {
    /// By index in [`STATUSES`]. Created on first use.
    requests: [OnceLock<Counter>; STATUSES.len()],
    duration: OnceLock<Histogram>,
}

impl RequestMeters {
    pub(super) fn new() -> RequestMeters {
        RequestMeters { routes: Default::default() }
    }

    pub(super) fn count(&self, route: ApiRoute, status: u16, duration_ms: u64) {
        let RouteMeters { requests, duration } = &self.routes[route as usize];
        let place = STATUSES.iter().position(|known| *known == status).unwrap_or(0);
        let request = requests[place].get_or_init(|| {
            let status = STATUSES[place].to_string();
            counter!("hermod_http_requests_total", "route" => route.template(), "status" => status)
        });
        request.increment(1);
        let duration = duration
            .get_or_init(|| histogram!("hermod_http_request_duration_seconds", "route" => route.template()));
        duration.record(std::time::Duration::from_millis(duration_ms));
    }
}

/// What was learnt about a request while it was handled.
#[derive(Default)]
pub(super) struct Seen {
    /// The account and connection of the API key, even if it is rejected.
    pub(super) caller: Option<(AccountId, ConnectionId)>,
    /// Why the credentials were rejected, for the record only.
    pub(super) sign_in_fault: Option<SignInFault>,
    /// The API key.
    pub(super) key: CallerName<'static>,
    pub(super) rate_left: Option<RateLeft>,
    pub(super) is_badly_framed: bool,
    /// The message that it is about, and whether its idempotency key was used before.
    pub(super) message: Option<MessageId>,
    pub(super) replay: Replay,
    /// Of a send request, if it is a number.
    pub(super) recipient: Option<Msisdn>,
}
