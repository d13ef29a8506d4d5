//! Unit tests of `profile.rs`.

use super::{device, grouped};

#[test]
fn device_is_named_by_browser_and_system() {
    for (agent, expect) in [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/141.0 Safari/537.36 Edg/141.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
            "Safari on iPhone",
        ),
        ("curl/8.5.0", "curl"),
        ("", "Unknown device"),
        ("Something else", "Something else"),
    ] {
        assert_eq!(device(agent), expect);
    }
}

#[test]
fn secret_is_shown_in_groups() {
    assert_eq!(grouped("abcdefghij", "-"), "abcd-efgh-ij");
}
