//! The open links of a node whose engine is elsewhere: which parts each of them has, so that another engine can go on with
//! them. A part that no node has was lost with its node, and is in doubt.

use super::frames::{HeldPart, ResumedLink};
use crate::writer::mailbox::Mailbox;
use crate::writer::operation::Op;
use hermod_domain::ids::{MessageId, PartNo};
use hermod_engine::commands::{AnyCommand, OpenLink};
use hermod_engine::ops::{Handout, LinkBatch, LinkId, SubmitResponse};
use std::collections::HashMap;
use std::sync::Arc;

/// The parts that a link has.
#[derive(Default)]
pub(crate) struct Held(HashMap<(MessageId, PartNo), HeldPart>);

impl Held {
    /// Adds the parts of a handout.
    pub(crate) fn add(&mut self, handout: &Handout) {
        self.0.extend(handout.jobs.iter().map(|job| {
            let held = HeldPart {
                carrier: job.carrier,
                message: job.message,
                part: job.part,
                account: job.account,
                to: job.to,
            };
            ((job.message, job.part), held)
        }));
    }

    /// Removes the parts that the link reports on.
    pub(crate) fn remove_reported(&mut self, batch: &LinkBatch) {
        for response in &batch.responses {
            self.0.remove(&(response.message, response.part));
        }
    }

    pub(crate) fn replace(&mut self, parts: &[HeldPart]) {
        self.0 = parts.iter().map(|part| ((part.message, part.part), *part)).collect();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = HeldPart> {
        self.0.values().copied()
    }
}

/// One link, from its opening until its last part is reported.
pub(crate) struct HeldLink {
    pub open: OpenLink,
    pub mailbox: Arc<Mailbox>,
    /// Slots that it granted and that were not used.
    pub slots: u32,
    pub is_closed: bool,
    held: Held,
}

#[derive(Default)]
pub(crate) struct HeldLinks(HashMap<LinkId, HeldLink>);

impl HeldLinks {
    /// Follows an operation on its way to the engine.
    pub(crate) fn note(&mut self, op: &Op) {
        match op {
            Op::OpenLink(open, mailbox, _) => {
                // A closed link is kept until its port is dropped: its last receipts are still acknowledged.
                self.0.retain(|_, link| Arc::strong_count(&link.mailbox) > 1 || !link.held.is_empty());
                let held = Held::default();
                let link =
                    HeldLink { open: *open, mailbox: mailbox.clone(), slots: 0, is_closed: false, held };
                self.0.insert(open.link, link);
            }
            Op::Command(AnyCommand::ReportLink(batch), _) => {
                let Some(link) = self.0.get_mut(&batch.link) else { return };
                link.held.remove_reported(batch);
                if batch.responses.iter().any(|record| record.response == SubmitResponse::Throttled) {
                    link.slots = 0;
                }
                link.slots = link.slots.saturating_add(batch.slots);
            }
            Op::Command(AnyCommand::CloseLink(close), _) => {
                if let Some(link) = self.0.get_mut(&close.link) {
                    (link.is_closed, link.slots) = (true, 0);
                }
            }
            Op::Command(..) | Op::Accept(..) | Op::Stop(_) => {}
        }
    }

    /// Passes a handout of the engine to its link.
    pub(crate) fn deliver(&mut self, link: LinkId, handout: Handout) {
        let Some(link) = self.0.get_mut(&link) else { return };
        let parts = u32::try_from(handout.jobs.len()).unwrap_or(u32::MAX);
        link.slots = link.slots.saturating_sub(parts);
        link.held.add(&handout);
        link.mailbox.put(handout);
    }

    /// Returns the links as another engine must know them. `unanswered`: operations that the engine has not run, or whose
    /// answers are lost; they are sent after this, so the parts that they report on are not lost either.
    pub(crate) fn resumed<'o>(&self, unanswered: impl Iterator<Item = &'o Op>) -> Vec<ResumedLink> {
        let mut links: HashMap<LinkId, ResumedLink> = HashMap::new();
        for (id, link) in &self.0 {
            let held = link.held.parts().collect();
            let slots = if link.is_closed { 0 } else { link.slots };
            links.insert(*id, ResumedLink { open: link.open, is_open: !link.is_closed, slots, held });
        }
        for op in unanswered {
            match op {
                Op::OpenLink(open, ..) => drop(links.remove(&open.link)),
                Op::Command(AnyCommand::ReportLink(batch), _) => {
                    let Some(link) = links.get_mut(&batch.link) else { continue };
                    link.slots = link.slots.saturating_sub(batch.slots);
                    link.held.extend(batch.responses.iter().map(|response| HeldPart {
                        carrier: batch.carrier,
                        message: response.message,
                        part: response.part,
                        account: response.account,
                        to: response.to,
                    }));
                }
                Op::Command(AnyCommand::CloseLink(close), _) => {
                    if let Some(link) = links.get_mut(&close.link) {
                        link.is_open = true;
                    }
                }
                Op::Command(..) | Op::Accept(..) | Op::Stop(_) => {}
            }
        }
        links.into_values().collect()
    }

    /// Takes all links, for the engine of this process.
    pub(crate) fn take(&mut self) -> Vec<HeldLink> {
        self.0.drain().map(|(_, link)| link).collect()
    }
}
