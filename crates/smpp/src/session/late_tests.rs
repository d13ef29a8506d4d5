//! Answers that come after their request has timed out: told once, under its sequence, while the session lives.

use super::testing::*;
use super::*;
use crate::*;

#[test]
fn a_late_answer_that_came_before_the_connection_broke_is_taken() {
    let mut client = bound_client();
    client.request(&submit(), 7, START).unwrap();
    client.request(&submit(), 8, START.plus_ms(1)).unwrap();
    client.output().clear();
    let later = START.plus_ms(60_000);
    client.on_deadline(later);
    client.receive(&octets(&accepted(), 2), later);
    client.connection_lost(later);
    let events =
        ["timed out 7 under 2", "late 2 submit_sm_resp ok 2", "lost [8]", "closed: the connection was lost"];
    assert_eq!(told(&mut client, later), events);
}

#[test]
fn as_many_late_answers_are_told_as_the_window_is_wide() {
    let mut config = ClientConfig::standard();
    config.limits.window_max = 2;
    config.limits.enquire_idle_ms = None;
    let mut client = bound_client_with(config, BindType::Transceiver);
    let mut now = START;
    for sequence in 2..=4 {
        assert_eq!(client.request(&submit(), sequence, now), Ok(sequence));
        now = now.plus_ms(60_000);
        client.on_deadline(now);
        assert_eq!(told(&mut client, now), [format!("timed out {sequence} under {sequence}")]);
    }
    client.output().clear();
    check(&mut client, &octets(&accepted(), 2), now, &[], &[]);
    check(&mut client, &octets(&accepted(), 3), now, &["late 3 submit_sm_resp ok 3"], &[]);
    // The sequence comes round again: its answer is the new request's, and nobody else's.
    client.next_sequence = 4;
    client.request(&submit(), 9, now).unwrap();
    client.output().clear();
    check(&mut client, &octets(&accepted(), 4), now, &["answered 9 submit_sm_resp ok 4"], &[]);
    check(&mut client, &octets(&accepted(), 4), now, &[], &[]);
    assert_eq!((client.counters().late_answers, client.counters().unmatched_answers), (1, 2));
}
