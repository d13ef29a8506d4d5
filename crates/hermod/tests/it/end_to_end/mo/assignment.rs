//! Assignment of MO messages to accounts, concatenation, encodings and opt-out keywords.

use super::*;
use crate::scenario::Esme;
use hermod_simulator::carrier::MoPart;
use hermod_smpp::{Address, BindType, Hidden, SubmitSm, Tag, TlvBuffer};
use std::time::Duration;

#[tokio::test]
async fn reply_is_polled_and_delivered_and_stop_opts_the_handset_out() {
    let s = stage(Script::new(), "", "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.alice.send("+4915112345678", "Are you coming?").await.accepted();
    s.carrier().send_mo_parts(mo_parts("yes"));
    let expect = ("+4915112345678".to_owned(), format!("+{NUMBER}"), "yes".to_owned());
    s.alice.wait_for_inbound(1).await;
    assert_eq!(s.alice.read_inbound(0).await, [expect]);
    assert!(s.alice.read_inbound(1).await.is_empty());
    let brought = alice.take_mo().await;
    assert_eq!((brought.esm_class, brought.data_coding, brought.octets.as_slice()), (0, 0, &b"yes"[..]));
    assert_eq!((brought.source, brought.destination), (format!("1/1 {HANDSET}"), format!("1/1 {NUMBER}")));

    s.carrier().send_mo_parts(mo_parts("Stop!"));
    assert_eq!(alice.take_mo().await.octets, b"Stop!");
    let refused = s.alice.send("+4915112345678", "One more thing").await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(refused.body["error"].as_str().unwrap().starts_with("RECIPIENT_OPTED_OUT"), "{}", refused.body);
    let submit = SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(HANDSET.as_bytes()),
        short_message: Hidden(b"One more thing"),
        ..SubmitSm::default()
    };
    assert_eq!(alice.try_submit(submit).await, Err(CommandStatus::SUBMITFAIL));
    s.bob.send("+4915112345678", "From Bob").await.accepted();

    s.carrier().send_mo_parts(mo_parts("start"));
    assert_eq!(alice.take_mo().await.octets, b"start");
    s.alice.send("+4915112345678", "Welcome back").await.accepted();
    assert_eq!(s.alice.wait_for_inbound(3).await, ["yes", "Stop!", "start"]);
    s.wait_for_answered_mo(3).await;
    s.wait_until_no_open_parts().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn parts_over_two_links_in_reverse_order_are_one_mo_message() {
    let s = stage(Script::new(), "links = 2", "").await;
    s.wait_for_links(2).await;
    let text = "Жизнь 😀 ".repeat(30);
    let mut parts =
        MoText::new(HANDSET, NUMBER, &text).reference(0x1234).wide().with_element(0x24, &[1]).parts();
    assert!(parts.len() > 2);
    parts.reverse();
    let over = parts.into_iter().zip([1, 2].into_iter().cycle()).map(|(part, link)| part.over(link));
    s.carrier().send_mo_parts(over.collect::<Vec<_>>());
    assert_eq!(s.alice.wait_for_inbound(1).await, [text]);
    s.end().await;
}

#[tokio::test]
async fn incomplete_mo_message_is_delivered_after_ten_minutes() {
    let mut s = stage(Script::new(), "", "").await;
    let parts = mo_parts(&"0123456789".repeat(40));
    assert_eq!(parts.len(), 3);
    s.carrier().send_mo_parts([parts[2].clone(), parts[0].clone()]);
    s.wait_for_answered_mo(2).await;
    assert!(s.alice.read_inbound(0).await.is_empty());
    s.restart().await;
    s.advance(Duration::from_secs(600)).await;
    let expect = format!("{}{}", &"0123456789".repeat(40)[..153], &"0123456789".repeat(40)[306..]);
    assert_eq!(s.alice.wait_for_inbound(1).await, [expect]);
    s.end().await;
}

#[tokio::test]
async fn mo_on_a_shared_number_goes_to_the_account_of_its_keyword() {
    let s = stage(Script::new(), "", "").await;
    s.provision(
        "[[number]]\nnumber = \"80800\"\naccount = \"alice\"\nkeyword = \"ALPHA\"\n\
         [[number]]\nnumber = \"80800\"\naccount = \"bob\"\nkeyword = \"BETA\"\n\
         [[number]]\nnumber = \"80800\"\naccount = \"carol\"\n",
    )
    .await;
    for text in ["alpha 1", "Beta, please", "beta 2", "no keyword"] {
        s.carrier().send_mo_parts(MoText::new(HANDSET, "80800", text).parts());
    }
    assert_eq!(s.alice.wait_for_inbound(1).await, ["alpha 1"]);
    let mut bobs = s.bob.wait_for_inbound(2).await;
    bobs.sort_unstable();
    assert_eq!(bobs, ["Beta, please", "beta 2"]);
    s.carol.wait_for_inbound(1).await;
    assert_eq!(s.carol.read_inbound(0).await[0].1, "80800");
    s.end().await;
}

#[tokio::test]
async fn stop_on_a_shared_number_applies_to_the_account_that_sent_last() {
    let s = stage(Script::new(), "", "").await;
    s.provision(
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
    alice.submit(submit).await;
    s.carrier().send_mo_parts(MoText::new(HANDSET, "80800", "STOP").parts());
    assert_eq!(alice.take_mo().await.octets, b"STOP");
    assert_eq!(alice.try_submit(submit).await, Err(CommandStatus::SUBMITFAIL));
    s.carrier().send_mo_parts(MoText::new(HANDSET, "80800", "hello").parts());
    assert_eq!(s.carol.wait_for_inbound(1).await, ["hello"]);
    s.wait_until_no_open_parts().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn reply_to_an_unowned_number_goes_to_the_account_that_sent_from_it_or_named_it_as_callback() {
    let s = stage(Script::new(), "", "").await;
    s.provision(
        "[[sender]]\nsender = \"+4915733333333\"\naccount = \"alice\"\nstate = \"approved\"\n\
         [[sender]]\nsender = \"+4915744444444\"\naccount = \"alice\"\nstate = \"approved\"\n",
    )
    .await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let submit = SubmitSm {
        source: Address::international(b"4915733333333"),
        destination: Address::international(HANDSET.as_bytes()),
        short_message: Hidden(b"from an unowned number"),
        ..SubmitSm::default()
    };
    alice.submit(submit).await;
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::CALLBACK_NUM, b"\x01\x01\x014915744444444");
    let source = Address::alphanumeric(b"Hermod");
    alice.submit(SubmitSm { source, tlvs: tlvs.as_tlvs(), ..submit }).await;
    for (number, text) in [("4915733333333", "to the sender"), ("4915744444444", "to the callback number")] {
        s.carrier().send_mo_parts(MoText::new(HANDSET, number, text).parts());
        assert_eq!(alice.take_mo().await.octets, text.as_bytes());
    }
    // No account wrote to that handset, or alice may not use the callback number: the messages are unassigned.
    s.carrier().send_mo_parts(MoText::new("4915100000000", "4915733333333", "to whom?").parts());
    s.wait_for_answered_mo(3).await;
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::CALLBACK_NUM, b"\x01\x01\x014915755555555");
    alice.submit(SubmitSm { source, tlvs: tlvs.as_tlvs(), ..submit }).await;
    s.carrier().send_mo_parts(MoText::new(HANDSET, "4915755555555", "not to Alice").parts());
    s.wait_for_answered_mo(4).await;
    assert_eq!(s.alice.wait_for_inbound(2).await, ["to the sender", "to the callback number"]);
    assert_eq!(s.unassigned_texts().await, ["to whom?", "not to Alice"]);
    s.wait_until_no_open_parts().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn reply_to_an_alphanumeric_sender_goes_to_the_account_that_last_sent_from_it() {
    let s = stage(Script::new(), "", "").await;
    s.provision(
        "[[sender]]\nsender = \"Both\"\naccount = \"alice\"\n[[sender]]\nsender = \"Both\"\naccount = \"bob\"\n",
    )
    .await;
    let body = format!("{{\"to\": \"+{HANDSET}\", \"text\": \"hello\", \"from\": \"Both\"}}");
    for (customer, text) in [(&s.alice, "to Alice"), (&s.bob, "to Bob")] {
        customer.post_body(&body).await.accepted();
        s.carrier().send_mo_parts(MoText::new(HANDSET, "Both", text).parts());
        assert_eq!(customer.wait_for_inbound(1).await, [text]);
    }
    s.carrier().send_mo_parts(MoText::new("4915100000000", "Both", "to whom?").parts());
    s.wait_for_answered_mo(3).await;
    assert_eq!(s.unassigned_texts().await, ["to whom?"], "no account wrote to that handset");
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn binary_mo_is_delivered_as_hexadecimal_and_repeats_are_dropped() {
    let s = stage(Script::new(), "", "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let binary = MoPart::raw(HANDSET, NUMBER, 0x04, &[0xca, 0xfe, 0x00]);
    s.carrier().send_mo_parts([binary.clone(), binary]);
    s.wait_for_answered_mo(2).await;
    assert_eq!(s.alice.wait_for_inbound(1).await, ["cafe00"]);
    let brought = alice.take_mo().await;
    assert_eq!((brought.esm_class, brought.data_coding, brought.octets), (0, 4, vec![0xca, 0xfe, 0]));
    alice.assert_nothing_received().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn mo_from_a_source_of_more_than_20_octets_is_delivered_with_the_source_cut() {
    let s = stage(Script::new(), "", "").await;
    let long = "12345678901234567890123";
    s.carrier().send_mo_parts([MoPart::raw(long, NUMBER, 0, b"from far away")]);
    s.wait_for_answered_mo(1).await;
    assert_eq!(s.alice.wait_for_inbound(1).await, ["from far away"]);
    assert_eq!(s.alice.read_inbound(0).await[0].0, "12345678901234567890");
    s.end().await;
}

#[tokio::test]
async fn mo_in_every_data_coding_is_decoded() {
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
        assert_eq!(s.alice.wait_for_inbound(number).await.last().unwrap(), text);
    }
    let payload = MoPart { in_payload: true, ..MoPart::raw(HANDSET, NUMBER, 0, &[b'x'; 500]) };
    s.carrier().send_mo_parts([payload]);
    assert_eq!(s.alice.wait_for_inbound(7).await.last().unwrap(), &"x".repeat(500));
    s.end().await;
}
