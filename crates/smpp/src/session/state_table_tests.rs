//! The contract's table of PDUs and states. A cell is the action: `04` a `_resp` with that status, `n03` a
//! `generic_nack`, `app` a request for the application, `settle` a response, `ignore`.

use super::*;

const COLUMNS: [StateColumn; 5] = [
    StateColumn::Open,
    StateColumn::Bound(BindType::Transmitter),
    StateColumn::Bound(BindType::Receiver),
    StateColumn::Bound(BindType::Transceiver),
    StateColumn::Drain,
];

fn cell(action: Action) -> String {
    match action {
        A::Authenticate => "bind".into(),
        A::BindResponse => "bound".into(),
        A::Request => "app".into(),
        A::Notify => "tell".into(),
        A::Reject(status) => format!("{:02x}", status.0),
        A::Nack(status) => format!("n{:02x}", status.0),
        A::RespondEnquireLink => "ok".into(),
        A::Response => "settle".into(),
        A::Unbind => "drain".into(),
        A::UnbindUnbound => "04+close".into(),
        A::UnbindAgain => "ok".into(),
        A::UnbindResponse => "close".into(),
        A::Ignore => "ignore".into(),
        A::Unknown => "n03+count".into(),
    }
}

fn check(role: SessionRole, table: &str) {
    let mut known: Vec<CommandId> = CommandId::ALL.to_vec();
    for line in table.trim().lines() {
        let (names, cells) = line.split_once('|').expect("names | cells");
        let expect: Vec<&str> = cells.split_whitespace().collect();
        for name in names.split_whitespace() {
            let command = CommandId::ALL.iter().find(|c| c.name() == Some(name)).copied();
            let command = command.unwrap_or_else(|| {
                CommandId(u32::from_str_radix(name, 16).expect("a command's name or number"))
            });
            known.retain(|other| *other != command);
            let found = COLUMNS.map(|column| cell(action_for(role, column, command)));
            assert_eq!(found.to_vec(), expect, "{role:?} {command}");
        }
    }
    assert_eq!(known, [], "commands without a row");
}

#[test]
fn server_follows_the_contract_in_every_state() {
    check(
        SessionRole::Server,
        "
        bind_transmitter bind_receiver bind_transceiver | bind     05     05     05     04
        submit_sm data_sm submit_multi                  | 04       app    04     app    58
        query_sm                                        | 04       app    04     app    app
        cancel_sm                                       | 04       app    04     app    11
        replace_sm                                      | 04       app    04     app    13
        deliver_sm_resp data_sm_resp                    | ignore   ignore settle settle settle
        enquire_link                                    | ok       ok     ok     ok     ok
        enquire_link_resp                               | ignore   settle settle settle settle
        unbind                                          | 04+close drain  drain  drain  ok
        unbind_resp                                     | ignore   ignore ignore ignore close
        generic_nack                                    | ignore   settle settle settle settle
        deliver_sm                                      | 04       03     03     03     03
        outbind alert_notification                      | n03      n03    n03    n03    ignore
        111 112 113                                     | n03      n03    n03    n03    ignore
        submit_sm_resp submit_multi_resp query_sm_resp cancel_sm_resp replace_sm_resp bind_transmitter_resp bind_receiver_resp bind_transceiver_resp | ignore ignore ignore ignore ignore
        0 a 114 7fffffff                                | n03+count n03+count n03+count n03+count n03+count
        8000000a 80000111 ffffffff                      | ignore   ignore ignore ignore ignore
        ",
    );
}

#[test]
fn client_accepts_receipts_on_every_bind_and_never_nacks_a_response() {
    check(
        SessionRole::Client,
        "
        bind_transmitter_resp bind_receiver_resp bind_transceiver_resp | bound ignore ignore ignore ignore
        generic_nack                                    | bound    settle settle settle settle
        deliver_sm data_sm                              | 04       app    app    app    app
        alert_notification                              | ignore   tell   tell   tell   tell
        enquire_link                                    | ok       ok     ok     ok     ok
        enquire_link_resp                               | ignore   settle settle settle settle
        submit_sm_resp submit_multi_resp data_sm_resp query_sm_resp cancel_sm_resp replace_sm_resp deliver_sm_resp | ignore settle settle settle settle
        unbind                                          | 04+close drain  drain  drain  ok
        unbind_resp                                     | ignore   ignore ignore ignore close
        bind_transmitter bind_receiver bind_transceiver | 03       03     03     03     03
        submit_sm submit_multi query_sm cancel_sm replace_sm | 04  03     03     03     03
        outbind                                         | n03      n03    n03    n03    ignore
        111 112 113                                     | n03      n03    n03    n03    ignore
        0 a 7fffffff                                    | n03+count n03+count n03+count n03+count n03+count
        8000000a ffffffff                               | ignore   ignore ignore ignore ignore
        ",
    );
}

#[test]
fn requests_are_limited_by_role_and_bind_type() {
    use BindType::{Receiver, Transceiver, Transmitter};
    let may =
        |role, command| [Transmitter, Receiver, Transceiver].map(|kind| may_request(role, kind, command));
    for command in [C::SUBMIT_SM, C::SUBMIT_MULTI, C::DATA_SM, C::QUERY_SM, C::CANCEL_SM, C::REPLACE_SM] {
        assert_eq!(may(SessionRole::Client, command), [true, false, true], "{command}");
    }
    for command in [C::DELIVER_SM, C::DATA_SM] {
        assert_eq!(may(SessionRole::Server, command), [false, true, true], "{command}");
    }
    for command in [C::UNBIND, C::ENQUIRE_LINK, C::OUTBIND, C::BIND_RECEIVER, C::SUBMIT_SM_RESP] {
        assert_eq!(may(SessionRole::Client, command), [false; 3], "{command}");
        assert_eq!(may(SessionRole::Server, command), [false; 3], "{command}");
    }
}
