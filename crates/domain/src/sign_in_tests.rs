//! Unit tests of `sign_in.rs`.

use super::*;

const THREE_PER_MINUTE: Allowance = Allowance { most: 3, per: Duration::from_secs(60) };
const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const OTHER_ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));
const KEY: Fingerprint = 1;
const SECRET: Fingerprint = 10;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_750_000_000_000 + seconds * 1000)
}

fn fail_repeatedly(sign_ins: &mut SignIns, key: Fingerprint, second: i64) {
    while sign_ins.fail(ADDRESS, key, at(second)).is_ok() {}
}

#[test]
fn correct_secret_during_a_guessing_attack_is_refused_until_the_allowance_returns() {
    let mut sign_ins = SignIns::new(THREE_PER_MINUTE);
    fail_repeatedly(&mut sign_ins, KEY, 0);
    assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(0)), Err(Duration::from_secs(20)));
    fail_repeatedly(&mut sign_ins, KEY, 19);
    assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(19)), Err(Duration::from_secs(1)));
    assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(20)), Ok(()));
}

#[test]
fn proven_address_is_admitted_during_a_guessing_attack() {
    let mut sign_ins = SignIns::new(THREE_PER_MINUTE);
    assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(0)), Ok(()));
    fail_repeatedly(&mut sign_ins, KEY, 1);
    assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(1)), Ok(()));
    // Each success extends the proof by a day.
    let almost_a_day = 24 * 3600 - 1;
    fail_repeatedly(&mut sign_ins, KEY, almost_a_day);
    assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(almost_a_day)), Ok(()));
    fail_repeatedly(&mut sign_ins, KEY, 2 * almost_a_day);
    assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(2 * almost_a_day)), Ok(()));
    fail_repeatedly(&mut sign_ins, KEY, 4 * almost_a_day);
    assert!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(4 * almost_a_day)).is_err(), "two days later");
}

#[test]
fn guessing_attack_on_one_key_from_one_address_stops_no_other_key_and_no_other_address() {
    let mut sign_ins = SignIns::new(THREE_PER_MINUTE);
    fail_repeatedly(&mut sign_ins, KEY, 0);
    assert_eq!(sign_ins.succeed(OTHER_ADDRESS, KEY, SECRET, at(0)), Ok(()));
    assert_eq!(sign_ins.succeed(ADDRESS, 2, 20, at(0)), Ok(()));
    assert!(sign_ins.fail(ADDRESS, 3, at(0)).is_err(), "failures are also counted for the address");
    assert_eq!(sign_ins.fail(OTHER_ADDRESS, 3, at(0)), Ok(()));
}

#[test]
fn changed_secret_is_not_proven() {
    let mut sign_ins = SignIns::new(THREE_PER_MINUTE);
    assert_eq!(sign_ins.succeed(ADDRESS, KEY, SECRET, at(0)), Ok(()));
    fail_repeatedly(&mut sign_ins, KEY, 1);
    assert!(sign_ins.succeed(ADDRESS, KEY, SECRET + 1, at(1)).is_err());
}
