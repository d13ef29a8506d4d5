//! What the nodes on one server tell each other, and changes of the setup by other nodes.

use crate::app::operator;
use crate::gateway::Gateway;
use crate::node_messages::{self, ReceivedQuery};
use crate::provision;
use hermod_domain::carrier::Health;
use hermod_domain::ids::CarrierId;
use hermod_store::NodeEnvelope;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What a node tells the others.
#[derive(Serialize, Deserialize)]
struct Notice {
    /// The carriers that its links can send to.
    sending: Vec<(CarrierId, Health)>,
}

/// Tells the other nodes about this one, and takes in what they say.
pub(super) fn exchange_notices(gateway: &Gateway) {
    let notice = Notice { sending: gateway.carriers.sending() };
    match serde_json::to_vec(&notice) {
        Ok(notice) => gateway.store.set_notice(notice),
        Err(error) => tracing::error!(%error, "The notice for the other nodes could not be written"),
    }
    // A node of another release may say what this one does not understand.
    let said = gateway.store.notices();
    let understood = said.iter().filter_map(|notice| serde_json::from_slice::<Notice>(notice).ok());
    gateway.carriers.set_elsewhere(understood.flat_map(|notice| notice.sending));
}

/// Queries of other nodes that are answered at the same time.
const QUERIES_MAX: usize = 8;

/// Acts on the messages of other nodes, until `stopping` is cancelled.
pub(super) async fn receive_messages(
    gateway: Arc<Gateway>,
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
                    let gateway = gateway.clone();
                    answering.spawn(async move { answer(&gateway, received).await });
                }
            }
            Some(_) = answering.join_next() => {}
            () = stopping.cancelled() => return,
        }
    }
}

async fn answer(gateway: &Gateway, ReceivedQuery { asker, query }: ReceivedQuery) {
    if let Some(answer) = operator::answer_query(gateway, query).await {
        asker.answer(gateway, answer);
    }
}

/// Reads the setup again whenever it was changed, until `stopping` is cancelled.
pub(super) async fn follow_catalogue(gateway: Arc<Gateway>, stopping: CancellationToken) {
    if gateway.store.nodes().is_empty() {
        // The store is embedded: no other process changes it.
        return;
    }
    let mut changes = gateway.store.catalogue_changes();
    // It may have changed since this gateway read it and before it listened here.
    changes.mark_changed();
    loop {
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = stopping.cancelled() => return,
        }
        // Not between a change of this node and its effect.
        let _alone = gateway.changing.lock().await;
        changes.mark_unchanged();
        match provision::load_catalogue(&gateway.store).await {
            Ok(catalogue) => gateway.set_catalogue(catalogue),
            Err(error) => {
                tracing::error!(%error, "The changed setup could not be read; the old one stays in effect")
            }
        }
    }
}
