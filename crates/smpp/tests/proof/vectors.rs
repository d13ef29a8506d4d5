//! The golden vectors: one file for each case, with the source of its octets, its reason, the octets, and
//! their meaning. Octets never come from our own encoder. `UPDATE=1 cargo test -p hermod-smpp` accepts
//! new meanings; octets are only changed by hand.

use bytes::BytesMut;
use hermod_smpp::{CommandId, encode, next_frame};
use std::{collections::BTreeSet, fs, path::PathBuf};

use crate::printed::{PDU_BYTES_MAX, meaning};

pub(crate) struct Vector {
    pub(crate) name: String,
    pub(crate) octets: Vec<u8>,
    path: PathBuf,
    /// Comments and octets of the file.
    upper: String,
    lower: String,
}

impl Vector {
    fn parse(path: PathBuf) -> Vector {
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let file = fs::read_to_string(&path).expect("the vector is readable");
        let (upper, lower) = file.split_once("---\n").unwrap_or_else(|| panic!("{name}: no --- line"));
        assert!(upper.starts_with("# source: "), "{name}: has no source");
        assert!(upper.contains("\n# why:    "), "{name}: has no reason");
        let digits: String = upper.lines().filter(|line| !line.starts_with('#')).collect();
        let digits: Vec<char> = digits.chars().filter(|char| !char.is_whitespace()).collect();
        let octet = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16);
        let octets = digits.chunks(2).map(octet).collect::<Result<_, _>>();
        let octets = octets.unwrap_or_else(|fault| panic!("{name}: {fault}"));
        Vector { octets, upper: upper.into(), lower: lower.into(), name, path }
    }

    /// Whether decoding loses information, as the file states.
    fn is_one_way(&self) -> bool {
        self.upper.contains("\n# one-way: ")
    }
}

pub(crate) fn all() -> Vec<Vector> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors");
    let entries = fs::read_dir(folder).expect("the vectors are there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths.into_iter().map(Vector::parse).collect()
}

#[expect(clippy::disallowed_methods, reason = "a setting for test runs")]
pub(crate) fn is_updating() -> bool {
    std::env::var("UPDATE").is_ok_and(|value| value == "1")
}

#[test]
fn vector_decodes_to_its_meaning() {
    let mut wrong = Vec::new();
    for vector in all() {
        let printed = meaning(&vector.octets);
        if printed == vector.lower {
            continue;
        }
        if is_updating() {
            let accepted = format!("{}---\n{printed}", vector.upper);
            fs::write(&vector.path, accepted).expect("the vector is writable");
        } else {
            wrong.push(format!("{}: expected\n{}printed\n{printed}", vector.name, vector.lower));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn decoded_vector_encodes_to_its_octets() {
    for vector in all() {
        let mut buf = BytesMut::from(&vector.octets[..]);
        let Ok(Some(frame)) = next_frame(&mut buf, PDU_BYTES_MAX) else { continue };
        let Ok(pdu) = frame.decode() else { continue };
        let mut out = BytesMut::new();
        encode(&pdu, frame.header.status, frame.header.sequence, &mut out).expect(&vector.name);
        assert_eq!(out[..] == vector.octets[..], !vector.is_one_way(), "{}: {out:02x?}", vector.name);
    }
}

#[test]
fn every_pdu_has_a_valid_vector() {
    let mut covered = BTreeSet::new();
    for vector in all() {
        let mut buf = BytesMut::from(&vector.octets[..]);
        let Ok(Some(frame)) = next_frame(&mut buf, PDU_BYTES_MAX) else { continue };
        if frame.decode().is_ok() && !vector.is_one_way() {
            covered.insert(frame.header.command);
        }
    }
    let missing: Vec<_> = CommandId::ALL.iter().filter(|command| !covered.contains(command)).collect();
    assert!(missing.is_empty(), "no vector for {missing:?}");
}

#[test]
fn vector_name_says_whether_it_is_rejected() {
    for vector in all() {
        let meaning = meaning(&vector.octets);
        let refused = meaning.starts_with("refused") || meaning.starts_with("broken");
        assert_eq!(refused, vector.name.starts_with("bad_"), "{}", vector.name);
    }
}
