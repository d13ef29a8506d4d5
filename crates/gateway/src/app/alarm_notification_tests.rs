//! Unit tests of `alarm_notification.rs`.

use super::*;
use crate::live_status::AlarmKind;

fn notification(kind: AlarmKind, carrier: &str, about: &str, detail: &str) -> AlarmNotification {
    let first_at = Timestamp::parse("2026-11-19T10:00:00Z").unwrap();
    let alarm = Alarm {
        kind,
        carrier: carrier.to_owned(),
        about: about.to_owned(),
        detail: detail.to_owned(),
        first_at,
        last_at: first_at,
        count: 1,
    };
    let at = Timestamp::parse("2026-11-19T10:05:00Z").unwrap();
    AlarmNotification { id: "alarm_1".to_owned(), alarm, is_over: false, at, node: None }
}

#[test]
fn mail_says_what_is_wrong_and_what_to_do() {
    let raised = notification(AlarmKind::CarrierDown, "acme", "", "no link has been bound for ten seconds");
    assert_eq!(raised.subject(), "Hermod critical: acme: carrier-down");
    assert_eq!(
        raised.text(),
        "acme: carrier-down: raised at 2026-11-19T10:00:00Z.\n\nno link has been bound for ten seconds\n\nWhat to do: hermod \
         links shows the last error of each link. Check address, network and firewall.\n\nhermod alarms lists what is raised \
         now.\n"
    );
    let over = AlarmNotification { is_over: true, node: Some("b".to_owned()), ..raised };
    assert_eq!(over.subject(), "Hermod over: acme: carrier-down (node b)");
    assert_eq!(
        over.text(),
        "acme: carrier-down: over at 2026-11-19T10:05:00Z, raised at 2026-11-19T10:00:00Z.\n\nIt was: no link has been bound \
         for ten seconds\n"
    );
}

#[test]
fn body_has_every_field_as_documented() {
    let raised = notification(AlarmKind::WebhookFailing, "", "shop/dlr", "it says \"no\"");
    assert_eq!(
        raised.body(),
        "{\"event\":\"raised\",\"alarm\":\"webhook-failing\",\"severity\":\"warning\",\"carrier\":\"\",\"account\":\"shop\",\
         \"about\":\"shop/dlr\",\"detail\":\"it says \\\"no\\\"\",\"what_to_do\":\"Inform the customer. hermod webhook list \
         ACCOUNT --state waiting shows the events, hermod webhook attempts the errors.\",\"first_at\":\"2026-11-19T10:00:00Z\",\
         \"at\":\"2026-11-19T10:05:00Z\",\"count\":1}"
    );
    let named = AlarmNotification { node: Some("b".to_owned()), ..raised };
    assert!(named.body().contains("\"node\":\"b\""), "{}", named.body());
}

#[test]
fn control_characters_of_a_carrier_end_no_line_and_no_variable() {
    let raised = notification(AlarmKind::UnknownStat, "acme", "O\nDD", "one\0two\r\nthree");
    assert!(!raised.subject().contains('\n'), "{}", raised.subject());
    assert!(raised.text().contains("one two  three"), "{}", raised.text());
    for (name, value) in raised.variables() {
        assert!(!value.contains(char::is_control), "{name}: {value:?}");
    }
    let detail = raised.variables().into_iter().find(|(name, _)| *name == "HERMOD_ALARM_DETAIL");
    assert_eq!(detail.unwrap().1, "one two  three");
}
