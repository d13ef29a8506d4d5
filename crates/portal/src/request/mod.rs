//! What the handlers of pages share: the user of a request, forms, responses, and what surrounds every request.

pub(crate) mod cookie;
pub(crate) mod extract;
pub(crate) mod flash;
pub(crate) mod guard;
pub(crate) mod host;
pub(crate) mod member;
pub(crate) mod next_page;
pub(crate) mod qr;
pub(crate) mod remedies;
pub(crate) mod reply;
pub(crate) mod shown;

use hermod_gateway::gateway::Gateway;
use hermod_gateway::workers::Workers;
use std::sync::Arc;
use std::time::Duration;

/// What the handlers share.
pub(crate) struct Portal {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) workers: Workers,
    /// The only host whose pages these are; none if any host is answered.
    pub(crate) host: Option<String>,
    /// Whether the connections of this listener are encrypted.
    pub(crate) is_tls: bool,
    /// How long the texts of messages are kept.
    pub(crate) texts_kept: Duration,
}

pub(crate) type State = axum::extract::State<Arc<Portal>>;
