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
mod tests {
    use super::*;
    use crate::sender::Sender;

    fn entry(number: &str, account: u32, keyword: Option<&str>) -> NumberEntry {
        NumberEntry {
            number: Sender::parse(number).unwrap(),
            account: AccountId::new(account),
            keyword: keyword.map(str::to_owned),
        }
    }

    #[test]
    fn owner_is_found_by_number_and_keyword() {
        let owners = NumberOwners::of(&[
            entry("+4915799999999", 1, None),
            entry("80800", 2, Some("VOTE")),
            entry("80800", 3, Some("news")),
            entry("80800", 4, None),
            entry("80801", 5, Some("ONLY")),
            entry("4915799999999", 9, None),
        ]);
        let alone = |account| Some(NumberOwner::Number(AccountId::new(account)));
        let word = |account, rest| Some(NumberOwner::Keyword { account: AccountId::new(account), rest });
        let shared = |account: Option<u32>| Some(NumberOwner::Shared(account.map(AccountId::new)));
        for (number, text, expect) in [
            ("4915799999999", "anything", alone(1)),
            ("4915799999999", "", alone(1)),
            ("80800", "vote for me", word(2, "for me")),
            ("80800", "  Vote, please", word(2, "please")),
            ("80800", "NEWS", word(3, "")),
            ("80800", "news:\nSTOP", word(3, "STOP")),
            ("80800", "newspaper", shared(Some(4))),
            ("80800", "my vote", shared(Some(4))),
            ("80800", "", shared(Some(4))),
            ("80801", "only you", word(5, "you")),
            ("80801", "hello", shared(None)),
            ("80802", "vote", None),
            ("", "vote", None),
        ] {
            assert_eq!(owners.find_owner(number, text), expect, "{number} {text:?}");
        }
    }

    #[test]
    fn first_open_connection_with_inbound_gets_the_accounts_mo_messages() {
        let connection = |account, change: fn(&mut Connection)| {
            let mut connection = Connection {
                account: AccountId::new(account),
                default_sender: None,
                requests_per_second: 10,
                max_parts: None,
                allow: Default::default(),
                smart_encoding: false,
                closed: false,
                smpp: Some(SmppAccess::new("shop", "")),
                dlr_form: Default::default(),
                webhooks_too: false,
            };
            change(&mut connection);
            connection
        };
        let all: HashMap<_, _> = [
            connection(1, |it| it.smpp = None),
            connection(1, |it| it.closed = true),
            connection(1, |it| it.smpp.as_mut().unwrap().inbound = InboundForm::None),
            connection(1, |it| {
                let types = &mut it.smpp.as_mut().unwrap().bind_types;
                (types.receiver, types.transceiver) = (false, false);
            }),
            connection(1, |it| it.smpp.as_mut().unwrap().inbound = InboundForm::Payload),
            connection(1, |_| {}),
            connection(2, |_| {}),
        ]
        .into_iter()
        .zip(1..)
        .map(|(connection, id)| (ConnectionId::new(id), connection))
        .collect();
        let mut chosen: Vec<_> =
            inbound_connections(&all).into_iter().map(|(account, id)| (account.get(), id.get())).collect();
        chosen.sort_unstable();
        assert_eq!(chosen, [(1, 5), (2, 7)]);
    }
}
