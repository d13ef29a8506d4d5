//! Whose a message is, and what it does.

use super::*;
use crate::scenario::Esme;
use hermod_simulator::carrier::MoPart;
use hermod_smpp::{Address, BindType, Hidden, SubmitSm, Tag, TlvBuffer};
use std::time::Duration;

#[tokio::test]
async fn a_reply_is_polled_and_brought_and_a_stop_word_ends_the_conversation() {
    let s = stage(Script::new(), "", "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.alice.sends("+4915112345678", "Are you coming?").await.accepted();
    s.carrier().send_mo_parts(says("yes"));
    let expect = ("+4915112345678".to_owned(), format!("+{NUMBER}"), "yes".to_owned());
    s.alice.has_inbound(1).await;
    assert_eq!(s.alice.reads_inbound(0).await, [expect]);
    assert!(s.alice.reads_inbound(1).await.is_empty());
    let brought = alice.gets_message().await;
    assert_eq!((brought.esm_class, brought.data_coding, brought.octets.as_slice()), (0, 0, &b"yes"[..]));
    assert_eq!((brought.source, brought.destination), (format!("1/1 {HANDSET}"), format!("1/1 {NUMBER}")));

    s.carrier().send_mo_parts(says("Stop!"));
    assert_eq!(alice.gets_message().await.octets, b"Stop!");
    let refused = s.alice.sends("+4915112345678", "One more thing").await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(refused.body["error"].as_str().unwrap().starts_with("RECIPIENT_OPTED_OUT"), "{}", refused.body);
    let submit = SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(HANDSET.as_bytes()),
        short_message: Hidden(b"One more thing"),
        ..SubmitSm::default()
    };
    assert_eq!(alice.tries_to_submit(submit).await, Err(CommandStatus::SUBMITFAIL));
    s.bob.sends("+4915112345678", "From somebody else").await.accepted();

    s.carrier().send_mo_parts(says("start"));
    assert_eq!(alice.gets_message().await.octets, b"start");
    s.alice.sends("+4915112345678", "Welcome back").await.accepted();
    assert_eq!(s.alice.has_inbound(3).await, ["yes", "Stop!", "start"]);
    s.carrier_messages_are_taken(3).await;
    s.everything_settles().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn a_long_message_over_two_links_in_reverse_order_is_one_message() {
    let s = stage(Script::new(), "links = 2", "").await;
    s.links_are_up(2).await;
    let text = "Жизнь 😀 ".repeat(30);
    let mut parts =
        MoText::new(HANDSET, NUMBER, &text).reference(0x1234).wide().with_element(0x24, &[1]).parts();
    assert!(parts.len() > 2);
    parts.reverse();
    let over = parts.into_iter().zip([1, 2].into_iter().cycle()).map(|(part, link)| part.over(link));
    s.carrier().send_mo_parts(over.collect::<Vec<_>>());
    assert_eq!(s.alice.has_inbound(1).await, [text]);
    s.end().await;
}

#[tokio::test]
async fn what_never_becomes_whole_is_delivered_after_ten_minutes() {
    let mut s = stage(Script::new(), "", "").await;
    let parts = says(&"0123456789".repeat(40));
    assert_eq!(parts.len(), 3);
    s.carrier().send_mo_parts([parts[2].clone(), parts[0].clone()]);
    s.carrier_messages_are_taken(2).await;
    assert!(s.alice.reads_inbound(0).await.is_empty());
    s.restart().await;
    s.advance(Duration::from_secs(600)).await;
    let expect = format!("{}{}", &"0123456789".repeat(40)[..153], &"0123456789".repeat(40)[306..]);
    assert_eq!(s.alice.has_inbound(1).await, [expect]);
    s.end().await;
}

#[tokio::test]
async fn accounts_that_share_a_number_get_what_begins_with_their_word() {
    let s = stage(Script::new(), "", "").await;
    s.operator_provisions(
        "[[number]]\nnumber = \"80800\"\naccount = \"alice\"\nkeyword = \"ALPHA\"\n\
         [[number]]\nnumber = \"80800\"\naccount = \"bob\"\nkeyword = \"BETA\"\n\
         [[number]]\nnumber = \"80800\"\naccount = \"carol\"\n",
    )
    .await;
    for text in ["alpha 1", "Beta, please", "beta 2", "whatever"] {
        s.carrier().send_mo_parts(MoText::new(HANDSET, "80800", text).parts());
    }
    assert_eq!(s.alice.has_inbound(1).await, ["alpha 1"]);
    let mut bobs = s.bob.has_inbound(2).await;
    bobs.sort_unstable();
    assert_eq!(bobs, ["Beta, please", "beta 2"]);
    s.carol.has_inbound(1).await;
    assert_eq!(s.carol.reads_inbound(0).await[0].1, "80800");
    s.end().await;
}

#[tokio::test]
async fn on_a_shared_number_stop_is_for_the_account_whose_message_it_answers() {
    let s = stage(Script::new(), "", "").await;
    s.operator_provisions(
        "[[number]]\nnumber = \"80800\"\naccount = \"bob\"\nkeyword = \"BETA\"\n\
         [[number]]\nnumber = \"80800\"\naccount = \"carol\"\n\
         [[sender]]\nsender = \"80800\"\naccount = \"alice\"\nstate = \"approved\"\n",
    )
    .await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let submit = SubmitSm {
        source: Address::new(3, 0, b"80800"),
        destination: Address::international(HANDSET.as_bytes()),
        short_message: Hidden(b"from a number others share"),
        ..SubmitSm::default()
    };
    alice.submits(submit).await;
    s.carrier().send_mo_parts(MoText::new(HANDSET, "80800", "STOP").parts());
    assert_eq!(alice.gets_message().await.octets, b"STOP");
    assert_eq!(alice.tries_to_submit(submit).await, Err(CommandStatus::SUBMITFAIL));
    s.carrier().send_mo_parts(MoText::new(HANDSET, "80800", "hello").parts());
    assert_eq!(s.carol.has_inbound(1).await, ["hello"]);
    s.everything_settles().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn an_answer_to_a_borrowed_number_goes_to_whoever_wrote_last_or_called_it_back() {
    let s = stage(Script::new(), "", "").await;
    s.operator_provisions(
        "[[sender]]\nsender = \"+4915733333333\"\naccount = \"alice\"\nstate = \"approved\"\n\
         [[sender]]\nsender = \"+4915744444444\"\naccount = \"alice\"\nstate = \"approved\"\n",
    )
    .await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let submit = SubmitSm {
        source: Address::international(b"4915733333333"),
        destination: Address::international(HANDSET.as_bytes()),
        short_message: Hidden(b"from a number nobody owns"),
        ..SubmitSm::default()
    };
    alice.submits(submit).await;
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::CALLBACK_NUM, b"\x01\x01\x014915744444444");
    let source = Address::alphanumeric(b"Hermod");
    alice.submits(SubmitSm { source, tlvs: tlvs.as_tlvs(), ..submit }).await;
    for (number, text) in [("4915733333333", "to the sender"), ("4915744444444", "to the callback number")] {
        s.carrier().send_mo_parts(MoText::new(HANDSET, number, text).parts());
        assert_eq!(alice.gets_message().await.octets, text.as_bytes());
    }
    // Nobody wrote to that handset: the operator has it. And nobody takes answers to numbers that are not theirs.
    s.carrier().send_mo_parts(MoText::new("4915100000000", "4915733333333", "to whom?").parts());
    s.carrier_messages_are_taken(3).await;
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::CALLBACK_NUM, b"\x01\x01\x014915755555555");
    alice.submits(SubmitSm { source, tlvs: tlvs.as_tlvs(), ..submit }).await;
    s.carrier().send_mo_parts(MoText::new(HANDSET, "4915755555555", "not to Alice").parts());
    s.carrier_messages_are_taken(4).await;
    assert_eq!(s.alice.has_inbound(2).await, ["to the sender", "to the callback number"]);
    assert_eq!(s.unassigned_texts().await, ["to whom?", "not to Alice"]);
    s.everything_settles().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn binary_messages_are_read_in_hexadecimal_digits_and_repeats_are_swallowed() {
    let s = stage(Script::new(), "", "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let binary = MoPart::raw(HANDSET, NUMBER, 0x04, &[0xca, 0xfe, 0x00]);
    s.carrier().send_mo_parts([binary.clone(), binary]);
    s.carrier_messages_are_taken(2).await;
    assert_eq!(s.alice.has_inbound(1).await, ["cafe00"]);
    let brought = alice.gets_message().await;
    assert_eq!((brought.esm_class, brought.data_coding, brought.octets), (0, 4, vec![0xca, 0xfe, 0]));
    alice.gets_nothing().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn mo_from_a_source_of_more_than_20_octets_is_delivered_with_the_source_cut() {
    let s = stage(Script::new(), "", "").await;
    let long = "12345678901234567890123";
    s.carrier().send_mo_parts([MoPart::raw(long, NUMBER, 0, b"from far away")]);
    s.carrier_messages_are_taken(1).await;
    assert_eq!(s.alice.has_inbound(1).await, ["from far away"]);
    assert_eq!(s.alice.reads_inbound(0).await[0].0, "12345678901234567890");
    s.end().await;
}

#[tokio::test]
async fn a_message_in_every_alphabet_is_read() {
    let s = stage(Script::new(), "", "").await;
    let cases: [(u8, &[u8], &str); 6] = [
        (0x00, b"\x00 \x1b\x65", "@ €"),
        (0x01, b"@[x]", "@[x]"),
        (0x03, b"caf\xe9", "café"),
        (0x06, b"\xb6", "Ж"),
        (0x08, b"\x04\x16\xd8\x3d\xde\x00", "Ж😀"),
        (0xF1, b"class 1", "class 1"),
    ];
    for (number, (data_coding, octets, text)) in (1..).zip(cases) {
        s.carrier().send_mo_parts([MoPart::raw(HANDSET, NUMBER, data_coding, octets)]);
        assert_eq!(s.alice.has_inbound(number).await.last().unwrap(), text);
    }
    let payload = MoPart { in_payload: true, ..MoPart::raw(HANDSET, NUMBER, 0, &[b'x'; 500]) };
    s.carrier().send_mo_parts([payload]);
    assert_eq!(s.alice.has_inbound(7).await.last().unwrap(), &"x".repeat(500));
    s.end().await;
}
