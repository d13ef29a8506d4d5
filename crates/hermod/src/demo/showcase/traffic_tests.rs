//! Unit tests of `traffic.rs`.

use super::*;
use std::collections::BTreeSet;

fn now() -> Timestamp {
    Timestamp::from_millis(1_794_700_800_000)
}

#[test]
fn traffic_is_the_same_at_every_start_and_all_of_it_is_in_the_past() {
    let since = Duration::from_secs(2_400);
    let (before, after) = make(now(), since);
    let (again, _) = make(now(), since);
    assert_eq!(format!("{before:?}"), format!("{again:?}"));
    assert!((1_200..3_000).contains(&before.messages.len()), "{} messages", before.messages.len());
    assert!(!after.messages.is_empty());
    let all = before.messages.iter().chain(&after.messages);
    for message in all {
        let took = match message.outcome {
            DemoOutcome::Delivered { after }
            | DemoOutcome::Undeliverable { after, .. }
            | DemoOutcome::Expired { after, .. } => after,
            DemoOutcome::Rejected { .. } => Duration::ZERO,
        };
        assert!(message.at.plus(took + Duration::from_secs(1)) < now(), "{message:?}");
    }
    let opt_outs = before.replies.iter().filter(|reply| reply.text == "STOP").count();
    assert!(opt_outs >= 2 && before.replies.len() > 20, "{opt_outs} of {}", before.replies.len());
}

#[test]
fn shop_writes_to_twelve_countries() {
    let (before, _) = make(now(), Duration::ZERO);
    let starts: BTreeSet<&str> = before.messages.iter().map(|message| &message.to[..4]).collect();
    assert!(starts.len() >= content::COUNTRIES.len(), "{starts:?}");
}
