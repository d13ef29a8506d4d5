//! The encoding of changes: every change reads back as it was written, the bytes are the recorded ones, and bytes that are not
//! changes are refused.

mod cost;
mod message_samples;
mod samples;
mod values;
mod variants;

use crate::memory::MemoryTables;
use hermod_engine::tables::{
    CHANGE_ENCODING, Change, ChangeLog, LogError, LoggedChanges, StepChange, replay,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

const RECORDED: &str = include_str!("encoding_1.txt");
const ADVICE: &str = "The encoding of changes must not differ from the one that the last release wrote. \
    If it has to: raise CHANGE_ENCODING, let LoggedChanges read both encodings, keep encoding_1.txt for the \
    old one, and record the new one in a file of its own. \
    New variants and samples are fine at the end of their lists: UPDATE=1 adds their lines to the file.";

fn encode(changes: &[Change]) -> ChangeLog {
    let mut log = ChangeLog::default();
    changes.iter().for_each(|change| log.add(change).expect("every change can be encoded"));
    log
}

fn decode(bytes: &[u8]) -> Result<Vec<Change>, LogError> {
    LoggedChanges::new(CHANGE_ENCODING, bytes)?.collect()
}

/// Returns the line of a change: its name, and its bytes as hexadecimal digits.
fn line(change: &Change) -> String {
    let mut line = format!("{} ", variants::change_name(change));
    for octet in encode(std::slice::from_ref(change)).bytes() {
        write!(line, "{octet:02x}").expect("a String takes everything");
    }
    line
}

fn octets(digits: &str) -> Vec<u8> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { panic!("half an octet: {digits}") };
    let octet = |pair: &[u8; 2]| {
        let digits = std::str::from_utf8(pair).expect("ASCII");
        u8::from_str_radix(digits, 16).expect("hexadecimal digits")
    };
    pairs.iter().map(octet).collect()
}

#[test]
fn every_variant_has_a_sample() {
    let samples = samples::all();
    let names: BTreeSet<_> = samples.iter().map(variants::change_name).collect();
    assert_eq!(names, variants::CHANGES.iter().copied().collect());
    let kinds = message_samples::step_kinds();
    let steps: BTreeSet<_> = kinds.iter().map(variants::step_name).collect();
    assert_eq!(steps, variants::STEPS.iter().copied().collect());
}

#[test]
fn every_change_reads_back_as_it_was_written() {
    let samples = samples::all();
    let log = encode(&samples);
    let read = decode(log.bytes()).unwrap();
    for (sample, read) in samples.iter().zip(&read) {
        assert_eq!(line(read), line(sample));
    }
    assert_eq!((log.len(), read.len()), (samples.len(), samples.len()));
}

#[test]
fn encoding_is_the_recorded_one() {
    for recorded in RECORDED.lines() {
        let (name, digits) = recorded.split_once(' ').unwrap();
        let read = decode(&octets(digits)).unwrap_or_else(|error| panic!("{name}: {error}. {ADVICE}"));
        assert_eq!(read.iter().map(line).collect::<Vec<_>>(), [recorded], "{ADVICE}");
    }
    let recorded: BTreeSet<&str> = RECORDED.lines().collect();
    let samples = samples::all();
    let new: Vec<String> =
        samples.iter().map(line).filter(|line| !recorded.contains(line.as_str())).collect();
    if std::env::var_os("UPDATE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/change_log/encoding_1.txt");
        let lines = RECORDED.lines().map(str::to_owned).chain(new);
        std::fs::write(file, lines.map(|line| line + "\n").collect::<String>()).unwrap();
    } else {
        assert!(new.is_empty(), "{} samples are not recorded, the first is {}. {ADVICE}", new.len(), new[0]);
    }
}

#[test]
fn unknown_encodings_and_invalid_changes_are_refused_by_place() {
    let tables = MemoryTables::default();
    let error =
        |encoding, bytes: &[u8]| replay(encoding, bytes, &tables).unwrap_err().into_inner().to_string();
    assert_eq!(error(7, b""), "the changes have encoding 7, and this release reads encoding 1 only");
    let reserved = |id| Change::from(StepChange::Reserved(hermod_engine::steps::StepId(id)));
    let log = encode(&[reserved(1), reserved(300)]);
    assert_eq!(replay(CHANGE_ENCODING, log.bytes(), &tables).unwrap(), 2);
    assert_eq!(replay(CHANGE_ENCODING, b"", &tables).unwrap(), 0);
    let cut = &log.bytes()[..log.bytes().len() - 1];
    assert_eq!(
        error(CHANGE_ENCODING, cut),
        "the change at byte 3 of 6 is not valid in encoding 1; 1 before it are: Hit the end of buffer, expected more data"
    );
    assert!(error(CHANGE_ENCODING, b"\xff").starts_with("the change at byte 0 of 1 is not valid"));
}

#[test]
fn cleared_log_is_empty_and_can_be_used_again() {
    let samples = samples::all();
    let mut log = encode(&samples);
    assert!(!log.is_empty());
    log.clear();
    assert_eq!((log.is_empty(), log.len(), log.bytes()), (true, 0, &[][..]));
    log.add(&samples[0]).unwrap();
    assert_eq!(log.bytes(), encode(&samples[..1]).bytes());
}

#[test]
fn cut_off_changes_are_never_read_as_whole_ones() {
    for sample in samples::all() {
        let log = encode(&[sample]);
        for end in 1..log.bytes().len() {
            assert!(decode(&log.bytes()[..end]).is_err(), "{} bytes of {:02x?}", end, log.bytes());
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&bytes);
    }

    #[test]
    fn damaged_changes_are_read_or_refused(
        place in any::<proptest::sample::Index>(),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let samples = samples::all();
        let log = encode(std::slice::from_ref(place.get(&samples)));
        let mut bytes = log.bytes().to_vec();
        for (place, octet) in damage {
            let place = place.index(bytes.len());
            bytes[place] = octet;
        }
        let _ = decode(&bytes);
    }
}
