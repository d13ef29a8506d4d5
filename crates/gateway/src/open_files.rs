//! Raises the limit of open files and divides it, so that the connections of one listener cannot use up the file
//! descriptors of the other listeners, webhooks, carriers and the store.

use crate::config::Config;
use hermod_domain::catalogue::Catalogue;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors for the database, logs, timers and links of carriers that are added later.
const OTHER_FILES: u64 = 96;

/// The value used for "unlimited".
const UNLIMITED: u64 = 1 << 20;

/// Each listener may have at least this many connections.
const SHARE_MIN: u32 = 16;

/// The operations listener is for monitoring, load balancers and operators.
pub(crate) const OPERATIONS_CONNECTIONS_MAX: u32 = 1_000;

/// Raises the soft limit of open files to the hard one. Returns the limit in effect.
pub(crate) fn raise() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let most = maximum.unwrap_or(UNLIMITED);
    if current.is_some_and(|current| current < most) {
        // If that is not permitted, the current limit is used.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum });
    }
    getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED)
}

/// What a gateway needs file descriptors for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Customer-facing HTTP listeners: plain and TLS.
    pub(crate) http_listeners: u32,
    pub(crate) has_operations: bool,
    /// The most connections to carriers.
    pub(crate) links: u32,
}

impl Needs {
    pub(crate) fn of(catalogue: &Catalogue, has_https: bool, has_operations: bool) -> Needs {
        Needs {
            http_listeners: if has_https { 2 } else { 1 },
            has_operations,
            // A link has one or two binds.
            links: catalogue
                .carriers()
                .iter()
                .map(|(_, _, carrier)| 2 * u32::from(carrier.profile.links))
                .sum(),
        }
    }
}

/// Reduces the limits of the settings in proportion to what the limit of open files allows, and logs a warning.
/// Changes nothing if there are enough file descriptors.
pub(crate) fn fit(config: &mut Config, needs: Needs, limit: u64) {
    let needed = needed(config, needs);
    if needed <= limit {
        return;
    }
    cut(config, needs, limit);
    let Config { http, smpp, webhooks, .. } = config;
    // One address must not use all connections.
    for (all, per_address, half_open) in [
        (http.max_connections, &mut http.max_connections_per_address, &mut http.max_half_open_per_address),
        (smpp.max_sessions, &mut smpp.max_sessions_per_address, &mut smpp.max_half_open_per_address),
    ] {
        *per_address = (*per_address).min(all / 2).max(1);
        *half_open = (*half_open).min(*per_address / 2).max(1);
    }
    tracing::warn!(
        limit,
        needed,
        "This process may open {limit} files, but the settings need {needed}. Limits are reduced to {} connections per \
         HTTP listener, {} SMPP sessions and {} webhook posts. Raise the hard limit (LimitNOFILE={needed} \
         in the systemd unit, or ulimit -Hn {needed}), or lower http.max_connections, smpp.max_sessions and \
         webhooks.max_posts",
        http.max_connections,
        smpp.max_sessions,
        webhooks.max_posts
    );
}

/// Reduces every limit by the same factor. The minimum shares may exceed it, so the factor falls until the sum fits.
fn cut(config: &mut Config, needs: Needs, limit: u64) {
    let reserved = OTHER_FILES + u64::from(needs.links);
    let wanted = needed(config, needs).saturating_sub(reserved).max(1);
    let Config { http, smpp, webhooks, .. } = config.clone();
    let mut room = limit.saturating_sub(reserved);
    loop {
        let share = |most: u32| {
            let share = u64::from(most).saturating_mul(room) / wanted;
            u32::try_from(share).unwrap_or(most).clamp(SHARE_MIN.min(most), most)
        };
        config.http.max_connections = share(http.max_connections);
        config.smpp.max_sessions = smpp_sessions_within(share(smpp_places(smpp.max_sessions)));
        config.webhooks.max_posts = share(webhooks.max_posts).max(2);
        if needed(config, needs) <= limit || room == 0 {
            return;
        }
        room -= (room / 10).max(1);
    }
}

/// Returns the file descriptors that the settings can use at once.
fn needed(config: &Config, needs: Needs) -> u64 {
    let Config { http, smpp, webhooks, .. } = config;
    let operations =
        if needs.has_operations { http.max_connections.min(OPERATIONS_CONNECTIONS_MAX) } else { 0 };
    OTHER_FILES
        + u64::from(http.max_connections) * u64::from(needs.http_listeners)
        + u64::from(operations)
        + u64::from(smpp_places(smpp.max_sessions))
        + u64::from(webhooks.max_posts)
        + u64::from(needs.links)
}

/// Connections above `max_sessions` that are accepted to reject their bind.
const SMPP_REFUSED_AT_ONCE_MAX: u32 = 100;

/// Returns the connections of the SMPP listeners: the sessions, and those whose bind is rejected.
pub(crate) fn smpp_places(sessions: u32) -> u32 {
    sessions.saturating_add(SMPP_REFUSED_AT_ONCE_MAX.min(sessions.max(8)))
}

/// Returns the most sessions for this many connections.
fn smpp_sessions_within(places: u32) -> u32 {
    (places.saturating_sub(SMPP_REFUSED_AT_ONCE_MAX)).max(places / 2).max(1)
}

#[cfg(test)]
#[path = "open_files_tests.rs"]
mod tests;
