//! Unit tests of `window.rs`.

use super::*;

const RESPONSE: CommandId = CommandId::SUBMIT_SM_RESP;

fn filled(sequences: &[u32]) -> Window<u32> {
    let mut window = Window::new();
    for (sent_at, sequence) in sequences.iter().enumerate() {
        window.insert(*sequence, RESPONSE, Moment(sent_at as u64), *sequence);
    }
    window
}

#[test]
fn each_slot_is_freed_exactly_once_in_any_order() {
    let mut window = filled(&[1, 2, 4, 7, 8]);
    assert_eq!(window.free(7, RESPONSE), Some(7));
    assert_eq!(window.free(7, RESPONSE), None);
    assert_eq!(window.free(3, RESPONSE), None);
    assert_eq!(window.free(9, RESPONSE), None);
    assert_eq!(window.free(0, RESPONSE), None);
    assert_eq!(window.free(0x8000_0001, RESPONSE), None);
    assert_eq!(window.free(1, RESPONSE), Some(1));
    let expired =
        |window: &mut Window<u32>| window.expire(Moment(1)).map(|expired| (expired.sequence, expired.token));
    assert_eq!(expired(&mut window), Some((2, 2)));
    assert_eq!(expired(&mut window), None);
    assert_eq!(window.free(2, RESPONSE), None);
    assert_eq!(window.used(), 2);
    assert_eq!(window.take_all(), [4, 8]);
    assert_eq!((window.used(), window.deadline()), (0, None));
}

#[test]
fn only_the_matching_response_or_a_nack_frees_a_slot() {
    let mut window = filled(&[1, 2]);
    assert_eq!(window.free(1, CommandId::DATA_SM_RESP), None);
    assert_eq!(window.free(1, CommandId::GENERIC_NACK), Some(1));
    assert_eq!(window.free(2, RESPONSE), Some(2));
}

#[test]
fn sequences_wrap_around_without_losing_order() {
    let mut window = filled(&[SEQUENCE_MAX - 1, SEQUENCE_MAX, 1, 2]);
    for sequence in [2, SEQUENCE_MAX, 1, SEQUENCE_MAX - 1] {
        assert_eq!(window.free(sequence, RESPONSE), Some(sequence));
    }
    assert_eq!(window.used(), 0);
}

#[test]
fn one_unanswered_request_does_not_make_the_window_grow() {
    let mut window = filled(&[1]);
    for sequence in 2..10_000 {
        window.insert(sequence, RESPONSE, Moment(1), sequence);
        assert_eq!(window.free(sequence, RESPONSE), Some(sequence));
        assert!(window.slots.len() <= 2 + FREE_SLACK);
    }
    assert_eq!(window.free(1, RESPONSE), Some(1));
    assert!(window.slots.is_empty());
}
