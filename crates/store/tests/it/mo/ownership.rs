//! Which account an MO message is assigned to, and opt-out keywords.

use super::*;
use hermod_domain::block::{BlockDirection, BlockedNumbers};
use hermod_domain::catalogue::BlockEntry;
use hermod_domain::phone::Msisdn;
use hermod_domain::prefix::Prefix;
use hermod_store::{AcceptOutcome, Acceptance, CONVERSATION_KEPT, UNASSIGNED_KEPT};

fn sender(text: &str) -> Sender {
    Sender::parse(text).expect("a sender")
}

/// Returns a message from a number that no account owns, so that only the conversation assigns its replies.
fn from(world: &World, account: AccountId, number: &str) -> Acceptance {
    Acceptance { account, from: sender(number), reply_to: Some(sender(number)), ..world.sms() }
}

#[tokio::test]
async fn mo_owner_is_found_by_number_then_keyword_then_conversation_else_unassigned() {
    let world = World::with_numbers().await;
    world.pay_in(BOB, 1_000_000).await;
    world.receive_mo(text(HANDSET, NUMBER, "to the owner")).await;
    world.receive_mo(text(HANDSET, &format!("00{NUMBER}"), "however written")).await;
    world.receive_mo(text(HANDSET, SHARED, "vote me")).await;
    world.receive_mo(text(HANDSET, SHARED, "no keyword")).await;
    world.receive_mo(text(HANDSET, FOREIGN, "unassigned")).await;
    let unowned = world.store.inbound().unassigned(None, 10).await.unwrap();
    let texts: Vec<_> = unowned.iter().map(|it| (it.carrier, it.text.as_str())).collect();
    assert_eq!(texts, [(ACME, "no keyword"), (ACME, "unassigned")]);

    world.send(from(&world, ALICE, FOREIGN)).await;
    world.receive_mo(text(HANDSET, FOREIGN, "to Alice")).await;
    world.send(from(&world, BOB, &format!("+{FOREIGN}"))).await;
    world.receive_mo(text(HANDSET, FOREIGN, "to Bob")).await;
    world.send(from(&world, BOB, SHARED)).await;
    world.receive_mo(text(HANDSET, SHARED, "still no keyword")).await;
    // A conversation belongs to one handset.
    world.receive_mo(text("4915100000000", FOREIGN, "from elsewhere")).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["to the owner", "however written", "to Alice"]);
    assert_eq!(world.inbound_texts(BOB).await, ["vote me", "to Bob", "still no keyword"]);
    assert_eq!(world.store.inbound().unassigned(Some(unowned[1].message), 10).await.unwrap().len(), 1);
    world.assert_audit_clean();
}

#[tokio::test]
async fn mo_message_from_a_blocked_handset_is_answered_and_stored_nowhere_and_its_stop_takes_effect() {
    let world = World::with_numbers().await;
    let block = |prefix: &str, account| {
        let numbers = BlockedNumbers::Prefix(Prefix::parse(prefix).expect("a prefix"));
        let entry =
            BlockEntry { account, numbers, direction: BlockDirection::Received, reason: None, until: None };
        (prefix.to_owned(), entry)
    };
    let blocks = vec![block(HANDSET, None), block("49152", Some(BOB))];
    let catalogue = Catalogue::build(Documents { blocks, ..documents() }).expect("a catalogue");
    world.store.set_catalogue(Arc::new(catalogue));
    world.receive_mo(text(HANDSET, NUMBER, "blocked")).await;
    world.receive_mo(text(&format!("00{HANDSET}"), FOREIGN, "blocked without an owner")).await;
    world.receive_mo(piece(1, 1, 2, "blocked in ")).await;
    world.receive_mo(piece(1, 2, 2, "two parts")).await;
    assert_eq!(world.store.inbound().unassigned(None, 10).await.unwrap().len(), 0);
    world.receive_mo(text("4915211111111", SHARED, "vote, blocked for Bob")).await;
    world.receive_mo(text("4915211111111", NUMBER, "and not for Alice")).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["and not for Alice"]);
    assert_eq!(world.inbound_texts(BOB).await, Vec::<String>::new());
    world.receive_mo(text(HANDSET, NUMBER, "STOP")).await;
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    let outcome = world.store.accept(Acceptance { to: handset, ..world.sms() }).await.unwrap();
    assert_eq!(outcome, AcceptOutcome::OptedOut);
    assert_eq!(world.inbound_texts(ALICE).await.len(), 1);
    world.assert_audit_clean();
}

#[tokio::test]
async fn callback_number_counts_as_the_sender_of_the_last_message() {
    let mut world = World::with_numbers().await;
    world.send(Acceptance { reply_to: Some(sender("+4915700000001")), ..world.sms() }).await;
    world.restart().await;
    world.store.set_catalogue(catalogue(Vec::new()));
    world.receive_mo(text(HANDSET, "4915700000001", "called back")).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["called back"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_whose_reply_has_an_owner_writes_no_conversation_and_old_conversations_are_deleted() {
    let mut world = World::with_numbers().await;
    let rows = |world: &World| -> i64 { world.raw().number("SELECT count(*) FROM conversation") };
    world.send(world.sms()).await;
    assert_eq!(rows(&world), 0);
    world.send(from(&world, ALICE, FOREIGN)).await;
    world.now = world.now.plus(CONVERSATION_KEPT);
    world.send(from(&world, ALICE, SHARED)).await;
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 2);
    world.store.delete_expired(world.now.plus(secs(1))).await.unwrap();
    assert_eq!(rows(&world), 1);
}

#[tokio::test]
async fn stop_keyword_opts_the_handset_out_and_start_opts_it_in() {
    let world = World::with_numbers().await;
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    let send = |account| {
        let acceptance = Acceptance { account, to: handset, ..world.sms() };
        async { world.store.accept(acceptance).await.unwrap() }
    };
    world.pay_in(BOB, 1_000_000).await;
    for (stop, start) in [("Stop!", "start"), ("opt out", "UNSTOP"), ("basta", "Start.")] {
        world.receive_mo(text(HANDSET, NUMBER, stop)).await;
        assert_eq!(send(ALICE).await, AcceptOutcome::OptedOut, "{stop}");
        assert!(
            matches!(send(BOB).await, AcceptOutcome::Accepted { .. }),
            "the opt-out holds for one account"
        );
        world.receive_mo(text(HANDSET, NUMBER, start)).await;
        assert!(matches!(send(ALICE).await, AcceptOutcome::Accepted { .. }), "{start}");
    }
    world.receive_mo(text(HANDSET, NUMBER, "please stop by")).await;
    assert!(matches!(send(ALICE).await, AcceptOutcome::Accepted { .. }));
    // STOP in parts, by conversation, and after a keyword.
    world.receive_mo(piece(1, 2, 2, "OP")).await;
    world.receive_mo(piece(1, 1, 2, "ST")).await;
    let entry = world.store.opt_outs().find(ALICE, handset).await.unwrap().unwrap();
    assert_eq!((entry.how.as_str(), entry.now), ("an opt-out keyword from the handset", world.now));
    world.send(Acceptance { to: handset, ..from(&world, BOB, FOREIGN) }).await;
    world.receive_mo(text(HANDSET, FOREIGN, "quit")).await;
    assert_eq!(send(BOB).await, AcceptOutcome::OptedOut);
    assert_eq!(world.inbound_texts(ALICE).await.len(), 8, "the customer can read them all");
    assert_eq!(world.inbound_texts(BOB).await, ["quit"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn stop_on_a_shared_number_applies_to_its_keyword_or_to_the_account_that_wrote_last() {
    let world = World::with_numbers().await;
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    world.pay_in(BOB, 1_000_000).await;
    let opted_out = async || {
        let mut out = Vec::new();
        for (account, name) in [(ALICE, "Alice"), (BOB, "Bob")] {
            out.extend(world.store.opt_outs().find(account, handset).await.unwrap().map(|_| name));
        }
        out
    };
    world.receive_mo(text(HANDSET, SHARED_BY_ALICE, "vote: STOP")).await;
    assert_eq!(opted_out().await, ["Bob"]);
    world.receive_mo(text(HANDSET, SHARED_BY_ALICE, "Vote start")).await;
    assert!(opted_out().await.is_empty());
    // No account wrote from the number, so STOP applies to its default account.
    world.receive_mo(text(HANDSET, SHARED_BY_ALICE, "stop")).await;
    assert_eq!(opted_out().await, ["Alice"]);
    world.receive_mo(text(HANDSET, SHARED_BY_ALICE, "start")).await;
    world.send(Acceptance { to: handset, ..from(&world, BOB, SHARED_BY_ALICE) }).await;
    world.receive_mo(text(HANDSET, SHARED_BY_ALICE, "Stop!")).await;
    assert_eq!(opted_out().await, ["Bob"]);
    world.receive_mo(text(HANDSET, SHARED_BY_ALICE, "Start!")).await;
    assert!(opted_out().await.is_empty());
    world.receive_mo(text(HANDSET, SHARED_BY_ALICE, "anything else")).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["stop", "start", "anything else"]);
    assert_eq!(world.inbound_texts(BOB).await, ["vote: STOP", "Vote start", "Stop!", "Start!"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn stop_that_looks_like_a_duplicate_opts_out_and_a_duplicate_start_does_not_opt_in() {
    let world = World::with_numbers().await;
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    for (words, is_out) in [("STOP", true), ("START", false), ("STOP", true), ("START", true)] {
        world.receive_mo(text(HANDSET, NUMBER, words)).await;
        let entry = world.store.opt_outs().find(ALICE, handset).await.unwrap();
        assert_eq!(entry.is_some(), is_out, "{words}");
    }
    assert_eq!(world.inbound_texts(ALICE).await, ["STOP", "START"]);
    world.receive_mo(text(HANDSET, FOREIGN, "STOP")).await;
    world.receive_mo(text(HANDSET, FOREIGN, "STOP")).await;
    assert_eq!(world.store.inbound().unassigned(None, 10).await.unwrap().len(), 1);
    world.assert_audit_clean();
}

#[tokio::test]
async fn start_assigned_later_does_not_lift_a_newer_opt_out() {
    let mut world = World::with_numbers().await;
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    world.receive_mo(text(HANDSET, FOREIGN, "STOP")).await;
    world.advance(secs(60)).await;
    world.receive_mo(text(HANDSET, FOREIGN, "START")).await;
    world.advance(secs(60)).await;
    let unowned = world.store.inbound().unassigned(None, 10).await.unwrap();
    for (record, is_out) in unowned.iter().zip([true, false]) {
        world.store.inbound().assign(record.message, ALICE, world.now).await.unwrap().unwrap();
        assert_eq!(
            world.store.opt_outs().find(ALICE, handset).await.unwrap().is_some(),
            is_out,
            "in their order"
        );
    }
    world.receive_mo(text(HANDSET, FOREIGN, "UNSTOP")).await;
    world.advance(secs(60)).await;
    world.receive_mo(text(HANDSET, NUMBER, "STOP")).await;
    let unowned = world.store.inbound().unassigned(None, 10).await.unwrap().remove(0);
    world.store.inbound().assign(unowned.message, ALICE, world.now).await.unwrap().unwrap();
    assert!(world.store.opt_outs().find(ALICE, handset).await.unwrap().is_some());
    world.assert_audit_clean();
}

#[tokio::test]
async fn unassigned_message_can_be_assigned_once_and_is_kept_thirty_days() {
    let mut world = World::with_numbers().await;
    world.receive_mo(text(HANDSET, FOREIGN, "hello")).await;
    world.receive_mo(text(HANDSET, FOREIGN, "STOP")).await;
    world.receive_mo(text("Someone", FOREIGN, "kept")).await;
    let unowned = world.store.inbound().unassigned(None, 10).await.unwrap();
    let handset = Msisdn::parse_digits(HANDSET).unwrap();
    assert!(world.store.opt_outs().find(BOB, handset).await.unwrap().is_none());
    world.now = world.now.plus(secs(60));
    for record in &unowned[..2] {
        let given = world.store.inbound().assign(record.message, BOB, world.now).await.unwrap().unwrap();
        assert_eq!((given.message, given.received_at), (record.message, record.received_at));
        assert_eq!(world.store.inbound().assign(record.message, BOB, world.now).await.unwrap(), None, "once");
    }
    assert_eq!(world.inbound_texts(BOB).await, ["hello", "STOP"]);
    assert!(
        world.store.opt_outs().find(BOB, handset).await.unwrap().is_some(),
        "the opt-out keyword is applied on assignment"
    );
    world.restart().await;
    assert_eq!(world.store.inbound().unassigned(None, 10).await.unwrap(), unowned[2..]);
    let printed = format!("{unowned:?}");
    assert!(!printed.contains("STOP") && !printed.contains(HANDSET), "{printed}");
    world.store.delete_expired(world.now.plus(UNASSIGNED_KEPT - secs(61))).await.unwrap();
    assert_eq!(world.store.inbound().unassigned(None, 10).await.unwrap().len(), 1);
    world.store.delete_expired(world.now.plus(UNASSIGNED_KEPT)).await.unwrap();
    assert!(world.store.inbound().unassigned(None, 10).await.unwrap().is_empty());
    world.assert_audit_clean();
}

#[tokio::test]
async fn ids_of_unassigned_messages_are_unique_after_a_restart_with_the_clock_set_back() {
    let mut world = World::with_numbers().await;
    world.receive_mo(text(HANDSET, FOREIGN, "hello")).await;
    let unowned = world.store.inbound().unassigned(None, 10).await.unwrap().remove(0);
    // The clock is set back before the restart: the id mint must know the stored ids.
    world.now = world.now.minus(secs(10));
    world.restart().await;
    assert!(world.send(world.sms()).await > unowned.message);
    world.assert_audit_clean();
}

/// Writes conversations of other handsets, with keys before or after [`HANDSET`]'s.
fn write_conversations(world: &World, first_handset: i64, count: i64, at: i64) {
    let write = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
         INSERT INTO conversation (handset, number, account, connection, message, at)
         SELECT ?1 + i, '80800', 1, 1, 1, ?3 FROM n";
    world.raw().change_with(write, &[first_handset, count, at]);
}

#[tokio::test]
async fn old_conversation_behind_many_new_ones_has_no_effect_and_is_deleted_by_later_calls() {
    let mut world = World::with_numbers().await;
    world.send(from(&world, ALICE, FOREIGN)).await;
    world.now = world.now.plus(CONVERSATION_KEPT + secs(1));
    world.receive_mo(text(HANDSET, FOREIGN, "long after")).await;
    assert!(world.inbound_texts(ALICE).await.is_empty(), "the conversation is too old to assign the message");
    write_conversations(&world, 1_000_000, 60_000, world.now.as_millis());
    let rows = |world: &World| -> i64 { world.raw().number("SELECT count(*) FROM conversation") };
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 60_001, "one call does not read all rows");
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 60_000);
    world.assert_audit_clean();
}

#[tokio::test]
async fn sixty_thousand_old_conversations_are_deleted_in_one_call() {
    let world = World::with_numbers().await;
    write_conversations(&world, 1_000_000, 60_000, 1);
    world.store.delete_expired(world.now).await.unwrap();
    let left: i64 = world.raw().number("SELECT count(*) FROM conversation");
    assert_eq!(left, 0);
}
