//! Whose a message is, and what it does before anybody reads it.

use super::*;
use hermod_domain::phone::Msisdn;
use hermod_store::{AcceptOutcome, Acceptance, CONVERSATION_KEPT, UNASSIGNED_KEPT};

fn sender(text: &str) -> Sender {
    Sender::parse(text).expect("a sender")
}

/// A message whose answers nothing but the message itself says the owner of.
fn from(world: &World, account: AccountId, number: &str) -> Acceptance {
    Acceptance { account, from: sender(number), reply_to: Some(sender(number)), ..world.sms() }
}

#[tokio::test]
async fn a_number_decides_then_its_keyword_then_the_last_conversation_then_nobody() {
    let world = World::with_numbers().await;
    world.pays_in(BOB, 1_000_000).await;
    world.brings(text(HANDSET, NUMBER, "to the owner")).await;
    world.brings(text(HANDSET, &format!("00{NUMBER}"), "however written")).await;
    world.brings(text(HANDSET, SHARED, "vote me")).await;
    world.brings(text(HANDSET, SHARED, "no keyword")).await;
    world.brings(text(HANDSET, FOREIGN, "to nobody yet")).await;
    let unowned = world.store.unassigned_inbound(None, 10).await.unwrap();
    let texts: Vec<_> = unowned.iter().map(|it| (it.carrier, it.text.as_str())).collect();
    assert_eq!(texts, [(ACME, "no keyword"), (ACME, "to nobody yet")]);

    world.sends(from(&world, ALICE, FOREIGN)).await;
    world.brings(text(HANDSET, FOREIGN, "to Alice")).await;
    world.sends(from(&world, BOB, &format!("+{FOREIGN}"))).await;
    world.brings(text(HANDSET, FOREIGN, "to Bob")).await;
    world.sends(from(&world, BOB, SHARED)).await;
    world.brings(text(HANDSET, SHARED, "still no keyword")).await;
    // A conversation is one handset's.
    world.brings(text("4915100000000", FOREIGN, "from elsewhere")).await;
    assert_eq!(world.reads(ALICE).await, ["to the owner", "however written", "to Alice"]);
    assert_eq!(world.reads(BOB).await, ["vote me", "to Bob", "still no keyword"]);
    assert_eq!(world.store.unassigned_inbound(Some(unowned[1].message), 10).await.unwrap().len(), 1);
    world.books_are_sound();
}

#[tokio::test]
async fn a_callback_number_counts_as_the_sender_of_the_last_message() {
    let mut world = World::with_numbers().await;
    world.sends(Acceptance { reply_to: Some(sender("+4915700000001")), ..world.sms() }).await;
    world.restarts().await;
    world.store.set_catalogue(catalogue(Vec::new()));
    world.brings(text(HANDSET, "4915700000001", "called back")).await;
    assert_eq!(world.reads(ALICE).await, ["called back"]);
    world.books_are_sound();
}

#[tokio::test]
async fn ordinary_messages_write_no_conversation_and_old_ones_are_forgotten() {
    let mut world = World::with_numbers().await;
    let rows = |world: &World| -> i64 {
        world.raw().query_row("SELECT count(*) FROM conversation", [], |row| row.get(0)).unwrap()
    };
    world.sends(world.sms()).await;
    assert_eq!(rows(&world), 0);
    world.sends(from(&world, ALICE, FOREIGN)).await;
    world.now = world.now.plus(CONVERSATION_KEPT);
    world.sends(from(&world, ALICE, SHARED)).await;
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 2);
    world.store.delete_expired(world.now.plus(secs(1))).await.unwrap();
    assert_eq!(rows(&world), 1);
}

#[tokio::test]
async fn a_stop_word_acts_before_anything_else_and_start_lifts_it() {
    let world = World::with_numbers().await;
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    let sends = |account| {
        let acceptance = Acceptance { account, to: handset, ..world.sms() };
        async { world.store.accept(acceptance).await.unwrap() }
    };
    world.pays_in(BOB, 1_000_000).await;
    for (stop, start) in [("Stop!", "start"), ("opt out", "UNSTOP"), ("basta", "Start.")] {
        world.brings(text(HANDSET, NUMBER, stop)).await;
        assert_eq!(sends(ALICE).await, AcceptOutcome::OptedOut, "{stop}");
        assert!(matches!(sends(BOB).await, AcceptOutcome::Accepted { .. }), "only the account that was told");
        world.brings(text(HANDSET, NUMBER, start)).await;
        assert!(matches!(sends(ALICE).await, AcceptOutcome::Accepted { .. }), "{start}");
    }
    world.brings(text(HANDSET, NUMBER, "please stop by")).await;
    assert!(matches!(sends(ALICE).await, AcceptOutcome::Accepted { .. }));
    // In parts, by conversation, and by keyword only where the word is not the message.
    world.brings(piece(1, 2, 2, "OP")).await;
    world.brings(piece(1, 1, 2, "ST")).await;
    let entry = world.store.opted_out(ALICE, handset).await.unwrap().unwrap();
    assert_eq!((entry.how.as_str(), entry.now), ("a stop word from the handset", world.now));
    world.sends(Acceptance { to: handset, ..from(&world, BOB, FOREIGN) }).await;
    world.brings(text(HANDSET, FOREIGN, "quit")).await;
    assert_eq!(sends(BOB).await, AcceptOutcome::OptedOut);
    assert_eq!(world.reads(ALICE).await.len(), 8, "the customer reads them all the same");
    assert_eq!(world.reads(BOB).await, ["quit"]);
    world.books_are_sound();
}

#[tokio::test]
async fn on_a_shared_number_a_stop_word_is_for_the_keyword_before_it_or_for_who_wrote_last() {
    let world = World::with_numbers().await;
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    world.pays_in(BOB, 1_000_000).await;
    let opted_out = async || {
        let mut out = Vec::new();
        for (account, name) in [(ALICE, "Alice"), (BOB, "Bob")] {
            out.extend(world.store.opted_out(account, handset).await.unwrap().map(|_| name));
        }
        out
    };
    world.brings(text(HANDSET, SHARED_BY_ALICE, "vote: STOP")).await;
    assert_eq!(opted_out().await, ["Bob"]);
    world.brings(text(HANDSET, SHARED_BY_ALICE, "Vote start")).await;
    assert!(opted_out().await.is_empty());
    // Nobody wrote from it, so it is for whose the number is otherwise.
    world.brings(text(HANDSET, SHARED_BY_ALICE, "stop")).await;
    assert_eq!(opted_out().await, ["Alice"]);
    world.brings(text(HANDSET, SHARED_BY_ALICE, "start")).await;
    world.sends(Acceptance { to: handset, ..from(&world, BOB, SHARED_BY_ALICE) }).await;
    world.brings(text(HANDSET, SHARED_BY_ALICE, "Stop!")).await;
    assert_eq!(opted_out().await, ["Bob"]);
    world.brings(text(HANDSET, SHARED_BY_ALICE, "Start!")).await;
    assert!(opted_out().await.is_empty());
    world.brings(text(HANDSET, SHARED_BY_ALICE, "anything else")).await;
    assert_eq!(world.reads(ALICE).await, ["stop", "start", "anything else"]);
    assert_eq!(world.reads(BOB).await, ["vote: STOP", "Vote start", "Stop!", "Start!"]);
    world.books_are_sound();
}

#[tokio::test]
async fn a_stop_word_that_looks_like_a_repeat_still_stops_and_start_does_not_start() {
    let world = World::with_numbers().await;
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    for (words, is_out) in [("STOP", true), ("START", false), ("STOP", true), ("START", true)] {
        world.brings(text(HANDSET, NUMBER, words)).await;
        let entry = world.store.opted_out(ALICE, handset).await.unwrap();
        assert_eq!(entry.is_some(), is_out, "{words}");
    }
    assert_eq!(world.reads(ALICE).await, ["STOP", "START"]);
    world.brings(text(HANDSET, FOREIGN, "STOP")).await;
    world.brings(text(HANDSET, FOREIGN, "STOP")).await;
    assert_eq!(world.store.unassigned_inbound(None, 10).await.unwrap().len(), 1);
    world.books_are_sound();
}

#[tokio::test]
async fn a_start_that_waited_for_its_owner_lifts_no_later_opt_out() {
    let mut world = World::with_numbers().await;
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    world.brings(text(HANDSET, FOREIGN, "STOP")).await;
    world.passes(secs(60)).await;
    world.brings(text(HANDSET, FOREIGN, "START")).await;
    world.passes(secs(60)).await;
    let unowned = world.store.unassigned_inbound(None, 10).await.unwrap();
    for (record, is_out) in unowned.iter().zip([true, false]) {
        world.store.assign_inbound(record.message, ALICE, world.now).await.unwrap().unwrap();
        assert_eq!(world.store.opted_out(ALICE, handset).await.unwrap().is_some(), is_out, "in their order");
    }
    world.brings(text(HANDSET, FOREIGN, "UNSTOP")).await;
    world.passes(secs(60)).await;
    world.brings(text(HANDSET, NUMBER, "STOP")).await;
    let unowned = world.store.unassigned_inbound(None, 10).await.unwrap().remove(0);
    world.store.assign_inbound(unowned.message, ALICE, world.now).await.unwrap().unwrap();
    assert!(world.store.opted_out(ALICE, handset).await.unwrap().is_some());
    world.books_are_sound();
}

#[tokio::test]
async fn what_is_nobodys_can_be_given_to_an_account_and_is_kept_thirty_days() {
    let mut world = World::with_numbers().await;
    world.brings(text(HANDSET, FOREIGN, "hello")).await;
    world.brings(text(HANDSET, FOREIGN, "STOP")).await;
    world.brings(text("Someone", FOREIGN, "kept")).await;
    let unowned = world.store.unassigned_inbound(None, 10).await.unwrap();
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    assert!(world.store.opted_out(BOB, handset).await.unwrap().is_none());
    world.now = world.now.plus(secs(60));
    for record in &unowned[..2] {
        let given = world.store.assign_inbound(record.message, BOB, world.now).await.unwrap().unwrap();
        assert_eq!((given.message, given.received_at), (record.message, record.received_at));
        assert_eq!(world.store.assign_inbound(record.message, BOB, world.now).await.unwrap(), None, "once");
    }
    assert_eq!(world.reads(BOB).await, ["hello", "STOP"]);
    assert!(world.store.opted_out(BOB, handset).await.unwrap().is_some(), "what it asks for is heeded now");
    world.restarts().await;
    assert_eq!(world.store.unassigned_inbound(None, 10).await.unwrap(), unowned[2..]);
    let printed = format!("{unowned:?}");
    assert!(!printed.contains("STOP") && !printed.contains(HANDSET), "{printed}");
    world.store.delete_expired(world.now.plus(UNASSIGNED_KEPT - secs(61))).await.unwrap();
    assert_eq!(world.store.unassigned_inbound(None, 10).await.unwrap().len(), 1);
    world.store.delete_expired(world.now.plus(UNASSIGNED_KEPT)).await.unwrap();
    assert!(world.store.unassigned_inbound(None, 10).await.unwrap().is_empty());
    world.books_are_sound();
}

#[tokio::test]
async fn ids_of_unowned_messages_are_never_given_twice() {
    let mut world = World::with_numbers().await;
    world.brings(text(HANDSET, FOREIGN, "hello")).await;
    let unowned = world.store.unassigned_inbound(None, 10).await.unwrap().remove(0);
    // Back in time and started anew: the mint must know it.
    world.now = world.now.minus(secs(10));
    world.restarts().await;
    assert!(world.sends(world.sms()).await > unowned.message);
    world.books_are_sound();
}

/// Writes young conversations of other handsets, whose keys are in front of [`HANDSET`]'s or behind them.
fn write_conversations(world: &World, first_handset: i64, count: i64, at: i64) {
    let write = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
         INSERT INTO conversation (handset, number, account, connection, message, at)
         SELECT ?1 + i, '80800', 1, 1, 1, ?3 FROM n";
    world.raw().execute(write, [first_handset, count, at]).expect("the write succeeds");
}

#[tokio::test]
async fn old_conversation_behind_many_young_ones_has_no_effect_and_is_reached_by_later_calls() {
    let mut world = World::with_numbers().await;
    world.sends(from(&world, ALICE, FOREIGN)).await;
    world.now = world.now.plus(CONVERSATION_KEPT + secs(1));
    world.brings(text(HANDSET, FOREIGN, "long after")).await;
    assert!(world.reads(ALICE).await.is_empty(), "too old to say whose it is");
    write_conversations(&world, 1_000_000, 60_000, world.now.as_millis());
    let rows = |world: &World| -> i64 {
        world.raw().query_row("SELECT count(*) FROM conversation", [], |row| row.get(0)).unwrap()
    };
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 60_001, "a call does not look at all of them");
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 60_000);
    world.books_are_sound();
}

#[tokio::test]
async fn old_conversations_are_deleted_in_one_call_however_many() {
    let world = World::with_numbers().await;
    write_conversations(&world, 1_000_000, 60_000, 1);
    world.store.delete_expired(world.now).await.unwrap();
    let left: i64 = world.raw().query_row("SELECT count(*) FROM conversation", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}
