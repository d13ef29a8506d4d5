//! Unit tests of `post_limiter.rs`.

use super::*;

/// Takes all free permits.
fn all(post_limiter: &PostLimiter, doubtful: bool) -> Vec<PostPermit> {
    std::iter::from_fn(|| post_limiter.try_acquire(doubtful)).collect()
}

#[test]
fn failing_posts_use_only_their_half() {
    let post_limiter = PostLimiter::new(10);
    assert_eq!(all(&post_limiter, true).len(), 5);
    let failing = all(&post_limiter, true);
    assert_eq!((failing.len(), all(&post_limiter, false).len()), (5, 5));
    drop(failing);
    assert_eq!(all(&post_limiter, true).len(), 5, "permits are released");
}

#[test]
fn slow_posts_free_the_first_half_up_to_a_limit() {
    let post_limiter = PostLimiter::new(4);
    let mut slow = all(&post_limiter, false);
    slow.iter_mut().for_each(|permit| post_limiter.move_slow(permit));
    assert!(post_limiter.try_acquire(true).is_none(), "slow posts fill the second half");
    let mut more = all(&post_limiter, false);
    assert_eq!(more.len(), 2);
    more.iter_mut().for_each(|permit| post_limiter.move_slow(permit));
    let mut last = all(&post_limiter, false);
    assert_eq!(last.len(), 2, "beyond it, up to the limit");
    last.iter_mut().for_each(|permit| post_limiter.move_slow(permit));
    assert!(post_limiter.try_acquire(false).is_none(), "and no further");
    drop((slow, more, last));
    assert_eq!((all(&post_limiter, false).len(), all(&post_limiter, true).len()), (2, 2));
}

#[tokio::test]
async fn slow_post_of_the_second_half_frees_no_permit() {
    let post_limiter = PostLimiter::new(4);
    let mut failing = all(&post_limiter, true);
    failing.iter_mut().for_each(|permit| post_limiter.move_slow(permit));
    assert!(post_limiter.try_acquire(true).is_none(), "they stay in the second half");
    assert_eq!(post_limiter.overflow.load(Ordering::Relaxed), 0);
    failing.pop();
    failing.push(post_limiter.acquire(true).await);
    failing.iter_mut().for_each(|permit| post_limiter.move_slow(permit));
    assert!(post_limiter.try_acquire(true).is_none(), "also those that waited for a permit");
    drop(failing);
    assert_eq!((all(&post_limiter, false).len(), all(&post_limiter, true).len()), (2, 2));
}

#[tokio::test]
async fn waiting_post_gets_the_next_free_permit() {
    let post_limiter = PostLimiter::new(2);
    let inside = post_limiter.try_acquire(false).unwrap();
    let waiting = post_limiter.acquire(false);
    let (_, permit) = tokio::join!(async { drop(inside) }, waiting);
    assert!(post_limiter.try_acquire(false).is_none());
    drop(permit);
    assert!(post_limiter.try_acquire(false).is_some());
}
