//! Which files the journal keeps, and what remains in them.

use super::crash::{FOLDER, LIMITS, World};
use super::simulated_disk::SimulatedDisk;
use crate::journal::Journal;
use crate::journal::files::Files as _;
use std::path::Path;

const TEXT: &[u8] = b"text of an erased number";

fn contents(disk: &SimulatedDisk) -> Vec<Vec<u8>> {
    let names = disk.list(Path::new(FOLDER)).unwrap();
    names.iter().map(|name| disk.content(&Path::new(FOLDER).join(name))).collect()
}

fn files_with_text(disk: &SimulatedDisk) -> usize {
    let has_text = |content: &Vec<u8>| content.windows(TEXT.len()).any(|window| window == TEXT);
    contents(disk).iter().filter(|content| has_text(content)).count()
}

fn finish_work(journal: &Journal<SimulatedDisk>) {
    while journal.work() {}
}

#[test]
fn free_files_beyond_the_limit_are_removed() {
    let mut world = World::new(1);
    let mut journal = world.started();
    for _ in 0..60 {
        journal.append(0, &[1; 5000]).unwrap();
        finish_work(&journal);
    }
    let total = || contents(&world.disk).iter().map(|content| content.len() as u64).sum::<u64>();
    let before = total();
    assert!(before > 300_000, "{before}");
    journal.trim(60);
    finish_work(&journal);
    // Free files, the current one and a prepared one.
    assert!(total() <= LIMITS.free_max + 2 * LIMITS.segment_max, "{}", total());
    assert_eq!((journal.backlog_bytes(), journal.append(0, b"more").unwrap()), (0, 61));
}

#[test]
fn steady_load_recycles_its_files_and_creates_no_others() {
    let mut world = World::new(1);
    let mut journal = world.started();
    let mut count = 0;
    for round in 0..2000 {
        let sequence = journal.append(0, &[1; 600]).unwrap();
        journal.trim(sequence - sequence.min(10));
        finish_work(&journal);
        if round == 200 {
            count = contents(&world.disk).len();
        }
    }
    assert_eq!(contents(&world.disk).len(), count);
}

#[test]
fn wipe_reaches_free_prepared_and_used_files() {
    let mut world = World::new(1);
    let mut journal = world.started();
    for round in 1..=410 {
        journal.append(0, &TEXT.repeat(10)).unwrap();
        // Trimming late in every round, so that the prepared segment is a recycled one.
        journal.trim(if round % 40 == 0 { round } else { 0 });
        finish_work(&journal);
    }
    journal.trim(409);
    finish_work(&journal);
    assert!(files_with_text(&world.disk) >= 2);
    journal.wipe_free().unwrap();
    finish_work(&journal);
    assert_eq!((journal.pending_wipes(), files_with_text(&world.disk)), (1, 1), "one batch is still needed");
    journal.append(0, b"later").unwrap();
    journal.trim(410);
    finish_work(&journal);
    assert_eq!((journal.pending_wipes(), files_with_text(&world.disk)), (0, 0));
}
