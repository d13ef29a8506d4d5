//! Recent messages per recipient, number range and country, compared with an account's controls when a message is accepted. They
//! are in no table: after a start, and after another node has taken the engine over, the counts begin again.

use hermod_domain::time::Timestamp;
use hermod_domain::traffic::{OverVelocity, Velocity, VelocityLimit, WatchedVelocity};

#[derive(Default)]
pub struct RecentTraffic {
    velocity: Velocity,
    /// What the current batch counted.
    counted: Vec<VelocityLimit>,
}

impl RecentTraffic {
    /// Returns the control that refuses a message now.
    pub fn refusal(&self, limits: &[VelocityLimit], now: Timestamp) -> Option<OverVelocity> {
        self.velocity.refusal(limits, now)
    }

    /// Counts a message that is accepted.
    pub fn count(&mut self, limits: &[VelocityLimit], now: Timestamp) -> WatchedVelocity {
        let RecentTraffic { velocity, counted } = self;
        velocity.count(limits, now, |limit| counted.push(limit))
    }

    pub fn committed(&mut self) {
        self.counted.clear();
    }

    pub fn rolled_back(&mut self) {
        let RecentTraffic { velocity, counted } = self;
        counted.drain(..).for_each(|limit| velocity.give_back(limit));
    }
}
