//! A link that gets a response to every part at once, and its receipt with the next read.

use crate::carrier::{receipt, response};
use crate::setup::wall_clock;
use hermod_store::LinkPort;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Outstanding parts.
const WINDOW: u32 = 1_000;

/// Records a response to every part at once, and its receipt with the next read, as carriers send them.
pub(crate) async fn carry(port: LinkPort, all_recorded: Arc<AtomicU64>) {
    port.record(Vec::new(), Vec::new(), Vec::new(), WINDOW, wall_clock())
        .await
        .expect("the store records it");
    let mut receipts = Vec::new();
    loop {
        let handout = port.handout().await;
        all_recorded.fetch_add(u64::try_from(handout.recorded.len()).expect("small"), Ordering::Relaxed);
        let responses = handout.jobs.iter().map(response).collect();
        let slots = u32::try_from(handout.jobs.len()).expect("at most a window");
        let earlier = std::mem::replace(&mut receipts, handout.jobs.iter().map(receipt).collect());
        let nothing_to_come = earlier.is_empty();
        port.record(responses, earlier, Vec::new(), slots, wall_clock()).await.expect("the store records it");
        if nothing_to_come && !receipts.is_empty() {
            // No acknowledgement of an earlier receipt will wake this task, so the receipts are recorded now.
            let receipts = std::mem::take(&mut receipts);
            port.record(Vec::new(), receipts, Vec::new(), 0, wall_clock())
                .await
                .expect("the store records it");
        }
    }
}
