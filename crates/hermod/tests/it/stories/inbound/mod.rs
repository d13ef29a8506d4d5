//! Stories of messages from handsets: they reach whose they are, by every way the customer takes, and stop what the handset
//! wants stopped.

mod binds;
mod reaching;

use crate::scenario::Scenario;
use hermod_simulator::carrier::{MoPart, MoText, Script};
use hermod_smpp::CommandStatus;

/// Alice's own.
const NUMBER: &str = "4915799999999";
const HANDSET: &str = "4915112345678";

/// Alice owns a number and binds; her account has these lines, her connection those.
async fn stage(script: Script, carrier: &str, connection: &str) -> Scenario {
    let s = Scenario::with_settings(script, carrier).await;
    s.operator_provisions(&format!(
        "[[number]]\nnumber = \"+{NUMBER}\"\naccount = \"alice\"\n\
         [[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\nsystem_id = \"alice\"\n\
         password = \"secret12\"\n{connection}"
    ))
    .await;
    s
}

fn says(text: &str) -> Vec<MoPart> {
    MoText::new(HANDSET, NUMBER, text).parts()
}

impl Scenario {
    /// So many of what handsets said were answered with status 0, and nothing with anything else.
    async fn carrier_messages_are_taken(&self, count: usize) {
        let record = self.carrier().record();
        let taken = |record: &hermod_simulator::carrier::Record| record.counts().mo_accepted >= count as u64;
        record.wait_until(taken, crate::real_time::PATIENCE).await.expect("messages taken");
        assert!(record.mo().iter().all(|mo| mo.response.is_none_or(|status| status == CommandStatus::OK)));
    }
}
