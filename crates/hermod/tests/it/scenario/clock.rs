//! Scenario steps about the clock: other start dates and clock jumps.

use super::{GatewaySetup, Scenario};
use crate::real_time::{PATIENCE, now, pause};
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::{Clock, Moment};
use hermod_simulator::carrier::{CarrierOptions, Script, SimulatedCarrier};
use std::time::Duration;

impl Scenario {
    /// Like [`Scenario::with`], on this date.
    pub(crate) async fn starting_at(date: &str, script: Script) -> Scenario {
        let clock = Clock::manual(Timestamp::parse(date).expect("a date"));
        let carrier =
            SimulatedCarrier::start(CarrierOptions::new(script)).await.expect("a free port on the loopback");
        let s = Scenario::start_by(clock, carrier.addr(), Some(carrier), GatewaySetup::with("")).await;
        s.wait_for_link().await;
        s
    }

    /// Like [`Scenario::with_settings`], in real time: for rates that carrier and gateway both measure.
    pub(crate) async fn with_real_clock(script: Script, settings: &str) -> Scenario {
        let carrier =
            SimulatedCarrier::start(CarrierOptions::new(script)).await.expect("a free port on the loopback");
        let (address, record) = (carrier.addr(), carrier.record());
        let s = Scenario::start_by(Clock::real(), address, Some(carrier), GatewaySetup::with(settings)).await;
        record.wait_until(|record| record.counts().binds > 0, PATIENCE).await.expect("a bound link");
        s
    }

    /// Shifts the machine's clock by `seconds` and waits until the gateway notices.
    pub(crate) async fn jump_clock(&self, seconds: i64) {
        let machine = self.clock.machine_time().as_millis();
        self.clock.set_wall(Timestamp::from_millis(machine + seconds * 1_000));
        let started = now();
        while !self.alarms().contains(&" clock-jumped ".to_owned()) {
            assert!(started.elapsed() < PATIENCE, "no alarm but {:?}", self.alarms());
            pause(Duration::from_millis(20)).await;
            self.clock.advance(Duration::from_millis(500));
        }
    }

    /// Sets the machine's clock back to the gateway's time.
    pub(crate) fn correct_clock(&self) {
        self.clock.set_wall(self.clock.now());
    }

    /// Returns the gateway's time.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns how far the test has advanced the clock since it was made.
    pub(crate) fn moment(&self) -> Moment {
        self.clock.moment()
    }

    /// Restarts the gateway, which then follows the machine's clock.
    pub(crate) async fn restart_with_machine_clock(&mut self) {
        self.clock = Clock::manual(self.clock.machine_time());
        self.restart().await;
    }
}
