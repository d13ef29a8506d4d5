//! Unit tests of `webhook/mod.rs`.

use super::*;

#[test]
fn event_has_exactly_one_name() {
    let numbers = ShownNumbers::new([7; 32]);
    let name = event_name(&numbers, 7);
    assert_ne!(name, "evt_7", "the number of events is not shown");
    assert_eq!(event_number(&numbers, &name), Some(7));
    for (name, expect) in [
        ("evt_7", Some(7)),
        ("evt_0", Some(0)),
        ("evt_07", None),
        ("evt_+7", None),
        ("evt_", None),
        ("7", None),
        ("EVT_7", None),
        ("evt_99999999999999999999", None),
    ] {
        assert_eq!(shown_event_number(name), expect, "{name}");
    }
}
