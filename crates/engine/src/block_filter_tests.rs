//! Unit tests of `block_filter.rs`.

use super::*;

fn hash(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[test]
fn growing_filter_holds_every_key_and_few_others() {
    let mut filter = GrowingFilter::new(1 << 20);
    assert!(!filter.may_hold(hash(0)), "an empty filter holds nothing");
    for number in 0..100_000 {
        assert!(filter.add(hash(number)), "{number}");
    }
    assert!((0..100_000).all(|number| filter.may_hold(hash(number))));
    let wrong = (1_000_000..1_100_000).filter(|number| filter.may_hold(hash(*number))).count();
    assert!(wrong < 2_500, "{wrong} of 100,000");
}

#[test]
fn full_filter_takes_no_key_and_still_holds_the_others() {
    let mut filter = GrowingFilter::new(FilterBlock::BYTES * 2);
    let taken = (0..1_000).filter(|number| filter.add(hash(*number))).count();
    assert_eq!(taken, 2 * KEYS_PER_BLOCK);
    assert!((0..64).all(|number| filter.may_hold(hash(number))));
}

#[test]
fn first_prefix_of_a_block_is_the_lowest_in_it() {
    for blocks in [1, 2, 3, 7, 256, 1_000_003] {
        for block in [0, 1, blocks / 2, blocks - 1] {
            let first = first_prefix(block.min(blocks - 1), blocks).unwrap();
            assert_eq!(block_of(first, blocks), block.min(blocks - 1));
            assert!(first == 0 || block_of(first - 1, blocks) < block.min(blocks - 1));
        }
        assert_eq!(first_prefix(blocks, blocks), None);
    }
    assert_eq!(block_of(u64::MAX, 7), 6);
}
