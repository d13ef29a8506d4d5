//! Unit tests of `inbound/mod.rs`.

use super::*;

fn part() -> InboundPart {
    InboundPart {
        source: SmppAddress::new(1, 1, b"4915112345678"),
        destination: SmppAddress::new(1, 1, b"4915799999999"),
        concat: None,
        reference: None,
        segment: MoSegment {
            data_coding: 0,
            alphabet: Alphabet::Gsm,
            header: Box::default(),
            octets: b"yes".to_vec().into(),
        },
    }
}

#[test]
fn hash_is_fnv_1a() {
    // Test values published with the algorithm.
    for (text, expect) in [
        ("", 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d),
        ("a", 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964),
        ("foobar", 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18),
    ] {
        let mut hash = Fnv1a::new();
        hash.add(text.as_bytes());
        assert_eq!(hash.0, expect, "{text:?}");
    }
}

#[test]
fn only_identical_parts_have_the_same_digest() {
    let concat = |reference, total, part| Some(ConcatPart { reference, total, part });
    let mut parts = vec![part()];
    parts.push(InboundPart { source: SmppAddress::new(1, 1, b"4915112345679"), ..part() });
    parts.push(InboundPart { destination: SmppAddress::new(1, 1, b"4915112345678"), ..part() });
    parts.push(InboundPart { concat: concat(1, 2, 1), ..part() });
    parts.push(InboundPart { concat: concat(1, 2, 2), ..part() });
    parts.push(InboundPart { concat: concat(2, 2, 1), ..part() });
    parts.push(InboundPart { reference: Some(0), ..part() });
    parts.push(InboundPart { reference: Some(1), ..part() });
    parts.push(InboundPart { segment: MoSegment { data_coding: 1, ..part().segment }, ..part() });
    parts.push(InboundPart {
        segment: MoSegment { octets: b"yes!".to_vec().into(), ..part().segment },
        ..part()
    });
    let split = MoSegment { header: b"ye".to_vec().into(), octets: b"s".to_vec().into(), ..part().segment };
    parts.push(InboundPart { segment: split, ..part() });
    let mut digests: Vec<_> = parts.iter().map(InboundPart::digest).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), parts.len());
    // The same handset in another notation.
    let plus = InboundPart { source: SmppAddress::new(0, 0, b"+4915112345678"), ..part() };
    assert_eq!(plus.digest(), part().digest());
    assert_eq!(format!("{:02x?}", part().digest()), DIGEST_OF_PART, "digests are stored");
}

const DIGEST_OF_PART: &str = "[3c, e3, fe, db, b2, 34, 5c, 39, 06, 93, 58, 7b, a0, 66, cb, b8]";

#[test]
fn debug_output_has_neither_text_nor_addresses() {
    let printed = format!("{:?}", part());
    assert!(printed.contains("3 octets") && !printed.contains("4915"), "{printed}");
}
