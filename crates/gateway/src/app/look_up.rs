//! A customer's queries: the status of a message, MO messages, and the balance.

use crate::app::authenticate::Caller;
use crate::app::refusal_of;
use crate::gateway::Gateway;
use hermod_domain::catalogue::{Account, Terms};
use hermod_domain::money::{Currency, Money};
use hermod_domain::origin::MessageName;
use hermod_domain::refusal::{NotFound, Refusal};
use hermod_store::{Balance, InboundRecord, MessageRecord};

/// An account's balance: available = balance + credit limit - credit used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountBalance {
    pub balance: Money,
    pub currency: Currency,
    pub credit_limit: Money,
    pub credit_used: Money,
    pub available: Money,
    pub terms: Terms,
}

/// Returns the record of a message. Malformed ids, unknown ids and ids of other accounts fail with the same NotFound.
pub async fn message_status(gateway: &Gateway, caller: &Caller, id: &str) -> Result<MessageRecord, Refusal> {
    let missing = Refusal::NotFound(NotFound::Message);
    let Some(name) = MessageName::parse(id) else { return Err(missing) };
    let found = gateway
        .store
        .messages()
        .find_named(caller.account, name)
        .await
        .map_err(|fault| refusal_of(&fault))?;
    found.ok_or(missing)
}

/// Returns the account's MO messages with an id above `since`, oldest first.
pub async fn inbound_since(
    gateway: &Gateway,
    caller: &Caller,
    since: u64,
    limit: u32,
) -> Result<Vec<InboundRecord>, Refusal> {
    let found = gateway
        .store
        .inbound()
        .list(caller.account, since, limit)
        .await
        .map_err(|fault| refusal_of(&fault))?;
    gateway.inbound_polls.note(caller.account, found.last().map_or(since, |last| last.id));
    Ok(found)
}

pub async fn account_balance(gateway: &Gateway, caller: &Caller) -> Result<AccountBalance, Refusal> {
    let held = gateway.store.money().balance(caller.account).await.map_err(|fault| refusal_of(&fault))?;
    AccountBalance::of(&caller.account().account, held).ok_or(Refusal::SubmitFailed)
}

impl AccountBalance {
    /// Returns `None` if the available amount overflows.
    pub fn of(account: &Account, held: Balance) -> Option<AccountBalance> {
        let Balance { balance, credit_used } = held;
        let available = balance.checked_add(account.credit_limit)?.checked_sub(credit_used)?;
        Some(AccountBalance {
            balance,
            currency: account.currency,
            credit_limit: account.credit_limit,
            credit_used,
            available,
            terms: account.terms(),
        })
    }
}
