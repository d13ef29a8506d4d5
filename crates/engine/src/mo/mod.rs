//! Receives MO messages: drops duplicates, joins concatenated parts, finds the owning account, applies opt-out
//! keywords, and delivers the message. All of it happens in the transaction of the link's command, and the deliver_sm
//! is answered after the commit. So an answered message is never lost, and one that the carrier sends again is stored
//! once.

mod concatenation;
mod conversations;
mod inbound;
mod unassigned;

use crate::batch::Batch;
use crate::ops::{InboundRecord, OptOut, PART_REPEATS_KNOWN, REPEATS_KNOWN, ReportContent};
use crate::opt_outs;
use crate::report::ReportChannel;
use crate::tables::{InboundRow, MoPartChange, SeenKey, TableError, Wire};
use hermod_domain::catalogue::NumberOwner;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::inbound::{
    InboundPart, MoContent, OptKeyword, display_address, msisdn_of, normalized_address, number_of,
    opt_keyword,
};
use hermod_domain::origin::SmppAddress;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// How an opt-out was made, as the operator reads it.
const BY_OPT_OUT_KEYWORD: &str = "an opt-out keyword from the handset";

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

impl Batch<'_> {
    /// Receives one deliver_sm. A duplicate is only counted, except that STOP in it still opts the handset out.
    pub fn receive_mo(&mut self, carrier: CarrierId, part: &InboundPart) -> Result<(), TableError> {
        let known = if part.concat.is_some() { PART_REPEATS_KNOWN } else { REPEATS_KNOWN };
        let mut is_new = self.is_new(carrier, part.digest(), known)?;
        if let Some(joined) = part.concat {
            // Handsets reuse references: a message that lacks exactly this part is another one.
            is_new = is_new || self.is_lacking(carrier, part, joined)?;
            if is_new {
                return self.join(carrier, part, joined);
            }
            self.tally.inbound_repeated += 1;
            return Ok(());
        }
        let mo = ReceivedMo {
            carrier,
            source: part.source.clone(),
            destination: part.destination.clone(),
            whole: MoContent::of(&[(1, part.segment.clone())]),
            missing: 0,
            at: self.now,
        };
        if is_new {
            return self.deliver_mo(&mo);
        }
        self.tally.inbound_repeated += 1;
        self.apply_opt_keyword_of_duplicate(&mo)
    }

    /// Applies STOP in a message that looks like a duplicate. A handset that sends STOP, START and STOP within minutes
    /// means the last one. Opting out twice does no harm; opting in because of a duplicate could.
    fn apply_opt_keyword_of_duplicate(&mut self, mo: &ReceivedMo) -> Result<(), TableError> {
        let Some(Owner { account, .. }) = self.owner(mo)? else { return Ok(()) };
        match self.opt_keyword_of(account, mo) {
            Some(OptKeyword::Stop) => self.apply_opt_keyword(account, mo),
            Some(OptKeyword::Start) | None => Ok(()),
        }
    }

    /// Whether the carrier did not deliver the same message or part lately. Remembers its digest.
    fn is_new(&self, carrier: CarrierId, digest: [u8; 16], known: Duration) -> Result<bool, TableError> {
        // A command that waited for free disk space has an old time; the digest counts from now on.
        let now = self.now.max(self.state.last_time);
        let key = SeenKey { carrier, digest };
        let is_new = self.tables.read()?.seen_until(&key)?.is_none_or(|until| until <= now);
        if is_new {
            self.tables.write(MoPartChange::Seen { key, until: now.plus(known) });
        }
        Ok(is_new)
    }

    /// Deletes digests that are too old to recognise a duplicate, at most `limit`. Returns how many.
    pub fn forget_repeats(&mut self, now: Timestamp, limit: usize) -> Result<usize, TableError> {
        self.advance_to(now);
        let over = self.tables.read()?.seen_no_longer_than(now, limit)?;
        over.iter().for_each(|key| self.tables.write(MoPartChange::DeleteSeen(*key)));
        Ok(over.len())
    }

    /// Delivers a message to its owner, or keeps it for the operator if it has none.
    pub fn deliver_mo(&mut self, mo: &ReceivedMo) -> Result<(), TableError> {
        self.tally.inbound += 1;
        let owner = self.owner(mo)?;
        let message = self.state.mint.mint(self.now);
        match owner {
            Some(owner) => self.deliver_to_owner(owner, message, mo).map(|_| ()),
            None => {
                self.tally.inbound_unassigned += 1;
                self.add_unassigned(message, mo);
                Ok(())
            }
        }
    }

    /// Returns the owner of a message: the account that the number or keyword belongs to, or else the account of the
    /// last conversation. On a shared number with a default account, the conversation decides only about opt-out
    /// keywords.
    fn owner(&self, mo: &ReceivedMo) -> Result<Option<Owner>, TableError> {
        let to = number_of(&mo.destination);
        let owned = |account| Owner { account, connection: None };
        let otherwise = match self.catalogue.find_owner(&to, &mo.whole.text) {
            Some(NumberOwner::Number(account) | NumberOwner::Keyword { account, .. }) => {
                return Ok(Some(owned(account)));
            }
            Some(NumberOwner::Shared(otherwise)) => otherwise.map(owned),
            None => None,
        };
        let wrote_last = self.conversation(msisdn_of(&mo.source), &to)?;
        let is_meant =
            |owner: &Owner| otherwise.is_none() || self.opt_keyword_of(owner.account, mo).is_some();
        Ok(wrote_last.filter(is_meant).or(otherwise))
    }

    /// Applies the opt-out keyword of a message, stores it for its owner, and writes its webhook event and report.
    pub fn deliver_to_owner(
        &mut self,
        owner: Owner,
        message: MessageId,
        mo: &ReceivedMo,
    ) -> Result<InboundRecord, TableError> {
        let Owner { account, connection } = owner;
        let ReceivedMo { source, destination, whole, missing, at, .. } = mo;
        self.apply_opt_keyword(account, mo)?;
        let record = self.add_inbound(InboundRow {
            account,
            message,
            from: display_address(source),
            to: display_address(destination),
            text: whole.text.clone(),
            wire: Some(mo.wire()),
            missing: *missing,
            received_at: *at,
        })?;
        let over_smpp = connection
            .filter(|connection| self.catalogue.can_receive_mo(*connection))
            .or_else(|| self.catalogue.inbound_connection(account));
        if let Some(connection) = over_smpp {
            self.report(
                account,
                connection,
                message,
                ReportContent::Inbound(record.id),
                ReportChannel::Both,
            )?;
        }
        Ok(record)
    }

    /// Opts the handset out of the account's messages, or in again, if the message is an opt-out or opt-in keyword.
    fn apply_opt_keyword(&mut self, account: AccountId, mo: &ReceivedMo) -> Result<(), TableError> {
        // A sender without a number cannot receive messages.
        let Some(number) = msisdn_of(&mo.source) else { return Ok(()) };
        match self.opt_keyword_of(account, mo) {
            Some(OptKeyword::Stop) => {
                let entry = OptOut { account, number, how: BY_OPT_OUT_KEYWORD.to_owned(), now: mo.at };
                self.tally.opt_outs += u64::from(opt_outs::add(self, &entry)?);
            }
            // The message may have waited for its owner, and the handset may have opted out since.
            Some(OptKeyword::Start) => {
                self.tally.opt_ins += u64::from(opt_outs::remove_older(self, account, number, mo.at)?);
            }
            None => {}
        }
        Ok(())
    }

    /// Returns the opt-out keyword of a message, with or without the account's keyword before it.
    fn opt_keyword_of(&self, account: AccountId, mo: &ReceivedMo) -> Option<OptKeyword> {
        let text = mo.whole.text.as_str();
        let own = self.catalogue.account(account).map(|view| view.account.stop_words.as_slice());
        let own = own.unwrap_or_default();
        let behind_keyword = match self.catalogue.find_owner(&number_of(&mo.destination), text) {
            Some(NumberOwner::Keyword { account: whose, rest }) if whose == account => opt_keyword(rest, own),
            Some(NumberOwner::Keyword { .. } | NumberOwner::Number(_) | NumberOwner::Shared(_)) | None => {
                None
            }
        };
        behind_keyword.or_else(|| opt_keyword(text, own))
    }
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
