//! Unit tests of `explanations.rs`.

use super::*;

#[test]
fn other_protocols_are_recognised_by_their_first_octets() {
    for (first, expect) in [
        (b"HTTP/1.1".as_slice(), Some("an HTTP server responded")),
        (b"SSH-2.0-", Some("an SSH server")),
        (&[0x15, 3, 1, 0, 2, 2, 70], Some("try again with --tls")),
        (&[0, 0, 0, 16, 0x80, 0, 0, 9], None),
        (b"", None),
    ] {
        let explained = of_other_protocol(first);
        assert_eq!(explained.is_some(), expect.is_some(), "{first:?}");
        assert!(explained.unwrap_or_default().contains(expect.unwrap_or_default()), "{first:?}");
    }
}
