//! An account with its senders, prices, screening rules, traffic controls and blocks, as submissions need it.

use super::{Account, SenderState};
use crate::block::Blocks;
use crate::phone::Msisdn;
use crate::price::Prices;
use crate::screen::{Piece, Screens, Subject};
use crate::sender::Sender;
use crate::time::Timestamp;
use crate::traffic::Control;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Debug)]
pub struct AccountView {
    pub name: String,
    pub account: Account,
    pub(super) senders: HashMap<Sender, SenderState>,
    /// Senders blocked for all accounts, by appearance: blocking Bank also blocks BANK and 8ank.
    pub(super) blocked: Arc<HashSet<Sender>>,
    pub(super) prices: Prices,
    /// The rules of all accounts, then its own.
    pub(super) screens: [Arc<Screens>; 2],
    pub(super) controls: Vec<Control>,
    /// The blocks of all accounts, then its own.
    pub(super) blocks: [Arc<Blocks>; 2],
}

/// Whether an account may use a sender ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderStatus {
    Approved,
    NotApproved,
    Blocked,
}

impl AccountView {
    pub fn sender_status(&self, sender: &Sender) -> SenderStatus {
        if !self.blocked.is_empty() && self.blocked.contains(&sender.appearance()) {
            return SenderStatus::Blocked;
        }
        match self.senders.get(sender) {
            Some(SenderState::Approved) => SenderStatus::Approved,
            Some(SenderState::Blocked) => SenderStatus::Blocked,
            Some(SenderState::Pending) | None => SenderStatus::NotApproved,
        }
    }

    /// Returns the sender IDs that the account may use, in alphabetical order.
    pub fn approved_senders(&self) -> Vec<Sender> {
        let known = self.senders.keys().copied();
        let mut senders: Vec<Sender> =
            known.filter(|sender| self.sender_status(sender) == SenderStatus::Approved).collect();
        senders.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        senders
    }

    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// Returns the controls of all accounts and its own, by name.
    pub fn controls(&self) -> &[Control] {
        &self.controls
    }

    /// Returns the name of a block that forbids to send to a number now.
    pub fn block_to(&self, to: Msisdn, now: Timestamp) -> Option<&str> {
        self.blocks.iter().find_map(|blocks| blocks.of_recipient(to, now))
    }

    /// Returns the name of a block that forbids to receive MO messages from a handset now.
    pub fn block_from(&self, handset: Msisdn, now: Timestamp) -> Option<&str> {
        self.blocks.iter().find_map(|blocks| blocks.of_handset(handset, now))
    }

    /// Whether any screening rule applies.
    pub fn has_screens(&self) -> bool {
        self.screens.iter().any(|screens| !screens.is_empty())
    }

    /// Returns the screening rules that match a text: a message, or neighbouring parts of one.
    pub fn screened(&self, from: &Sender, text: &[Piece]) -> Vec<Arc<str>> {
        // Without rules there is nothing to prepare.
        if !self.has_screens() {
            return Vec::new();
        }
        let subject = Subject::new(from, text);
        self.screens.iter().flat_map(|screens| screens.hits(&subject)).collect()
    }
}
