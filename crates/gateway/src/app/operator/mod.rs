//! What an operator does: sets things up, moves money, decides what is held, and looks. One file per noun; no protocol is
//! known here.

mod backup;
mod binds;
mod carriers;
mod deliveries;
mod entries;
mod erase;
mod explain;
mod look;
mod money;
mod policy;
mod published;
mod refusal;
mod reports;
mod unowned;
mod webhooks;

pub use backup::{Copied, copy_database};
pub use binds::{BindSeen, BindsAsked, binds_seen, unbind};
pub use carriers::{
    CarrierSeen, Traced, acknowledge_alarms, alarms, carriers_seen, read_trace, resume_carrier, test_carrier,
    trace_carrier, what_to_do,
};
pub use deliveries::{
    DELIVERY_DAYS_MAX, Deliveries, DeliveriesBy, DeliveryReport, LooseReceipts, deliveries, loose_receipts,
};
pub use entries::{
    Applied, Fields, IfThere, Item, Listed, LiveBinds, PAGE_ENTRIES_MAX, Page, apply_wanted, list_entries,
    patch_entry, put_entry, remove_entry, rotate_key, show_entry,
};
pub use erase::erase_number;
pub use explain::{Explained, ExplainedCarrier, ExplainedRoute, Question, explain};
pub use look::{ForAccount, Looked, PriceFound, look_up_number};
pub use money::{Post, Posted, day_totals, kind_text, ledger_page, post_entry, show_balance, statement};
pub use policy::{
    ControlToday, Reviewed, Traffic, decide, forget_opt_out, opt_out, opt_outs, review, reviews,
    traffic_today,
};
pub use published::OPERATOR_ERRORS;
pub use refusal::OperatorRefusal;
pub use reports::{GivenUpSeen, given_up_reports};
pub use unowned::{UnownedSeen, assign_inbound, unassigned_inbound};
pub use webhooks::{
    SecretStep, WebhooksSeen, change_webhook_secret, replay_failed_webhooks, replay_webhook, webhook_event,
    webhook_events, webhooks_of,
};

use crate::world::World;
use hermod_domain::ids::AccountId;

fn find_account(world: &World, name: &str) -> Result<AccountId, OperatorRefusal> {
    let catalogue = world.catalogue();
    let found = catalogue.accounts().find(|(_, view)| view.name == name).map(|(id, _)| id);
    found.ok_or_else(|| OperatorRefusal::no_such("account", name))
}

fn account_name(world: &World, id: AccountId) -> String {
    world.catalogue().account(id).map_or_else(|| id.to_string(), |view| view.name.clone())
}
