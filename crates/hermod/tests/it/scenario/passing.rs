//! A story's time: stories that play on another day, and machines whose clock somebody sets.

use super::{Scenario, Staged};
use crate::real_time::{PATIENCE, now, pause};
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_simulator::carrier::{Carrier, CarrierOptions, Script};
use std::time::Duration;

impl Scenario {
    /// As [`Scenario::with`], on another day.
    pub(crate) async fn starting_at(date: &str, script: Script) -> Scenario {
        let clock = Clock::manual(Timestamp::parse(date).expect("a date"));
        let carrier = Carrier::start(CarrierOptions::new(script)).await.expect("a free port on the loopback");
        let s = Scenario::start_by(clock, carrier.addr(), Some(carrier), Staged::with("")).await;
        s.link_is_up().await;
        s
    }

    /// As [`Scenario::with_settings`], in real time: for what the carrier and the gateway must agree on.
    pub(crate) async fn by_the_real_clock(script: Script, settings: &str) -> Scenario {
        let carrier = Carrier::start(CarrierOptions::new(script)).await.expect("a free port on the loopback");
        let (address, record) = (carrier.addr(), carrier.record());
        let s = Scenario::start_by(Clock::real(), address, Some(carrier), Staged::with(settings)).await;
        record.wait_until(|record| record.counts().binds > 0, PATIENCE).await.expect("a bound link");
        s
    }

    /// Somebody sets the clock of the machine, by so many seconds, and the gateway notices.
    pub(crate) async fn the_clock_jumps(&self, seconds: i64) {
        let machine = self.clock.machine_time().as_millis();
        self.clock.set_wall(Timestamp::from_millis(machine + seconds * 1_000));
        let started = now();
        while !self.alarms().contains(&" clock-jumped ".to_owned()) {
            assert!(started.elapsed() < PATIENCE, "no alarm but {:?}", self.alarms());
            pause(Duration::from_millis(20)).await;
            self.clock.advance(Duration::from_millis(500));
        }
    }

    /// Somebody sets it back to what the gateway has gone by all along.
    pub(crate) fn the_clock_is_set_right(&self) {
        self.clock.set_wall(self.clock.now());
    }

    /// What the gateway goes by.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Stops the gateway and starts it anew: a new process goes by the clock of the machine.
    pub(crate) async fn restart_by_the_machines_clock(&mut self) {
        self.clock = Clock::manual(self.clock.machine_time());
        self.restart().await;
    }
}
