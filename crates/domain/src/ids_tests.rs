//! Message ids in decimal form, their order when the clock jumps, and carriers' ids of any octets.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    let result = match MessageId::parse(text) {
        Some(id) => {
            assert_eq!(id.to_string(), text);
            assert_eq!(MessageId::from_i64(id.as_i64()), Some(id));
            format!("{} node {}", id.accepted_at(), id.node())
        }
        None => "not an id".to_owned(),
    };
    assert_eq!(result, expect, "{text:?}");
}

#[test]
fn id_contains_time_and_node() {
    check("576460752303423487", "2094-09-07T15:47:35Z node 255");
    check("8266973184000007", "2026-01-01T00:00:00Z node 0");
}

#[test]
fn only_the_decimal_form_is_parsed() {
    for text in
        ["", "0", "01234567890", "+1234567890", "-1234567890", "1234567890 ", "12345678901a", "１２３４５"]
    {
        check(text, "not an id");
    }
    check("576460752303423488", "not an id");
    check("1000000000000000000", "not an id");
    check("99999999999999999999999999", "not an id");
    assert_eq!(MessageId::from_i64(-1), None);
    assert_eq!(MessageId::from_i64(1 << 59), None);
}

#[test]
fn ids_before_a_time_are_below_its_first_id() {
    let noon = Timestamp::from_millis(EPOCH_MS + 43_200_000);
    let before = IdMint::new(255, None).mint(Timestamp::from_millis(EPOCH_MS + 43_199_999));
    let at_noon = IdMint::new(0, None).mint(noon);
    assert!(before < MessageId::first_at(noon));
    assert!(MessageId::first_at(noon) <= at_noon);
    assert_eq!(at_noon.accepted_at(), noon);
    assert_eq!(MessageId::first_at(Timestamp::EPOCH).as_i64(), 0);
}

#[test]
fn clock_before_2025_gives_ids_of_ten_digits() {
    let id = IdMint::new(0, None).mint(Timestamp::EPOCH);
    assert_eq!(id.to_string().len(), 10);
}

#[test]
fn new_mint_starts_above_existing_ids_of_any_node() {
    let now = Timestamp::from_millis(EPOCH_MS + 10_000_000);
    let last = IdMint::new(255, None).mint(now);
    let next = IdMint::new(0, Some(last)).mint(now.minus(std::time::Duration::from_secs(60)));
    assert!(next > last);
}

#[test]
fn more_than_1024_in_a_millisecond_run_ahead_of_the_clock() {
    let now = Timestamp::from_millis(EPOCH_MS + 10_000_000);
    let mut mint = IdMint::new(7, None);
    let ids: Vec<MessageId> = (0..2500).map(|_| mint.mint(now)).collect();
    assert_eq!(ids[0].accepted_at(), now);
    assert_eq!(ids[1023].accepted_at(), now);
    assert_eq!(ids[1024].accepted_at(), now.plus(std::time::Duration::from_millis(1)));
    assert_eq!(ids[2499].accepted_at(), now.plus(std::time::Duration::from_millis(2)));
}

#[test]
fn part_numbers_start_at_one() {
    assert_eq!(PartNo::new(0), None);
    assert_eq!(PartNo::FIRST.index(), 0);
    let numbers: Vec<u8> = PartNo::up_to(3).map(PartNo::get).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(PartNo::up_to(255).count(), 255);
    assert_eq!(PartNo::up_to(0).count(), 0);
}

#[test]
fn carrier_id_keeps_every_octet() {
    for octets in [&b"0A1b"[..], b"00000123", b" 12 ", &[0x00, 0x7f, 0x80, 0xff], &[0xc3, 0xa9]] {
        let id = RemoteId::from_octets(octets).unwrap();
        assert_eq!(id.octets(), octets);
        assert_eq!(RemoteId::from_text(&id.to_text()), Ok(id));
    }
    assert_eq!(RemoteId::from_octets(b"0A1b").unwrap().to_string(), "0A1b");
    assert_eq!(format!("{:?}", RemoteId::from_octets(b"a\nb").unwrap()), r#"RemoteId("a\nb")"#);
}

#[test]
fn carrier_id_has_1_to_64_octets() {
    assert_eq!(RemoteId::from_octets(b""), Err(RemoteIdRefusal::Empty));
    assert_eq!(RemoteId::from_octets(&[b'a'; 64]).unwrap().octets().len(), 64);
    assert_eq!(RemoteId::from_octets(&[b'a'; 65]), Err(RemoteIdRefusal::TooLong(65)));
    assert_eq!(RemoteId::from_text("é".repeat(64).as_str()).unwrap().octets(), [0xe9; 64]);
    assert_eq!(RemoteId::from_text("€"), Err(RemoteIdRefusal::NotOctets));
}

proptest! {
    #[test]
    fn minted_ids_increase_when_the_clock_jumps(clock in prop::collection::vec(-5_i64..5_000_000_000, 1..300)) {
        let mut mint = IdMint::new(3, None);
        let mut last = None;
        for offset_ms in clock {
            let id = mint.mint(Timestamp::from_millis(EPOCH_MS + offset_ms));
            prop_assert!(Some(id) > last);
            prop_assert_eq!(id.node(), 3);
            prop_assert_eq!(MessageId::parse(&id.to_string()), Some(id));
            prop_assert!((10..=18).contains(&id.to_string().len()));
            last = Some(id);
        }
    }
}
