//! Finds a probe's own receipt among the requests that a carrier sends.

use super::wire::{Side, Wires};
use super::{Ended, ProbeStep};
use crate::edges::carrier::deliver_sm::{Incoming, read_request};
use crate::gateway::Gateway;
use crate::live_status::PROBE_WAIT_MAX;
use hermod_domain::carrier::{DefaultAlphabet, IdConversion, Profile, RemoteKey};
use hermod_domain::ids::RemoteId;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_smpp::{CommandId, DataSmResp, DeliverSmResp, Frame, Pdu, ReceiptDialect, SessionEvent};
use hermod_store::ReceiptRecord;
use std::time::Duration;

pub(super) struct ProbeReceipts {
    ids: IdConversion,
    dialect: ReceiptDialect,
    /// Receipts that came before the submit_sm_resp, so that their message is not known yet. The session's window
    /// bounds them.
    early: Vec<(Side, Frame)>,
}

impl ProbeReceipts {
    pub(super) fn new(profile: &Profile, dialect: ReceiptDialect) -> ProbeReceipts {
        ProbeReceipts { ids: profile.ids, dialect, early: Vec::new() }
    }

    /// Keeps a receipt until the message id is known. Refuses all other requests, so that the ordinary links get them.
    pub(super) fn hold(&mut self, side: Side, frame: Frame, wires: &mut Wires) {
        match read_request(&frame, self.dialect, DefaultAlphabet::Gsm, |_| ()) {
            Incoming::Receipt(_) => self.early.push((side, frame)),
            Incoming::Message(_) | Incoming::Other => wires.at(side).refuse(frame.header),
        }
    }

    /// Waits for a final receipt, at most `wait`.
    pub(super) async fn wait_for(
        mut self,
        gateway: &Gateway,
        wires: &mut Wires,
        remote: RemoteId,
        wait: Duration,
    ) -> Result<Ended, Ended> {
        let wait = wait.min(PROBE_WAIT_MAX);
        let until = gateway.clock.moment().plus(wait);
        let mut last = None;
        for (side, frame) in std::mem::take(&mut self.early) {
            self.look(&remote, side, &frame, wires, gateway, &mut last);
        }
        while !last.is_some_and(is_final) {
            let Some((side, event)) = wires.next(until).await else { break };
            match event {
                SessionEvent::Request(frame) => self.look(&remote, side, &frame, wires, gateway, &mut last),
                SessionEvent::Closed(reason) => {
                    let outcome =
                        format!("accepted as {remote}, and the link ended before a receipt came: {reason}");
                    return Err(Ended::at(ProbeStep::Receipt, outcome));
                }
                _ => {}
            }
        }
        match last {
            Some(verdict) if is_final(verdict) => {
                Ok(Ended::at(ProbeStep::Done, format!("accepted as {remote}; the receipt says {verdict:?}")))
            }
            Some(verdict) => Err(Ended::at(
                ProbeStep::Receipt,
                format!(
                    "accepted as {remote}; the last receipt says {verdict:?}, and no other came within {} s",
                    wait.as_secs()
                ),
            )),
            None => Err(Ended::at(
                ProbeStep::Receipt,
                format!(
                    "accepted as {remote}; no receipt came here within {} s (it may have come over another link)",
                    wait.as_secs()
                ),
            )),
        }
    }

    /// Answers the probe's own receipt; refuses everything else, so that the ordinary links get it.
    fn look(
        &self,
        remote: &RemoteId,
        side: Side,
        frame: &Frame,
        wires: &mut Wires,
        gateway: &Gateway,
        last: &mut Option<DeliveryOutcome>,
    ) {
        let wire = wires.at(side);
        match read_request(frame, self.dialect, DefaultAlphabet::Gsm, |_| ()) {
            Incoming::Receipt(ReceiptRecord { remote: Some(receipted), verdict, .. })
                if self.is_ours(remote, &receipted) =>
            {
                *last = Some(verdict);
                let answer = match frame.header.command {
                    CommandId::DATA_SM => Pdu::DataSmResp(DataSmResp::default()),
                    _ => Pdu::DeliverSmResp(DeliverSmResp::default()),
                };
                // Fails only if the session has ended.
                let _ = wire.session.respond(frame.header, &answer, gateway.clock.moment());
            }
            Incoming::Receipt(_) | Incoming::Message(_) | Incoming::Other => {
                wire.refuse(frame.header);
            }
        }
    }

    /// Matches ids as the store does.
    fn is_ours(&self, answered: &RemoteId, receipted: &RemoteId) -> bool {
        let key = RemoteKey::of(answered);
        RemoteKey::of(receipted) == key || self.ids.key_in_response(receipted) == Some(key)
    }
}

fn is_final(verdict: DeliveryOutcome) -> bool {
    match verdict {
        DeliveryOutcome::Delivered
        | DeliveryOutcome::Undeliverable
        | DeliveryOutcome::Rejected
        | DeliveryOutcome::Expired => true,
        DeliveryOutcome::Enroute | DeliveryOutcome::Accepted | DeliveryOutcome::NoChange => false,
    }
}
