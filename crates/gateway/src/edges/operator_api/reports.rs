//! Reports that customers never took.

use super::answer::{Answer, fine};
use super::asked::{Asked, cursor, limit};
use super::desk::Desk;
use crate::app::operator::{self, GivenUpSeen};
use axum::extract::State;
use hermod_domain::receipt::ReportStatus;
use hermod_store::ReportGiveUpReason;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GivenUpAsked {
    account: Option<String>,
    after: Option<String>,
    limit: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = GivenUpReports)]
pub(super) struct GivenUpShape {
    items: Vec<GivenUpReport>,
    /// Give it as `after` for the next page; nothing on the last one.
    next: Option<u64>,
}

/// What a customer was not told.
#[derive(Serialize, ToSchema)]
struct GivenUpReport {
    number: u64,
    #[schema(examples("shop"))]
    account: String,
    /// What its connection is bound to as.
    system_id: Option<String>,
    message_id: String,
    /// What it would have been told, as a receipt says it; `MO` for a message from a handset, which can still be polled.
    #[schema(examples("DELIVRD"))]
    stat: &'static str,
    /// When the message became so, or came in.
    at: String,
    given_up_at: String,
    #[schema(examples("nobody took it for 72 hours"))]
    why: String,
}

impl GivenUpReport {
    fn of(GivenUpSeen { account, system_id, report }: GivenUpSeen) -> GivenUpReport {
        GivenUpReport {
            number: report.id.0,
            account,
            system_id,
            message_id: report.message.to_string(),
            stat: report.status.map_or("MO", ReportStatus::word),
            at: report.at.to_iso(),
            given_up_at: report.given_up_at.to_iso(),
            why: match report.reason {
                ReportGiveUpReason::TooOld => "nobody took it for 72 hours".to_owned(),
                ReportGiveUpReason::Refused(status) => format!("the customer refused it with 0x{status:02X}"),
            },
        }
    }
}

pub(super) async fn given_up(
    State(desk): State<Arc<Desk>>,
    Asked(GivenUpAsked { account, after, limit: most }): Asked<GivenUpAsked>,
) -> Answer {
    let (after, most) = (cursor("after", after.as_deref())?, limit(most.as_deref())?);
    let seen = operator::given_up_reports(&desk.world, account.as_deref(), after, most).await?;
    let whole = u32::try_from(seen.len()).is_ok_and(|count| count == most);
    let next = seen.last().filter(|_| whole).map(|last| last.report.id.0);
    fine(&GivenUpShape { items: seen.into_iter().map(GivenUpReport::of).collect(), next })
}
