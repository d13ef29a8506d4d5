//! Unit tests of `frame.rs`.

use super::*;
use crate::CommandId;

const ENQUIRE_LINK: [u8; 16] = [0, 0, 0, 16, 0, 0, 0, 0x15, 0, 0, 0, 0, 0, 0, 0, 9];

#[test]
fn frame_is_returned_only_when_complete() {
    let mut buf = BytesMut::new();
    for octet in &ENQUIRE_LINK[..15] {
        buf.extend_from_slice(&[*octet]);
        assert_eq!(next_frame(&mut buf, 16_384), Ok(None));
    }
    buf.extend_from_slice(&ENQUIRE_LINK[15..]);
    let frame = next_frame(&mut buf, 16_384).unwrap().unwrap();
    assert_eq!(frame.header.command, CommandId::ENQUIRE_LINK);
    assert_eq!(frame.header.sequence, 9);
    assert_eq!(frame.body(), b"");
    assert!(buf.is_empty());
}

#[test]
fn octets_after_a_frame_stay_in_the_buffer() {
    let mut buf = BytesMut::from(&[ENQUIRE_LINK, ENQUIRE_LINK].concat()[..]);
    buf.extend_from_slice(b"\0\0");
    assert!(next_frame(&mut buf, 16_384).unwrap().is_some());
    assert!(next_frame(&mut buf, 16_384).unwrap().is_some());
    assert_eq!(next_frame(&mut buf, 16_384), Ok(None));
    assert_eq!(&buf[..], b"\0\0");
}

/// Contract section 1.2, first two rows: port scanners get one nack and cost no memory.
#[test]
fn invalid_lengths_are_refused_before_memory_is_reserved() {
    let cases: [(&[u8], Option<u32>, Option<u32>); 7] = [
        (b"HTTP", Some(0x4854_5450), None),
        (b"AMQP\0\0\x09\x01", Some(0x414d_5150), None),
        (b"\x16\x03\x01\x02\x00", Some(0x1603_0102), None),
        (&[0, 0, 0, 15], Some(15), None),
        (&[0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 7], Some(0), Some(7)),
        (&[0, 0, 64, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8], Some(16_385), Some(8)),
        (&[0, 0, 64, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8], None, None),
    ];
    for (octets, length, sequence) in cases {
        let mut buf = BytesMut::from(octets);
        let capacity = buf.capacity();
        match (next_frame(&mut buf, 16_384), length) {
            (Err(e), Some(length)) => assert_eq!((e.length, e.sequence), (length, sequence)),
            (Ok(None), None) => {}
            (other, _) => panic!("{octets:?} gave {other:?}"),
        }
        assert_eq!(buf.capacity(), capacity);
    }
}
