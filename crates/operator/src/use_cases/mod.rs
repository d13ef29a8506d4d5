//! What an operator does: provisioning, money, reviews, carriers, binds. One file per subject; requests and responses are
//! those of [`crate::views`], and no protocol is known here.

mod binds;
mod carriers;
mod customer_request_changes;
mod customer_requests;
mod deliveries;
mod destinations;
mod entries;
mod explain;
mod input;
mod key_uses;
mod lookup;
mod maintenance;
mod messages;
mod money;
mod node_query;
mod nodes;
mod published;
mod record;
mod refusal;
mod rotation;
mod traces;
mod webhooks;

pub use binds::{list_binds, unbind};
pub use carriers::{acknowledge_alarms, list_alarms, list_carriers, resume_carrier, test_carrier};
pub use customer_requests::{
    accept_customer_request, decline_customer_request, list_customer_requests, make_customer_request,
    show_customer_request, withdraw_customer_request,
};
pub use deliveries::{list_deliveries, list_unmatched_receipts};
pub use destinations::{list_destinations, switch_country};
pub use entries::{
    IfExists, LiveBinds, apply_wanted, list_entries, patch_entry, put_entry, remove_entry, show_entry,
};
pub use key_uses::{last_key_use, last_key_uses};
pub use lookup::{explain_route, list_errors, look_up_number};
pub use maintenance::{copy_database, erase_number, list_audit_log, list_set_aside};
pub use messages::{
    add_opt_out, assign_inbound, decide_review, find_opt_out, list_given_up, list_opt_outs, list_reviews,
    list_unassigned, remove_opt_out, show_review,
};
pub use money::{
    list_days, list_ledger, post_entry, show_balance, show_statement, show_traffic, show_whole_statement,
    statement_csv,
};
pub use nodes::{answer_query, drain_node, list_nodes};
pub use published::OPERATOR_ERRORS;
pub use record::{
    LiveFeed, Reader, Rows, count_messages, export_messages, export_requests, export_statistics,
    group_requests, list_requests, read_statistics, rebuild_record, record_status, search_messages,
    search_text, show_message, watch_live,
};
pub use refusal::OperatorRefusal;
pub use rotation::{overlap_of, rotate_key, rotate_password};
pub use traces::{
    BIND_TRACE_LASTS, BindTrace, read_bind_trace, read_trace, start_bind_trace, start_trace, stop_bind_trace,
    stop_trace,
};
pub use webhooks::{
    SecretStep, change_webhook_secret, list_webhook_events, replay_failed_webhooks, replay_webhook,
    reveal_webhook_secret, show_webhook_event, show_webhooks, test_webhook, webhook_event_body,
};

use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_gateway::gateway::Gateway;
use hermod_store::NodeInfo;

fn find_account(gateway: &Gateway, name: &str) -> Result<AccountId, OperatorRefusal> {
    let catalogue = gateway.catalogue();
    let found = catalogue.accounts().find(|(_, view)| view.name == name).map(|(id, _)| id);
    found.ok_or_else(|| OperatorRefusal::no_such("account", name))
}

fn find_node(gateway: &Gateway, name: &str) -> Result<NodeInfo, OperatorRefusal> {
    let found = gateway.store.cluster().nodes().into_iter().find(|node| node.name == name && node.is_alive);
    found.ok_or_else(|| OperatorRefusal::no_such("node", name))
}

fn account_name(gateway: &Gateway, id: AccountId) -> String {
    gateway.catalogue().account(id).map_or_else(|| id.to_string(), |view| view.name.clone())
}

/// Returns the connections of an account in the order of their names.
fn connection_names(gateway: &Gateway, account: AccountId) -> Vec<(ConnectionId, String)> {
    let catalogue = gateway.catalogue();
    let own = catalogue.connections_of(account).into_iter();
    let mut own: Vec<(ConnectionId, String)> = own.map(|(id, name, _)| (id, name.to_owned())).collect();
    own.sort_by(|(_, one), (_, other)| one.cmp(other));
    own
}

fn carrier_name(catalogue: &Catalogue, id: CarrierId) -> String {
    let known = catalogue.carriers().iter().find(|(carrier, ..)| *carrier == id);
    known.map_or_else(|| id.to_string(), |(_, name, _)| name.clone())
}
