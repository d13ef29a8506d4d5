//! Screening rules over SMPP in every data coding.

use super::provision_alice_smpp;
use crate::scenario::{Esme, Scenario, message};
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CommandStatus, Hidden, SubmitSm, Tag, TlvBuffer, esm_class};

/// "Held for review" on a connection with extended codes.
const HELD: CommandStatus = CommandStatus(0x0407);

/// How a part of a message says its place.
#[derive(Clone, Copy, Debug)]
enum Way {
    Udh8,
    Udh16,
    UdhInPayload,
    Sar,
    SarInPayload,
}

/// Submits one part. Returns whether it was accepted or held.
async fn submit_part(esme: &mut Esme, way: Way, reference: u8, place: (u8, u8), text: &str) -> bool {
    match try_part(esme, way, reference, place, text).await {
        Ok(()) => true,
        Err(status) => {
            assert_eq!(status, HELD, "{way:?} {place:?} {text}");
            false
        }
    }
}

async fn try_part(
    esme: &mut Esme,
    way: Way,
    reference: u8,
    (part, total): (u8, u8),
    text: &str,
) -> Result<(), CommandStatus> {
    let header = match way {
        Way::Udh8 | Way::UdhInPayload => vec![5, 0, 3, reference, total, part],
        Way::Udh16 => vec![6, 8, 4, 1, reference, total, part],
        Way::Sar | Way::SarInPayload => vec![],
    };
    let octets = [&header, text.as_bytes()].concat();
    let mut tlvs = TlvBuffer::new();
    if header.is_empty() {
        tlvs.push_u16(Tag::SAR_MSG_REF_NUM, u16::from(reference));
        tlvs.push_u8(Tag::SAR_TOTAL_SEGMENTS, total);
        tlvs.push_u8(Tag::SAR_SEGMENT_SEQNUM, part);
    }
    let in_payload = matches!(way, Way::UdhInPayload | Way::SarInPayload);
    if in_payload {
        tlvs.push(Tag::MESSAGE_PAYLOAD, &octets);
    }
    let submit = SubmitSm {
        esm_class: if header.is_empty() { 0 } else { esm_class::UDHI },
        short_message: Hidden(if in_payload { &[] } else { &octets }),
        tlvs: tlvs.as_tlvs(),
        ..message("")
    };
    esme.try_submit(submit).await.map(|_| ())
}

#[tokio::test]
async fn link_split_over_parts_is_held_however_the_parts_are_submitted() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "extended_codes = true\n").await;
    s.provision(
        "[[connection]]\nname = \"alice-two\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\nsystem_id = \"alice2\"\n\
         password = \"secret12\"\nextended_codes = true\n\
         [[screen]]\nname = \"links\"\npattern = 'https?://bit\\.ly'\n",
    )
    .await;
    let mut one = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    let mut other = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice2").await;
    let mut reference = 0;
    for way in [Way::Udh8, Way::Udh16, Way::UdhInPayload, Way::Sar, Way::SarInPayload] {
        // The second part first, and over another connection. The folded references of 16 bits are odd.
        for backwards in [false, true] {
            reference += 2;
            let mut parts = [(1, "see https://b"), (2, "it.ly/prize")];
            if backwards {
                parts.reverse();
            }
            assert!(submit_part(&mut one, way, reference, (parts[0].0, 2), parts[0].1).await);
            assert!(!submit_part(&mut other, way, reference, (parts[1].0, 2), parts[1].1).await, "{way:?}");
            // A harmless part completes the message, but it may be cancelled and replaced.
            assert!(submit_part(&mut one, way, reference, (parts[1].0, 2), "nothing").await);
            assert!(!submit_part(&mut one, way, reference, (parts[1].0, 2), parts[1].1).await);
        }
    }
    let cases = s.gateway().store.reviews().list(None, None, None, 10).await.unwrap();
    let held: Vec<(&str, u64)> = cases.iter().map(|case| (case.text.as_str(), case.seen)).collect();
    assert_eq!(held, [("see https://bit.ly/prize", 20)], "the operator reviews the joined text");
    drop((one, other));
    s.end().await;
}

#[tokio::test]
async fn part_is_held_until_every_text_that_it_makes_is_approved_and_too_many_texts_are_rejected() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "extended_codes = true\n").await;
    s.provision("[[screen]]\nname = \"links\"\npattern = 'https?://bit\\.ly'\n").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    assert!(submit_part(&mut alice, Way::Udh8, 1, (1, 2), "our shop: https://b").await);
    assert!(submit_part(&mut alice, Way::Udh8, 1, (1, 2), "your bank: https://b").await);
    for text in ["our shop: https://bit.ly/x", "your bank: https://bit.ly/x"] {
        assert!(!submit_part(&mut alice, Way::Udh8, 1, (2, 2), "it.ly/x").await);
        let cases = s.gateway().store.reviews().list(None, None, None, 10).await.unwrap();
        let case = cases.iter().find(|case| case.text == text).expect("a case of its own");
        let (by, now) = ("operator".to_owned(), s.gateway().clock.now());
        s.gateway().store.reviews().decide(case.id, true, by, String::new(), now).await.unwrap();
    }
    assert!(submit_part(&mut alice, Way::Udh8, 1, (2, 2), "it.ly/x").await);

    for number in 1..=16 {
        assert!(submit_part(&mut alice, Way::Sar, 2, (2, 2), &format!("text {number}")).await);
    }
    let more = try_part(&mut alice, Way::Sar, 2, (2, 2), "text 17").await;
    assert_eq!(more, Err(CommandStatus::SUBMITFAIL));
    assert!(submit_part(&mut alice, Way::Sar, 3, (2, 2), "text 17").await, "with a reference of its own");
    drop(alice);
    s.end().await;
}

fn ucs2(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

#[tokio::test]
async fn screened_words_are_held_in_every_data_coding_and_spelling() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "extended_codes = true\n").await;
    s.provision("[[screen]]\nname = \"bank\"\npattern = \"your bank\"\n").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let half_pair = [ucs2("your bank "), vec![0xd8, 0x3d]].concat();
    let first_part = [&[5, 0, 3, 1, 2, 1][..], &half_pair].concat();
    let cut_word = [ucs2("yo"), vec![0xd8, 0x3d], ucs2("ur bank")].concat();
    let cases = [
        ("plain", 0, 0, b"call your bank".to_vec(), Err(HELD)),
        ("digits as letters", 0, 0, b"call y0ur bank".to_vec(), Err(HELD)),
        ("zero-width", 8, 0, ucs2("call y\u{200b}our b\u{200d}ank"), Err(HELD)),
        ("full-width", 8, 0, ucs2("ｙｏｕｒ ｂａｎｋ"), Err(HELD)),
        ("look-alikes", 8, 0, ucs2("уоur ВАNК"), Err(HELD)),
        ("binary text", 4, 0, b"call your bank".to_vec(), Err(HELD)),
        ("binary UCS-2", 4, 0, ucs2("call your bank"), Err(HELD)),
        ("half a pair at a part's end", 8, esm_class::UDHI, first_part, Err(HELD)),
        ("half a pair", 8, 0, cut_word, Err(CommandStatus::SUBMITFAIL)),
        ("harmless", 8, 0, ucs2("hello 😀"), Ok(())),
    ];
    for (name, data_coding, esm_class, octets, expect) in cases {
        let submit = SubmitSm { data_coding, esm_class, short_message: Hidden(&octets), ..message("") };
        assert_eq!(alice.try_submit(submit).await.map(|_| ()), expect, "{name}");
    }
    alice.take_receipt().await;
    assert_eq!(s.carrier().record().counts().submits, 1);
    s.alice.assert_balance("99.95").await;
    drop(alice);
    s.end().await;
}
