//! The record: its state, the names of what it has as numbers, and ranges of time. Messages, requests and statistics are
//! read from it.

use crate::author::Acting;
use crate::entry::names::{cost_name, of_route};
use crate::find::{carrier_name, find_account};
use crate::http::routes::{Routes, doc};
use crate::input::{invalid, time};
use crate::refusal::Result;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::cost::CostTerms;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, RouteId};
use hermod_domain::money::{Currency, Money};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::shown_number::ShownNumbers;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::event_name;
use hermod_gateway::gateway::Gateway;
use hermod_store::EventId;
use hermod_store::record::{Currencies, RecordStatus, Scope};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;

/// How far the record is behind the messages. It is written after them, usually within a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecordView {
    /// The age of the oldest change that the record does not have yet; 0 if it has all.
    #[schema(examples(312))]
    pub lag_ms: u64,
    /// Messages that the record still reads from the message store, after a crash, an overload or a rebuild; usually 0.
    pub catching_up: u64,
}

impl From<RecordStatus> for RecordView {
    fn from(RecordStatus { lag, catching_up, .. }: RecordStatus) -> RecordView {
        RecordView { lag_ms: whole_ms(lag), catching_up }
    }
}

/// The state of the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecordStatusView {
    /// Whether the gateway keeps a record.
    pub enabled: bool,
    pub lag_ms: u64,
    pub catching_up: u64,
}

impl From<RecordStatus> for RecordStatusView {
    fn from(status: RecordStatus) -> RecordStatusView {
        let RecordView { lag_ms, catching_up } = status.into();
        RecordStatusView { enabled: !status.is_off, lag_ms, catching_up }
    }
}

pub(crate) fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the state of the record.
pub fn record_status(gateway: &Gateway) -> Result<RecordStatusView> {
    Ok(gateway.store.record().status().into())
}

/// Makes the record begin again from the message store, while the gateway runs.
pub async fn rebuild_record(gateway: &Acting) -> Result<RecordStatusView> {
    gateway.audited(None, "record.rebuild", "record", &Value::Null).note_in_audit_log().await?;
    gateway.store.record().rebuild().await?;
    tracing::info!("The operator made the record begin again from the message store");
    record_status(gateway)
}

/// The errors of every route that reads the record by the names of entries.
pub(crate) const ERRORS: [&str; 3] = ["NOT_FOUND", "RECORD_OFF", "INVALID_FIELD"];

/// The names of one moment.
pub(crate) struct Names(Arc<Catalogue>, ShownNumbers);

impl Names {
    pub(crate) fn of(gateway: &Gateway) -> Names {
        Names(gateway.catalogue(), gateway.numbers.clone())
    }

    pub(crate) fn event(&self, id: EventId) -> String {
        event_name(&self.1, id.0)
    }

    pub(crate) fn account(&self, id: AccountId) -> String {
        self.0.account(id).map_or_else(|| id.to_string(), |view| view.name.clone())
    }

    /// Returns the currency of an account that exists.
    pub(crate) fn known_currency(&self, id: AccountId) -> Option<Currency> {
        self.0.account(id).map(|view| view.account.currency)
    }

    /// Returns the name of the entry with a cost of a carrier; none if it does not say the same any more.
    pub(crate) fn cost_entry(&self, carrier: CarrierId, terms: &CostTerms) -> Option<String> {
        let (of_carrier, found) = self.0.costs().said_by(terms.entry)?;
        let says_the_same = of_carrier == carrier && found.terms.value == Some(*terms);
        says_the_same.then(|| cost_name(&self.carrier(carrier), &found))
    }

    /// Converts an amount at the exchange rate of a time.
    pub(crate) fn convert(
        &self,
        amount: Money,
        from: Currency,
        to: Currency,
        at: Timestamp,
    ) -> Option<Money> {
        self.0.exchange_rates().convert(amount, from, to, at)
    }

    /// Returns the currency of each account.
    pub(crate) fn currencies(&self) -> Currencies {
        self.0.accounts().map(|(id, view)| (id, view.account.currency)).collect()
    }

    /// Returns the currency of all accounts; none if they have several.
    pub(crate) fn only_currency(&self) -> Option<Currency> {
        let mut currencies = self.0.accounts().map(|(_, view)| view.account.currency);
        let first = currencies.next()?;
        currencies.all(|other| other == first).then_some(first)
    }

    pub(crate) fn connection(&self, id: ConnectionId) -> String {
        self.0.connection_name(id).map_or_else(|| id.to_string(), str::to_owned)
    }

    pub(crate) fn carrier(&self, id: CarrierId) -> String {
        carrier_name(&self.0, id)
    }

    pub(crate) fn route(&self, id: RouteId) -> String {
        let known = self.0.routes().entries().iter().find(|(_, route)| route.id() == id);
        known.map_or_else(
            || id.to_string(),
            |(scope, _)| {
                let account = scope.account.map(|account| self.account(account));
                of_route(account.as_deref(), Some(scope.area), scope.sender.as_ref())
            },
        )
    }

    pub(crate) fn currency(&self, id: AccountId) -> String {
        self.known_currency(id).map(|currency| currency.to_string()).unwrap_or_default()
    }
}

/// Returns the scope of a query: one account, or all.
pub(crate) fn scope_of(gateway: &Gateway, account: Option<&str>) -> Result<Scope> {
    account.map_or(Ok(Scope::All), |name| find_account(gateway, name).map(Scope::Account))
}

type Range = (Option<Timestamp>, Option<Timestamp>);

/// Parses a range of time, which must not be empty.
pub(crate) fn range_of(since: Option<&str>, until: Option<&str>, now: Timestamp) -> Result<Range> {
    let from = since.map(|text| time("since", text, now)).transpose()?;
    let until = until.map(|text| time("until", text, now)).transpose()?;
    match (from, until) {
        (Some(from), Some(until)) if from >= until => {
            Err(invalid("until", format!("{until} is not after since, which is {from}")))
        }
        range => Ok(range),
    }
}

/// Returns the end of a range that ends now: just after now, so that what happened now is in it.
pub(crate) fn end_or_now(until: Option<Timestamp>, now: Timestamp) -> Timestamp {
    until.unwrap_or_else(|| now.plus(Duration::from_millis(1)))
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Record", "What searches, timelines, statistics and the request log are read from.");
    routes.get(
        "/record",
        record_status,
        doc("getRecord", "Read the state of the record", "How far it is behind.")
            .least(OperatorPermission::Reading),
    );
    routes.post(
        "/record/rebuild",
        rebuild_record,
        doc("rebuildRecord", "Rebuild the record", "The record begins again from the message store.")
            .details(
                "Deletes the record and reads every message from the message store again; `GET /record` says how many are \
                 left. Timelines of the steps before, statistics of refused requests and the request log are lost.",
            )
            .errors(&["RECORD_OFF"])
            .least(OperatorPermission::Operations),
    );
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
