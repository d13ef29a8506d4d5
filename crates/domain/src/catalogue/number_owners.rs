//! Finds the account that owns an MO message, and the connection that gets an account's MO messages over SMPP.

use super::{Connection, InboundForm, NumberEntry, SmppAccess};
use crate::ids::{AccountId, ConnectionId};
use std::collections::HashMap;

/// The owners of each number, by its digits without a plus.
#[derive(Debug, Default)]
pub(super) struct NumberOwners(HashMap<String, Owners>);

#[derive(Debug, Default)]
struct Owners {
    /// The account of the entry without a keyword.
    default: Option<AccountId>,
    /// By keyword, in capitals.
    keywords: HashMap<String, AccountId>,
}

/// The owner of an MO message, by its number and first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOwner<'a> {
    /// The number belongs to one account.
    Number(AccountId),
    /// The number is shared and the first word is this account's keyword; `rest` is the text after it.
    Keyword { account: AccountId, rest: &'a str },
    /// The number is shared and the first word is no keyword. Holds the account that has the number without a keyword,
    /// if any.
    Shared(Option<AccountId>),
}

impl NumberOwners {
    /// Builds the index. Of duplicate entries the first counts.
    pub(super) fn of(entries: &[NumberEntry]) -> NumberOwners {
        let mut numbers: HashMap<String, Owners> = HashMap::new();
        for NumberEntry { number, account, keyword } in entries {
            let owners = numbers.entry(number.address().to_owned()).or_default();
            match keyword {
                None => {
                    owners.default.get_or_insert(*account);
                }
                Some(keyword) => {
                    owners.keywords.entry(keyword.to_uppercase()).or_insert(*account);
                }
            }
        }
        NumberOwners(numbers)
    }

    /// Returns the owner of a message; `number` is digits only.
    pub(super) fn find_owner<'a>(&self, number: &str, text: &'a str) -> Option<NumberOwner<'a>> {
        let Owners { default, keywords } = self.0.get(number)?;
        if keywords.is_empty() {
            return default.map(NumberOwner::Number);
        }
        let text = text.trim_start();
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let word = first.trim_matches(|character: char| !character.is_alphanumeric()).to_uppercase();
        let keyword = keywords.get(&word).map(|account| NumberOwner::Keyword { account: *account, rest });
        Some(keyword.unwrap_or(NumberOwner::Shared(*default)))
    }
}

/// Returns for each account the connection with the lowest id that can receive MO messages.
pub(super) fn inbound_connections(
    connections: &HashMap<ConnectionId, Connection>,
) -> HashMap<AccountId, ConnectionId> {
    let mut chosen: HashMap<AccountId, ConnectionId> = HashMap::new();
    for (id, connection) in connections.iter().filter(|(_, connection)| can_receive_mo(connection)) {
        let lowest = chosen.entry(connection.account).or_insert(*id);
        *lowest = (*lowest).min(*id);
    }
    chosen
}

pub(super) fn can_receive_mo(connection: &Connection) -> bool {
    let Connection { closed, smpp, .. } = connection;
    let receives = |access: &SmppAccess| {
        access.inbound != InboundForm::None && (access.bind_types.receiver || access.bind_types.transceiver)
    };
    !closed && smpp.as_ref().is_some_and(receives)
}

#[cfg(test)]
#[path = "number_owners_tests.rs"]
mod tests;
