//! The SMPP server (SMSC side): customers bind, submit messages, and receive DLRs and MO messages. `listener` accepts a
//! connection, `bind` authenticates it, and `session` serves it.

mod bind;
mod bind_guard;
mod command_status;
mod hash_queue;
mod listener;
mod mo_pdu;
mod query_cancel;
mod receipt_pdu;
mod rejected_bind_log;
mod session;
mod settings;
mod submit;

pub use listener::{Peer, SmppListener};
pub use settings::SmppSettings;

use crate::gateway::Gateway;
use crate::workers::Workers;
use std::sync::Arc;

/// Accepts connections until `workers` leave.
pub async fn serve(
    listener: SmppListener,
    gateway: Arc<Gateway>,
    settings: Arc<SmppSettings>,
    workers: Workers,
) {
    let (carried, held_to) = (gateway.clone(), settings.clone());
    let session = move |stream, peer, place, stops| {
        session::run(carried.clone(), held_to.clone(), stream, peer, place, stops)
    };
    let (clock, counting) = (gateway.clock.clone(), settings.clone());
    tokio::select! {
        () = listener::serve(listener, clock.clone(), settings, workers, session) => {}
        () = counting.rejected_bind_log.write_counts(&gateway) => {}
    }
}
