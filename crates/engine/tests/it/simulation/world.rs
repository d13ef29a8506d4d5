//! An engine over tables in memory, the links that it gives parts to, and the model beside it.

use super::model::Model;
use super::random::Random;
use crate::memory::MemoryTables;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{DoubtPolicy, Event};
use hermod_domain::origin::Told;
use hermod_domain::time::Timestamp;
use hermod_engine::batch::{Batch, Books, BoundReceivers};
use hermod_engine::commands::{AnyCommand, AnyOutcome};
use hermod_engine::maps::HashMap;
use hermod_engine::ops::{Answer, Handout, Job, LinkId, News, Report};
use hermod_engine::progress;
use hermod_engine::tables::Tables;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long a part in doubt waits before its first resend.
const IN_DOUBT_WAIT: Duration = Duration::from_secs(5);
pub(super) const CARRIERS: [CarrierId; 2] = [CarrierId::new(1), CarrierId::new(2)];

/// A link, and the parts that it has not answered yet.
pub(super) struct Link {
    pub(super) id: LinkId,
    pub(super) carrier: CarrierId,
    pub(super) under_way: Vec<Job>,
    /// It is to be closed, and reports nothing but what it could not send.
    pub(super) closing: bool,
}

/// Every connection has a bind that takes reports.
struct AllBound;

impl BoundReceivers for AllBound {
    fn away_since(&self, _: ConnectionId, _: Timestamp) -> Option<Timestamp> {
        None
    }

    fn is_bound(&self, _: ConnectionId) -> bool {
        true
    }
}

/// What a batch came to.
struct Done {
    outcomes: Vec<AnyOutcome>,
    handouts: HashMap<LinkId, Handout>,
    reports: Vec<Report>,
}

/// How a batch ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Commit,
    /// Its changes are lost, and its commands are run again one by one.
    RollBack,
    /// Its changes are lost with the process.
    Crash,
}

pub(super) struct World {
    pub(super) random: Random,
    pub(super) now: Timestamp,
    pub(super) model: Model,
    pub(super) links: Vec<Link>,
    /// Reports that no customer has answered.
    pub(super) reports: Vec<Report>,
    pub(super) catalogue: Arc<Catalogue>,
    tables: MemoryTables,
    books: Books,
    batches: u64,
    /// Batches after which memory is compared with a fresh load from the tables.
    compare_every: u64,
    /// Final reports of each message.
    finals: BTreeMap<MessageId, u32>,
}

impl World {
    pub(super) fn new(seed: u64) -> World {
        let tables = MemoryTables::default();
        let books = Books::load(&Tables::new(tables.clone()), IN_DOUBT_WAIT, seed).expect("empty tables");
        World {
            random: Random::new(seed),
            now: Timestamp::from_millis(1_780_000_000_000),
            model: Model::default(),
            links: Vec::new(),
            reports: Vec::new(),
            catalogue: Arc::default(),
            tables,
            books,
            batches: 0,
            compare_every: if seed.is_multiple_of(10) { 1 } else { 16 },
            finals: BTreeMap::new(),
        }
    }

    /// Runs commands as one batch, and compares what came of them with the model.
    pub(super) fn runs(&mut self, commands: &[AnyCommand], end: End) {
        match end {
            End::Commit => self.commits(commands),
            End::RollBack => {
                let rooms = self.books.lanes.rooms();
                self.execute(commands);
                self.tables.roll_back();
                self.books.lanes.restore_rooms(rooms);
                self.books.rolled_back(&Tables::new(self.tables.clone())).expect("the tables can be read");
                commands.iter().for_each(|command| self.commits(std::slice::from_ref(command)));
            }
            End::Crash => {
                self.execute(commands);
                self.tables.roll_back();
                self.restarts();
            }
        }
    }

    fn commits(&mut self, commands: &[AnyCommand]) {
        let (done, now) = self.execute(commands);
        self.tables.commit();
        self.books.committed(now);
        self.books.trim();
        self.agrees(commands, done);
    }

    /// Runs commands as one batch, up to its commit. Returns what they came to, and the time.
    fn execute(&mut self, commands: &[AnyCommand]) -> (Done, Timestamp) {
        self.batches += 1;
        let tables = Tables::new(self.tables.clone());
        let mut batch = Batch::new(&tables, &mut self.books, &AllBound, self.batches, self.catalogue.clone());
        let outcomes = commands.iter().map(|command| command.execute(&mut batch).expect("it can be run"));
        let outcomes = outcomes.collect();
        batch.hand_out().expect("parts can be given to links");
        batch.books.delivery.write_if_due(batch.tables, batch.now).expect("figures can be written");
        batch.finish().expect("changes can be applied");
        assert!(batch.forbidden.is_empty(), "forbidden: {:?}", batch.forbidden);
        assert!(batch.set_aside.is_empty(), "set aside: {:?}", batch.set_aside);
        let Batch { handouts, reports, now, .. } = batch;
        (Done { outcomes, handouts, reports }, now)
    }

    /// A new process finds what the tables say.
    pub(super) fn restarts(&mut self) {
        self.links.clear();
        let seed = self.random.next();
        let tables = Tables::new(self.tables.clone());
        self.books = Books::load(&tables, IN_DOUBT_WAIT, seed).expect("the tables can be read");
        self.batches = 0;
        let mut batch = Batch::new(&tables, &mut self.books, &AllBound, 0, self.catalogue.clone());
        batch.doubt_what_was_being_sent(self.now).expect("what was being sent can be read");
        batch.finish().expect("changes can be applied");
        let reports = std::mem::take(&mut batch.reports);
        self.tables.commit();
        self.books.committed(self.now);
        self.model.restart();
        self.hear(reports);
        self.compare();
    }

    fn agrees(&mut self, commands: &[AnyCommand], done: Done) {
        for (command, outcome) in commands.iter().zip(done.outcomes) {
            self.note(command, outcome);
        }
        let mut handouts: Vec<(LinkId, Handout)> = done.handouts.into_iter().collect();
        handouts.sort_by_key(|(link, _)| link.0);
        for (id, handout) in handouts {
            for job in &handout.jobs {
                let entry = &self.model.messages[&job.message];
                assert_eq!((entry.carrier, entry.account), (job.carrier, job.account), "{job:?}");
                self.model.happens(job.message, job.part, Event::Claimed);
            }
            match self.links.iter_mut().find(|link| link.id == id) {
                Some(link) => link.under_way.extend(handout.jobs),
                None => assert!(handout.jobs.is_empty(), "a closed link is given parts"),
            }
        }
        self.hear(done.reports);
        self.compare();
    }

    /// Reports of final states come once.
    fn hear(&mut self, reports: Vec<Report>) {
        for report in &reports {
            let News::Message(news) = &report.news else { continue };
            if let Told::Final(code) = news.told
                && code != hermod_domain::receipt::DlrCode::Unknown
            {
                *self.finals.entry(report.message).or_default() += 1;
            }
        }
        self.reports.extend(reports);
    }

    /// What the engine and the tables say is what the model says.
    fn compare(&mut self) {
        let tables = Tables::new(self.tables.clone());
        for message in self.model.expiring(self.now) {
            let place = self.model.messages[&message].place(message);
            let stored = progress::load(&tables, place).expect("parts can be read");
            if stored.as_ref() != Some(&self.model.messages[&message].progress) {
                self.model.expire(message, stored.as_ref());
            }
        }
        for message in std::mem::take(&mut self.model.touched) {
            let entry = &self.model.messages[&message];
            let stored = progress::load(&tables, entry.place(message)).expect("parts can be read");
            let expected = (!entry.has_ended()).then(|| entry.progress.clone());
            assert_eq!(stored, expected, "message {message}");
            let finals = self.finals.get(&message).copied().unwrap_or(0);
            assert!(finals <= 1, "message {message} was reported {finals} times");
            if entry.has_ended() && entry.wants_report {
                assert_eq!(finals, 1, "message {message} ended as {:?}", entry.progress.state);
            }
        }
        for (account, balance) in &self.model.balances {
            assert_eq!(self.books.balances.of(*account).balance.as_micros(), *balance, "account {account}");
        }
        if self.batches.is_multiple_of(self.compare_every) {
            let differences = self.books.differences(&tables).expect("the tables can be read");
            assert!(differences.is_empty(), "memory and tables differ: {differences:#?}");
        }
    }

    /// Returns what a link says to a part, and what that is to the lifecycle.
    pub(super) fn event_of(answer: &Answer, doubt: DoubtPolicy) -> Event {
        match answer {
            Answer::Accepted(_) | Answer::AcceptedWithoutId => Event::Accepted,
            Answer::Throttled | Answer::Temporary { .. } => Event::Deferred,
            Answer::SteppedAside { sent, .. } => {
                if *sent {
                    Event::Deferred
                } else {
                    Event::Released
                }
            }
            Answer::Refused { about, .. } => Event::Refused(*about),
            Answer::NoAnswer => Event::NoAnswer(doubt),
            Answer::NotSent => Event::Released,
        }
    }

    /// Nothing is left that a link could send.
    pub(super) fn is_drained(&self) -> bool {
        use hermod_domain::lifecycle::PartState;
        [PartState::Queued, PartState::InDoubt, PartState::Sending]
            .iter()
            .all(|state| self.model.count(*state) == 0)
    }

    pub(super) fn balance_rows_agree(&self) {
        let tables = Tables::new(self.tables.clone());
        let rows: BTreeMap<AccountId, i64> = tables
            .read()
            .and_then(|stored| stored.all_balances())
            .expect("balances can be read")
            .into_iter()
            .map(|(account, balance)| (account, balance.balance.as_micros()))
            .collect();
        for (account, balance) in &self.model.balances {
            assert_eq!(rows.get(account).copied().unwrap_or(0), *balance, "account {account}");
        }
    }
}
