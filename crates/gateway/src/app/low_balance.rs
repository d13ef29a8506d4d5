//! Warnings about a low balance: what is available, against the two amounts of the account.

use crate::app::AccountBalance;
use crate::gateway::Gateway;
use crate::live_status::Mail;
use hermod_domain::catalogue::BalanceLevel;
use hermod_domain::ids::AccountId;
use hermod_domain::money::{Currency, Money};
use hermod_domain::permission::Permission;
use hermod_store::StoreError;

/// An account of which less is available than one of its warnings says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowBalance {
    pub level: BalanceLevel,
    pub available: Money,
    /// The amount of the warning.
    pub below: Money,
    pub currency: Currency,
}

/// Returns the warning of an account, if it is below one. An account without warnings costs no read.
pub async fn low_balance(gateway: &Gateway, account: AccountId) -> Result<Option<LowBalance>, StoreError> {
    let catalogue = gateway.catalogue();
    let Some(view) = catalogue.account(account) else { return Ok(None) };
    if view.account.warn_below.is_none() && view.account.urgent_below.is_none() {
        return Ok(None);
    }
    let held = gateway.store.money().balance(account).await?;
    let Some(balance) = AccountBalance::of(&view.account, held) else { return Ok(None) };
    let AccountBalance { available, currency, .. } = balance;
    let (level, below) = view.account.balance_level(available);
    Ok(below.map(|below| LowBalance { level, available, below, currency }))
}

/// Mails a warning to the users who look after the account's money. Returns whether there was one to mail to.
pub fn mail_low_balance(gateway: &Gateway, account: AccountId, low: &LowBalance) -> bool {
    let catalogue = gateway.catalogue();
    let Some(view) = catalogue.account(account) else { return false };
    let LowBalance { level, available, below, currency } = low;
    let name = &view.name;
    let urgency = if *level == BalanceLevel::Urgent { "Urgent: low balance" } else { "Low balance" };
    let text = format!(
        "The account {name} has {available} {currency} available, which is below your warning at {below} {currency}.\n\
         Messages are rejected when nothing is left.\n\n{}/accounts/{name}/billing\n",
        gateway.portal_url
    );
    let members = catalogue.users().of_account(account);
    let mut readers = members
        .iter()
        .filter(|member| member.role.may(Permission::ChangeMoney) && member.user.can_sign_in())
        .peekable();
    let is_read = readers.peek().is_some();
    for reader in readers {
        let subject = format!("{urgency} of {name}");
        let mail = Mail { to: reader.email.to_owned(), subject, text: text.clone() };
        if let Err(error) = gateway.mail.send(mail) {
            tracing::warn!(%error, account = name, "A low-balance warning was not mailed");
        }
    }
    is_read
}
