//! Screening rules over SMPP in every data coding.

use super::{message, provision_alice_smpp};
use crate::scenario::{Esme, Scenario};
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CommandStatus, Hidden, SubmitSm, esm_class};

/// "Held for review" on a connection with extended codes.
const HELD: CommandStatus = CommandStatus(0x0407);

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
