//! Unit tests of `post_concurrency.rs`.

use super::*;

const FAST: Duration = Duration::from_millis(5);
const SLOW: Duration = Duration::from_secs(3);

/// Returns the concurrent posts after each step: `+` a fast response, `~` a slow one, `-` a failure.
fn posts_after(steps: &str) -> String {
    let mut concurrency = PostConcurrency::default();
    let posts: Vec<String> = steps
        .chars()
        .map(|step| {
            match step {
                '+' => concurrency.succeeded(FAST),
                '~' => concurrency.succeeded(SLOW),
                _ => concurrency.failed(),
            }
            concurrency.posts().to_string()
        })
        .collect();
    posts.join(" ")
}

#[test]
fn concurrency_grows_per_response_until_the_first_failure_and_then_per_round() {
    assert_eq!(posts_after("+++"), "5 6 7");
    assert_eq!(posts_after("-++++++"), "2 2 3 3 3 4 4");
    let mut concurrency = PostConcurrency::default();
    for _ in 0..100 {
        concurrency.succeeded(FAST);
    }
    assert_eq!(concurrency.posts(), POSTS_MAX);
}

#[test]
fn failures_halve_concurrency_down_to_one() {
    assert_eq!(posts_after("++++----"), "5 6 7 8 4 2 1 1");
    assert_eq!(posts_after("---"), "2 1 1");
}

#[test]
fn slow_responses_reduce_concurrency_to_its_initial_value() {
    assert_eq!(posts_after("++~~~~"), "5 6 5 4 4 4");
}

#[test]
fn failing_endpoint_gets_a_growing_backoff_until_it_responds() {
    let mut concurrency = PostConcurrency::default();
    let mut breaths = vec![concurrency.backoff().as_millis()];
    for _ in 0..9 {
        concurrency.failed();
        breaths.push(concurrency.backoff().as_millis());
    }
    assert_eq!(breaths, [0, 10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]);
    for _ in 0..100 {
        concurrency.failed();
    }
    assert_eq!(concurrency.backoff(), BACKOFF_MAX);
    concurrency.succeeded(FAST);
    assert_eq!(concurrency.backoff(), Duration::ZERO);
}

#[test]
fn only_a_fast_response_ends_doubt() {
    let mut concurrency = PostConcurrency::default();
    assert!(!concurrency.is_doubtful(), "nothing speaks against a new one");
    concurrency.failed();
    assert!(concurrency.is_doubtful());
    concurrency.succeeded(FAST);
    assert!(!concurrency.is_doubtful());
    concurrency.succeeded(SLOW);
    assert!(concurrency.is_doubtful());
    concurrency.succeeded(FAST);
    concurrency.exceeded_wait();
    assert!(concurrency.is_doubtful());
}
