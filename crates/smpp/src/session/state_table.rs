//! The state table: what a session does with each PDU in each state, for both roles, as a pure function. The table in
//! its tests is the contract's.

use crate::{BindType, CommandId, CommandStatus};

/// Our role in the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionRole {
    /// The ESME, which binds.
    Client,
    /// The SMSC, which accepts binds.
    Server,
}

/// The state of a session, as a column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateColumn {
    Open,
    Bound(BindType),
    Drain,
}

/// What a session does with a received PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Server: pass the bind to the application.
    Authenticate,
    /// Client: the response to our bind, if the sequence number matches.
    BindResponse,
    /// Pass the request to the application.
    Request,
    /// Pass it to the application; it has no response.
    Notify,
    /// Send the matching `_resp` with this status.
    Reject(CommandStatus),
    /// Send `generic_nack` with this status.
    Nack(CommandStatus),
    /// Send `enquire_link_resp`.
    RespondEnquireLink,
    /// A response: free its window slot, or count it if there is none.
    Response,
    /// The peer unbinds: complete outstanding requests, respond, close.
    Unbind,
    /// `unbind` before any bind: reject and close.
    UnbindUnbound,
    /// `unbind` while unbinding: respond.
    UnbindAgain,
    /// `unbind_resp` to our `unbind`.
    UnbindResponse,
    /// Ignore; responses are counted.
    Ignore,
    /// An unknown command: nack and count.
    Unknown,
}

use Action as A;
use CommandId as C;
use CommandStatus as S;

pub(super) const fn action_for(role: SessionRole, column: StateColumn, command: CommandId) -> Action {
    match command {
        C::ENQUIRE_LINK => A::RespondEnquireLink,
        C::UNBIND => match column {
            StateColumn::Open => A::UnbindUnbound,
            StateColumn::Bound(_) => A::Unbind,
            StateColumn::Drain => A::UnbindAgain,
        },
        C::UNBIND_RESP => match column {
            StateColumn::Open | StateColumn::Bound(_) => A::Ignore,
            StateColumn::Drain => A::UnbindResponse,
        },
        C::ENQUIRE_LINK_RESP => match column {
            StateColumn::Open => A::Ignore,
            StateColumn::Bound(_) | StateColumn::Drain => A::Response,
        },
        C::OUTBIND => nack_unless_draining(column),
        // The broadcast requests of 5.0.
        CommandId(0x111..=0x113) => nack_unless_draining(column),
        _ => match role {
            SessionRole::Server => server_action(column, command),
            SessionRole::Client => client_action(column, command),
        },
    }
}

const fn nack_unless_draining(column: StateColumn) -> Action {
    match column {
        StateColumn::Open | StateColumn::Bound(_) => A::Nack(S::INVCMDID),
        StateColumn::Drain => A::Ignore,
    }
}

const fn server_action(column: StateColumn, command: CommandId) -> Action {
    match command {
        C::BIND_RECEIVER | C::BIND_TRANSMITTER | C::BIND_TRANSCEIVER => match column {
            StateColumn::Open => A::Authenticate,
            StateColumn::Bound(_) => A::Reject(S::ALYBND),
            StateColumn::Drain => A::Reject(S::INVBNDSTS),
        },
        // Table 2-1 lets a receiver send data_sm, but such a bind is not authorised to send.
        C::SUBMIT_SM | C::SUBMIT_MULTI | C::DATA_SM => from_transmitter(column, A::Reject(S::THROTTLED)),
        C::QUERY_SM => from_transmitter(column, A::Request),
        C::CANCEL_SM => from_transmitter(column, A::Reject(S::CANCELFAIL)),
        C::REPLACE_SM => from_transmitter(column, A::Reject(S::REPLACEFAIL)),
        C::DELIVER_SM_RESP | C::DATA_SM_RESP => match column {
            StateColumn::Open | StateColumn::Bound(BindType::Transmitter) => A::Ignore,
            StateColumn::Bound(_) | StateColumn::Drain => A::Response,
        },
        C::GENERIC_NACK => match column {
            StateColumn::Open => A::Ignore,
            StateColumn::Bound(_) | StateColumn::Drain => A::Response,
        },
        C::DELIVER_SM => wrong_direction(column),
        C::ALERT_NOTIFICATION => nack_unless_draining(column),
        _ if command.is_response() => A::Ignore,
        _ => A::Unknown,
    }
}

const fn from_transmitter(column: StateColumn, draining: Action) -> Action {
    match column {
        StateColumn::Open | StateColumn::Bound(BindType::Receiver) => A::Reject(S::INVBNDSTS),
        StateColumn::Bound(BindType::Transmitter | BindType::Transceiver) => A::Request,
        StateColumn::Drain => draining,
    }
}

const fn wrong_direction(column: StateColumn) -> Action {
    match column {
        StateColumn::Open => A::Reject(S::INVBNDSTS),
        StateColumn::Bound(_) | StateColumn::Drain => A::Reject(S::INVCMDID),
    }
}

const fn client_action(column: StateColumn, command: CommandId) -> Action {
    match command {
        C::BIND_RECEIVER_RESP | C::BIND_TRANSMITTER_RESP | C::BIND_TRANSCEIVER_RESP => match column {
            StateColumn::Open => A::BindResponse,
            StateColumn::Bound(_) | StateColumn::Drain => A::Ignore,
        },
        C::GENERIC_NACK => match column {
            StateColumn::Open => A::BindResponse,
            StateColumn::Bound(_) | StateColumn::Drain => A::Response,
        },
        // Some carriers send receipts on a transmitter bind. They are accepted, also while draining, because rejecting
        // them would lose them.
        C::DELIVER_SM | C::DATA_SM => match column {
            StateColumn::Open => A::Reject(S::INVBNDSTS),
            StateColumn::Bound(_) | StateColumn::Drain => A::Request,
        },
        C::ALERT_NOTIFICATION => match column {
            StateColumn::Open => A::Ignore,
            StateColumn::Bound(_) | StateColumn::Drain => A::Notify,
        },
        C::BIND_RECEIVER | C::BIND_TRANSMITTER | C::BIND_TRANSCEIVER => A::Reject(S::INVCMDID),
        C::SUBMIT_SM | C::SUBMIT_MULTI | C::QUERY_SM | C::CANCEL_SM | C::REPLACE_SM => {
            wrong_direction(column)
        }
        _ if command.is_response() && command.is_known() => match column {
            StateColumn::Open => A::Ignore,
            StateColumn::Bound(_) | StateColumn::Drain => A::Response,
        },
        _ if command.is_response() => A::Ignore,
        _ => A::Unknown,
    }
}

/// Whether the role and bind type may send this request.
pub(super) const fn may_request(role: SessionRole, kind: BindType, command: CommandId) -> bool {
    match (role, command) {
        (
            SessionRole::Client,
            C::SUBMIT_SM | C::SUBMIT_MULTI | C::DATA_SM | C::QUERY_SM | C::CANCEL_SM | C::REPLACE_SM,
        ) => kind.may_transmit(),
        (SessionRole::Server, C::DELIVER_SM | C::DATA_SM) => kind.may_receive(),
        _ => false,
    }
}

#[cfg(test)]
#[path = "state_table_tests.rs"]
mod tests;
