//! Unit tests of `raw_heads.rs`.

use super::*;

const PLAIN: &str = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";
const SIZED: &str = "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 23\r\n\r\nTransfer-Encoding: x\r\n\r";
const CHUNKED: &str = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n\
                           17\r\nContent-Length: 5\r\n\r\nok\r\n0\r\nX: y\r\nContent-Length: 1\r\n\r\n";
const BOTH: &str = "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n";

const ONE: LengthHeaders = LengthHeaders::One;
const TWO: LengthHeaders = LengthHeaders::Two;

/// Compares the result for pieces of several sizes.
#[track_caller]
fn check(requests: &[&str], expect: &[LengthHeaders]) {
    let bytes = requests.concat().into_bytes();
    for size in [1, 2, 3, 7, 64, bytes.len()] {
        let mut heads = RawHeads::default();
        bytes.chunks(size).for_each(|piece| heads.feed(piece));
        let actual: Vec<LengthHeaders> = requests.iter().map(|_| heads.hand_on()).collect();
        assert_eq!(actual, expect, "in pieces of {size}");
    }
}

#[test]
fn two_lengths_are_found_in_either_order_and_case() {
    check(&[BOTH], &[TWO]);
    check(&["\r\nPOST / HTTP/1.1\nTRANSFER-ENCODING: chunked\nContent-length:5\n\n"], &[TWO]);
    check(&["POST / HTTP/1.1\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n"], &[TWO]);
    check(&["POST / HTTP/1.1\r\nX-Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"], &[ONE]);
    check(&["GET /?Content-Length: HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"], &[ONE]);
    let long = format!("POST / HTTP/1.1\r\nX: {}\r\nContent-Length: 5\r\n", "y".repeat(10_000));
    check(&[&format!("{long}Transfer-Encoding: chunked\r\n\r\n")], &[TWO]);
}

#[test]
fn pipelined_requests_are_followed_through_their_bodies() {
    check(&[PLAIN, SIZED, CHUNKED, PLAIN, BOTH], &[ONE, ONE, ONE, ONE, TWO]);
    check(&[CHUNKED, CHUNKED, SIZED, SIZED, PLAIN], &[ONE; 5]);
}

#[test]
fn requests_after_an_unreadable_one_are_unknown() {
    check(&["POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", PLAIN], &[ONE, LengthHeaders::Unknown]);
    check(
        &["POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", BOTH],
        &[ONE, LengthHeaders::Unknown],
    );
    let padded = format!("POST / HTTP/1.1\r\nContent-Length: {}5\r\n\r\nhello", " ".repeat(200));
    let mut heads = RawHeads::default();
    [padded.as_bytes(), BOTH.as_bytes()].concat().chunks(50).for_each(|piece| heads.feed(piece));
    assert_eq!((heads.hand_on(), heads.hand_on()), (ONE, LengthHeaders::Unknown));
}
