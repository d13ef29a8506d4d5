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

const RECORDED: &str = include_str!("../../../src/tables/encoding.txt");
const ADVICE: &str = "The encoding of changes differs from the recorded one. UPDATE=1 records it; every store that was made \
    before is refused then, because the number that says which stores can be read follows from the record.";

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
    let lines: String = samples::all().iter().map(|sample| line(sample) + "\n").collect();
    if std::env::var_os("UPDATE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tables/encoding.txt");
        std::fs::write(file, lines).unwrap();
        return;
    }
    let differs = lines.lines().zip(RECORDED.lines()).find(|(now, recorded)| now != recorded);
    assert_eq!(differs, None, "{ADVICE}");
    assert_eq!(lines.len(), RECORDED.len(), "{ADVICE}");
}

#[test]
fn unknown_encodings_and_invalid_changes_are_refused_by_place() {
    let tables = MemoryTables::default();
    let error =
        |encoding, bytes: &[u8]| replay(encoding, bytes, &tables).unwrap_err().into_inner().to_string();
    let other = CHANGE_ENCODING.wrapping_add(1);
    assert_eq!(
        error(other, b""),
        format!("the changes have encoding {other}, and this build reads encoding {CHANGE_ENCODING} only")
    );
    let reserved = |id| Change::from(StepChange::Reserved(hermod_engine::steps::StepId(id)));
    let log = encode(&[reserved(1), reserved(300)]);
    assert_eq!(replay(CHANGE_ENCODING, log.bytes(), &tables).unwrap(), 2);
    assert_eq!(replay(CHANGE_ENCODING, b"", &tables).unwrap(), 0);
    let cut = &log.bytes()[..log.bytes().len() - 1];
    assert_eq!(
        error(CHANGE_ENCODING, cut),
        format!(
            "the change at byte 3 of 6 is not valid in encoding {CHANGE_ENCODING}; 1 before it are: \
             Hit the end of buffer, expected more data"
        )
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
