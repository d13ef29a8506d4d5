//! What customers were not told: reports that nobody took.

use crate::app::operator::refusal::OperatorRefusal;
use crate::app::operator::{account_name, find_account};
use crate::world::World;
use hermod_store::{GivenUpReport, ReportId};

/// A report that was given up, and whose it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUpSeen {
    pub account: String,
    /// Where its connection still has one.
    pub system_id: Option<String>,
    pub report: GivenUpReport,
}

/// Oldest first, behind the one with the number `after`; an account's, or everyone's.
pub async fn given_up_reports(
    world: &World,
    account: Option<&str>,
    after: Option<u64>,
    limit: u32,
) -> Result<Vec<GivenUpSeen>, OperatorRefusal> {
    let account = account.map(|name| find_account(world, name)).transpose()?;
    let given_up = world.store.given_up(account, after.map(ReportId), limit).await?;
    let catalogue = world.catalogue();
    let seen = given_up.into_iter().map(|report| {
        let smpp = catalogue.connection(report.connection).and_then(|connection| connection.smpp.as_ref());
        GivenUpSeen {
            account: account_name(world, report.account),
            system_id: smpp.map(|smpp| smpp.system_id.clone()),
            report,
        }
    });
    Ok(seen.collect())
}
