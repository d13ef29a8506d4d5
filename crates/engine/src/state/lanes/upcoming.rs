//! The parts that have the next turns, so that their messages can be read together.

use crate::ops::Job;
use crate::state::lanes::{CarrierLanes, Lanes, REFILL_MIN};
use crate::tables::MessageKey;
use hermod_domain::ids::CarrierId;

impl Lanes {
    /// Returns the messages of about as many parts as given that have the next turns and are in memory.
    /// Leaves out those that this batch has accepted.
    pub fn upcoming(&self, carrier: CarrierId, count: usize, batch: u64) -> Vec<MessageKey> {
        let mut keys = Vec::new();
        let Some(CarrierLanes { lanes, turns, .. }) = self.carriers.get(&carrier) else { return keys };
        let mut first = 0;
        while keys.len() < count {
            let before = keys.len();
            for lane in turns.iter().filter_map(|account| lanes.get(account)) {
                let jobs = lane.jobs.range(first.min(lane.jobs.len())..).take(REFILL_MIN);
                let stored = jobs.filter(|job| job.fresh.is_none_or(|(accepted_in, _)| accepted_in != batch));
                keys.extend(stored.map(message_key));
                if keys.len() >= count {
                    break;
                }
            }
            first += REFILL_MIN;
            if keys.len() == before {
                break;
            }
        }
        keys
    }
}

fn message_key(job: &Job) -> MessageKey {
    let Job { carrier, account, message, .. } = *job;
    MessageKey { carrier, account, message }
}
