//! Unit tests of `network.rs`.

use super::*;

#[test]
fn network_is_written_as_it_was_parsed() {
    for text in ["262-01", "262-001", "310-410", "001-01", "404-00", "901-99"] {
        assert_eq!(Network::parse(text).unwrap().to_string(), text);
    }
    assert_ne!(Mnc::parse("01"), Mnc::parse("001"), "the length counts");
    assert_eq!(format!("{:?}", Network::parse("262-01").unwrap()), "Network(262-01)");
}

#[test]
fn invalid_networks_are_refused() {
    for (text, expect) in [
        ("", NetworkRefusal::MissingHyphen),
        ("26201", NetworkRefusal::MissingHyphen),
        ("26-01", NetworkRefusal::NotMcc),
        ("2622-01", NetworkRefusal::NotMcc),
        ("+26-01", NetworkRefusal::NotMcc),
        ("２６２-01", NetworkRefusal::NotMcc),
        ("262-", NetworkRefusal::NotMnc),
        ("262-1", NetworkRefusal::NotMnc),
        ("262-+1", NetworkRefusal::NotMnc),
        ("262-0001", NetworkRefusal::NotMnc),
        ("262-01-02", NetworkRefusal::NotMnc),
        (" 262-01", NetworkRefusal::NotMcc),
    ] {
        assert_eq!(Network::parse(text), Err(expect), "{text:?}");
    }
}
