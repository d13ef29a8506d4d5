//! What the nodes on one server tell each other, and changes of the setup by other nodes.

use super::OperatorSide;
use crate::gateway::{Gateway, load_catalogue};
use crate::live_status::{QueueStatus, SendingCarrier};
use crate::node_messages::{self, ReceivedQuery};
use hermod_domain::ids::CarrierId;
use hermod_store::NodeEnvelope;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What a node tells the others.
#[derive(Serialize, Deserialize)]
struct Notice {
    /// The carriers that its links can send to.
    sending: Vec<SendingCarrier>,
    /// The carriers' queues, by which the nodes with the links decide their health. From the node with the engine only.
    queues: Option<Vec<(CarrierId, QueueStatus)>>,
}

/// Tells the other nodes about this one, and takes in what they say.
pub(super) fn exchange_notices(gateway: &Gateway) {
    let runs_engine = gateway.store.runs_engine();
    match serde_json::to_vec(&notice_of(gateway, runs_engine)) {
        Ok(notice) => gateway.store.cluster().set_notice(notice),
        Err(error) => tracing::error!(%error, "The notice for the other nodes could not be written"),
    }
    take_in_notices(gateway, runs_engine, &gateway.store.cluster().notices());
}

fn notice_of(gateway: &Gateway, runs_engine: bool) -> Notice {
    Notice {
        sending: gateway.carriers.sending(gateway.clock.moment(), gateway.clock.now()),
        queues: runs_engine.then(|| gateway.carriers.queues()),
    }
}

fn take_in_notices(gateway: &Gateway, runs_engine: bool, said: &[Vec<u8>]) {
    // A node of another release may say what this one does not understand.
    let understood: Vec<Notice> =
        said.iter().filter_map(|notice| serde_json::from_slice(notice).ok()).collect();
    let queues = understood.iter().find_map(|notice| notice.queues.as_ref());
    if let Some(queues) = queues.filter(|_| !runs_engine) {
        gateway.carriers.set_queues(queues);
    }
    gateway.carriers.set_elsewhere(understood.into_iter().flat_map(|notice| notice.sending));
}

/// Queries of other nodes that are answered at the same time.
const QUERIES_MAX: usize = 8;
/// How soon the hold of the gateway is read again if it could not be read.
const HOLD_RETRY: Duration = Duration::from_secs(1);

/// Acts on the messages of other nodes, until `stopping` is cancelled.
pub(super) async fn receive_messages(
    gateway: Arc<Gateway>,
    operator: Option<OperatorSide>,
    mut envelopes: mpsc::Receiver<NodeEnvelope>,
    stopping: CancellationToken,
) {
    let mut answering = JoinSet::new();
    loop {
        tokio::select! {
            Some(envelope) = envelopes.recv() => {
                let Some(received) = node_messages::receive(&gateway, &envelope) else { continue };
                // Beyond the limit there is no answer, and the other node lists this one as missing.
                if answering.len() < QUERIES_MAX {
                    answering.spawn(answer(gateway.clone(), operator, received));
                }
            }
            Some(_) = answering.join_next() => {}
            () = stopping.cancelled() => return,
        }
    }
}

async fn answer(
    gateway: Arc<Gateway>,
    operator: Option<OperatorSide>,
    ReceivedQuery { asker, query }: ReceivedQuery,
) {
    let Some(operator) = operator else { return };
    if let Some(answer) = (operator.answer)(gateway.clone(), query).await {
        asker.answer(&gateway, answer);
    }
}

/// Reads the setup again whenever it was changed, until `stopping` is cancelled.
pub(super) async fn follow_catalogue(gateway: Arc<Gateway>, stopping: CancellationToken) {
    if gateway.store.cluster().nodes().is_empty() {
        // The store is embedded: no other process changes it.
        return;
    }
    let mut changes = gateway.store.cluster().catalogue_changes();
    // It may have changed since this gateway read it and before it listened here.
    changes.mark_changed();
    loop {
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = stopping.cancelled() => return,
        }
        // Not between a change of this node and its effect.
        let alone = gateway.changing.lock().await;
        changes.mark_unchanged();
        // Before links follow the catalogue.
        let held = gateway.read_hold().await;
        match load_catalogue(&gateway.store).await {
            Ok(catalogue) => gateway.set_catalogue(catalogue),
            Err(error) => {
                tracing::error!(%error, "The changed setup could not be read; the old one stays in effect")
            }
        }
        drop(alone);
        if let Err(error) = held {
            tracing::error!(%error, "Whether the gateway is held could not be read; it is read again");
            tokio::select! {
                () = gateway.clock.sleep(HOLD_RETRY) => changes.mark_changed(),
                () = stopping.cancelled() => return,
            }
        }
    }
}

#[cfg(test)]
#[path = "nodes_tests.rs"]
mod tests;
