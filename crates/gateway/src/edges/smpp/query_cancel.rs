//! Handles query_sm and cancel_sm. Unknown ids, ids of other accounts and purged ones get the same status.

use super::submit;
use crate::gateway::Gateway;
use hermod_domain::catalogue::SmppAccess;
use hermod_domain::ids::AccountId;
use hermod_domain::lifecycle::MessageState;
use hermod_domain::origin::MessageName;
use hermod_domain::receipt::ErrCode;
use hermod_domain::sender::Sender;
use hermod_smpp::time::TIME_CHARS;
use hermod_smpp::{Address, CancelSm, CommandStatus, QuerySm, time};
use hermod_store::{CancelOutcome, ExpectedParties, MessageRecord};
use smallvec::SmallVec;

/// A parsed `query_sm`.
pub(super) struct QueryRequest {
    name: MessageName,
    source: Option<Sender>,
}

impl QueryRequest {
    pub(super) fn read(pdu: &QuerySm<'_>, access: &SmppAccess) -> Result<QueryRequest, CommandStatus> {
        let name = name(pdu.message_id)?;
        let source = submit::sender(pdu.source, access).map_err(|_| CommandStatus::INVMSGID)?;
        Ok(QueryRequest { name, source })
    }

    pub(super) async fn run(
        self,
        gateway: &Gateway,
        account: AccountId,
    ) -> Result<QueriedMessage, CommandStatus> {
        let found = gateway.store.messages().find_named(account, self.name).await;
        let record = found.map_err(|_| CommandStatus::SYSERR)?.ok_or(CommandStatus::INVMSGID)?;
        if self.source.is_some_and(|source| source != record.from) {
            return Err(CommandStatus::INVMSGID);
        }
        Ok(QueriedMessage::of(&record))
    }
}

/// The state of a message as in a `query_sm_resp`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueriedMessage {
    /// Empty until the message is final.
    pub(super) final_date: SmallVec<[u8; TIME_CHARS]>,
    pub(super) message_state: u8,
    pub(super) error_code: u8,
}

impl QueriedMessage {
    fn of(record: &MessageRecord) -> QueriedMessage {
        let ended_at = record.settled_at.map(|at| at.as_millis().div_euclid(1_000));
        let final_date = ended_at.and_then(|seconds| time::utc(seconds).ok());
        QueriedMessage {
            final_date: final_date.map(|date| SmallVec::from_slice(&date)).unwrap_or_default(),
            // Only the documented states.
            message_state: match record.state {
                MessageState::Queued | MessageState::Submitted | MessageState::Enroute => 1,
                MessageState::Delivered => 2,
                MessageState::Expired => 3,
                MessageState::Undeliverable | MessageState::Rejected => 5,
            },
            error_code: u8::try_from(ErrCode::new(record.err).smpp_code()).unwrap_or(u8::MAX),
        }
    }
}

/// A parsed `cancel_sm`. Source and destination must match where they are given.
pub(super) struct CancelRequest {
    name: MessageName,
    expected: ExpectedParties,
}

impl CancelRequest {
    pub(super) fn read(pdu: &CancelSm<'_>, access: &SmppAccess) -> Result<CancelRequest, CommandStatus> {
        let Address { value: recipient, .. } = pdu.destination;
        let destination = match recipient {
            [] => None,
            _ => Some(submit::recipient(pdu.destination, access).map_err(|_| CommandStatus::INVMSGID)?),
        };
        let from = submit::sender(pdu.source, access).map_err(|_| CommandStatus::INVMSGID)?;
        Ok(CancelRequest { name: name(pdu.message_id)?, expected: ExpectedParties { from, to: destination } })
    }

    pub(super) async fn run(self, gateway: &Gateway, account: AccountId) -> Result<(), CommandStatus> {
        let CancelRequest { name, expected } = self;
        match gateway.store.messages().cancel(account, name, expected, gateway.clock.now()).await {
            Ok(CancelOutcome::Cancelled) => Ok(()),
            Ok(CancelOutcome::TooLate) => Err(CommandStatus::CANCELFAIL),
            Ok(CancelOutcome::NotFound) => Err(CommandStatus::INVMSGID),
            Err(_) => Err(CommandStatus::SYSERR),
        }
    }
}

/// Parses a message id. An empty id, which would mean all messages, is invalid.
fn name(message_id: &[u8]) -> Result<MessageName, CommandStatus> {
    let text = std::str::from_utf8(message_id).ok();
    text.and_then(MessageName::parse).ok_or(CommandStatus::INVMSGID)
}
