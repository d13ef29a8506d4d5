//! Unit tests of `number_owners.rs`.

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
