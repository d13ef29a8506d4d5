//! New messages of the showcase accounts while the demo runs.

use super::super::history::{DemoMessage, plain_submission};
use super::content::DemoRandom;
use super::{SHOP, TAXI, content, traffic};
use hermod_gateway::app::{Caller, submit_message};
use hermod_gateway::gateway::Gateway;
use hermod_simulator::carrier::SimulatedCarrier;
use std::time::Duration;

/// Time between two messages, in milliseconds.
const PAUSE_MS: (u64, u64) = (2_500, 9_000);
/// One in so many messages gets a reply.
const REPLY_EVERY: u64 = 12;
/// Time until the reply.
const REPLY_AFTER: Duration = Duration::from_secs(2);

/// Sends messages until it is dropped; none without a showcase. A message that is rejected, for an opt-out or a low balance, is
/// left out.
pub(in crate::demo) async fn run(showcase: Option<&Gateway>, carrier: &SimulatedCarrier) {
    let Some(gateway) = showcase else { return };
    let clock = &gateway.clock;
    // Another story than the past, and another one at each start.
    let mut random = DemoRandom::seeded(clock.now().as_millis().unsigned_abs());
    loop {
        clock.sleep(Duration::from_millis(random.between(PAUSE_MS.0, PAUSE_MS.1))).await;
        let account = if random.happens(700) { SHOP } else { TAXI };
        let DemoMessage { key, to, text, .. } = traffic::message(account, clock.now(), &mut random);
        let Some(caller) = Caller::with_key(&gateway.catalogue(), &key) else { continue };
        // People reply to a number, not to a name.
        let has_reply = random.below(REPLY_EVERY) == 0;
        let from = has_reply.then_some(account.number);
        let Ok(submission) = plain_submission(from, &to, &text) else { continue };
        let is_accepted = submit_message(gateway, &caller, &submission).await.is_ok();
        if is_accepted && has_reply {
            clock.sleep(REPLY_AFTER).await;
            // An error says that the carrier has no link, so the reply is left out.
            let _ = carrier.send_mo(&to, account.number, random.pick::<&str>(&content::REPLIES));
        }
    }
}
