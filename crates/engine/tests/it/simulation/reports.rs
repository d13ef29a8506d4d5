//! Commands about reports over binds.

use super::commands::perhaps_later;
use super::setup::{ACCOUNTS, connection_of};
use super::world::World;
use hermod_domain::ids::ConnectionId;
use hermod_engine::batch::BoundReceivers;
use hermod_engine::commands::{AnyCommand, ForgetGivenUp, GiveUpOldReports, MoveToWebhook};
use hermod_engine::ops::{FinishedReports, ReportId};

/// Reports that one command names.
const REPORTS_MAX: usize = 20;
/// The status with which a customer refuses a report.
const REFUSED_STATUS: u32 = 0x08;

fn connection(world: &mut World) -> ConnectionId {
    connection_of(world.random.one_of(&ACCOUNTS))
}

/// The customer accepts most of some reports and rejects the others. One of them may be given up meanwhile.
pub(super) fn take(world: &mut World) -> Option<AnyCommand> {
    let connection = connection(world);
    if !world.model.receivers.is_bound(connection) {
        return None;
    }
    let first: Vec<ReportId> =
        world.model.reports.first(connection).take(REPORTS_MAX).map(|(id, _)| id).collect();
    let (mut taken, mut refused) = (Vec::new(), Vec::new());
    for id in first {
        match world.random.below(20) {
            0 => refused.push((id, REFUSED_STATUS)),
            1 | 2 => {}
            _ => taken.push(id),
        }
    }
    if world.random.once_in(10) {
        let given_up = world.model.reports.given_up.iter();
        taken.extend(given_up.filter(|(_, (of, _))| *of == connection).map(|(id, _)| *id).next());
        taken.sort_unstable();
    }
    let ends = FinishedReports { connection, accepted: taken, refused, answered: Vec::new(), now: world.now };
    (!ends.is_empty()).then(|| ends.into())
}

pub(super) fn give_up_old(world: &mut World) -> Option<AnyCommand> {
    Some(GiveUpOldReports { connection: connection(world), now: world.now }.into())
}

pub(super) fn forget_given_up(world: &mut World) -> Option<AnyCommand> {
    Some(ForgetGivenUp { now: world.now }.into())
}

/// Moves reports of a transmitter's messages while no receiver is bound.
pub(super) fn move_to_webhook(world: &mut World) -> Option<AnyCommand> {
    let connection = connection(world);
    let waiting = world.model.reports.first(connection).filter(|(_, report)| report.can_move);
    let reports: Vec<ReportId> = waiting.take(REPORTS_MAX).map(|(id, _)| id).collect();
    if reports.is_empty() {
        return None;
    }
    perhaps_later(world, MoveToWebhook { connection, reports, now: world.now }.into())
}
