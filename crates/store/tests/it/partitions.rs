//! The partitions of messages and texts on PostgreSQL: made ahead, dropped when they are old, and repaired after a jump of the
//! clock.

use crate::retention::KEEP;
use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::time::Timestamp;
use hermod_store::Purged;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
/// Days of a partition of messages.
const MESSAGE_DAYS: i64 = 28;
/// Days of texts for which there are partitions ahead.
const TEXT_DAYS_AHEAD: i64 = 7;
/// More rows than are moved out of the default partition at once.
const MANY: i64 = 20_001;

impl World {
    /// Returns a new store; none if the tests do not run on PostgreSQL.
    async fn on_server() -> Option<World> {
        let world = World::new().await;
        if server(world.path()).is_none() {
            println!("only for PostgreSQL");
            return None;
        }
        Some(world)
    }

    /// Advances the clock, and lets the writer look after the partitions.
    async fn pass(&mut self, wait: Duration) {
        self.advance(wait).await;
        self.flush().await;
    }

    fn partitions(&self, prefix: &str) -> Vec<i64> {
        let names = self.raw().tables_with(prefix);
        names
            .iter()
            .map(|name| name.strip_prefix(prefix).expect("the prefix").parse().expect("a day"))
            .collect()
    }

    fn text_days(&self) -> Vec<i64> {
        self.partitions("message_text_day_")
    }

    fn rows(&self, table: &str) -> i64 {
        self.raw().number(&format!("SELECT count(*) FROM {table}"))
    }

    #[track_caller]
    fn assert_partitions_cover(&self, now: Timestamp) {
        let today = now.day().get();
        let current = today - today.rem_euclid(MESSAGE_DAYS);
        let (messages, texts) = (self.partitions("message_from_"), self.text_days());
        assert!([current, current + MESSAGE_DAYS].iter().all(|day| messages.contains(day)), "{messages:?}");
        assert!((today..=today + TEXT_DAYS_AHEAD).all(|day| texts.contains(&day)), "{texts:?}");
    }

    async fn deliver(&self, link: &Link) -> MessageId {
        let message = self.send(self.sms()).await;
        let id = message.to_string();
        link.accept(&link.take_job().await, &id).await;
        link.receipt(&id, DeliveryOutcome::Delivered).await;
        message
    }

    async fn purge_everything(&self) {
        while self.store.purge(KEEP, self.now).await.expect("the store purges") != Purged::default() {}
    }
}

#[tokio::test]
async fn partitions_of_the_next_days_exist_at_the_start_and_as_time_passes() {
    let Some(mut world) = World::on_server().await else { return };
    world.assert_partitions_cover(world.now);
    for _ in 0..MESSAGE_DAYS + 1 {
        world.pass(DAY).await;
        world.assert_partitions_cover(world.now);
    }
    let before = (world.partitions("message_from_"), world.text_days());
    world.restart().await;
    assert_eq!((world.partitions("message_from_"), world.text_days()), before, "a restart changes nothing");
    let today = world.now.day().get();
    assert!(
        before.1.iter().copied().eq(today..=today + TEXT_DAYS_AHEAD),
        "days without a message are dropped"
    );
}

#[tokio::test]
async fn texts_of_a_day_are_hidden_at_their_retention_and_dropped_with_the_day() {
    let Some(mut world) = World::on_server().await else { return };
    let link = world.link_with_slots(100).await;
    let first_day = world.now.day().get();
    let early = world.deliver(&link).await;
    world.pass(Duration::from_secs(3600)).await;
    let late = world.deliver(&link).await;
    world.pass(DAY).await;
    let next = world.deliver(&link).await;
    world.pass(29 * DAY - Duration::from_secs(1800)).await;
    world.purge_everything().await;
    assert_eq!(world.store.messages().text(ALICE, early).await.unwrap(), None);
    assert_eq!(world.store.messages().text(ALICE, late).await.unwrap().as_deref(), Some("hello"));
    assert_eq!(world.rows(&format!("message_text_day_{first_day}")), 2, "the day has a text that is kept");

    world.pass(DAY).await;
    world.purge_everything().await;
    world.pass(Duration::from_secs(3600)).await;
    assert!(!world.text_days().contains(&first_day), "{:?}", world.text_days());
    for (message, text) in [(early, None), (late, None), (next, Some("hello"))] {
        assert_eq!(world.store.messages().text(ALICE, message).await.unwrap().as_deref(), text);
        assert_eq!(world.state(message).await, MessageState::Delivered);
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn purge_over_many_days_drops_each_day_behind_it() {
    let Some(mut world) = World::on_server().await else { return };
    let link = world.link_with_slots(100).await;
    for _ in 0..10 {
        world.deliver(&link).await;
        world.pass(DAY).await;
    }
    let last = world.now.minus(DAY).day().get();
    world.now = world.now.plus(60 * DAY);
    world.purge_everything().await;
    world.flush().await;
    let left = world.text_days();
    assert!(
        left.iter().all(|day| *day >= last),
        "only the day of the mark and those ahead are left: {left:?}"
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn partition_of_messages_is_dropped_once_its_records_are_purged() {
    let Some(mut world) = World::on_server().await else { return };
    let link = world.link_with_slots(100).await;
    let first = world.partitions("message_from_")[0];
    let old = world.deliver(&link).await;
    world.pass_days(60).await;
    let kept = world.deliver(&link).await;
    world.pass_days(345).await;
    assert!(world.partitions("message_from_").contains(&first));
    world.purge_all().await;
    world.pass(Duration::from_secs(3600)).await;
    assert!(!world.partitions("message_from_").contains(&first));
    assert!(world.store.messages().find(ALICE, old).await.unwrap().is_none());
    assert_eq!(world.state(kept).await, MessageState::Delivered);
    world.assert_audit_clean();
}

#[tokio::test]
async fn messages_of_a_clock_that_jumped_are_moved_to_a_partition_of_their_own() {
    let Some(mut world) = World::on_server().await else { return };
    let link = world.link_with_slots(100).await;
    let before = world.deliver(&link).await;
    // No tick has told the store yet.
    world.now = world.now.plus(100 * DAY);
    let message = world.send(world.sms()).await;
    assert_eq!((world.rows("message_default"), world.rows("message_text_default")), (1, 1));
    world.pass(Duration::from_secs(1)).await;
    assert_eq!((world.rows("message_default"), world.rows("message_text_default")), (0, 0));
    world.assert_partitions_cover(world.now);
    assert_eq!(world.rows(&format!("message_text_day_{}", world.now.day().get())), 1);
    assert_eq!(link.take_job().await.text.as_str(), "hello");
    for message in [before, message] {
        assert_eq!(world.store.messages().text(ALICE, message).await.unwrap().as_deref(), Some("hello"));
    }
    world.restart().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn rows_that_are_too_many_to_move_stay_in_the_default_partition_until_they_are_purged() {
    let Some(mut world) = World::on_server().await else { return };
    let far = MessageId::first_at(world.now.plus(200 * DAY)).as_i64();
    world.raw().change(&format!(
        "INSERT INTO message_text (id, text) SELECT {far} + number, 'x' FROM generate_series(1, {MANY}) AS number"
    ));
    world.pass(DAY).await;
    assert_eq!(world.rows("message_text_default"), MANY);
    world.assert_partitions_cover(world.now);
    let last = far + MANY - 10;
    world.raw().change(&format!("DELETE FROM message_text WHERE id > {last}"));
    world.pass(DAY).await;
    assert_eq!(world.rows("message_text_default"), 0, "now they are few enough");
    assert_eq!(world.rows("message_text"), MANY - 10);
}

#[tokio::test]
async fn text_without_a_partition_is_purged_by_its_row() {
    let Some(mut world) = World::on_server().await else { return };
    let link = world.link_with_slots(100).await;
    let reader = world.raw().read_for_long();
    world.now = world.now.plus(100 * DAY);
    world.deliver(&link).await;
    world.pass(31 * DAY).await;
    assert_eq!(world.rows("message_text_default"), 1);
    world.purge_everything().await;
    assert_eq!(world.rows("message_text_default"), 0);
    drop(reader);
}

#[tokio::test]
async fn long_read_delays_new_partitions_but_no_message() {
    let Some(mut world) = World::on_server().await else { return };
    let reader = world.raw().read_for_long();
    let days = world.text_days();
    world.pass(10 * DAY).await;
    assert_eq!(world.text_days(), days, "the table is in use");
    let message = within(PATIENCE, world.send(world.sms())).await.expect("the message does not wait");
    assert_eq!(world.store.messages().text(ALICE, message).await.unwrap().as_deref(), Some("hello"));
    drop(reader);
    for _ in 0..50 {
        // The server notices the end of the reader's connection a moment later.
        world.pass(secs(61)).await;
        if world.text_days() != days {
            break;
        }
    }
    world.assert_partitions_cover(world.now);
    assert_eq!(world.rows("message_text_default"), 0);
    world.assert_audit_clean();
}

#[tokio::test]
async fn process_that_was_killed_between_two_tables_completes_the_partitions_at_its_start() {
    let Some(mut world) = World::on_server().await else { return };
    let message = world.send(world.sms()).await;
    let day = world.now.day().get();
    // The partitions of messages were committed, those of texts were not: its text is in the default partition.
    world.raw().change(&format!(
        "BEGIN; CREATE TEMP TABLE kept AS SELECT * FROM message_text;
         DROP TABLE message_text_day_{day}, message_text_day_{};
         INSERT INTO message_text SELECT * FROM kept; COMMIT",
        day + 1
    ));
    world.kill();
    world.assert_partitions_cover(world.now);
    assert_eq!(world.rows("message_text_default"), 0);
    assert_eq!(world.store.messages().text(ALICE, message).await.unwrap().as_deref(), Some("hello"));
    world.assert_audit_clean();
}
