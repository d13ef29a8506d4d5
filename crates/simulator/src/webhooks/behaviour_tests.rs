//! Unit tests of `behaviour.rs`.

use super::*;

#[test]
fn behaviour_survives_display_and_parsing() {
    for text in [
        "200",
        "503",
        "slow=1500ms",
        "hang",
        "deaf",
        "drip",
        "endless",
        "reset",
        "garbage",
        "redirect=http://x/",
    ] {
        assert_eq!(
            text.parse::<ReceiverBehaviour>().map(|behaviour| behaviour.to_string()),
            Ok(text.to_owned())
        );
    }
    assert_eq!("slow=2s".parse(), Ok(ReceiverBehaviour::Slow(Duration::from_secs(2))));
}

#[test]
fn invalid_behaviour_is_rejected() {
    for text in ["", "fine", "199", "600", "slow", "slow=2", "slow=s"] {
        assert!(text.parse::<ReceiverBehaviour>().is_err(), "{text}");
    }
}
