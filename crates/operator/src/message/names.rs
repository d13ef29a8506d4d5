//! The names of what the record has as numbers: accounts, connections, carriers, routes. What no longer exists keeps its
//! number.

use crate::carrier::use_cases::find_carrier;
use crate::find::{carrier_name, find_account};
use crate::message::views::MessageView;
use crate::refusal::OperatorRefusal;
use crate::setup::route_name;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, RouteId};
use hermod_domain::shown_number::ShownNumbers;
use hermod_domain::webhook::event_name;
use hermod_gateway::gateway::Gateway;
use hermod_store::EventId;
use hermod_store::record::{RecordedMessage, Scope};
use std::sync::Arc;

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
                route_name(account.as_deref(), scope.area, scope.sender.as_ref())
            },
        )
    }

    pub(crate) fn currency(&self, id: AccountId) -> String {
        self.0.account(id).map(|view| view.account.currency.to_string()).unwrap_or_default()
    }

    pub(crate) fn message(&self, message: &RecordedMessage) -> MessageView {
        let RecordedMessage { account, connection, carrier, .. } = message;
        let names = [self.account(*account), self.connection(*connection), self.carrier(*carrier)];
        MessageView::new(message, names, self.currency(*account))
    }
}

/// Returns the scope of a query: one account, or all.
pub(crate) fn scope_of(gateway: &Gateway, account: Option<&str>) -> Result<Scope, OperatorRefusal> {
    account.map_or(Ok(Scope::All), |name| find_account(gateway, name).map(Scope::Account))
}

pub(crate) fn carrier_named(gateway: &Gateway, name: &str) -> Result<CarrierId, OperatorRefusal> {
    find_carrier(gateway, name)
}

pub(crate) fn connection_named(gateway: &Gateway, name: &str) -> Result<ConnectionId, OperatorRefusal> {
    let found = gateway.catalogue().connection_by_name(name);
    found.ok_or_else(|| OperatorRefusal::no_such("connection", name))
}
