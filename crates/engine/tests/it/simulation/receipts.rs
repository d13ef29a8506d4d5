//! The model of receipts: the parts of carrier ids, and receipts before their response.

use super::model::Model;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::{DeliveryOutcome, PartEvent};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::Rematch;

/// A receipt before the response with its id.
#[derive(Clone, Copy)]
pub(super) struct Early {
    pub(super) verdict: DeliveryOutcome,
    pub(super) at: Timestamp,
    pub(super) source: Option<Msisdn>,
}

/// A part of a carrier id, from the time of its response on.
#[derive(Clone, Copy)]
pub(super) struct TiedPart {
    pub(super) account: AccountId,
    pub(super) message: MessageId,
    pub(super) part: PartNo,
    /// None once it was erased.
    pub(super) to: Option<Msisdn>,
    pub(super) at: Timestamp,
}

/// The part that a receipt means.
pub(super) enum Meant {
    Part(TiedPart),
    /// An id that the carrier gave to several parts, and nothing decides between them.
    Unclear,
    Nothing,
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
    /// Records a part of an id from a day on. An id may have several parts, the newest is the first.
    pub(super) fn note_id(&mut self, remote: &RemoteId, tied: TiedPart) {
        let parts = self.tied.entry(remote.clone()).or_default();
        let row = |tied: &TiedPart| (tied.at.day(), tied.message, tied.part);
        parts.retain(|other| row(other) != row(&tied));
        let age = |tied: &TiedPart| (tied.at, tied.account, tied.message, tied.part);
        let place = parts.partition_point(|other| age(other) > age(&tied));
        parts.insert(place, tied);
    }

    /// Returns the part of a receipt: the only one with its id; or of those that went to its number on the newest such
    /// day (without a number: on that day and the one before) the newest, if they are of one account.
    pub(super) fn find_tied(&self, remote: &RemoteId, source: Option<Msisdn>) -> Meant {
        let Some(parts) = self.tied.get(remote) else { return Meant::Nothing };
        let is_equal = |tied: &&TiedPart| source.is_some() && tied.to == source;
        let fits = |tied: &&TiedPart| source.is_none() || tied.to.is_none() || is_equal(tied);
        let Some(newest) = parts.iter().find(fits) else {
            let first = parts[0];
            let is_same = |tied: &TiedPart| (tied.message, tied.part) == (first.message, first.part);
            return if parts.iter().all(is_same) { Meant::Part(first) } else { Meant::Unclear };
        };
        let since = newest.at.day().get() - i64::from(source.is_none());
        let considered = || parts.iter().filter(|tied| tied.at.day().get() >= since);
        let has_equal = considered().any(|tied| is_equal(&tied));
        let left = || considered().filter(|tied| if has_equal { is_equal(tied) } else { fits(tied) });
        let Some(newest) = left().next() else { return Meant::Nothing };
        let is_foreign = |tied: &TiedPart| tied.account != newest.account;
        if left().any(is_foreign) { Meant::Unclear } else { Meant::Part(*newest) }
    }

    /// Records the id of a part. Its receipt may already be parked.
    pub(super) fn tie(&mut self, carrier: CarrierId, remote: &RemoteId, tied: TiedPart) {
        if !self.tied.contains_key(remote) {
            self.ids.entry(carrier).or_default().push(remote.clone());
        }
        self.note_id(remote, tied);
        self.match_early(carrier, remote);
    }

    /// Applies the parked receipt of an id, if it has one part now. Returns whether it did.
    fn match_early(&mut self, carrier: CarrierId, remote: &RemoteId) -> bool {
        let key = (carrier, remote.octets().to_vec());
        let Some(Early { verdict, source, .. }) = self.early.get(&key).copied() else { return false };
        let Meant::Part(tied) = self.find_tied(remote, source) else { return false };
        self.early.remove(&key);
        self.apply_event(tied.message, tied.part, PartEvent::Receipt(verdict));
        true
    }

    pub(super) fn receipt(
        &mut self,
        carrier: CarrierId,
        remote: &RemoteId,
        verdict: DeliveryOutcome,
        source: Option<Msisdn>,
    ) {
        match self.find_tied(remote, source) {
            Meant::Part(TiedPart { message, part, .. }) => {
                self.apply_event(message, part, PartEvent::Receipt(verdict));
                return;
            }
            Meant::Nothing if self.matches_number(carrier, remote, source, verdict) => return,
            Meant::Unclear | Meant::Nothing => {}
        }
        let key = (carrier, remote.octets().to_vec());
        let earlier = self.early.get(&key);
        if earlier.is_none_or(|earlier| replaces(verdict, earlier.verdict)) {
            self.early.insert(key, Early { verdict, at: self.now, source });
        }
    }

    /// Matches parked receipts again. Returns the number of matches.
    pub(super) fn rematch(&mut self, command: &Rematch) -> usize {
        command.remotes.iter().filter(|remote| self.match_early(command.carrier, remote)).count()
    }

    /// Returns the recipients of the parts with this id.
    pub(super) fn recipients_of(&self, remote: &RemoteId) -> Vec<Msisdn> {
        self.tied.get(remote).into_iter().flatten().filter_map(|tied| tied.to).collect()
    }
}
