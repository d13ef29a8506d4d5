//! Helpers of the carrier's tests.

use std::time::Duration;

use hermod_simulator::carrier::{CarrierOptions, FirstId, Script, SimulatedCarrier};

use crate::esme::Esme;

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Starts a carrier whose first id is 1.
pub(crate) async fn carrier(script: Script) -> SimulatedCarrier {
    let options = CarrierOptions { first_id: FirstId::At(1), ..CarrierOptions::new(script) };
    SimulatedCarrier::start(options).await.expect("a free port")
}

/// Submits each text and compares the events with the expected ones.
#[track_caller]
pub(crate) fn check(script: Script, texts: &'static [&'static str], expect: &'static [&'static str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let happened = runtime.block_on(async {
        let carrier = carrier(script).await;
        let mut esme = Esme::bound(carrier.addr()).await;
        for text in texts {
            esme.submit(text).await;
        }
        esme.next_many(expect.len()).await
    });
    assert_eq!(happened, expect);
}
