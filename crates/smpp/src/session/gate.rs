//! What may come in which state: the whole table of PDUs and states for both roles, as one function
//! without effects. The table in its tests is the contract.

use crate::{BindType, CommandId, CommandStatus};

/// Which side of the link we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// We bind: the ESME.
    Client,
    /// We are bound to: the message centre.
    Server,
}

/// The columns of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Open,
    Bound(BindType),
    Drain,
}

/// What to do with a PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Server: hand the bind to the application.
    Authenticate,
    /// Client: our bind has its answer, if the sequence is right.
    BindAnswered,
    /// Hand the request to the application.
    Deliver,
    /// Hand it over; there is nothing to answer.
    Notify,
    /// The matching `_resp` with this status.
    Refuse(CommandStatus),
    /// `generic_nack` with this status.
    Nack(CommandStatus),
    /// `enquire_link_resp`.
    AnswerEnquiry,
    /// An answer: free its slot, or count it if there is none.
    Settle,
    /// The peer unbinds: finish, answer, close.
    Unbind,
    /// `unbind` before any bind: refuse and close.
    UnbindUnbound,
    /// `unbind` while unbinding: agree.
    UnbindAgain,
    /// `unbind_resp` to our `unbind`.
    UnbindAnswered,
    /// Nothing; answers are counted.
    Ignore,
    /// Not in the table: nack and count.
    Unknown,
}

use CommandId as C;
use CommandStatus as S;
use Verdict as V;

pub(super) const fn decide(role: Role, column: Column, command: CommandId) -> Verdict {
    match command {
        C::ENQUIRE_LINK => V::AnswerEnquiry,
        C::UNBIND => match column {
            Column::Open => V::UnbindUnbound,
            Column::Bound(_) => V::Unbind,
            Column::Drain => V::UnbindAgain,
        },
        C::UNBIND_RESP => match column {
            Column::Open | Column::Bound(_) => V::Ignore,
            Column::Drain => V::UnbindAnswered,
        },
        C::ENQUIRE_LINK_RESP => match column {
            Column::Open => V::Ignore,
            Column::Bound(_) | Column::Drain => V::Settle,
        },
        C::OUTBIND => nack_unless_draining(column),
        // The broadcast requests of 5.0.
        CommandId(0x111..=0x113) => nack_unless_draining(column),
        _ => match role {
            Role::Server => decide_server(column, command),
            Role::Client => decide_client(column, command),
        },
    }
}

const fn nack_unless_draining(column: Column) -> Verdict {
    match column {
        Column::Open | Column::Bound(_) => V::Nack(S::INVCMDID),
        Column::Drain => V::Ignore,
    }
}

const fn decide_server(column: Column, command: CommandId) -> Verdict {
    match command {
        C::BIND_RECEIVER | C::BIND_TRANSMITTER | C::BIND_TRANSCEIVER => match column {
            Column::Open => V::Authenticate,
            Column::Bound(_) => V::Refuse(S::ALYBND),
            Column::Drain => V::Refuse(S::INVBNDSTS),
        },
        // Table 2-1 lets a receiver send data_sm, but such a bind is not authorised to send.
        C::SUBMIT_SM | C::SUBMIT_MULTI | C::DATA_SM => from_sender(column, V::Refuse(S::THROTTLED)),
        C::QUERY_SM => from_sender(column, V::Deliver),
        C::CANCEL_SM => from_sender(column, V::Refuse(S::CANCELFAIL)),
        C::REPLACE_SM => from_sender(column, V::Refuse(S::REPLACEFAIL)),
        C::DELIVER_SM_RESP | C::DATA_SM_RESP => match column {
            Column::Open | Column::Bound(BindType::Transmitter) => V::Ignore,
            Column::Bound(_) | Column::Drain => V::Settle,
        },
        C::GENERIC_NACK => match column {
            Column::Open => V::Ignore,
            Column::Bound(_) | Column::Drain => V::Settle,
        },
        C::DELIVER_SM => wrong_direction(column),
        C::ALERT_NOTIFICATION => nack_unless_draining(column),
        _ if command.is_answer() => V::Ignore,
        _ => V::Unknown,
    }
}

const fn from_sender(column: Column, draining: Verdict) -> Verdict {
    match column {
        Column::Open | Column::Bound(BindType::Receiver) => V::Refuse(S::INVBNDSTS),
        Column::Bound(BindType::Transmitter | BindType::Transceiver) => V::Deliver,
        Column::Drain => draining,
    }
}

const fn wrong_direction(column: Column) -> Verdict {
    match column {
        Column::Open => V::Refuse(S::INVBNDSTS),
        Column::Bound(_) | Column::Drain => V::Refuse(S::INVCMDID),
    }
}

const fn decide_client(column: Column, command: CommandId) -> Verdict {
    match command {
        C::BIND_RECEIVER_RESP | C::BIND_TRANSMITTER_RESP | C::BIND_TRANSCEIVER_RESP => match column {
            Column::Open => V::BindAnswered,
            Column::Bound(_) | Column::Drain => V::Ignore,
        },
        C::GENERIC_NACK => match column {
            Column::Open => V::BindAnswered,
            Column::Bound(_) | Column::Drain => V::Settle,
        },
        // Some carriers send receipts on a transmitter bind. Losing them would help nobody, and while we
        // drain they are still worth taking.
        C::DELIVER_SM | C::DATA_SM => match column {
            Column::Open => V::Refuse(S::INVBNDSTS),
            Column::Bound(_) | Column::Drain => V::Deliver,
        },
        C::ALERT_NOTIFICATION => match column {
            Column::Open => V::Ignore,
            Column::Bound(_) | Column::Drain => V::Notify,
        },
        C::BIND_RECEIVER | C::BIND_TRANSMITTER | C::BIND_TRANSCEIVER => V::Refuse(S::INVCMDID),
        C::SUBMIT_SM | C::SUBMIT_MULTI | C::QUERY_SM | C::CANCEL_SM | C::REPLACE_SM => {
            wrong_direction(column)
        }
        _ if command.is_answer() && command.is_known() => match column {
            Column::Open => V::Ignore,
            Column::Bound(_) | Column::Drain => V::Settle,
        },
        _ if command.is_answer() => V::Ignore,
        _ => V::Unknown,
    }
}

/// Requests of ours that wait for an answer, by role and bind.
pub(super) const fn may_request(role: Role, kind: BindType, command: CommandId) -> bool {
    match (role, command) {
        (
            Role::Client,
            C::SUBMIT_SM | C::SUBMIT_MULTI | C::DATA_SM | C::QUERY_SM | C::CANCEL_SM | C::REPLACE_SM,
        ) => kind.may_transmit(),
        (Role::Server, C::DELIVER_SM | C::DATA_SM) => kind.may_receive(),
        _ => false,
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
