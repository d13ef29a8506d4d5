//! Crashes the journal on the simulated disk at every kind of operation, and compares what it replays with a model.

use super::simulated_disk::Random;
use super::simulated_disk::{Crash, SimulatedDisk};
use crate::journal::format::encode_record;
use crate::journal::segments::find_files;
use crate::journal::{HistoryId, Journal, JournalBatch, JournalError, JournalLimits, Position, check, open};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

pub(super) const FOLDER: &str = "/data";
pub(super) const HISTORY: HistoryId = HistoryId(*b"store of a test.");
/// Small segments, so that a short life fills several.
pub(super) const LIMITS: JournalLimits =
    JournalLimits { first_segment: 8192, segment_max: 32 * 1024, free_max: 40 * 1024 };

/// 10,000 crashes.
const SEEDS: u64 = 2_000;
const LIVES: u64 = 5;

type Batch = (u8, Vec<u8>);

/// What the customers were told, and what the database has.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Acknowledged batches.
    pub(super) acknowledged: BTreeMap<u64, Batch>,
    /// The batch whose append did not return: a start may find it or not.
    in_flight: Option<(u64, Batch)>,
    /// The database has all batches up to this one, durably.
    pub(super) applied: u64,
    /// The checksums of the batches, of which the database has that of the applied one.
    checksums: BTreeMap<u64, u32>,
}

pub(super) struct World {
    pub(super) disk: SimulatedDisk,
    pub(super) random: Random,
    pub(super) model: Model,
    /// An fsync has failed: a replayed batch may be in the page cache only, whatever a second fsync says.
    fsync_failed: bool,
    /// How often a start found an incomplete record, and a complete one that was not acknowledged.
    torn: u64,
    survived: u64,
}

impl World {
    pub(super) fn new(seed: u64) -> World {
        World {
            disk: SimulatedDisk::new(seed),
            random: Random(!seed),
            model: Model::default(),
            fsync_failed: false,
            torn: 0,
            survived: 0,
        }
    }

    /// Returns where the database is.
    pub(super) fn position(&self) -> Position {
        let last = self.model.applied;
        Position { history: HISTORY, last, checksum: self.model.checksums.get(&last).copied() }
    }

    /// Opens the journal, compares what it replays with the model, applies that to the database and starts.
    pub(super) fn start(&mut self) -> Result<Journal<SimulatedDisk>, JournalError> {
        let (folder, applied) = (Path::new(FOLDER), self.model.applied);
        let operations = self.disk.operations();
        let position = self.position();
        let checked = check(&self.disk, folder, position)?;
        assert_eq!(self.disk.operations(), operations, "a check changes nothing");
        let mut replayed = Vec::new();
        let recovered = open(self.disk.clone(), folder, position)?;
        let checksums = &mut self.model.checksums;
        recovered.replay(position, &mut |batch: JournalBatch<'_>| {
            replayed.push((batch.sequence, (batch.encoding, batch.payload.to_vec())));
            checksums.insert(batch.sequence, batch.checksum);
            Ok::<_, JournalError>(())
        })?;
        assert_eq!(recovered.summary(), &checked);
        self.compare(&replayed);
        self.torn += u64::from(checked.torn.is_some());
        let last = recovered.last_sequence();
        assert_eq!(last, replayed.last().map_or(applied, |(sequence, _)| *sequence));
        let dies = self.random.one_in(8);
        if dies && self.fsync_failed {
            return Err(JournalError::Failed);
        }
        // From here on, a batch that was replayed counts as acknowledged.
        if let Some((sequence, batch)) = self.model.in_flight.take()
            && sequence <= last
        {
            self.model.acknowledged.insert(sequence, batch);
            self.survived += 1;
        }
        if dies {
            // The process ends before it applied what it replayed.
            return Err(JournalError::Failed);
        }
        self.model.applied = last;
        let journal = Journal::start_without_thread(recovered, last, LIMITS)?;
        assert_eq!(journal.last_sequence(), last);
        Ok(journal)
    }

    /// Every acknowledged batch after the applied one must be there once, and at most the one in flight besides.
    pub(super) fn compare(&self, replayed: &[(u64, Batch)]) {
        let model = &self.model;
        let expected = model.acknowledged.range(model.applied + 1..).map(|(at, batch)| (*at, batch.clone()));
        let mut expected: Vec<(u64, Batch)> = expected.collect();
        if replayed.len() > expected.len() {
            expected.extend(model.in_flight.clone());
        }
        assert!(replayed == expected, "{:?} instead of {:?}", sequences(replayed), sequences(&expected));
    }

    pub(super) fn append(&mut self, journal: &mut Journal<SimulatedDisk>) -> Result<(), JournalError> {
        let batch = self.batch();
        let expected = journal.last_sequence() + 1;
        self.model.in_flight = Some((expected, batch.clone()));
        let appended = journal.append(batch.0, &batch.1);
        match appended {
            Ok(sequence) => {
                assert_eq!(sequence, expected);
                self.model.acknowledged.insert(sequence, batch);
                self.model.checksums.insert(sequence, journal.last_checksum());
                self.model.in_flight = None;
            }
            Err(ref error) if !error.is_fatal() => self.model.in_flight = None,
            Err(_) => assert!(matches!(journal.append(0, b"more"), Err(JournalError::Failed))),
        }
        appended.map(|_| ())
    }

    /// Mostly small ones, some larger than a sector, a page or a segment, and some that look like a record.
    fn batch(&mut self) -> Batch {
        let random = &mut self.random;
        let length = match random.below(20) {
            0 => 0,
            1..12 => random.below(700),
            12..16 => random.below(4096),
            16..18 => 3000 + random.below(3000),
            18 => random.below(40_000),
            _ => {
                let (mut record, salt, sequence) =
                    (Vec::new(), random.next(), self.model.applied + 1 + random.below(40));
                encode_record(&mut record, 0, (salt, sequence, 0), (0, &[7; 100]));
                return (random.next() as u8, record);
            }
        };
        let mut payload = random.next().to_le_bytes().repeat(length as usize / 8 + 1);
        payload.truncate(length as usize);
        (random.next() as u8, payload)
    }

    /// Does one random thing with a running journal.
    fn step(&mut self, journal: &mut Journal<SimulatedDisk>) -> Result<(), JournalError> {
        match self.random.below(16) {
            0..8 => self.append(journal)?,
            8 => journal.reserve(self.random.below(20_000) as usize)?,
            9 | 10 => {
                let (last, applied) = (journal.last_sequence(), self.model.applied);
                self.model.applied += self.random.below(last - applied + 1);
            }
            11 => journal.trim(applied_or_less(&mut self.random, self.model.applied)),
            12..15 => {
                journal.work();
            }
            _ if self.random.one_in(4) => journal.wipe_free()?,
            _ => {
                let mut read = Vec::new();
                journal.read_after(self.model.applied, &mut |batch: JournalBatch<'_>| {
                    read.push((batch.sequence, (batch.encoding, batch.payload.to_vec())));
                    Ok::<_, JournalError>(())
                })?;
                self.compare(&read);
            }
        }
        Ok(())
    }

    /// Lives until the disk goes down or fails, or for this many steps.
    fn live(&mut self, steps: u64) -> Result<(), JournalError> {
        let mut journal = self.start()?;
        for _ in 0..steps {
            match self.step(&mut journal) {
                Err(error) if error.is_disk_full() => {}
                result => result?,
            }
        }
        Ok(())
    }

    pub(super) fn crash(&mut self) {
        let crash = if self.random.one_in(3) { Crash::Kill } else { Crash::PowerCut };
        self.disk.crash(crash);
    }

    /// Starts a journal on a disk that works.
    pub(super) fn started(&mut self) -> Journal<SimulatedDisk> {
        loop {
            match self.start() {
                Err(JournalError::Failed) => {}
                started => return started.unwrap(),
            }
        }
    }

    /// The end of every test: the journal opens, and has what it must have.
    pub(super) fn reopen(&mut self) {
        drop(self.started());
    }
}

fn sequences(batches: &[(u64, Batch)]) -> Vec<(u64, usize)> {
    batches.iter().map(|(sequence, (_, payload))| (*sequence, payload.len())).collect()
}

/// The database may report less than it has.
fn applied_or_less(random: &mut Random, applied: u64) -> u64 {
    applied.saturating_sub(if random.one_in(2) { 0 } else { random.below(4) })
}

/// Runs the lives of one seed. Each ends by a crash during any operation.
pub(super) fn run(seed: u64) -> World {
    let mut world = World::new(seed);
    for _ in 0..LIVES {
        let operations = world.random.below(80);
        world.disk.crash_after(1 + operations);
        match world.live(60) {
            Ok(()) | Err(JournalError::Failed) => {}
            Err(error) => assert!(world.disk.is_down(), "seed {seed}: {error}"),
        }
        world.crash();
    }
    world
}

#[test]
fn acknowledged_batches_survive_ten_thousand_crashes() {
    let (mut torn, mut survived) = (0, 0);
    for seed in 0..SEEDS {
        let mut world = run(seed);
        world.reopen();
        (torn, survived) = (torn + world.torn, survived + world.survived);
    }
    assert!(torn > 200 && survived > 200, "the crashes were too harmless: {torn} {survived}");
}

#[test]
fn full_disk_is_reported_by_reserve_and_not_by_append() {
    let mut world = World::new(1);
    let mut journal = world.started();
    journal.reserve(20_000).unwrap();
    world.disk.set_full(true);
    assert_eq!(journal.append(0, &[1; 20_000]).unwrap(), 1);
    let error = journal.reserve(40_000).unwrap_err();
    assert!(error.is_disk_full() && !error.is_fatal(), "{error}");
    let error = journal.append(0, &[2; 40_000]).unwrap_err();
    assert!(error.is_disk_full() && !error.is_fatal(), "{error}");
    assert_eq!(journal.append(0, b"fits").unwrap(), 2);
    world.disk.set_full(false);
    journal.reserve(40_000).unwrap();
    assert_eq!(journal.append(0, &[2; 40_000]).unwrap(), 3);
}

#[test]
fn reserved_space_survives_a_power_cut() {
    for seed in 0..20 {
        let world = &mut World::new(seed);
        world.started().reserve(20_000).unwrap();
        world.disk.crash(Crash::PowerCut);
        let found = find_files(&world.disk, Path::new(FOLDER), HISTORY).unwrap();
        assert!(found.last().unwrap().bytes > 20_000, "{found:?}");
    }
}

#[test]
fn start_on_a_full_disk_uses_the_found_segments() {
    let mut world = World::new(1);
    let mut journal = world.started();
    world.append(&mut journal).unwrap();
    world.crash();
    world.disk.set_full(true);
    let mut journal = world.started();
    assert_eq!(journal.append(0, b"more").unwrap(), 2);
}

/// Every operation of a scenario fails once. The journal reports it or does without; the next start finds all that was
/// acknowledged.
#[test]
fn acknowledged_batches_survive_failure_of_every_operation() {
    for (seed, error) in [(1, ErrorKind::Other), (2, ErrorKind::StorageFull), (3, ErrorKind::Other)] {
        let mut operation = 0;
        loop {
            operation += 1;
            let mut world = World::new(seed);
            world.disk.fail_after(operation, error);
            let lived = world.live(120);
            world.fsync_failed = true;
            if !world.disk.has_failed() {
                assert!(operation > 100, "{operation}");
                lived.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                break;
            }
            if lived.is_err() {
                world.crash();
            }
            world.reopen();
            world.disk.crash(Crash::PowerCut);
            world.reopen();
        }
    }
}
