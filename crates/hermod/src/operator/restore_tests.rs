//! Tests of the texts about a restore.

use super::*;

fn view(held: bool, backup_at: Option<&str>) -> RestoreView {
    RestoreView {
        held,
        since: held.then(|| "2026-11-15T09:30:00.000Z".to_owned()),
        backup_at: backup_at.map(str::to_owned),
        accepts_messages: false,
        waiting: vec![UnsentView {
            carrier: "acme".to_owned(),
            account: "shop".to_owned(),
            messages: 3,
            parts: 5,
            in_doubt: 1,
            oldest_at: "2026-11-15T09:00:00.000Z".to_owned(),
            oldest_id: "15506713804701696".to_owned(),
            newest_at: "2026-11-15T09:29:00.000Z".to_owned(),
            newest_id: "15506713804701700".to_owned(),
        }],
    }
}

#[test]
fn review_says_why_the_gateway_is_held_and_what_to_do() {
    let text = review_text(&view(true, Some("2026-11-15T09:30:00.000Z")));
    for part in ["from the backup of 2026-11-15T09:30", "acme", "shop", "restore release", "--before-backup"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = review_text(&view(true, None));
    assert!(text.starts_with("The gateway is held since 2026-11-15T09:30"), "{text}");
    let text = review_text(&view(false, None));
    assert!(text.starts_with("The gateway is not held") && !text.contains("restore release"), "{text}");
}

#[test]
fn messages_that_a_carrier_may_have_are_counted_apart_from_refunded_ones() {
    let sum = CancelledView { looked_at: 7, cancelled: 4, stopped: 2, later: 1, next: None };
    assert_eq!(
        cancelled_text(&sum, false),
        "Cancelled and refunded 4 of 7 waiting messages.\n\
         2 more are not sent and not refunded, because a carrier may have them or a part of them.\n\
         1 were accepted later, and wait for the release.\n"
    );
    let only = CancelledView { looked_at: 4, cancelled: 4, ..CancelledView::default() };
    assert_eq!(cancelled_text(&only, true), "4 of 4 waiting messages would be cancelled or stopped.\n");
}
