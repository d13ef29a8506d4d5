//! An account as a submission meets it: its senders, prices, rules and limits at hand.

use super::{Account, SenderState};
use crate::price::PriceList;
use crate::screen::{Screens, Subject};
use crate::sender::Sender;
use crate::text::{Encoding, MessageText};
use crate::traffic::Control;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Debug)]
pub struct AccountView {
    pub name: String,
    pub account: Account,
    pub(super) senders: HashMap<Sender, SenderState>,
    /// For everybody, by appearance: blocking Bank blocks BANK and 8ank as well.
    pub(super) blocked: Arc<HashSet<Sender>>,
    pub(super) prices: PriceList,
    /// Everybody's, then its own.
    pub(super) screens: [Arc<Screens>; 2],
    pub(super) controls: Vec<Control>,
}

/// What may be done with a sender id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderStanding {
    Approved,
    NotApproved,
    Blocked,
}

impl AccountView {
    pub fn standing_of(&self, sender: &Sender) -> SenderStanding {
        if !self.blocked.is_empty() && self.blocked.contains(&sender.appearance()) {
            return SenderStanding::Blocked;
        }
        match self.senders.get(sender) {
            Some(SenderState::Approved) => SenderStanding::Approved,
            Some(SenderState::Blocked) => SenderStanding::Blocked,
            Some(SenderState::Pending) | None => SenderStanding::NotApproved,
        }
    }

    pub fn prices(&self) -> &PriceList {
        &self.prices
    }

    /// Everybody's and its own, by name.
    pub fn controls(&self) -> &[Control] {
        &self.controls
    }

    /// The screening rules that find something in a message.
    pub fn screened(&self, from: &Sender, text: &MessageText, encoding: Encoding) -> Vec<Arc<str>> {
        let mut screens = self.screens.iter().filter(|screens| !screens.is_empty()).peekable();
        // Without rules a message costs nothing here.
        if screens.peek().is_none() {
            return Vec::new();
        }
        let subject = Subject::new(from, text, encoding);
        screens.flat_map(|screens| screens.hits(&subject)).collect()
    }
}
