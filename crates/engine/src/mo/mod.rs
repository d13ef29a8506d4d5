//! What handsets send: known if it was brought before, put together if it is a part, given to whose it is. Stop words
//! act first. All of it in the transaction of the link that brought it, so that an answered message is never lost and one
//! that is brought again is never two.

mod conversations;
mod inbound;
mod joining;
mod unassigned;

use crate::batch::Batch;
use crate::ops::{InboundRecord, News, OptOut, PART_REPEATS_KNOWN, REPEATS_KNOWN};
use crate::report::Way;
use crate::tables::{InboundRow, MoPartChange, SeenKey, TableError, Wire};
use hermod_domain::catalogue::Claim;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::inbound::{InboundPart, OptKeyword, Whole, handset, number, opt_keyword, shown, tidied};
use hermod_domain::origin::WrittenAddress;
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// How an opt-out came about, as the operator reads it.
const BY_STOP_WORD: &str = "a stop word from the handset";

/// A message that has arrived, as far as it has.
pub struct Arrived {
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
        let arrived = Arrived {
            carrier,
            source: part.source.clone(),
            destination: part.destination.clone(),
            whole: Whole::of(&[(1, part.piece.clone())]),
            missing: 0,
            at: self.now,
        };
        if is_new {
            return self.arrive(&arrived);
        }
        self.tally.inbound_repeated += 1;
        self.apply_opt_keyword_of_duplicate(&arrived)
    }

    /// Who says stop, start and stop again within minutes means the last of it, though it looks like the first brought
    /// again. To stop twice does no harm; to start because of a repeat could.
    fn apply_opt_keyword_of_duplicate(&mut self, arrived: &Arrived) -> Result<(), TableError> {
        let Some(Owner { account, .. }) = self.owner(arrived)? else { return Ok(()) };
        match self.wish(account, arrived) {
            Some(OptKeyword::Stop) => self.apply_opt_keyword(account, arrived),
            Some(OptKeyword::Start) | None => Ok(()),
        }
    }

    /// False if the carrier brought the very same lately.
    fn is_new(&self, carrier: CarrierId, digest: [u8; 16], known: Duration) -> Result<bool, TableError> {
        // What waited for room on the disk was told long ago, and is known from now on.
        let now = self.now.max(self.books.told);
        let key = SeenKey { carrier, digest };
        let is_new = self.tables.read()?.seen_until(&key)?.is_none_or(|until| until <= now);
        if is_new {
            self.tables.write(MoPartChange::Seen { key, until: now.plus(known) });
        }
        Ok(is_new)
    }

    /// Deletes digests that count for repeats no longer, at most `limit`. Returns how many.
    pub fn forget_repeats(&mut self, now: Timestamp, limit: usize) -> Result<usize, TableError> {
        self.at(now);
        let over = self.tables.read()?.seen_no_longer_than(now, limit)?;
        over.iter().for_each(|key| self.tables.write(MoPartChange::DeleteSeen(*key)));
        Ok(over.len())
    }

    /// A message is here: it goes to whose it is, or is kept for the operator.
    pub fn arrive(&mut self, arrived: &Arrived) -> Result<(), TableError> {
        self.tally.inbound += 1;
        let owner = self.owner(arrived)?;
        let message = self.books.mint.mint(self.now);
        match owner {
            Some(owner) => self.deliver_to(owner, message, arrived).map(|_| ()),
            None => {
                self.tally.inbound_unassigned += 1;
                self.keep_unassigned(message, arrived);
                Ok(())
            }
        }
    }

    /// The number, its keyword, or the last conversation says whose it is. On a number that is shared, who wants no more
    /// messages means those that came last.
    fn owner(&self, arrived: &Arrived) -> Result<Option<Owner>, TableError> {
        let to = number(&arrived.destination);
        let owned = |account| Owner { account, connection: None };
        let otherwise = match self.catalogue.claim(&to, &arrived.whole.text) {
            Some(Claim::Number(account) | Claim::Keyword { account, .. }) => return Ok(Some(owned(account))),
            Some(Claim::Shared(otherwise)) => otherwise.map(owned),
            None => None,
        };
        let wrote_last = self.conversation(handset(&arrived.source), &to)?;
        let is_meant = |owner: &Owner| otherwise.is_none() || self.wish(owner.account, arrived).is_some();
        Ok(wrote_last.filter(is_meant).or(otherwise))
    }

    /// What the handset wants goes first; then the account can read it, and is told wherever it wants to be.
    pub fn deliver_to(
        &mut self,
        owner: Owner,
        message: MessageId,
        arrived: &Arrived,
    ) -> Result<InboundRecord, TableError> {
        let Owner { account, connection } = owner;
        let Arrived { source, destination, whole, missing, at, .. } = arrived;
        self.apply_opt_keyword(account, arrived)?;
        let record = self.keep_inbound(InboundRow {
            account,
            message,
            from: shown(source),
            to: shown(destination),
            text: whole.text.clone(),
            wire: Some(arrived.wire()),
            missing: *missing,
            received_at: *at,
        })?;
        let over_smpp = connection
            .filter(|connection| self.catalogue.takes_inbound(*connection))
            .or_else(|| self.catalogue.inbound_connection(account));
        if let Some(connection) = over_smpp {
            self.report(account, connection, message, News::Inbound(record.id), Way::Both)?;
        }
        Ok(record)
    }

    /// Stop words and what lifts them.
    fn apply_opt_keyword(&mut self, account: AccountId, arrived: &Arrived) -> Result<(), TableError> {
        // Nobody can be written to who has no number.
        let Some(number) = handset(&arrived.source) else { return Ok(()) };
        match self.wish(account, arrived) {
            Some(OptKeyword::Stop) => {
                let entry = OptOut { account, number, how: BY_STOP_WORD.to_owned(), now: arrived.at };
                self.tally.opt_outs += u64::from(self.opt_out(&entry)?);
            }
            // It may have waited for its owner, and the handset have said something else since.
            Some(OptKeyword::Start) => {
                self.tally.opt_ins += u64::from(self.opt_in_since(account, number, arrived.at)?);
            }
            None => {}
        }
        Ok(())
    }

    /// What a message asks of an account, with its keyword before it or without.
    fn wish(&self, account: AccountId, arrived: &Arrived) -> Option<OptKeyword> {
        let text = arrived.whole.text.as_str();
        let own = self.catalogue.account(account).map(|view| view.account.stop_words.as_slice());
        let own = own.unwrap_or_default();
        let behind_keyword = match self.catalogue.claim(&number(&arrived.destination), text) {
            Some(Claim::Keyword { account: whose, rest }) if whose == account => opt_keyword(rest, own),
            Some(Claim::Keyword { .. } | Claim::Number(_) | Claim::Shared(_)) | None => None,
        };
        behind_keyword.or_else(|| opt_keyword(text, own))
    }
}

impl Arrived {
    pub fn wire(&self) -> Wire {
        Wire {
            source: tidied(&self.source),
            destination: tidied(&self.destination),
            form: self.whole.form,
            header: self.whole.header.clone(),
        }
    }
}
