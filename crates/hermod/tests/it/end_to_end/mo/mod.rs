//! MO messages end to end: assignment to an account, polling and deliver_sm, opt-out
//! keywords.

mod assignment;
mod deliver_sm;

use crate::scenario::Scenario;
use hermod_simulator::carrier::{MoPart, MoText, Script};
use hermod_smpp::CommandStatus;

/// A number that Alice owns.
const NUMBER: &str = "4915799999999";
const HANDSET: &str = "4915112345678";

/// Starts a scenario in which Alice owns a number and may bind, with these lines for the carrier and her connection.
async fn stage(script: Script, carrier: &str, connection: &str) -> Scenario {
    let s = Scenario::with_settings(script, carrier).await;
    s.provision(&format!(
        "[[number]]\nnumber = \"+{NUMBER}\"\naccount = \"alice\"\n\
         [[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\nsystem_id = \"alice\"\n\
         password = \"secret12\"\n{connection}"
    ))
    .await;
    s
}

fn mo_parts(text: &str) -> Vec<MoPart> {
    MoText::new(HANDSET, NUMBER, text).parts()
}

impl Scenario {
    /// Waits until `count` MO deliver_sm were answered, all with status 0.
    async fn wait_for_answered_mo(&self, count: usize) {
        let record = self.carrier().record();
        let taken =
            |record: &hermod_simulator::carrier::CarrierRecord| record.counts().mo_accepted >= count as u64;
        record.wait_until(taken, crate::real_time::PATIENCE).await.expect("messages taken");
        assert!(record.mo().iter().all(|mo| mo.response.is_none_or(|status| status == CommandStatus::OK)));
    }
}
