//! Rows that were read together before the commands of a batch ask for them: on a server each read is a round trip. A change of a
//! row drops it, so what is left equals what is stored.

use crate::maps::HashMap;
use crate::tables::changes::Change;
use crate::tables::{CarrierIdChange, CarrierIds, EventKey, MessageKey, PartChange, PartRow, WaitingEvent};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::time::Day;

/// The ids of a day that have one key.
pub(super) type IdsPlace = (Day, CarrierId, RemoteKey);

/// Empty where there are no rows.
#[derive(Default)]
pub(super) struct ReadAhead {
    pub(super) parts: HashMap<MessageKey, Vec<PartRow>>,
    /// What messages cost. It does not change.
    pub(super) costs: HashMap<MessageId, Money>,
    pub(super) carrier_ids: HashMap<IdsPlace, CarrierIds>,
    pub(super) events: HashMap<EventKey, Option<WaitingEvent>>,
}

impl ReadAhead {
    /// Drops the rows that a change is about.
    pub(super) fn forget(&mut self, change: &Change) {
        match change {
            Change::Part(PartChange::Move { key, to, .. }) => {
                self.parts.remove(key);
                self.parts.remove(&MessageKey { carrier: *to, ..*key });
            }
            Change::Part(change) => drop(self.parts.remove(&change.key())),
            Change::WebhookEvent(change) => {
                change.key().map(|key| self.events.remove(&key));
            }
            Change::CarrierId(
                CarrierIdChange::Add { carrier, remote, assignment }
                | CarrierIdChange::Put { carrier, remote, assignment },
            ) => {
                self.carrier_ids.remove(&(assignment.day, *carrier, RemoteKey::of(remote)));
            }
            Change::CarrierId(_) | Change::SetAside(_) | Change::Purge(_) | Change::Erasure(_) => {
                *self = ReadAhead::default();
            }
            _ => {}
        }
    }
}
