//! Customers' binds, and ending one.

use super::answer::{Answer, fine};
use super::asked::{Asked, Named};
use super::desk::Desk;
use super::links::LastErrorShape;
use crate::app::operator::{self, BindSeen, BindsAsked, OperatorRefusal};
use crate::board::BindShown;
use axum::extract::State;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[schema(as = Binds)]
pub(super) struct BindsShape {
    /// The gateway's time.
    at: String,
    /// In the order in which they came.
    items: Vec<BindShape>,
}

/// A customer's bind at this moment.
#[derive(Serialize, ToSchema)]
#[schema(as = Bind)]
struct BindShape {
    /// From 1, since the gateway started.
    number: u64,
    #[schema(examples("shop"))]
    system_id: String,
    #[schema(examples("shop"))]
    account: String,
    #[schema(examples("192.0.2.7"))]
    address: String,
    /// `transmitter`, `receiver` or `transceiver`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// `3.4` or `3.3`.
    version: &'static str,
    tls: bool,
    /// What it says it serves.
    address_range: String,
    since: String,
    /// How many seconds that is ago.
    for_s: u64,
    /// Requests that may wait for answers, in either direction.
    window: u32,
    /// Its requests that wait for our answers.
    window_in: u32,
    /// Receipts of ours that wait for its answers.
    window_out: u32,
    /// What it submitted, on average of the last ten seconds.
    submits_per_second: f64,
    submits: u64,
    /// Of those, the ones that were not accepted.
    refused: u64,
    /// Receipts that it took.
    receipts: u64,
    /// Receipts for this system_id that wait, on whichever bind they will go out.
    receipts_waiting: u64,
    last_error: Option<LastErrorShape>,
}

impl BindShape {
    fn of(BindSeen { account, receipts_waiting, shown }: BindSeen, now: Timestamp) -> BindShape {
        let BindShown { number, system_id, kind, is_3_4, peer, tls, address_range, since, .. } = shown;
        let tenths = u32::try_from(shown.submits_per_10_s).unwrap_or(u32::MAX);
        BindShape {
            number,
            system_id: system_id.to_string(),
            account,
            address: peer.to_string(),
            kind: kind.as_str(),
            version: if is_3_4 { "3.4" } else { "3.3" },
            tls,
            address_range,
            since: since.to_iso(),
            for_s: now.since(since).as_secs(),
            window: shown.window,
            window_in: shown.window_in,
            window_out: shown.window_out,
            submits_per_second: f64::from(tenths) / 10.0,
            submits: shown.submits,
            refused: shown.refused,
            receipts: shown.receipts,
            receipts_waiting,
            last_error: shown.last_error.map(LastErrorShape::of),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedBinds {
    system_id: Option<String>,
    account: Option<String>,
}

pub(super) async fn binds(
    State(desk): State<Arc<Desk>>,
    Asked(AskedBinds { system_id, account }): Asked<AskedBinds>,
) -> Answer {
    desk.must_run()?;
    let seen = operator::binds_seen(&desk.world, &BindsAsked { system_id, account }).await?;
    let now = desk.world.clock.now();
    let items = seen.into_iter().map(|seen| BindShape::of(seen, now)).collect();
    fine(&BindsShape { at: now.to_iso(), items })
}

#[derive(Serialize, ToSchema)]
#[schema(as = Unbound)]
pub(super) struct UnboundShape {
    bind: u64,
}

pub(super) async fn unbind(State(desk): State<Arc<Desk>>, Named(number): Named<String>) -> Answer {
    desk.must_run()?;
    let number = number.parse().map_err(|_| OperatorRefusal::no_such("bind", &number))?;
    operator::unbind(&desk.world, number)?;
    fine(&UnboundShape { bind: number })
}
