//! Damages files of the journal: batches that the database lacks are never dropped silently.
//!
//! The exception is the very last record. Damage there looks like a write that a power cut interrupted, which was never
//! acknowledged. The mark beside the database tells the two apart.

use super::crash::{FOLDER, HISTORY, LIMITS, World};
use super::simulated_disk::{Crash, SimulatedDisk};
use crate::journal::files::Files as _;
use crate::journal::format::{HEADER_BLOCK, HEADER_BYTES, RECORD_HEADER_BYTES, encode_record};
use crate::journal::recovery::Summary;
use crate::journal::segments::{SegmentWalk, Step, find_files, read_file, segment_path};
use crate::journal::{
    DamageKind, Journal, JournalBatch, JournalError, Position, check, open, open_before_damage,
};
use std::path::{Path, PathBuf};

/// Where a record is.
#[derive(Clone, Debug)]
struct Location {
    path: PathBuf,
    offset: usize,
    bytes: usize,
    sequence: u64,
    /// Whether it is the first one after the header of its segment.
    is_first: bool,
}

/// Fills some segments and crashes. Returns the records after the applied batch.
fn filled(seed: u64) -> (World, Vec<Location>) {
    let mut world = World::new(seed);
    let mut journal = world.started();
    for _ in 0..30 {
        world.append(&mut journal).unwrap();
        if world.random.one_in(10) {
            world.model.applied = journal.last_sequence();
        }
        journal.trim(world.model.applied);
        journal.work();
    }
    for _ in 0..world.random.below(6) + 2 {
        world.append(&mut journal).unwrap();
    }
    world.disk.crash(Crash::PowerCut);
    let locations = locations(&world.disk, world.model.applied);
    (world, locations)
}

fn locations(disk: &SimulatedDisk, applied: u64) -> Vec<Location> {
    let mut locations = Vec::new();
    for file in find_files(disk, Path::new(FOLDER), HISTORY).unwrap() {
        let Some(header) = file.header else { continue };
        let content = read_file(disk, &file.path).unwrap();
        let mut walk = SegmentWalk::new(&content, &header, None, 0);
        let mut offset = walk.offset;
        while let Step::Record(record) = walk.step() {
            let (path, is_first) = (file.path.clone(), record.sequence == header.first);
            let bytes = RECORD_HEADER_BYTES + record.payload.len();
            locations.push(Location { path, offset, bytes, sequence: record.sequence, is_first });
            offset = walk.offset;
        }
    }
    locations.retain(|location| location.sequence > applied);
    locations
}

/// Returns the sequences that are replayed.
fn replayed(world: &World) -> Result<Vec<u64>, JournalError> {
    let mut sequences = Vec::new();
    let (folder, position) = (Path::new(FOLDER), world.position());
    let opened = open(world.disk.clone(), folder, position);
    let checked = check(&world.disk, folder, position);
    assert_eq!(opened.is_err(), checked.is_err());
    opened?.replay(position, &mut |batch: JournalBatch<'_>| {
        assert!(world.model.acknowledged[&batch.sequence] == (batch.encoding, batch.payload.to_vec()));
        sequences.push(batch.sequence);
        Ok::<_, JournalError>(())
    })?;
    Ok(sequences)
}

#[test]
fn damaged_batch_is_rejected_unless_it_is_the_last() {
    for seed in 0..600 {
        let (mut world, locations) = filled(seed);
        let all: Vec<u64> = locations.iter().map(|location| location.sequence).collect();
        assert_eq!(replayed(&world).unwrap(), all);
        let location = locations[world.random.below(locations.len() as u64) as usize].clone();
        let bit = location.offset * 8 + world.random.below(location.bytes as u64 * 8) as usize;
        world.disk.flip_bit(&location.path, bit);
        let found = replayed(&world);
        if Some(&location.sequence) == all.last() {
            assert_eq!(found.unwrap(), all[..all.len() - 1]);
            continue;
        }
        let Err(JournalError::Damaged(damage)) = found else { panic!("seed {seed}: {location:?} {found:?}") };
        assert_eq!((&damage.path, damage.offset), (&location.path, location.offset as u64), "{damage}");
        assert_eq!((damage.kind, damage.lost), (DamageKind::Record, (location.sequence, location.sequence)));
        assert_eq!(Some(&damage.last), all.last());
    }
}

#[test]
fn damaged_segment_header_is_rejected() {
    for seed in 0..300 {
        let (mut world, locations) = filled(seed);
        let first: Vec<&Location> = locations.iter().filter(|location| location.is_first).collect();
        if first.is_empty() {
            continue;
        }
        let location = first[world.random.below(first.len() as u64) as usize];
        world.disk.flip_bit(&location.path, world.random.below(HEADER_BYTES as u64 * 8) as usize);
        let error = replayed(&world).unwrap_err();
        let JournalError::Damaged(damage) = error else { panic!("seed {seed}: {error}") };
        assert_eq!(
            (&damage.kind, &damage.path),
            (&DamageKind::Header, &location.path),
            "seed {seed}: {damage}"
        );
    }
}

#[test]
fn damage_in_batches_that_the_database_has_is_ignored() {
    let mut tried = 0;
    for seed in 0..300 {
        let (mut world, locations) = filled(seed);
        let middle = 1 + world.random.below(locations.len() as u64 - 1) as usize;
        world.model.applied = locations[middle].sequence;
        let location = &locations[world.random.below(middle as u64 + 1) as usize];
        let bit = location.offset * 8 + world.random.below(location.bytes as u64 * 8) as usize;
        world.disk.flip_bit(&location.path, bit);
        let needed: Vec<u64> = locations[middle + 1..].iter().map(|location| location.sequence).collect();
        assert_eq!(replayed(&world).unwrap(), needed, "seed {seed}");
        tried += usize::from(!needed.is_empty());
        world.reopen();
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn missing_segment_is_rejected_unless_it_is_the_last() {
    for seed in 0..200 {
        let (mut world, locations) = filled(seed);
        let mut paths: Vec<&PathBuf> = locations.iter().map(|location| &location.path).collect();
        paths.dedup();
        if paths.len() < 2 {
            continue;
        }
        let path = paths[world.random.below(paths.len() as u64 - 1) as usize];
        world.disk.remove(path).unwrap();
        let error = replayed(&world).unwrap_err();
        let JournalError::Damaged(damage) = error else { panic!("seed {seed}: {error}") };
        let of_path = locations.iter().filter(|location| location.path == *path);
        let missing: Vec<u64> = of_path.map(|location| location.sequence).collect();
        let lost = (missing[0], missing[missing.len() - 1]);
        assert_eq!((&damage.kind, damage.lost), (&DamageKind::Missing, lost), "seed {seed}: {damage}");
        assert_eq!(last_kept(&world), lost.0 - 1);
    }
}

/// Passes over every batch before the damage of a journal, in order. Returns the last one.
fn last_kept(world: &World) -> u64 {
    let position = world.position();
    let kept = open_before_damage(world.disk.clone(), Path::new(FOLDER), position).unwrap();
    let mut next = position.last;
    let replayed = kept.replay(position, &mut |batch: JournalBatch<'_>| {
        next += 1;
        assert_eq!(batch.sequence, next);
        Ok::<_, JournalError>(())
    });
    assert!(replayed.is_ok() && next == kept.last_sequence());
    next
}

#[test]
fn segment_that_cannot_be_read_to_its_end_is_rejected_and_the_batches_before_are_kept() {
    for seed in 0..300 {
        let (world, locations) = filled(seed);
        let location = locations[world.random.clone().below(locations.len() as u64) as usize].clone();
        world.disk.make_unreadable(&location.path, location.offset + location.bytes / 2);
        let error = replayed(&world).unwrap_err();
        let JournalError::Damaged(damage) = error else { panic!("seed {seed}: {error}") };
        assert!(matches!(damage.kind, DamageKind::Unreadable(_)), "seed {seed}: {damage}");
        assert_eq!((&damage.path, damage.offset), (&location.path, location.offset as u64), "{damage}");
        assert_eq!(damage.lost.0, location.sequence);
        assert_eq!(last_kept(&world), location.sequence - 1, "seed {seed}");
    }
}

#[test]
fn segment_without_a_readable_byte_is_rejected_and_the_batches_before_are_kept() {
    for seed in 0..300 {
        let (world, locations) = filled(seed);
        let location = &locations[world.random.clone().below(locations.len() as u64) as usize];
        world.disk.make_unreadable(&location.path, 0);
        let error = replayed(&world).unwrap_err();
        let JournalError::Damaged(damage) = error else { panic!("seed {seed}: {error}") };
        assert!(matches!(damage.kind, DamageKind::Unreadable(_)), "seed {seed}: {damage}");
        assert_eq!(damage.path, location.path, "{damage}");
        let first = locations.iter().find(|other| other.path == location.path).expect("this one at least");
        assert_eq!(last_kept(&world), first.sequence - 1, "seed {seed}");
    }
}

/// Several places are damaged at once. What is replayed is right and without a gap, or nothing is.
#[test]
fn heavy_damage_never_leads_to_a_gap() {
    let mut rejected = 0;
    for seed in 0..600 {
        let (mut world, locations) = filled(seed);
        for _ in 0..2 + world.random.below(20) {
            let location = &locations[world.random.below(locations.len() as u64) as usize];
            let size = world.disk.content(&location.path).len() as u64 * 8;
            world.disk.flip_bit(&location.path, world.random.below(size) as usize);
        }
        match replayed(&world) {
            Ok(found) => {
                let expected = locations.iter().map(|location| location.sequence).take(found.len());
                assert!(expected.eq(found), "seed {seed}");
            }
            Err(error) => {
                assert!(matches!(error, JournalError::Damaged(_)), "seed {seed}: {error}");
                rejected += 1;
            }
        }
    }
    assert!(rejected > 300, "{rejected}");
}

fn at(last: u64) -> Position {
    Position { history: HISTORY, last, checksum: None }
}

fn begin(disk: &SimulatedDisk, applied: u64) -> Journal<SimulatedDisk> {
    let recovered = open(disk.clone(), Path::new(FOLDER), at(applied)).unwrap();
    Journal::start_without_thread(recovered, applied, LIMITS).unwrap()
}

fn write(disk: &SimulatedDisk, path: &Path, content: &[u8], offset: u64) {
    let file = disk.open(path).or_else(|_| disk.create(path)).unwrap();
    disk.write_at(&file, content, offset).unwrap();
}

/// A file from another time of the same store has valid records with the expected sequences.
#[test]
fn segment_of_another_history_is_rejected() {
    let (disk, folder) = (SimulatedDisk::new(1), Path::new(FOLDER));
    let mut journal = begin(&disk, 0);
    journal.append(0, b"one").unwrap();
    journal.append(0, b"two").unwrap();
    journal.wipe_free().unwrap();
    journal.append(0, b"three").unwrap();
    drop(journal);
    let (first, second) = (segment_path(folder, 1), segment_path(folder, 2));
    let content = disk.content(&second);
    disk.remove(&first).unwrap();
    disk.remove(&second).unwrap();

    let mut journal = begin(&disk, 0);
    journal.append(0, b"another one").unwrap();
    journal.append(0, b"another two").unwrap();
    drop(journal);
    write(&disk, &second, &content, 0);
    let error = check(&disk, folder, at(0)).unwrap_err();
    let JournalError::Damaged(damage) = error else { panic!("{error}") };
    assert_eq!((damage.kind, damage.path), (DamageKind::Chain, second));
}

/// The same inside of one segment: the record is intact, but follows another one.
#[test]
fn record_that_does_not_follow_the_one_before_is_rejected() {
    let (disk, path) = (SimulatedDisk::new(1), segment_path(Path::new(FOLDER), 1));
    let mut journal = begin(&disk, 0);
    journal.append(0, b"one").unwrap();
    journal.append(0, b"two").unwrap();
    let salt = journal.salt();
    let mut record = Vec::new();
    encode_record(&mut record, HISTORY.seed(), (salt, 1, 0), (0, b"eno"));
    write(&disk, &path, &record, HEADER_BLOCK);
    let error = check(&disk, Path::new(FOLDER), at(0)).unwrap_err();
    let JournalError::Damaged(damage) = error else { panic!("{error}") };
    assert_eq!((damage.kind, damage.lost), (DamageKind::Chain, (2, 2)));
}

#[test]
fn record_of_an_earlier_use_of_the_file_is_not_taken_for_a_new_one() {
    let (disk, path) = (SimulatedDisk::new(1), segment_path(Path::new(FOLDER), 1));
    begin(&disk, 0).append(0, b"one").unwrap();
    let content = disk.content(&path);
    disk.remove(&path).unwrap();
    drop(begin(&disk, 0));
    write(&disk, &path, &content[HEADER_BLOCK as usize..], HEADER_BLOCK);
    assert_eq!(check(&disk, Path::new(FOLDER), at(0)).unwrap(), Summary::default());
}

/// Two journals of the same history that went on differently, as after a copy of the whole folder: only the CRC of the last
/// batch tells them apart.
#[test]
fn journal_that_continues_another_batch_than_that_of_the_database_is_rejected() {
    let (disk, folder) = (SimulatedDisk::new(1), Path::new(FOLDER));
    let mut journal = begin(&disk, 0);
    journal.append(0, b"one").unwrap();
    let checksum = Some(journal.last_checksum());
    journal.append(0, b"two").unwrap();
    drop(journal);
    let position = Position { checksum, ..at(1) };
    assert_eq!(check(&disk, folder, position).unwrap().range, Some((2, 2)));
    for last in [1, 2] {
        let other = Position { checksum: checksum.map(|checksum| !checksum), ..at(last) };
        let error = check(&disk, folder, other).unwrap_err();
        assert!(matches!(error, JournalError::OtherBatch { batch, .. } if batch == last), "{error}");
    }
    // The batch itself is in an older segment, and only the header of the next one has its CRC.
    let mut journal = begin(&disk, 2);
    let (checksum, position) = (journal.last_checksum(), at(2));
    assert!(check(&disk, folder, Position { checksum: Some(checksum), ..position }).is_ok());
    assert!(check(&disk, folder, Position { checksum: Some(!checksum), ..position }).is_err());
    journal.append(0, b"three").unwrap();
    assert!(check(&disk, folder, Position { checksum: Some(!checksum), ..position }).is_err());
}
