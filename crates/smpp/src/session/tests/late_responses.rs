//! Responses to timed-out requests: reported once, with their sequence number, until the session ends.

use super::*;
use crate::session::*;

#[test]
fn late_response_before_the_connection_loss_is_processed() {
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
    assert_eq!(events_of(&mut client, later), events);
}

#[test]
fn late_responses_are_recognised_up_to_the_window_size() {
    let mut config = ClientConfig::standard();
    config.limits.window_max = 2;
    config.limits.enquire_idle_ms = None;
    let mut client = bound_client_with(config, BindType::Transceiver);
    let mut now = START;
    for sequence in 2..=4 {
        assert_eq!(client.request(&submit(), sequence, now), Ok(sequence));
        now = now.plus_ms(60_000);
        client.on_deadline(now);
        assert_eq!(events_of(&mut client, now), [format!("timed out {sequence} under {sequence}")]);
    }
    client.output().clear();
    check(&mut client, &octets(&accepted(), 2), now, &[], &[]);
    check(&mut client, &octets(&accepted(), 3), now, &["late 3 submit_sm_resp ok 3"], &[]);
    // The sequence number is reused: the response belongs to the new request.
    client.next_sequence = 4;
    client.request(&submit(), 9, now).unwrap();
    client.output().clear();
    check(&mut client, &octets(&accepted(), 4), now, &["response 9 submit_sm_resp ok 4"], &[]);
    check(&mut client, &octets(&accepted(), 4), now, &[], &[]);
    assert_eq!((client.counters().late_responses, client.counters().unmatched_responses), (1, 2));
}
