//! Alarms about customers' money: `out-of-credit` while messages are rejected for lack of credit, and `credit-low` before that.

use crate::app::AccountBalance;
use crate::gateway::Gateway;
use crate::live_status::{AlarmKind, CreditRejection};
use hermod_domain::catalogue::Account;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_store::StoreError;
use std::time::Duration;

/// An account of which no message was rejected for this long does not send any more.
const REJECTED_WITHIN: Duration = Duration::from_secs(24 * 3_600);
/// An account with a credit limit and without warnings of its own is low when less than this share of the limit is left.
const LEFT_PER_CENT: i64 = 10;

/// Raises `out-of-credit` for accounts of which this node rejects messages, and clears it when they have more than at the last
/// rejection. Every node sees its own rejections.
pub async fn check_rejections_for_credit(gateway: &Gateway) -> Result<(), StoreError> {
    let (catalogue, now) = (gateway.catalogue(), gateway.clock.now());
    let mut causes = Vec::new();
    for (id, rejection) in gateway.credit_rejections.list() {
        let view = catalogue.account(id).filter(|view| can_send(&view.account));
        let Some(view) = view else {
            gateway.credit_rejections.forget(id, &rejection);
            continue;
        };
        let Account { credit_limit, minimum, currency, .. } = &view.account;
        let available = gateway.store.money().balance(id).await?.spendable(*credit_limit, *minimum);
        if is_over(&rejection, available.unwrap_or(Money::ZERO), now) {
            gateway.credit_rejections.forget(id, &rejection);
            continue;
        }
        let CreditRejection { first_at, count, available, .. } = rejection;
        let messages = if count == 1 { "1 message was".to_owned() } else { format!("{count} messages were") };
        let detail = format!(
            "{messages} rejected for lack of credit since {}; {available} {currency} can be spent",
            first_at.to_iso()
        );
        causes.push((view.name.clone(), detail));
    }
    causes.sort();
    gateway.alarms.replace(AlarmKind::OutOfCredit, "", &causes, now);
    Ok(())
}

/// Whether an account has more than when its last message was rejected, or sends no more.
fn is_over(rejection: &CreditRejection, available: Money, now: Timestamp) -> bool {
    available > rejection.available || now.since(rejection.last_at) >= REJECTED_WITHIN
}

/// Raises `credit-low` for accounts below one of their warnings, or with little of their credit limit left.
pub async fn check_low_credit(gateway: &Gateway) -> Result<(), StoreError> {
    let catalogue = gateway.catalogue();
    let mut causes = Vec::new();
    for (id, view) in catalogue.accounts() {
        let account = &view.account;
        if !can_send(account) || !has_mark(account) {
            continue;
        }
        let held = gateway.store.money().balance(id).await?;
        let Some(AccountBalance { available, currency, .. }) = AccountBalance::of(account, held) else {
            continue;
        };
        if let Some(mark) = mark_above(account, available) {
            causes
                .push((view.name.clone(), format!("{available} {currency} are available, less than {mark}")));
        }
    }
    causes.sort();
    gateway.alarms.replace(AlarmKind::CreditLow, "", &causes, gateway.clock.now());
    Ok(())
}

fn can_send(account: &Account) -> bool {
    !account.closed && account.suspended.is_none()
}

/// Whether there is an amount below which the account is low. Others cost no read.
fn has_mark(account: &Account) -> bool {
    account.warn_below.is_some() || account.urgent_below.is_some() || account.credit_limit > Money::ZERO
}

/// Returns what the available amount is below, in words: a warning of the account, or without one a share of its credit limit.
fn mark_above(account: &Account, available: Money) -> Option<String> {
    let currency = account.currency;
    let (_, warning) = account.balance_level(available);
    if let Some(warning) = warning {
        return Some(format!("its warning at {warning} {currency}"));
    }
    let has_warnings = account.warn_below.is_some() || account.urgent_below.is_some();
    let share = account.credit_limit.as_micros() / 100 * LEFT_PER_CENT;
    (!has_warnings && account.credit_limit > Money::ZERO && available < Money::from_micros(share))
        .then(|| format!("{LEFT_PER_CENT} % of its credit limit of {} {currency}", account.credit_limit))
}

#[cfg(test)]
#[path = "credit_alarms_tests.rs"]
mod tests;
