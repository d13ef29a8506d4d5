//! The model of parts that a carrier accepted without an id: their receipts are matched by number.

use super::commands::perhaps_later;
use super::model::Model;
use super::receipts::{Early, Meant, TiedPart};
use super::world::{CARRIERS, World};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::{DeliveryOutcome, PartEvent};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::commands::{AnyCommand, ForgetUnnamedParts, GiveUpParked, Rematch};
use hermod_engine::ops::PARKED_KEPT;
use hermod_engine::tables::{PartKey, UnnamedPart};
use std::time::Duration;

/// The longest time by which a receipt may precede its response.
const OVERTAKES_BY_MAX: Duration = Duration::from_secs(60);
/// Days for which receipts are waited for.
pub(super) const DAYS_KEPT: i64 = 9;

/// A part that its carrier accepted without an id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Unnamed {
    pub(super) carrier: CarrierId,
    pub(super) to: Msisdn,
    pub(super) account: AccountId,
    pub(super) message: MessageId,
    pub(super) part: PartNo,
    pub(super) at: Timestamp,
}

impl Model {
    /// Records a part accepted without an id. A receipt for its number may already be parked.
    pub(super) fn accepted_without_id(
        &mut self,
        carrier: CarrierId,
        message: MessageId,
        part: PartNo,
        to: Msisdn,
    ) {
        if !self.apply_event(message, part, PartEvent::Accepted) {
            return;
        }
        self.unnamed.retain(|other| (other.message, other.part) != (message, part));
        let account = self.messages[&message].account;
        self.unnamed.push(Unnamed { carrier, to, account, message, part, at: self.now });
        let since = self.now.minus(OVERTAKES_BY_MAX);
        let early = self.early.iter();
        let lately =
            early.filter(|((of, _), early)| *of == carrier && early.source == Some(to) && early.at >= since);
        let lately: Vec<_> = lately.map(|(key, early)| (key.clone(), *early)).collect();
        let [(key, early)] = &lately[..] else { return };
        let remote = RemoteId::from_octets(&key.1).expect("an id");
        let is_known = !matches!(self.find_tied(&remote, early.source), Meant::Nothing);
        if !is_known && self.matches_number(carrier, &remote, early.source, early.verdict) {
            self.early.remove(key);
        }
    }

    /// Matches a receipt without a known id to the only part without an id to its number. Returns whether there is one.
    pub(super) fn matches_number(
        &mut self,
        carrier: CarrierId,
        remote: &RemoteId,
        source: Option<Msisdn>,
        verdict: DeliveryOutcome,
    ) -> bool {
        let Some(to) = source else { return false };
        let waited_for = Day::new(self.now.day().get() - DAYS_KEPT).start();
        let is_candidate = |part: &Unnamed| (part.carrier, part.to) == (carrier, to) && part.at >= waited_for;
        let candidates: Vec<Unnamed> = self.unnamed.iter().copied().filter(is_candidate).collect();
        let [found] = candidates[..] else { return false };
        self.unnamed.retain(|part| *part != found);
        let Unnamed { account, message, part, at, .. } = found;
        self.note_id(remote, TiedPart { account, message, part, to: Some(to), at });
        self.apply_event(message, part, PartEvent::Receipt(verdict));
        true
    }

    /// Gives up receipts that were parked for long. Returns the count.
    pub(super) fn give_up_parked(&mut self) -> u64 {
        let (count, before) = (self.early.len(), self.now.minus(PARKED_KEPT));
        self.early.retain(|_, early: &mut Early| early.at >= before);
        u64::try_from(count - self.early.len()).expect("a few")
    }
}

pub(super) fn give_up_parked(world: &mut World) -> Option<AnyCommand> {
    Some(GiveUpParked { now: world.now }.into())
}

/// Matches the parked receipts of a carrier again. Most were matched by a response; the id of some was assigned by
/// another receipt.
pub(super) fn rematch(world: &mut World) -> Option<AnyCommand> {
    let carrier = world.random.one_of(&CARRIERS);
    let parked = world.model.early.keys().filter(|(of, _)| *of == carrier);
    let remotes = parked.map(|(_, octets)| RemoteId::from_octets(octets).expect("an id")).collect();
    let ids = hermod_domain::carrier::IdConversion::None;
    Some(Rematch { carrier, ids, remotes, now: world.now }.into())
}

pub(super) fn forget(world: &mut World) -> Option<AnyCommand> {
    let before = Day::new(world.now.day().get() - DAYS_KEPT).start();
    let old = world.model.unnamed.iter();
    let parts = old.map(|part| {
        let account = world.model.messages.get(&part.message).map(|entry| entry.account)?;
        let key = PartKey { account, message: part.message, part: part.part };
        Some(UnnamedPart { carrier: part.carrier, to: part.to, part: key, at: part.at })
    });
    let parts = parts.flatten().collect();
    perhaps_later(world, ForgetUnnamedParts { parts, before }.into())
}
