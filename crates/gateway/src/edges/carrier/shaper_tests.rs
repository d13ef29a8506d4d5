//! Unit tests of `shaper.rs`.

use super::*;

fn at(ms: u64) -> Moment {
    Moment(ms)
}

#[test]
fn links_share_one_rate() {
    let shaper = Shaper::new(100, 4, 10, at(0));
    let mut taken = [0_u32; 4];
    for ms in 0..10_000 {
        for link in &mut taken {
            *link += shaper.take(shaper.share(), at(ms));
        }
    }
    let all: u32 = taken.iter().sum();
    assert!((1000..=1010).contains(&all), "ten seconds and a small burst: {taken:?}");
}

#[test]
fn nodes_share_the_rate_by_their_links() {
    let nodes = [(1, 25), (3, 75)].map(|(here, rate)| {
        let shaper = Shaper::new(100, 4, 10, at(0));
        shaper.set_links_here(here, at(0));
        (shaper, rate)
    });
    for (shaper, rate) in nodes {
        let taken: u32 = (0..10_000).map(|ms| shaper.take(10, at(ms))).sum();
        assert!((rate * 10..=rate * 10 + 10).contains(&taken), "{taken} of {rate} per second");
    }
}

#[test]
fn links_together_hold_one_burst_or_one_token_each() {
    for (rate, links, share) in [(100, 1, 10), (100, 4, 2), (1000, 4, 10), (100_000, 2, 10), (5, 16, 1)] {
        assert_eq!(
            Shaper::new(rate, links, 10, at(0)).share(),
            share,
            "{rate} parts per second, {links} links"
        );
    }
}

#[test]
fn one_link_cannot_take_the_share_of_another() {
    let shaper = Shaper::new(100, 2, 10, at(0));
    assert_eq!(shaper.take(shaper.share(), at(0)), 5);
    assert_eq!(shaper.take(shaper.share(), at(0)), 5, "the other link's share is still there");
    assert_eq!(shaper.take(1, at(0)), 0);
    assert_eq!(shaper.take(5, at(30)), 3);
}
