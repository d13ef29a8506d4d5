//! The hold of the gateway: while it is held, no carrier is bound and nothing is sent, posted or expired. The store has it; this is
//! what this node knows of it.

use super::Gateway;
use hermod_domain::hold::Hold;
use hermod_store::StoreError;
use tokio::sync::watch;

impl Gateway {
    /// Returns the hold; none if the gateway is not held.
    pub fn hold(&self) -> Option<Hold> {
        *self.hold.borrow()
    }

    pub fn is_held(&self) -> bool {
        self.hold.borrow().is_some()
    }

    /// Whether new messages and binds of customers are rejected because of the hold.
    pub fn is_closed_by_hold(&self) -> bool {
        self.hold().is_some_and(|hold| !hold.accepts_messages)
    }

    /// Waits until the gateway is not held, and runs this work. Drops it when the gateway is held meanwhile, and begins again.
    pub async fn while_released<F: Future>(&self, work: impl Fn() -> F) -> F::Output {
        let mut hold = self.hold.subscribe();
        loop {
            // The sender is in this value.
            let _ = hold.wait_for(Option::is_none).await;
            tokio::select! {
                biased;
                _ = hold.wait_for(Option::is_some) => {}
                done = work() => return done,
            }
        }
    }

    /// Returns a receiver that is notified when the gateway is held or released.
    pub fn hold_changes(&self) -> watch::Receiver<Option<Hold>> {
        self.hold.subscribe()
    }

    /// Takes over what the store says about the hold.
    pub async fn read_hold(&self) -> Result<(), StoreError> {
        let hold = self.store.setup().hold().await?;
        let is_new = self.hold.send_if_modified(|known| std::mem::replace(known, hold) != hold);
        if is_new {
            // Links are bound or unbound.
            self.catalogues.send_modify(|count| *count += 1);
            log_change(hold);
        }
        Ok(())
    }
}

fn log_change(hold: Option<Hold>) {
    let Some(Hold { since, is_backup, accepts_messages }) = hold else {
        tracing::warn!("The gateway was released: carriers are bound, and what waits is sent");
        return;
    };
    let why = match is_backup {
        true => format!("it was restored from the backup of {}", since.to_iso()),
        false => format!("it was started with --hold at {}", since.to_iso()),
    };
    tracing::warn!(
        accepts_messages,
        "The gateway is HELD, because {why}: no carrier is bound and nothing is sent. Look at what waits with hermod restore review, \
         then hermod restore release, or hermod restore cancel --before-backup"
    );
}

/// Describes a hold for the alarm about it.
pub fn hold_in_words(hold: Hold) -> String {
    let Hold { since, is_backup, accepts_messages } = hold;
    let why = if is_backup { "restored from the backup of" } else { "held since" };
    let messages = if accepts_messages { "wait in the queues" } else { "are rejected with 503" };
    format!(
        "the gateway is {why} {}: no carrier is bound, nothing is sent, and new messages {messages}",
        since.to_iso()
    )
}
