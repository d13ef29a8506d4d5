//! Unit tests of `format.rs`.

use super::*;

#[test]
fn flipped_bit_in_segment_header_is_noticed() {
    let header = SegmentHeader {
        version: FORMAT,
        history: HistoryId([7; 16]),
        number: 3,
        salt: 5,
        first: 9,
        chain: 11,
    };
    let bytes = header.encode();
    assert_eq!(SegmentHeader::decode(&bytes), Some(header));
    for bit in 0..HEADER_BYTES * 8 {
        let mut damaged = bytes;
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(SegmentHeader::decode(&damaged), None, "bit {bit}");
    }
}

#[test]
fn flipped_bit_in_record_is_noticed() {
    let mut bytes = Vec::new();
    let crc = encode_record(&mut bytes, 1, (5, 9, 11), (2, b"a payload of 23 octets."));
    assert_eq!(bytes.len(), record_bytes(23));
    let record = record_at(&bytes, 0, 1, |_, _| true).unwrap();
    assert_eq!((record.sequence, record.encoding, record.previous), (9, 2, 11));
    assert_eq!((record.crc, record.payload), (crc, &b"a payload of 23 octets."[..]));
    for bit in 0..(RECORD_HEADER_BYTES + 23) * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(record_at(&damaged, 0, 1, |_, _| true).is_none(), "bit {bit}");
    }
}

#[test]
fn layout_stays_as_released() {
    let header = SegmentHeader {
        version: 1,
        history: HistoryId(*b"0123456789abcdef"),
        number: 2,
        salt: 3,
        first: 4,
        chain: 5,
    };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(
        hex(&header.encode()),
        "6865726d6f642e6a0100000067165220303132333435363738396162636465660200000000000000030000000000000004000000000000000500000000000000"
    );
    let mut record = Vec::new();
    encode_record(&mut record, header.history.seed(), (3, 4, 5), (1, b"payload"));
    assert_eq!(
        hex(&record),
        "6a7265639e3aeb4303000000000000000400000000000000070000000500000001000000000000007061796c6f616400"
    );
}
