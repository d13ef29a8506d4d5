//! What all sessions share: names, limits and timeouts from the settings file, and the counters across sessions.

use super::bind_guard::BindGuard;
use super::rejected_bind_log::RejectedBindLog;
use crate::config::{IpNetwork, SmppSection};
use crate::listeners::{AddressLimits, ConnectionLimits, TrustedProxies};
use crate::open_files::smpp_places;
use hermod_domain::keyed_pace::Allowance;
use hermod_smpp::session::{ServerConfig, SessionLimits};
use hermod_store::ACCEPT_WAIT_MAX;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

/// The period of the bind attempt limits.
const ATTEMPTS_PER: Duration = Duration::from_secs(60);
/// How long a submit that was read may take to be answered after its bind has ended: it can wait [`ACCEPT_WAIT_MAX`], then be
/// passed to the node with the engine, and wait until another node has taken the engine over (6 to 11 s).
const ANSWER_MAX: Duration = ACCEPT_WAIT_MAX.saturating_mul(3);

pub struct SmppSettings {
    /// The system_id in our bind responses.
    pub(super) system_id: String,
    /// Timers and limits of the SMPP session.
    pub(super) server: ServerConfig,
    /// How long the client may leave our output unread.
    pub(super) write_max: Duration,
    pub(super) handshake_max: Duration,
    pub(super) sessions_max: u32,
    pub(super) per_address: AddressLimits,
    pub(super) proxies: TrustedProxies,
    pub(super) connection_limits: ConnectionLimits,
    pub(super) room: Arc<Semaphore>,
    /// Open connections of both listeners.
    pub(super) open: Arc<AtomicU32>,
    pub(super) guard: BindGuard,
    /// Limits the log lines about rejected binds.
    pub(super) rejected_bind_log: RejectedBindLog,
}

impl SmppSettings {
    /// Fails where the system has no random bytes.
    pub fn new(config: &SmppSection) -> std::io::Result<SmppSettings> {
        let allowance = |most| Allowance { most, per: ATTEMPTS_PER };
        // A few connections above the limit are accepted to reject their bind; further ones wait in the backlog.
        let places = smpp_places(config.max_sessions);
        Ok(SmppSettings {
            system_id: config.system_id.clone(),
            server: server_config(config),
            write_max: config.write_timeout.into(),
            handshake_max: config.handshake_timeout.into(),
            sessions_max: config.max_sessions,
            per_address: AddressLimits {
                open_max: config.max_sessions_per_address,
                half_open_max: config.max_half_open_per_address,
            },
            proxies: TrustedProxies::new(config.trusted_proxies.iter().map(|IpNetwork(network)| *network)),
            connection_limits: ConnectionLimits::default(),
            room: Arc::new(Semaphore::new(usize::try_from(places).expect("32 bits fit"))),
            open: Arc::default(),
            guard: BindGuard::new(
                allowance(config.bind_attempts),
                allowance(config.bind_attempts_per_system_id),
            )?,
            rejected_bind_log: RejectedBindLog::new(),
        })
    }

    /// Whether there are more connections than allowed sessions.
    pub(super) fn is_overrun(&self) -> bool {
        self.open.load(Ordering::Relaxed) > self.sessions_max
    }
}

fn server_config(config: &SmppSection) -> ServerConfig {
    let ms = |period: Duration| u64::try_from(period.as_millis()).unwrap_or(u64::MAX);
    let standard = ServerConfig::standard();
    ServerConfig {
        limits: SessionLimits {
            response_ms: ms(config.response_timeout.into()),
            inactivity_ms: Some(ms(config.idle_timeout.into())),
            pdu_read_ms: ms(config.pdu_timeout.into()),
            drain_ms: ms(config.unbind_timeout.into()),
            answer_ms: ms(ANSWER_MAX),
            pdu_bytes_max: u32::try_from(config.max_pdu.0).expect("checked when it was read"),
            ..standard.limits
        },
        session_init_ms: ms(config.bind_timeout.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn default_settings_are_the_standard_timers() {
        assert_eq!(server_config(&Config::defaults().smpp), ServerConfig::standard());
    }
}
