//! Delivers an MO message: finds the owning account, applies opt-out keywords, stores the message, and writes its webhook event
//! and its report. A message without an owner is kept for the operator, and one that the operator blocks is dropped.

use crate::batch::Batch;
use crate::entry_uses;
use crate::mo::{conversations, inbound};
use crate::ops::{InboundRecord, NumberedEntry, ReportContent, Usage};
use crate::opt_outs;
use crate::report::{self, ReportChannel};
use crate::tables::{Conversation, InboundRow, OptOut, RowChange, TableError, UnassignedRow, Wire};
use hermod_domain::catalogue::{Catalogue, NumberOwner};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::inbound::{
    MoContent, OptKeyword, display_address, msisdn_of, normalized_address, number_of, opt_keyword,
};
use hermod_domain::origin::SmppAddress;
use hermod_domain::time::Timestamp;

/// An MO message with all parts that arrived.
pub struct ReceivedMo {
    pub carrier: CarrierId,
    pub source: SmppAddress,
    pub destination: SmppAddress,
    pub whole: MoContent,
    /// The number of parts that never arrived.
    pub missing: u8,
    /// When its first part arrived.
    pub at: Timestamp,
}

/// The account that a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub account: AccountId,
    /// The connection from which the account wrote to the handset, if a conversation found the owner.
    pub connection: Option<ConnectionId>,
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MoTarget {
    Account(Owner),
    /// No account owns it.
    Operator,
    /// The operator blocks it.
    Nowhere,
}

/// Delivers a message to its owner, keeps it for the operator if it has none, or drops it if it is blocked.
pub fn deliver(batch: &mut Batch<'_>, mo: &ReceivedMo) -> Result<(), TableError> {
    let owner = find_owner(batch, mo)?;
    match target_of(&batch.catalogue, mo, owner, batch.now) {
        MoTarget::Account(owner) => {
            batch.results.tally.inbound += 1;
            let message = batch.state.mint.mint(batch.now);
            deliver_to(batch, owner, message, mo).map(|_| ())
        }
        MoTarget::Operator => {
            batch.results.tally.inbound += 1;
            batch.results.tally.inbound_unassigned += 1;
            let message = batch.state.mint.mint(batch.now);
            keep_for_operator(batch, message, mo);
            Ok(())
        }
        MoTarget::Nowhere => {
            batch.results.tally.inbound_blocked += 1;
            *batch.results.blocked_mo.entry(mo.carrier).or_default() += 1;
            apply_stop(batch, owner, mo)
        }
    }
}

/// Decides where a message goes. Only a handset with a number can be blocked, not a short code or a name.
fn target_of(catalogue: &Catalogue, mo: &ReceivedMo, owner: Option<Owner>, now: Timestamp) -> MoTarget {
    let account = owner.map(|owner| owner.account);
    if msisdn_of(&mo.source).is_some_and(|handset| catalogue.blocks_mo(handset, account, now)) {
        return MoTarget::Nowhere;
    }
    owner.map_or(MoTarget::Operator, MoTarget::Account)
}

/// Applies STOP in a message that looks like a duplicate. A handset that sends STOP, START and STOP within minutes
/// means the last one. Opting out twice does no harm; opting in because of a duplicate could.
pub fn apply_stop_of_duplicate(batch: &mut Batch<'_>, mo: &ReceivedMo) -> Result<(), TableError> {
    let owner = find_owner(batch, mo)?;
    apply_stop(batch, owner, mo)
}

/// Applies STOP, and no other opt-out keyword, of a message that is not stored.
fn apply_stop(batch: &mut Batch<'_>, owner: Option<Owner>, mo: &ReceivedMo) -> Result<(), TableError> {
    let Some(Owner { account, .. }) = owner else { return Ok(()) };
    match opt_keyword_of(batch, account, mo) {
        Some(OptKeyword::Stop) => apply_opt_keyword(batch, account, mo),
        Some(OptKeyword::Start) | None => Ok(()),
    }
}

/// Returns the owner of a message; none if the operator has removed it and the setup that is in force has it still.
fn find_owner(batch: &Batch<'_>, mo: &ReceivedMo) -> Result<Option<Owner>, TableError> {
    let owner = named_owner(batch, mo)?;
    Ok(owner.filter(|owner| !entry_uses::is_removed(batch, NumberedEntry::Account(owner.account))))
}

/// Returns the owner that the setup in force names: the account that the number or keyword belongs to, or else the account of
/// the last conversation. On a shared number with a default account, the conversation decides only about opt-out keywords.
fn named_owner(batch: &Batch<'_>, mo: &ReceivedMo) -> Result<Option<Owner>, TableError> {
    let to = number_of(&mo.destination);
    let owned = |account| Owner { account, connection: None };
    let otherwise = match batch.catalogue.find_owner(&to, &mo.whole.text) {
        Some(NumberOwner::Number(account) | NumberOwner::Keyword { account, .. }) => {
            return Ok(Some(owned(account)));
        }
        Some(NumberOwner::Shared(otherwise)) => otherwise.map(owned),
        None => None,
    };
    let wrote_last = conversations::find(batch, msisdn_of(&mo.source), &to)?
        .map(|Conversation { account, connection, .. }| Owner { account, connection: Some(connection) });
    let is_meant = |owner: &Owner| otherwise.is_none() || opt_keyword_of(batch, owner.account, mo).is_some();
    Ok(wrote_last.filter(is_meant).or(otherwise))
}

/// Applies the opt-out keyword of a message, stores it for its owner, and writes its webhook event and report.
pub fn deliver_to(
    batch: &mut Batch<'_>,
    owner: Owner,
    message: MessageId,
    mo: &ReceivedMo,
) -> Result<InboundRecord, TableError> {
    let Owner { account, connection } = owner;
    let ReceivedMo { source, destination, whole, missing, at, .. } = mo;
    apply_opt_keyword(batch, account, mo)?;
    let record = inbound::add(
        batch,
        InboundRow {
            account,
            id: 0,
            message,
            from: display_address(source),
            to: display_address(destination),
            text: whole.text.clone(),
            wire: Some(mo.wire()),
            missing: *missing,
            received_at: *at,
        },
    )?;
    let over_smpp = connection
        .filter(|connection| batch.catalogue.can_receive_mo(*connection))
        .or_else(|| batch.catalogue.inbound_connection(account))
        .filter(|connection| !entry_uses::is_removed(batch, NumberedEntry::Connection(*connection)));
    if let Some(connection) = over_smpp {
        entry_uses::note(batch, NumberedEntry::Connection(connection), Usage::InboundMessage);
        report::write(
            batch,
            account,
            connection,
            message,
            ReportContent::Inbound(record.id),
            ReportChannel::Both,
        )?;
    }
    Ok(record)
}

/// Stores a message without an owner.
fn keep_for_operator(batch: &Batch<'_>, message: MessageId, mo: &ReceivedMo) {
    let ReceivedMo { carrier, source, destination, whole, missing, at } = mo;
    batch.tables.write(RowChange::Add(UnassignedRow {
        message,
        carrier: *carrier,
        from: display_address(source),
        to: display_address(destination),
        text: whole.text.clone(),
        wire: mo.wire(),
        missing: *missing,
        received_at: *at,
    }));
}

/// Opts the handset out of the account's messages, or in again, if the message is an opt-out or opt-in keyword.
fn apply_opt_keyword(batch: &mut Batch<'_>, account: AccountId, mo: &ReceivedMo) -> Result<(), TableError> {
    // A sender without a number cannot receive messages.
    let Some(number) = msisdn_of(&mo.source) else { return Ok(()) };
    match opt_keyword_of(batch, account, mo) {
        Some(OptKeyword::Stop) => {
            let entry = OptOut::by_keyword(account, number, mo.at);
            batch.results.tally.opt_outs += u64::from(opt_outs::add(batch, &entry)?);
        }
        // The message may have waited for its owner, and the handset may have opted out since.
        Some(OptKeyword::Start) => {
            batch.results.tally.opt_ins += u64::from(opt_outs::remove_older(batch, account, number, mo.at)?);
        }
        None => {}
    }
    Ok(())
}

/// Returns the opt-out keyword of a message, with or without the account's keyword before it.
fn opt_keyword_of(batch: &Batch<'_>, account: AccountId, mo: &ReceivedMo) -> Option<OptKeyword> {
    let text = mo.whole.text.as_str();
    let own = batch.catalogue.account(account).map(|view| view.account.stop_words.as_slice());
    let own = own.unwrap_or_default();
    let behind_keyword = match batch.catalogue.find_owner(&number_of(&mo.destination), text) {
        Some(NumberOwner::Keyword { account: whose, rest }) if whose == account => opt_keyword(rest, own),
        Some(NumberOwner::Keyword { .. } | NumberOwner::Number(_) | NumberOwner::Shared(_)) | None => None,
    };
    behind_keyword.or_else(|| opt_keyword(text, own))
}

impl ReceivedMo {
    /// Returns how the message arrived, without its text.
    pub fn wire(&self) -> Wire {
        Wire {
            source: normalized_address(&self.source),
            destination: normalized_address(&self.destination),
            form: self.whole.form,
            header: self.whole.header.clone(),
        }
    }
}
