//! End-to-end scenarios: the gateway with a scripted carrier.

mod alarm_notifications;
mod carrier_responses;
mod charging;
mod clock;
mod cost_routing;
mod expiry_and_retention;
mod failover;
mod http_messages;
mod in_doubt;
mod mo;
mod queue_and_restart;
mod restored_backup;
mod smpp;
mod suspended_accounts;
mod twenty_failures;
mod webhooks;
