//! What handsets send: known if it was brought before, put together if it is a part, given to whose it is. Stop words
//! act first. All of it in the transaction of the link that brought it, so that an answered message is never lost and one
//! that is brought again is never two.

mod conversations;
mod inbound;
mod concatenation;
mod unassigned;

use crate::batch::Batch;
use crate::ops::{InboundRecord, ReportContent, OptOut, PART_REPEATS_KNOWN, REPEATS_KNOWN};
use crate::report::ReportChannel;
use crate::tables::{InboundRow, MoPartChange, SeenKey, TableError, Wire};
use hermod_domain::catalogue::Claim;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::inbound::{InboundPart, OptKeyword, Whole, handset, number, opt_keyword, shown, tidied};
use hermod_domain::origin::WrittenAddress;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// How an opt-out came about, as the operator reads it.
const BY_STOP_WORD: &str = "a stop word from the handset";

/// A message that has mo, as far as it has.
pub struct ReceivedMo {
    pub carrier: CarrierId,
    pub source: WrittenAddress,
    pub destination: WrittenAddress,
    pub whole: Whole,
    /// Parts that never came.
    pub missing: u8,
    /// When the first of it came.
    pub at: Timestamp,
}

/// Whose a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub account: AccountId,
    /// The connection that the handset was written to from.
    pub connection: Option<ConnectionId>,
}

impl Batch<'_> {
    /// What a link brought.
    pub fn receive_mo(&mut self, carrier: CarrierId, part: &InboundPart) -> Result<(), TableError> {
        let known = if part.joined.is_some() { PART_REPEATS_KNOWN } else { REPEATS_KNOWN };
        let mut is_new = self.is_new(carrier, part.digest(), known)?;
        if let Some(joined) = part.joined {
            // Handsets use references again: a message that lacks just this part is another one.
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
            whole: Whole::of(&[(1, part.piece.clone())]),
            missing: 0,
            at: self.now,
        };
        if is_new {
            return self.deliver_mo(&mo);
        }
        self.tally.inbound_repeated += 1;
        self.apply_opt_keyword_of_duplicate(&mo)
    }

    /// Who says stop, start and stop again within minutes means the last of it, though it looks like the first brought
    /// again. To stop twice does no harm; to start because of a repeat could.
    fn apply_opt_keyword_of_duplicate(&mut self, mo: &ReceivedMo) -> Result<(), TableError> {
        let Some(Owner { account, .. }) = self.owner(mo)? else { return Ok(()) };
        match self.opt_keyword_of(account, mo) {
            Some(OptKeyword::Stop) => self.apply_opt_keyword(account, mo),
            Some(OptKeyword::Start) | None => Ok(()),
        }
    }

    /// False if the carrier brought the very same lately.
    fn is_new(&self, carrier: CarrierId, digest: [u8; 16], known: Duration) -> Result<bool, TableError> {
        // What waited for room on the disk was told long ago, and is known from now on.
        let now = self.now.max(self.state.last_time);
        let key = SeenKey { carrier, digest };
        let is_new = self.tables.read()?.seen_until(&key)?.is_none_or(|until| until <= now);
        if is_new {
            self.tables.write(MoPartChange::Seen { key, until: now.plus(known) });
        }
        Ok(is_new)
    }

    /// Deletes digests that count for repeats no longer, at most `limit`. Returns how many.
    pub fn forget_repeats(&mut self, now: Timestamp, limit: usize) -> Result<usize, TableError> {
        self.advance_to(now);
        let over = self.tables.read()?.seen_no_longer_than(now, limit)?;
        over.iter().for_each(|key| self.tables.write(MoPartChange::DeleteSeen(*key)));
        Ok(over.len())
    }

    /// A message is here: it goes to whose it is, or is kept for the operator.
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

    /// The number, its keyword, or the last conversation says whose it is. On a number that is shared, who wants no more
    /// messages means those that came last.
    fn owner(&self, mo: &ReceivedMo) -> Result<Option<Owner>, TableError> {
        let to = number(&mo.destination);
        let owned = |account| Owner { account, connection: None };
        let otherwise = match self.catalogue.claim(&to, &mo.whole.text) {
            Some(Claim::Number(account) | Claim::Keyword { account, .. }) => return Ok(Some(owned(account))),
            Some(Claim::Shared(otherwise)) => otherwise.map(owned),
            None => None,
        };
        let wrote_last = self.conversation(handset(&mo.source), &to)?;
        let is_meant = |owner: &Owner| otherwise.is_none() || self.opt_keyword_of(owner.account, mo).is_some();
        Ok(wrote_last.filter(is_meant).or(otherwise))
    }

    /// What the handset wants goes first; then the account can read it, and is told wherever it wants to be.
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
            from: shown(source),
            to: shown(destination),
            text: whole.text.clone(),
            wire: Some(mo.wire()),
            missing: *missing,
            received_at: *at,
        })?;
        let over_smpp = connection
            .filter(|connection| self.catalogue.takes_inbound(*connection))
            .or_else(|| self.catalogue.inbound_connection(account));
        if let Some(connection) = over_smpp {
            self.report(account, connection, message, ReportContent::Inbound(record.id), ReportChannel::Both)?;
        }
        Ok(record)
    }

    /// Stop words and what lifts them.
    fn apply_opt_keyword(&mut self, account: AccountId, mo: &ReceivedMo) -> Result<(), TableError> {
        // Nobody can be written to who has no number.
        let Some(number) = handset(&mo.source) else { return Ok(()) };
        match self.opt_keyword_of(account, mo) {
            Some(OptKeyword::Stop) => {
                let entry = OptOut { account, number, how: BY_STOP_WORD.to_owned(), now: mo.at };
                self.tally.opt_outs += u64::from(self.opt_out(&entry)?);
            }
            // It may have waited for its owner, and the handset have said something else since.
            Some(OptKeyword::Start) => {
                self.tally.opt_ins += u64::from(self.opt_in_since(account, number, mo.at)?);
            }
            None => {}
        }
        Ok(())
    }

    /// What a message asks of an account, with its keyword before it or without.
    fn opt_keyword_of(&self, account: AccountId, mo: &ReceivedMo) -> Option<OptKeyword> {
        let text = mo.whole.text.as_str();
        let own = self.catalogue.account(account).map(|view| view.account.stop_words.as_slice());
        let own = own.unwrap_or_default();
        let behind_keyword = match self.catalogue.claim(&number(&mo.destination), text) {
            Some(Claim::Keyword { account: whose, rest }) if whose == account => opt_keyword(rest, own),
            Some(Claim::Keyword { .. } | Claim::Number(_) | Claim::Shared(_)) | None => None,
        };
        behind_keyword.or_else(|| opt_keyword(text, own))
    }
}

impl ReceivedMo {
    pub fn wire(&self) -> Wire {
        Wire {
            source: tidied(&self.source),
            destination: tidied(&self.destination),
            form: self.whole.form,
            header: self.whole.header.clone(),
        }
    }
}
