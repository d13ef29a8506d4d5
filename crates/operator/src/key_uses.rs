//! When API keys were last used: known in memory since the gateway started, and before that by the request log.

use crate::refusal::OperatorRefusal;
use hermod_domain::ids::AccountId;
use hermod_domain::refusal::Refusal;
use hermod_gateway::app::printable;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::KeyUse;
use hermod_store::record::{RequestEntry, RequestFilter, RequestKind, Scope};
use std::collections::HashMap;

/// Lines of the request log that are read for one key: enough to skip rejected ones.
const LINES_OF_KEY: u32 = 50;
/// Lines of the request log that are read for all keys of an account.
const LINES_OF_ACCOUNT: u32 = 500;

/// Returns the last use of a key of an account. `None` if it was not used since the gateway started, and the request log has
/// no use of it.
pub async fn last_key_use(
    gateway: &Gateway,
    account: AccountId,
    key: &str,
) -> Result<Option<KeyUse>, OperatorRefusal> {
    if let Some(used) = gateway.key_uses.last(key) {
        return Ok(Some(used));
    }
    let filter = RequestFilter { who: Some(printable(key).into()), ..http_requests() };
    let found =
        gateway.store.record().request_log(Scope::Account(account), filter, None, LINES_OF_KEY).await?;
    Ok(found.rows.iter().find(|(_, entry)| is_use(entry)).map(|(_, entry)| use_of(entry)))
}

/// Returns the last use of each key of an account, as far as it is known in memory or by the newest lines of the request log.
pub async fn last_key_uses(
    gateway: &Gateway,
    account: AccountId,
    keys: &[&str],
) -> Result<HashMap<String, KeyUse>, OperatorRefusal> {
    let known = keys.iter().filter_map(|key| Some(((*key).to_owned(), gateway.key_uses.last(key)?)));
    let mut uses: HashMap<String, KeyUse> = known.collect();
    if uses.len() == keys.len() {
        return Ok(uses);
    }
    let scope = Scope::Account(account);
    let found = gateway.store.record().request_log(scope, http_requests(), None, LINES_OF_ACCOUNT).await?;
    for (_, entry) in found.rows.iter().filter(|(_, entry)| is_use(entry)) {
        let named = keys.iter().filter(|key| printable(key) == entry.who);
        for key in named {
            uses.entry((*key).to_owned()).or_insert_with(|| use_of(entry));
        }
    }
    Ok(uses)
}

fn http_requests() -> RequestFilter {
    RequestFilter { kind: Some(RequestKind::Http), ..RequestFilter::default() }
}

/// Whether the request had the right secret.
fn is_use(entry: &RequestEntry) -> bool {
    entry.code.as_deref() != Some(Refusal::InvalidApiKey.code())
}

fn use_of(entry: &RequestEntry) -> KeyUse {
    KeyUse { at: entry.at, address: entry.address }
}
