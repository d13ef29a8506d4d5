//! An operation that is not a message's: what it does, what it came to, and who waits for that. Written as a closure over
//! the batch, so that a new one needs no name in the writer.

use crate::embedded::op::Reply;
use crate::fault::StoreFault;
use hermod_engine::batch::Batch;
use std::cell::Cell;

/// It may be run more than once: a batch that fails is rolled back and its operations are run one by one.
pub(crate) trait Errand: Send {
    fn run(&self, batch: &mut Batch<'_>) -> Result<(), StoreFault>;
    /// Tells what the last run came to, now that it is durable.
    fn done(self: Box<Self>);
    fn failed(self: Box<Self>, fault: StoreFault);
}

pub(crate) struct Asked<T, F> {
    work: F,
    came_to: Cell<Option<T>>,
    reply: Reply<T>,
}

impl<T, F> Asked<T, F> {
    pub(crate) fn new(work: F, reply: Reply<T>) -> Asked<T, F> {
        Asked { work, came_to: Cell::new(None), reply }
    }
}

impl<T: Send, F: Fn(&mut Batch<'_>) -> Result<T, StoreFault> + Send> Errand for Asked<T, F> {
    fn run(&self, batch: &mut Batch<'_>) -> Result<(), StoreFault> {
        self.came_to.set(Some((self.work)(batch)?));
        Ok(())
    }

    fn done(self: Box<Self>) {
        let came_to = self.came_to.take().expect("it was run before it was done");
        // That nobody waits any more is no fault: the caller hung up.
        drop(self.reply.send(Ok(came_to)));
    }

    fn failed(self: Box<Self>, fault: StoreFault) {
        drop(self.reply.send(Err(fault)));
    }
}
