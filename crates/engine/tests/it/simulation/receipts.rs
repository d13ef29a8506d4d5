//! The model of receipts: the parts of carrier ids, and receipts before their response.

use super::model::Model;
use hermod_domain::ids::{CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::{DeliveryOutcome, PartEvent};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::commands::Rematch;

/// A receipt before the response with its id.
#[derive(Clone, Copy)]
pub(super) struct Early {
    pub(super) verdict: DeliveryOutcome,
    pub(super) at: Timestamp,
    pub(super) source: Option<Msisdn>,
}

/// The part of a carrier id, from a day on.
#[derive(Clone, Copy)]
pub(super) struct TiedPart {
    pub(super) message: MessageId,
    pub(super) part: PartNo,
    pub(super) to: Msisdn,
    pub(super) day: Day,
}

/// Whether a later receipt of an id replaces an earlier one.
fn replaces(later: DeliveryOutcome, earlier: DeliveryOutcome) -> bool {
    match earlier {
        DeliveryOutcome::NoChange => true,
        DeliveryOutcome::Enroute | DeliveryOutcome::Accepted => later != DeliveryOutcome::NoChange,
        DeliveryOutcome::Delivered
        | DeliveryOutcome::Undeliverable
        | DeliveryOutcome::Rejected
        | DeliveryOutcome::Expired => false,
    }
}

impl Model {
    /// Records the part of an id from a day on. An id has one part on each day.
    pub(super) fn note_id(&mut self, remote: &RemoteId, tied: TiedPart) {
        let days = self.tied.entry(remote.clone()).or_default();
        days.retain(|other| other.day != tied.day);
        let place = days.partition_point(|other| other.day > tied.day);
        days.insert(place, tied);
    }

    /// Returns the part of a receipt: the newest with its id, unless that went to another number and an older one
    /// did not.
    fn find_tied(&self, remote: &RemoteId, source: Option<Msisdn>) -> Option<TiedPart> {
        let days = self.tied.get(remote)?;
        let fits = |tied: &&TiedPart| source.is_none_or(|source| source == tied.to);
        days.iter().find(fits).or_else(|| days.first()).copied()
    }

    /// Records the id of a part. Its receipt may already be parked.
    pub(super) fn tie(
        &mut self,
        carrier: CarrierId,
        remote: &RemoteId,
        (message, part): (MessageId, PartNo),
        to: Msisdn,
    ) {
        if !self.tied.contains_key(remote) {
            self.ids.entry(carrier).or_default().push(remote.clone());
        }
        self.note_id(remote, TiedPart { message, part, to, day: self.now.day() });
        if let Some(Early { verdict, source, .. }) = self.early.remove(&(carrier, remote.octets().to_vec())) {
            let tied = self.find_tied(remote, source).expect("it was tied");
            self.apply_event(tied.message, tied.part, PartEvent::Receipt(verdict));
        }
    }

    pub(super) fn receipt(
        &mut self,
        carrier: CarrierId,
        remote: &RemoteId,
        verdict: DeliveryOutcome,
        source: Option<Msisdn>,
    ) {
        if let Some(TiedPart { message, part, .. }) = self.find_tied(remote, source) {
            self.apply_event(message, part, PartEvent::Receipt(verdict));
            return;
        }
        if self.matches_number(carrier, remote, source, verdict) {
            return;
        }
        let key = (carrier, remote.octets().to_vec());
        let earlier = self.early.get(&key);
        if earlier.is_none_or(|earlier| replaces(verdict, earlier.verdict)) {
            self.early.insert(key, Early { verdict, at: self.now, source });
        }
    }

    /// Matches parked receipts again. Returns the number of matches.
    pub(super) fn rematch(&mut self, command: &Rematch) -> usize {
        let mut matched = 0;
        for remote in &command.remotes {
            let key = (command.carrier, remote.octets().to_vec());
            let Some(Early { verdict, source, .. }) = self.early.get(&key).copied() else { continue };
            let Some(tied) = self.find_tied(remote, source) else { continue };
            self.early.remove(&key);
            self.apply_event(tied.message, tied.part, PartEvent::Receipt(verdict));
            matched += 1;
        }
        matched
    }

    /// Returns the recipient of the part with this id.
    pub(super) fn recipient_of(&self, remote: &RemoteId) -> Option<Msisdn> {
        self.tied.get(remote)?.first().map(|tied| tied.to)
    }
}
