//! Unit tests of `submit_rate.rs`.

use super::*;

#[test]
fn client_that_ignores_throttling_is_paused_for_a_second() {
    let mut submit_rate = SubmitRate::new(Timestamp::EPOCH);
    let actual = |submit_rate: &mut SubmitRate, at| {
        submit_rate.on_throttled(Moment(at));
        submit_rate.paused_until(Moment(at)).map(|until| until.0)
    };
    assert_eq!(actual(&mut submit_rate, 0), None);
    for at in (1_000..10_000).step_by(1_000) {
        assert_eq!(actual(&mut submit_rate, at), None, "{at}");
    }
    assert_eq!(actual(&mut submit_rate, 10_000), Some(11_000));
    assert_eq!(submit_rate.paused_until(Moment(11_000)), None);
    assert_eq!(actual(&mut submit_rate, 11_000), Some(12_000), "it still ignores throttling");
    assert_eq!(actual(&mut submit_rate, 15_000), None, "it had slowed down");
}

#[test]
fn queries_have_a_separate_limit() {
    let mut submit_rate = SubmitRate::new(Timestamp::EPOCH);
    let admitted = (0..7).filter(|_| submit_rate.admit_query(Timestamp::EPOCH)).count();
    assert_eq!(admitted, 5);
    assert!(submit_rate.admit_query(Timestamp::from_millis(200)));
}
