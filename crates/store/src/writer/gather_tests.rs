//! Unit tests of `gather.rs`.

use super::*;

/// Runs batches for which `came` submissions come in time, and returns how many of them waited in vain.
fn run(gather: &mut Gather, batches: u32, came: usize) -> u32 {
    let mut in_vain = 0;
    for _ in 0..batches {
        let enough = gather.is_enough(came);
        in_vain += u32::from(!enough);
        gather.learn(if enough { gather.target } else { came }, !enough);
    }
    in_vain
}

#[test]
fn target_rises_to_what_comes_and_failed_tries_become_rare() {
    let mut gather = Gather::default();
    run(&mut gather, 10 * TRY_AFTER, 5);
    assert_eq!(gather.target, 5);
    run(&mut gather, 4 * TRY_AFTER_MAX, 5);
    let in_vain = run(&mut gather, 10 * TRY_AFTER_MAX, 5);
    assert!((5..=10).contains(&in_vain), "{in_vain} of {} batches waited in vain", 10 * TRY_AFTER_MAX);
}

#[test]
fn target_falls_at_once_and_rises_again_soon() {
    let mut gather = Gather::default();
    run(&mut gather, 20 * TRY_AFTER, 10);
    assert_eq!(run(&mut gather, 1, 1), 1);
    assert_eq!(run(&mut gather, 1, 1), 0, "a lone customer waits once only");
    run(&mut gather, 10 * TRY_AFTER, 10);
    assert!(gather.target >= 10, "{}", gather.target);
}

#[test]
fn batch_that_something_else_began_teaches_nothing() {
    let mut gather = Gather::default();
    run(&mut gather, 20 * TRY_AFTER, 10);
    gather.learn(2, false);
    assert!(!gather.is_enough(9) && gather.is_enough(11));
}

#[test]
fn target_is_bounded() {
    let mut gather = Gather::default();
    run(&mut gather, 100 * TRY_AFTER, usize::MAX);
    assert_eq!(gather.target, TARGET_MAX);
}
